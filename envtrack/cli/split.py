"""``envtrack split``: a change of several layers as a series of commits."""

from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Context, Place, open_context
from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    FullOption,
    LockfileOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.cli.progress import Progress
    from envtrack.model.split import Split
    from envtrack.split.prove import Proving


# Longer than other functions: each option is a parameter.
def split(
    revision: Annotated[
        str | None,
        Argument("[REVISION]", "The last commit, to be replaced; by default what is staged."),
    ] = None,
    *,
    each: Annotated[
        bool, option("--each", help="Within a layer too, one root change a step.")
    ] = False,
    smoke: Annotated[
        bool,
        option(
            "--smoke",
            help="Install each step and run the configured smoke test; stop at the first that is "
            "not good.",
        ),
    ] = False,
    command: Annotated[
        str | None,
        option(
            "--command",
            "-c",
            metavar="TEXT",
            help="The same with this smoke test, for `sh -c`, run in the lockfile's folder.",
        ),
    ] = None,
    sync: Annotated[
        bool, option("--sync", help="Install each step, and ask for nothing more.")
    ] = False,
    dry_run: Annotated[
        bool, option("--dry-run", "-n", help="Say what the steps are; change nothing.")
    ] = False,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Turn a lockfile change of several layers into a series of commits, one layer each.

    The lowest layer comes first. Each lockfile in between is made by `uv lock` and accepted by
    `uv sync --locked`; the last is yours, byte for byte. The branch moves once, when all commits
    are made; the original state is kept under `refs/envtrack/split/`.

    Exit code 1: a step is bad; what comes before it is committed.
    """
    context = open_context(Place(directory=directory, lockfile=lockfile))
    text = _choose_smoke(context, command, is_asked=smoke, is_sync=sync)
    if dry_run and text:
        raise UsageProblem(
            "--dry-run tries no step", hint="leave --smoke, --command and --sync out"
        )
    result = _run(context, revision, text, is_each=each, is_dry=dry_run)
    _put_out(result, Output(format=form, path=output, colour=color, is_full=full))
    code = _find_code(result)
    if code:
        raise SystemExit(code)


def _choose_smoke(context: Context, command: str | None, *, is_asked: bool, is_sync: bool) -> str:
    """The smoke test; empty where no step is tried."""
    from envtrack.split.prove import INSTALL_ONLY

    if is_sync and (is_asked or command is not None):
        raise UsageProblem("--sync and a smoke test exclude each other: a smoke test installs too")
    if is_sync:
        return INSTALL_ONLY
    if command is None and not is_asked:
        return ""
    text = command or context.settings.smoke.command
    if not text.strip():
        raise UsageProblem(
            "no smoke test is configured",
            hint="`envtrack init --smoke plain` writes one; or say it: `--command 'COMMAND'`",
        )
    return text


def _run(
    context: Context, revision: str | None, smoke: str, *, is_each: bool, is_dry: bool
) -> "Split":
    from envtrack.cli.progress import Progress
    from envtrack.cli.running import catch_signals
    from envtrack.errors import Interrupted
    from envtrack.split.run import Wanted, split_change
    from envtrack.uv import find_uv

    progress = Progress(context.repository, is_verbose=False, has_ends=False)
    wanted = Wanted(
        revision=revision,
        is_each=is_each,
        is_dry=is_dry,
        uv=str(find_uv(context.repository.environ)),
        proving=_make_proving(context, smoke, progress) if smoke else None,
    )
    catch_signals()
    try:
        return split_change(context.repository, context.bench.lockfile, context.settings, wanted)
    except KeyboardInterrupt as error:
        raise Interrupted("stopped; nothing was changed") from error
    finally:
        progress.finish()


def _make_proving(context: Context, smoke: str, progress: "Progress") -> "Proving":
    from envtrack.cli.wishes import make_plan
    from envtrack.config.settings import Stale
    from envtrack.split.prove import Proving

    settings = context.settings
    plan = make_plan(
        context,
        timeout=None,
        timeout_is=settings.smoke.timeout_is,
        stale=Stale.SKIP,
        python=settings.python,
        selection=settings.selection,
    )
    return Proving(smoke=smoke, files=settings.smoke.files, settings=plan, watcher=progress)


def _find_code(result: "Split") -> int:
    from envtrack.model.split import SplitOutcome
    from envtrack.model.verdict import Verdict

    if result.outcome is not SplitOutcome.STOPPED:
        return 0
    verdicts = [step.judgement.verdict for step in result.steps if step.judgement is not None]
    return 1 if verdicts[-1] is Verdict.BAD else 3


def _put_out(result: "Split", output: Output) -> None:
    from envtrack.report.split import (
        render_split_json,
        render_split_markdown,
        render_split_text,
    )

    rendering = Rendering(
        text=lambda look: render_split_text(result, look),
        json=lambda: render_split_json(result),
        markdown=lambda: render_split_markdown(result),
    )
    put_out(rendering, output)
