"""``envtrack log``: the timeline of a lockfile."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Context, Place, open_context
from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    FullOption,
    LockfileOption,
    MachineOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out
from envtrack.errors import CommandFailed, UsageProblem
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from envtrack.model.comparison import Change
    from envtrack.model.timeline import Timeline


# Longer than other functions: each option is a parameter.
def log(
    revisions: Annotated[
        list[str] | None,
        Argument("REVISION…", "What `git log` takes: HEAD~20..HEAD, a branch; by default HEAD."),
    ] = None,
    *,
    package: Annotated[
        str | None,
        option(
            "--package",
            metavar="GLOB",
            help="Only commits that moved such a package: torch, 'nvidia-*'.",
        ),
    ] = None,
    layer: Annotated[
        Layer | None,
        option(
            "--layer",
            metavar="NAME",
            help="Only commits that moved this layer, such as driver or framework.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        option("--since", metavar="DATE", help="Only commits after this date, as git reads dates."),
    ] = None,
    first_parent: Annotated[
        bool, option("--first-parent", help="Follow only the first parent of merges.")
    ] = False,
    number: Annotated[
        int | None, option("--max-count", "-n", metavar="N", help="At most so many commits.")
    ] = None,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    machine: MachineOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Show what moved in each commit of the lockfile, newest first.

    Packages by the lockfile itself, over its renames; kernel, driver and the other layers by the
    machine's own records beside it. Verdicts of smoke tests stand with the commits they are about.
    """
    options = [f"--since={since}"] if since else []
    options += ["--first-parent"] if first_parent else []
    options += [f"--max-count={number}"] if number is not None else []
    context = open_context(Place(directory=directory, lockfile=lockfile, machine=machine))
    timeline = _read(context, tuple(revisions or ("HEAD",)), options, _choose(package, layer))
    _put_out(timeline, Output(format=form, path=output, colour=color, is_full=full))


def _read(
    context: Context,
    revisions: tuple[str, ...],
    options: Sequence[str],
    wanted: "Callable[[Change], bool] | None",
) -> "Timeline":
    from envtrack.record.timeline import Scope, read_timeline

    for revision in revisions:
        if revision.startswith("-"):
            raise UsageProblem(f"`{revision}` is no revision")
    scope = Scope(
        lockfile=context.bench.lockfile,
        machine=context.bench.machine,
        revisions=revisions,
        options=tuple(options),
        layer_rules=context.settings.layers,
    )
    try:
        return read_timeline(context.repository, scope, wanted=wanted)
    except CommandFailed as error:
        raise UsageProblem(
            f"{' '.join(revisions)}: git knows no such history",
            hint="`git log --oneline` lists commits",
        ) from error


def _choose(package: str | None, layer: Layer | None) -> "Callable[[Change], bool] | None":
    if package is None and layer is None:
        return None

    def is_wanted(change: "Change") -> bool:
        is_named = package is None or fnmatchcase(change.name, package)
        return is_named and (layer is None or change.layer is layer)

    return is_wanted


def _put_out(timeline: "Timeline", output: Output) -> None:
    from envtrack.report.timeline import (
        render_timeline_json,
        render_timeline_markdown,
        render_timeline_text,
    )

    rendering = Rendering(
        text=lambda look: render_timeline_text(timeline, look),
        json=lambda: render_timeline_json(timeline),
        markdown=lambda: render_timeline_markdown(timeline),
    )
    put_out(rendering, output)
