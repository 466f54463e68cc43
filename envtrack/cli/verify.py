"""``envtrack verify --fresh``: does it work for somebody who has nothing yet?"""

import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Context, Place, open_context
from envtrack.cli.grammar import option
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    LockfileOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out, say
from envtrack.cli.smoke import EXIT_CODES, choose_command, judge, show
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.model.fresh import FreshRun


# Longer than other functions: each option is a parameter.
def verify(
    *,
    fresh: Annotated[
        bool,
        option("--fresh", help="With the caches that are there; the default."),
    ] = False,
    cold: Annotated[
        bool, option("--cold", help="With empty caches too: everything is fetched again.")
    ] = False,
    setup: Annotated[
        str | None,
        option(
            "--setup",
            metavar="TEXT",
            help="The set-up for `sh -c`, instead of the configured one or `uv sync --locked`.",
        ),
    ] = None,
    command: Annotated[
        str | None,
        option("--command", "-c", metavar="TEXT", help="The smoke test for `sh -c`."),
    ] = None,
    no_record: Annotated[bool, option("--no-record", help="Record nothing; only judge.")] = False,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Go the new user's way: a clean clone, an empty home, the set-up, the smoke test.

    HEAD is cloned as it is committed; HOME is empty, no variable but a short list is inherited,
    no environment is active. Where that fails and your own environment passes, what you have and a
    new user has not is given back piece by piece until it is known what decides. The verdict
    becomes a note on HEAD; your tree, environment and home stay as they are.

    Exit code 1: it fails. 4: the network or the disk failed.
    """
    del fresh  # it is said for clarity: there is no other way yet
    context = open_context(Place(directory=directory, lockfile=lockfile))
    result = _run(context, setup, command, is_cold=cold)
    note = "" if no_record else _record(context, result)
    _put_out(result, note, Output(format=form, path=output, colour=color))
    code = EXIT_CODES[result.judgement.verdict]
    if code:
        raise SystemExit(code)


def _run(context: Context, setup: str | None, command: str | None, *, is_cold: bool) -> "FreshRun":
    from envtrack.cli.running import catch_signals
    from envtrack.errors import Interrupted
    from envtrack.verify.run import verify_fresh
    from envtrack.verify.trial import Wanted

    smoke = choose_command([], command, context)
    settings = context.settings
    wanted = Wanted(
        commit=context.repository.get_commit("HEAD"),
        lockfile=context.bench.lockfile,
        setup=setup or settings.verify.setup or _find_setup(context),
        smoke=smoke,
        timeout_s=settings.smoke.timeout_s,
        timeout_is=settings.smoke.timeout_is,
        is_cold=is_cold,
        show=lambda text: show(f"envtrack: {text}"),
    )
    catch_signals()
    try:
        return verify_fresh(
            context.repository,
            wanted,
            keep=settings.verify.keep,
            ordinary=lambda: judge(context, smoke, None),
            environment=context.bench.find_environment(),
            python=settings.python,
        )
    except KeyboardInterrupt as error:
        raise Interrupted("stopped; nothing was changed") from error


def _find_setup(context: Context) -> str:
    """`uv sync --locked` with the configured selection.

    Raises:
        UsageProblem: uv does not install this kind of lockfile.
    """
    lockfile = context.bench.lockfile
    if lockfile.rpartition("/")[2] != "uv.lock":
        raise UsageProblem(
            f"{lockfile}: what a new user has to do with it is not known",
            hint="say it under `verify: setup:` in .envtrack/config.yaml, or with `--setup`",
        )
    words = ["uv", "sync", "--locked", *context.settings.selection.as_uv_arguments()]
    words += [f"--python={context.settings.python}"] if context.settings.python else []
    return shlex.join(words)


def _record(context: Context, result: "FreshRun") -> str:
    """The short name of the commit that carries the verdict; empty where none does."""
    from envtrack.verify.run import note_fresh

    bench = context.bench
    if note_fresh(context.repository, result, bench.here, datetime.now(UTC)):
        return result.commit.short
    say("not recorded: it could not run, which says nothing about a commit")
    return ""


def _put_out(result: "FreshRun", note: str, output: Output) -> None:
    from envtrack.report.fresh import (
        render_fresh_json,
        render_fresh_markdown,
        render_fresh_text,
    )

    rendering = Rendering(
        text=lambda look: render_fresh_text(result, look, recorded_on=note),
        json=lambda: render_fresh_json(result, recorded_on=note),
        markdown=lambda: render_fresh_markdown(result),
    )
    put_out(rendering, output)
