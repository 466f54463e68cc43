"""``envtrack bisect``: which commit broke it."""

import signal
from pathlib import PurePosixPath
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Place, open_context
from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    FullOption,
    LockfileOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out, say
from envtrack.cli.wishes import choose_selection, make_plan, newest_good
from envtrack.config.settings import Stale
from envtrack.errors import UsageProblem
from envtrack.model.verdict import Verdict

if TYPE_CHECKING:
    from envtrack.bisect.session import Wish
    from envtrack.git.repository import Repository
    from envtrack.model.answer import Answer
    from envtrack.probe.plan import SessionFiles

SessionArgument = Annotated[
    str,
    Argument(metavar="[SESSION]", help="The session's id or its beginning; by default the newest."),
]
VerboseOption = Annotated[
    bool, option("--verbose", "-v", help="Show the end of the running probe's log.")
]


def start(
    good: Annotated[
        str | None,
        Argument(
            metavar="[GOOD]",
            help="A revision that works; by default the newest with a recorded good verdict.",
        ),
    ] = None,
    bad: Annotated[
        str, Argument(metavar="[BAD]", help="A revision that fails.", default="HEAD")
    ] = "HEAD",
    smoke: Annotated[
        str | None,
        option(
            "--smoke",
            "-s",
            metavar="COMMAND",
            help="The smoke test, for `sh -c`, run in the lockfile's folder; by default that of "
            "the configuration. 0 is good, 125 can't be tested, 126 and 127 stop the search, all "
            "else is bad.",
        ),
    ] = None,
    smoke_from: Annotated[
        str | None,
        option(
            "--smoke-from",
            metavar="REV",
            help="Take the files that the smoke test names from this revision; `each`: every "
            "commit has its own. By default they are taken from the working tree as it is.",
        ),
    ] = None,
    timeout: Annotated[
        str | None,
        option("--timeout", metavar="DURATION", help="The smoke test's limit: `90s`, `10m`, `1h`."),
    ] = None,
    timeout_is: Annotated[
        Verdict | None,
        option("--timeout-is", help="What passing the limit means: bad or untestable."),
    ] = None,
    stale: Annotated[
        Stale | None,
        option("--stale", help="What to do with a lockfile that no longer fits its project."),
    ] = None,
    python: Annotated[
        str | None,
        option(
            "--python", "-p", metavar="REQUEST", help="Hold this Python for all probes: `3.11`."
        ),
    ] = None,
    extra: Annotated[
        list[str] | None, option("--extra", metavar="NAME", help="Install this extra too.")
    ] = None,
    group: Annotated[
        list[str] | None, option("--group", metavar="NAME", help="Install this group too.")
    ] = None,
    all_extras: Annotated[bool, option("--all-extras", help="Install every extra.")] = False,
    all_groups: Annotated[
        bool, option("--all-groups", help="Install every dependency group.")
    ] = False,
    all_packages: Annotated[
        bool, option("--all-packages", help="Install every member of the workspace.")
    ] = False,
    trust_ends: Annotated[
        bool, option("--trust-ends", help="Believe that GOOD is good and BAD is bad.")
    ] = False,
    keep: Annotated[bool, option("--keep", help="Keep the worktree of the search.")] = False,
    verbose: VerboseOption = False,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Find the commit that broke it.

    Every commit that changed the lockfile between GOOD and BAD is a candidate. A worktree of its
    own is made outside the repository; there `git bisect run` installs a commit's environment
    (`uv sync --locked`) and runs the smoke test. Your own tree is not touched.
    """
    from envtrack.bisect.session import Wish

    context = open_context(Place(directory=directory, lockfile=lockfile, machine=None))
    _refuse_other(context.bench.lockfile)
    selection = choose_selection(
        context, extra or (), group or (), (all_extras, all_groups, all_packages)
    )
    command = smoke or context.settings.smoke.command
    wish = Wish(
        good=good or newest_good(context, bad, command),
        bad=bad,
        lockfile=context.bench.lockfile,
        smoke=command,
        smoke_from=smoke_from or "",
        listed_files=context.settings.smoke.files,
        settings=make_plan(
            context,
            timeout=timeout,
            timeout_is=timeout_is or context.settings.smoke.timeout_is,
            stale=stale or context.settings.stale,
            python=python if python is not None else context.settings.python,
            selection=selection,
            trust_ends=trust_ends,
            keep=keep,
        ),
    )
    shape = Output(format=form, path=output, colour=color, is_full=full)
    _start_session(context.repository, wish, shape, is_verbose=verbose)


def _refuse_other(lockfile: str) -> None:
    if PurePosixPath(lockfile).name != "uv.lock":
        raise UsageProblem(
            f"{lockfile}: `bisect` installs each commit with `uv sync`, which needs a uv.lock",
            hint="`envtrack diff GOOD BAD` compares lockfiles of every format",
        )


def _start_session(
    repository: "Repository", wish: "Wish", shape: Output, *, is_verbose: bool
) -> None:
    from datetime import UTC, datetime

    from envtrack.bisect.session import clean_up_after_others, make_session
    from envtrack.probe.plan import read_plan

    files = make_session(repository, wish, now=datetime.now(UTC))
    clean_up_after_others(repository)
    say(f"session {files.folder.name}: {wish.good} is good, {wish.bad} is bad, {wish.lockfile}")
    plan = read_plan(files)
    if plan.smoke_files:
        source = wish.smoke_from or "your working tree"
        say(f"at every commit as in {source}: {', '.join(plan.smoke_files)}")
    if plan.neighbours:
        names = ", ".join(f"../{name}" for name in plan.neighbours)
        say(f"outside the repository, at every commit as it is now: {names}")
    run_to_answer(repository, files, shape, is_verbose=is_verbose)


def run_to_answer(
    repository: "Repository", files: "SessionFiles", shape: Output, *, is_verbose: bool
) -> None:
    """Runs a session and shows its answer; the exit code is that of its outcome."""
    from envtrack.bisect.run import run_session
    from envtrack.cli.progress import Progress

    progress = Progress(repository, is_verbose=is_verbose)
    catch_signals()
    try:
        answer = run_session(repository, files, watcher=progress)
    finally:
        progress.finish()
    put_out_answer(answer, shape)
    if answer.outcome.exit_code:
        raise SystemExit(answer.outcome.exit_code)


def catch_signals() -> None:
    """From now on SIGTERM and SIGHUP end a command as Ctrl-C does: cleaned up, nothing lost."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # The same way out as Ctrl-C: the worktree goes away and what was learnt is kept.
    raise KeyboardInterrupt


def put_out_answer(answer: "Answer", shape: Output) -> None:
    """Shows an answer in the form that was asked for."""
    from envtrack.report.answer import (
        render_answer_json,
        render_answer_markdown,
        render_answer_text,
    )

    rendering = Rendering(
        text=lambda look: render_answer_text(answer, look),
        json=lambda: render_answer_json(answer),
        markdown=lambda: render_answer_markdown(answer),
    )
    put_out(rendering, shape)
