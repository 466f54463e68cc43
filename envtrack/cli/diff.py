"""``envtrack diff``: what changed between two records."""

from typing import TYPE_CHECKING, Annotated, Any

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
from envtrack.errors import UsageProblem
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from envtrack.compare.records import Record
    from envtrack.model.comparison import Comparison
    from envtrack.model.layer import LayerRules
    from envtrack.model.suspect import Suspicion


# Longer than other functions: each option is a parameter.
def diff(
    before: Annotated[
        str | None,
        Argument(
            metavar="A",
            help="A revision, REVISION@MACHINE, a snapshot file, a lockfile, or `now`; by default "
            "the last recorded state.",
        ),
    ] = None,
    after: Annotated[
        str | None,
        Argument(
            metavar="B",
            help="The same; by default `now`: this machine with the working tree's lockfile.",
        ),
    ] = None,
    *,
    layer: Annotated[
        Layer | None,
        option(
            "--layer",
            "--only",
            metavar="NAME",
            help="Only the changes of one layer, such as driver or packages.",
        ),
    ] = None,
    package: Annotated[
        str | None,
        option("--package", metavar="GLOB", help="Only packages of such names: torch, 'nvidia-*'."),
    ] = None,
    exit_code: Annotated[
        bool, option("--exit-code", help="End with 1 if something differs, else with 0.")
    ] = False,
    selected: Annotated[
        bool,
        option(
            "--selected",
            help="Only what the lockfiles install on this machine, with the configured extras and "
            "groups.",
        ),
    ] = False,
    oneline: Annotated[
        bool, option("--oneline", help="One line of text, as for a commit's message.")
    ] = False,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    machine: MachineOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Show what changed in the environment, layer by layer from the ground up.

    Packages are compared by their lockfiles: a root change was asked for, a forced one
    follows from a root change. Everything below them is compared by the recorded snapshots.

    Without arguments the last recorded state is compared with this machine now. Where smoke tests
    said good on one side and bad on the other, the changes are ranked as suspects, and the last
    line is the experiment that tells most.
    """
    place = Place(directory=directory, lockfile=lockfile, machine=machine)
    comparison, suspicion = _compare(before, after, place, layer, is_selected=selected)
    if package is not None:
        comparison, suspicion = _choose(comparison, package), None
    shape = Output(format=form, path=output, colour=color, is_full=full)
    _put_out(comparison, suspicion, shape, is_line=oneline)
    if exit_code and comparison.differs:
        raise SystemExit(1)


def _compare(
    before: str | None,
    after: str | None,
    place: Place,
    layer: Layer | None,
    *,
    is_selected: bool,
) -> "tuple[Comparison, Suspicion | None]":
    from envtrack.compare.records import Part, compare_records
    from envtrack.record.file_operands import NOW

    older, newer, rules = _read_sides(before, after or NOW, place)
    if older.lock is newer.lock is Part.MISSING:
        raise UsageProblem(
            f"neither {older.name} nor {newer.name} has this lockfile",
            hint="`--lockfile PATH` names the one that is meant",
        )
    wanted = _find_selected(place) if is_selected else {}
    comparison = compare_records(older, newer, layer=layer, layer_rules=rules, **wanted)
    if layer is not None or older.verdict is newer.verdict is None:
        return comparison, None
    from envtrack.compare.suspects import find_suspects

    return comparison, find_suspects(older, newer, comparison)


def _find_selected(place: Place) -> "dict[str, Any]":
    """What of a lockfile is installed, and where: the arguments of `compare_records`."""
    from envtrack.probe.identity import add_default_groups
    from envtrack.uv import find_interpreter, find_uv

    context = open_context(place)
    environ = dict(context.repository.environ)
    folder = context.bench.lockfile_folder
    request = context.settings.python
    found = find_interpreter(find_uv(environ), folder, request=request, environ=environ)
    if found is None:
        raise UsageProblem(
            f"{folder}: uv finds no Python that the project may use",
            hint="`uv python install`, or `python:` in .envtrack/config.yaml",
        )
    selection = add_default_groups(context.settings.selection, folder)
    return {"selection": selection, "environment": found.markers}


def _choose(comparison: "Comparison", package: str) -> "Comparison":
    from fnmatch import fnmatchcase

    chosen = tuple(one for one in comparison.changes if fnmatchcase(one.name, package))
    return comparison._replace(changes=chosen, apart=())


def _read_sides(
    before: str | None, after: str, place: Place
) -> "tuple[Record, Record, LayerRules]":
    from envtrack.record.file_operands import is_file_operand, read_file_operand

    folder = place.folder
    if before and is_file_operand(before, folder) and is_file_operand(after, folder):
        # Two files need no repository.
        return read_file_operand(before, folder), read_file_operand(after, folder), ()
    from envtrack.record.operands import read_operand

    context = open_context(place)
    older = _read_older(before, context)
    newer = read_operand(after, context.bench, context.folder)
    return older, newer, context.settings.layers


def _read_older(before: str | None, context: Context) -> "Record":
    from envtrack.record.operands import read_last, read_operand

    if before is None:
        return read_last(context.bench)
    return read_operand(before, context.bench, context.folder)


def _put_out(
    comparison: "Comparison", suspicion: "Suspicion | None", output: Output, *, is_line: bool
) -> None:
    from envtrack.report.comparison import (
        render_comparison_json,
        render_comparison_text,
    )

    if is_line:
        from envtrack.report.line import render_comparison_line
        from envtrack.report.plain import show_plain

        line = f"{show_plain(render_comparison_line(comparison))}\n"
        put_out(Rendering.same(line), output)
        return

    def render_markdown() -> str:
        from envtrack.report.comparison_markdown import render_comparison_markdown

        return render_comparison_markdown(comparison, suspicion, is_full=output.is_full)

    rendering = Rendering(
        text=lambda look: render_comparison_text(comparison, look, suspicion),
        json=lambda: render_comparison_json(comparison, suspicion),
        markdown=render_markdown,
    )
    put_out(rendering, output)
