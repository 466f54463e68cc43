"""The options that many commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

from envtrack.cli.grammar import option
from envtrack.cli.output import Colour, Format

_WHERE = "Where"
_RESULT = "Result"

DirectoryOption: TypeAlias = Annotated[
    Path | None,
    option(
        "--directory",
        "-C",
        metavar="FOLDER",
        help="Run as if started in this folder.",
        panel=_WHERE,
    ),
]
LockfileOption: TypeAlias = Annotated[
    Path | None,
    option(
        "--lockfile",
        "-l",
        metavar="PATH",
        help="The lockfile that is meant; by default the one beside or above the current folder, "
        "or the only one.",
        panel=_WHERE,
    ),
]
MachineOption: TypeAlias = Annotated[
    str | None,
    option(
        "--machine",
        metavar="NAME",
        help="The machine that is meant; by default this one (ENVTRACK_MACHINE, or the name in "
        "the configuration, or a pseudonym).",
        panel=_WHERE,
    ),
]
FormatOption: TypeAlias = Annotated[
    Format,
    option("--format", "-f", help="The form of the result.", panel=_RESULT),
]
OutputOption: TypeAlias = Annotated[
    Path | None,
    option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the result to this file instead of stdout.",
        panel=_RESULT,
    ),
]
ColourOption: TypeAlias = Annotated[
    Colour,
    option(
        "--color",
        help="When to colour text; auto: on a terminal, unless NO_COLOR is set.",
        panel=_RESULT,
    ),
]
FullOption: TypeAlias = Annotated[
    bool, option("--full", help="Show long lists whole.", panel=_RESULT)
]
