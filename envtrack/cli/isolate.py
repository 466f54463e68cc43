"""``envtrack isolate``: which of the changes between two lockfiles broke it."""

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Context, Place, open_context
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
from envtrack.cli.wishes import check_match, choose_selection, make_plan
from envtrack.config.settings import Stale
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.bisect.isolate import Side
    from envtrack.bisect.session import Wish
    from envtrack.model.oid import Oid


def isolate(
    good: Annotated[
        str, Argument(metavar="GOOD", help="A revision, or a lockfile, with which it works.")
    ],
    bad: Annotated[
        str,
        Argument(
            metavar="[BAD]", help="A revision, or a lockfile, with which it fails.", default="HEAD"
        ),
    ] = "HEAD",
    suspect: Annotated[
        list[str] | None,
        option("--suspect", metavar="PACKAGE", help="Try this one first; two trials if right."),
    ] = None,
    smoke: SmokeOption = None,
    smoke_from: SmokeFromOption = None,
    timeout: TimeoutOption = None,
    timeout_is: TimeoutIsOption = None,
    match: MatchOption = None,
    any_failure: AnyFailureOption = False,
    repeat: RepeatOption = None,
    quorum: QuorumOption = None,
    python: PythonOption = None,
    extra: ExtraOption = None,
    group: GroupOption = None,
    all_extras: AllExtrasOption = False,
    all_groups: AllGroupsOption = False,
    all_packages: AllPackagesOption = False,
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
    """Find the package that broke it, among all that differ between two lockfiles.

    The code is that of BAD throughout (of HEAD, if BAD is a file). Lockfiles in between are
    composed, some packages as in GOOD and some as in BAD, installed with `uv sync --frozen` in a
    worktree outside the repository, and tried. What is found is shown both ways by fresh trials:
    alone it breaks what worked, and without it what is broken works. Your own tree is not touched.
    """
    from envtrack.bisect.session import Wish

    context = open_context(Place(directory=directory, lockfile=lockfile, machine=None))
    if PurePosixPath(context.bench.lockfile).name != "uv.lock":
        raise UsageProblem(
            f"{context.bench.lockfile}: `isolate` composes uv.locks, and this is none",
            hint="`envtrack diff GOOD BAD` compares lockfiles of every format",
        )
    selection = choose_selection(
        context, extra or (), group or (), (all_extras, all_groups, all_packages)
    )
    wish = Wish(
        good=good,
        bad=bad,
        lockfile=context.bench.lockfile,
        smoke=smoke or context.settings.smoke.command,
        smoke_from=smoke_from or "",
        listed_files=context.settings.smoke.files,
        settings=make_plan(
            context,
            timeout=timeout,
            timeout_is=timeout_is or context.settings.smoke.timeout_is,
            stale=Stale.SKIP,
            python=python if python is not None else context.settings.python,
            selection=selection,
            match=check_match(match),
            any_failure=any_failure,
            **check_repeat(repeat, quorum),
            package_only=package_only,
            suspects=tuple(suspect or ()),
            keep=keep,
        ),
    )
    shape = Output(format=form, path=output, colour=color, is_full=full)
    _start(context, wish, shape, is_verbose=verbose)


def _start(context: Context, wish: "Wish", shape: Output, *, is_verbose: bool) -> None:
    from datetime import UTC, datetime

    from envtrack.bisect.isolate import make_isolation
    from envtrack.bisect.session import clean_up_after_others

    repository = context.repository
    (older, _), (newer, code) = (_read_side(context, name) for name in (wish.good, wish.bad))
    code = code or repository.get_commit("HEAD")
    files = make_isolation(repository, wish, (older, newer), code, now=datetime.now(UTC))
    clean_up_after_others(repository)
    say(
        f"session {files.folder.name}: {older.name} is good, {newer.name} is bad, {wish.lockfile}, "
        f"code of {code.short}"
    )
    run_to_answer(repository, files, shape, is_verbose=is_verbose)


def _read_side(context: Context, name: str) -> "tuple[Side, Oid | None]":
    """A lockfile, and the commit it comes from if it is not a file."""
    from envtrack.bisect.isolate import Side
    from envtrack.files import read_text

    path = context.folder / name
    if path.is_file():
        return Side(name=Path(name).name, text=read_text(path)), None
    commit = context.repository.get_commit(name)
    content = context.repository.read_file(commit, context.bench.lockfile)
    if content is None:
        raise UsageProblem(f"{context.bench.lockfile}: there is no such lockfile at `{name}`")
    return Side(name=name, text=content.decode("utf-8-sig", "backslashreplace")), commit
