"""``envtrack snapshot``: this machine now."""

from typing import Annotated

from envtrack.cli.context import Context, Place, open_context
from envtrack.cli.grammar import option
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    FullOption,
    LockfileOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, say
from envtrack.cli.show import put_out_snapshot
from envtrack.errors import UsageProblem


# Longer than other functions: each option is a parameter.
def snapshot(
    *,
    save: Annotated[
        bool, option("--save", help="Write it as the record beside the lockfile.")
    ] = False,
    commit: Annotated[
        bool,
        option(
            "--commit",
            help="Write it, and commit the record alone; what is staged stays staged.",
        ),
    ] = False,
    message: Annotated[
        str | None,
        option("--message", "-m", metavar="TEXT", help="The message of that commit."),
    ] = None,
    deep: Annotated[
        bool,
        option(
            "--deep",
            help="Start the environment's interpreter, import the frameworks and ask them. It may "
            "create a CUDA context, and takes seconds, at most 3 minutes.",
        ),
    ] = False,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Take a snapshot of this machine and the project's environment.

    A driver or kernel upgrade has no lockfile commit: `--commit -m "driver 560"` is its record.
    """
    if message is not None and not commit:
        raise UsageProblem("--message is said without --commit", hint="`--commit -m TEXT`")
    if commit and not (message or "").strip():
        raise UsageProblem("--commit needs a message", hint='`--commit -m "driver 560.35.03"`')
    if deep and (save or commit):
        raise UsageProblem(
            "--deep excludes --save and --commit: the hooks' records never start a framework",
            hint="`--deep --format json --output FILE` keeps it",
        )
    context = open_context(Place(directory=directory, lockfile=lockfile))
    if save or commit:
        _save(context, message)
        return
    from envtrack.record.operands import take_now

    wanted = Output(format=form, path=output, colour=color, is_full=full)
    put_out_snapshot(take_now(context.bench, deep=deep), wanted)


def _save(context: Context, message: str | None) -> None:
    from envtrack.git.staged import find_working_blob
    from envtrack.git.working_tree import commit_file, is_committed
    from envtrack.record.beside import record_beside

    repository, bench = context.repository, context.bench
    blob = find_working_blob(repository, bench.lockfile)
    if blob is None:
        raise UsageProblem(
            f"{bench.lockfile}: there is no such file to record beside", hint="`uv lock` makes one"
        )
    if message is not None and not is_committed(repository, bench.lockfile):
        raise UsageProblem(
            f"{bench.lockfile} is not the one of HEAD: its record belongs to its own commit",
            hint="commit the lockfile; `--save` writes the record to go with it",
        )
    outcome = record_beside(
        repository, bench.lockfile, blob, environ=bench.environ, settings=context.settings
    )
    if message is None:
        say(f"recorded in {outcome.path}; `git add` and commit it with the lockfile")
    elif is_committed(repository, outcome.path):
        say(f"nothing moved since the last record; {outcome.path} stays as it is committed")
    else:
        made = commit_file(repository, outcome.path, message)
        say(f"recorded in {outcome.path}, commit {made.short}")
