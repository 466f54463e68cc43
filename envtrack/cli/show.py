"""``envtrack show``: one recorded snapshot."""

from typing import Annotated

from envtrack.cli.context import Place, open_context
from envtrack.cli.grammar import Argument
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    FullOption,
    LockfileOption,
    MachineOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out, say
from envtrack.errors import UsageProblem
from envtrack.model.oid import Oid
from envtrack.model.snapshot import Snapshot
from envtrack.record.bench import Bench


def show(
    revision: Annotated[
        str, Argument(metavar="REV", help="The revision whose record is shown.")
    ] = "HEAD",
    *,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    machine: MachineOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Show the snapshot that is recorded beside a revision's lockfile."""
    from envtrack.record.revisions import is_beside

    bench = open_context(Place(directory=directory, lockfile=lockfile, machine=machine)).bench
    commit = bench.repository.get_commit(revision)
    snapshot = _get_snapshot(bench, commit, revision)
    if not is_beside(bench.repository, commit, snapshot, bench.lockfile):
        say(
            f"{revision} is not recorded: this record of {snapshot.taken_at} was taken with "
            f"another {bench.lockfile}"
        )
    put_out_snapshot(snapshot, Output(format=form, path=output, colour=color, is_full=full))


def put_out_snapshot(snapshot: Snapshot, output: Output) -> None:
    """Writes a snapshot where it is wanted."""
    from envtrack.report.snapshot import (
        render_snapshot_json,
        render_snapshot_markdown,
        render_snapshot_text,
    )

    rendering = Rendering(
        text=lambda look: render_snapshot_text(snapshot, look),
        json=lambda: render_snapshot_json(snapshot),
        markdown=lambda: render_snapshot_markdown(snapshot),
    )
    put_out(rendering, output)


def _get_snapshot(bench: Bench, commit: Oid, revision: str) -> Snapshot:
    from envtrack.record.revisions import find_own_snapshot, list_machines

    found = find_own_snapshot(
        bench.repository, commit, lockfile=bench.lockfile, machine=bench.machine
    )
    if found is not None:
        return found
    others = list_machines(bench.repository, commit, bench.lockfile)
    hint = "`envtrack snapshot --save` takes one now; `envtrack hooks install` records each commit"
    if others:
        hint = f"recorded there: {', '.join(others)}; `--machine {others[0]}` shows it"
    raise UsageProblem(
        f"{revision} ({commit.short}) holds no record of {bench.machine} beside {bench.lockfile}",
        hint=hint,
    )
