"""``envtrack triage``: which layer failed, and why."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Place
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
from envtrack.cli.output import Colour, Format, Output, put_out
from envtrack.cli.triage_reading import find_root, look, read_book, render
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.triage.findings import Triage

_CHUNK_BYTES = 1 << 20
_STDIN = "-"


# Longer than other functions: each option is a parameter.
def triage(
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="[FILE | -- COMMAND…]",
            help="The log; `-`, or none: stdin. After `--`: a command that is run, and read while "
            "it runs.",
        ),
    ] = None,
    *,
    run: Annotated[
        bool, option("--run", help="What is named is a command, and not a file; `--` says it too.")
    ] = False,
    no_probe: Annotated[
        bool, option("--no-probe", help="Read the log only; look at nothing on this machine.")
    ] = False,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    machine: MachineOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Read a log and say which layer failed, with the evidence on this machine.

    The first cause stands first, apart from what followed. Hypotheses come back supported, refuted
    or open; evidence only reads. Rules of the repository's own: `.envtrack/triage/*.yaml`.

    Ends with 0; with a command, as that command ends, its signal included; what is found then goes
    to stderr.
    """
    place = Place(directory=directory, lockfile=lockfile, machine=machine)
    wanted = Output(format=form, path=output, colour=color, is_full=full)
    if run:
        from envtrack.cli.triage_command import run_and_triage

        run_and_triage(words or [], place, wanted, is_probed=not no_probe)
        return
    if len(words or []) > 1:
        raise UsageProblem(
            "one log at a time",
            hint="`cat FILES | envtrack triage -`; a command stands after `--`",
        )
    name = next(iter(words or []), _STDIN)
    put_out(render(read_log(name, place, is_probed=not no_probe)), wanted)


def read_log(name: str, place: Place, *, is_probed: bool) -> "Triage":
    """The errors of a log, with the evidence.

    Args:
        name: its path, or `-`.
        place: where relative paths start, and which repository is meant.
        is_probed: whether this machine may be looked at.

    Raises:
        UsageProblem: it can't be read.
        ConfigProblem: a rule of the repository says what it may not say.
    """
    from envtrack.triage.root import triage_log

    book = read_book(find_root(place))
    source = "stdin" if name == _STDIN else name
    found = triage_log(_read_chunks(name, place.folder), book, source=source)
    return look(found, place, is_probed=is_probed)


def _read_chunks(name: str, folder: Path) -> Iterator[bytes]:
    if name == _STDIN:
        yield from iter(lambda: os.read(sys.stdin.fileno(), _CHUNK_BYTES), b"")
        return
    path = folder / name
    try:
        with path.open("rb") as source:
            yield from iter(lambda: source.read(_CHUNK_BYTES), b"")
    except OSError as error:
        raise UsageProblem(
            f"{name}: can't be read: {error.strerror}",
            hint="`envtrack triage -- COMMAND` runs a command and reads what it prints",
        ) from error
