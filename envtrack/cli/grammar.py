"""How a command's parameters are declared: the one grammar that both readers of it go by.

Typer's own declarations would cost every command the import of Typer, some 65 ms, which is most of
what a small command takes. So commands say their parameters in these values; `envtrack.cli.app`
makes Typer's of them for help, completion and every line that is wrong or unusual, and
`envtrack.cli.quick` reads the plain lines.
"""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """An option, inside `Annotated[…]`.

    Attributes:
        names: its spellings, the long one first.
        help: what it does.
        metavar: what stands for its value in the help; empty: by its type.
        panel: the heading under which the help lists it; empty: the general one.
    """

    names: tuple[str, ...]
    help: str = ""
    metavar: str = ""
    panel: str = ""


def option(*names: str, help: str = "", metavar: str = "", panel: str = "") -> Option:  # noqa: A002 - as users read it
    """The declaration of an option; see `Option`."""
    return Option(names, help, metavar, panel)


class Argument(NamedTuple):
    """A positional argument, inside `Annotated[…]`.

    Attributes:
        metavar: how the help calls it.
        help: what it is.
        default: the default in words; empty: none is shown.
    """

    metavar: str
    help: str = ""
    default: str = ""
