"""``envtrack machines``: the recorded machines side by side."""

from typing import Annotated

from envtrack.cli.context import Place, open_context
from envtrack.cli.grammar import Argument
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    LockfileOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out


def machines(
    revision: Annotated[
        str, Argument(metavar="REV", help="The revision up to which records count.")
    ] = "HEAD",
    *,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Show the recorded machines side by side: kernel, driver, Python, lockfile.

    Of each machine the newest record is shown, from the commits and from the notes. What another
    machine has in a newer version is marked as older; a record that was taken with an earlier
    state of the lockfile is as many changes behind as the lockfile has had since.
    """
    from envtrack.record.fleet import read_fleet
    from envtrack.report.machines import (
        render_machines_json,
        render_machines_markdown,
        render_machines_text,
    )

    bench = open_context(Place(directory=directory, lockfile=lockfile)).bench
    fleet = read_fleet(bench.repository, revision, lockfile=bench.lockfile, here=bench.here)
    rendering = Rendering(
        text=lambda look: render_machines_text(fleet, look),
        json=lambda: render_machines_json(fleet),
        markdown=lambda: render_machines_markdown(fleet),
    )
    put_out(rendering, Output(format=form, path=output, colour=color))
