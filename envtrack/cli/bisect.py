"""``envtrack bisect``: which commit broke it."""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.conditions import (
    BadMetricOption,
    GoodMetricOption,
    InvertOption,
    MetricFileOption,
    MetricOption,
    MetricRunsOption,
    ThresholdOption,
    choose_condition,
)
from envtrack.cli.context import Place, open_context
from envtrack.cli.flaky import QuorumOption, RepeatOption, check_repeat
from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    FullOption,
    LockfileOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, say
from envtrack.cli.probing import (
    AllExtrasOption,
    AllGroupsOption,
    AllPackagesOption,
    AnyFailureOption,
    ExtraOption,
    GroupOption,
    KeepOption,
    MatchOption,
    PackageOnlyOption,
    PythonOption,
    SmokeFromOption,
    SmokeOption,
    TimeoutIsOption,
    TimeoutOption,
    VerboseOption,
)
from envtrack.cli.running import run_to_answer
from envtrack.cli.wishes import check_match, choose_selection, make_plan, newest_good
from envtrack.config.settings import Stale
from envtrack.errors import UsageProblem
from envtrack.probe.plan import Hold

if TYPE_CHECKING:
    from envtrack.bisect.session import Wish
    from envtrack.git.repository import Repository

SessionArgument = Annotated[
    str,
    Argument(metavar="[SESSION]", help="The session's id or its beginning; by default the newest."),
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
    smoke: SmokeOption = None,
    check: Annotated[
        str | None,
        option("--check", metavar="NAME", help="Hunt only this check of the smoke test."),
    ] = None,
    smoke_from: SmokeFromOption = None,
    timeout: TimeoutOption = None,
    timeout_is: TimeoutIsOption = None,
    match: MatchOption = None,
    any_failure: AnyFailureOption = False,
    invert: InvertOption = False,
    metric: MetricOption = None,
    metric_file: MetricFileOption = None,
    threshold: ThresholdOption = None,
    good_metric: GoodMetricOption = None,
    bad_metric: BadMetricOption = None,
    metric_runs: MetricRunsOption = None,
    repeat: RepeatOption = None,
    quorum: QuorumOption = None,
    stale: Annotated[
        Stale | None,
        option("--stale", help="What to do with a lockfile that no longer fits its project."),
    ] = None,
    python: PythonOption = None,
    extra: ExtraOption = None,
    group: GroupOption = None,
    all_extras: AllExtrasOption = False,
    all_groups: AllGroupsOption = False,
    all_packages: AllPackagesOption = False,
    trust_ends: Annotated[
        bool, option("--trust-ends", help="Believe that GOOD is good and BAD is bad.")
    ] = False,
    hold: Annotated[
        Hold | None,
        option("--hold", help="Hold the code, or the environment, as at BAD; search the other."),
    ] = None,
    commit_only: Annotated[
        bool, option("--commit-only", help="Stop at the commit; do not go on to the package.")
    ] = False,
    package_only: PackageOnlyOption = False,
    keep: KeepOption = False,
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
    (`uv sync --locked`) and runs the smoke test. Then it is found which of the packages that the
    commit moved is to blame, as `envtrack isolate` does. Your own tree is not touched.
    """
    from envtrack.bisect.session import Wish
    from envtrack.probe.checks import ask_for_one

    context = open_context(Place(directory=directory, lockfile=lockfile, machine=None))
    _refuse_other(context.bench.lockfile)
    selection = choose_selection(
        context, extra or (), group or (), (all_extras, all_groups, all_packages)
    )
    command = smoke or context.settings.smoke.command
    condition = choose_condition(
        invert=invert,
        metric=metric,
        metric_file=metric_file,
        threshold=threshold,
        good_metric=good_metric,
        bad_metric=bad_metric,
        metric_runs=metric_runs,
        trust_ends=trust_ends,
    )
    if condition.metric and repeat is not None:
        raise UsageProblem(
            "--repeat does not go with --metric", hint="`--metric-runs` says how often"
        )
    if invert and good is None:
        raise UsageProblem("--invert needs both ends: an older revision that fails")
    if check is not None:
        command = ask_for_one(command, check)
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
            match=check_match(match),
            any_failure=any_failure,
            condition=condition,
            **check_repeat(repeat, quorum),
            package_only=package_only,
            trust_ends=trust_ends,
            hold=hold,
            commit_only=commit_only,
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
