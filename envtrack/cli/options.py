"""The options that many commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from envtrack.cli.output import Colour, Format

_WHERE = "Where"
_RESULT = "Result"

DirectoryOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--directory",
        "-C",
        metavar="FOLDER",
        help="Run as if started in this folder.",
        rich_help_panel=_WHERE,
    ),
]
LockfileOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--lockfile",
        "-l",
        metavar="PATH",
        help="The lockfile that is meant; by default the one beside or above the current folder, "
        "or the only one.",
        rich_help_panel=_WHERE,
    ),
]
MachineOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--machine",
        metavar="NAME",
        help="The machine that is meant; by default this one (ENVTRACK_MACHINE, or the name in "
        "the configuration, or a pseudonym).",
        rich_help_panel=_WHERE,
    ),
]
FormatOption: TypeAlias = Annotated[
    Format,
    typer.Option("--format", "-f", help="The form of the result.", rich_help_panel=_RESULT),
]
OutputOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the result to this file instead of stdout.",
        rich_help_panel=_RESULT,
    ),
]
ColourOption: TypeAlias = Annotated[
    Colour,
    typer.Option(
        "--color",
        help="When to colour text; auto: on a terminal, unless NO_COLOR is set.",
        rich_help_panel=_RESULT,
    ),
]
FullOption: TypeAlias = Annotated[
    bool, typer.Option("--full", help="Show long lists whole.", rich_help_panel=_RESULT)
]
