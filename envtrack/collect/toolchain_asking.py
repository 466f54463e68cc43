"""Asks the programs of the toolchain, and tells their answers apart."""

from __future__ import annotations

import signal
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from envtrack.collect.interface import Said
from envtrack.collect.reading import Missing
from envtrack.collect.versions_said import ToolVersion, parse_tool_version
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from envtrack.collect.interface import Asks

_T = TypeVar("_T")
_NOT_FOUND = 127  # what a shell ends with, and so pyenv's and asdf's stand-ins for a program


def ask_version(ask: Asks, program: str, form: str) -> ToolVersion | Missing:
    """What a program says of its version."""
    return ask_for(ask, (program, "--version"), lambda text: parse_tool_version(form, text))


def ask_for(ask: Asks, command: Sequence[str], parse: Callable[[str], _T | None]) -> _T | Missing:
    """The answer's meaning, from stdout or else stderr, whatever the exit code.

    Only where it has none does the exit code say why.
    """
    said = ask(command)
    if not isinstance(said, Said):
        return said
    for text in (said.out, said.err):
        if (meaning := parse(text)) is not None:
            return meaning
    name = PurePosixPath(command[0]).name
    return Absent() if said.code == _NOT_FOUND else Unknown(describe_silence(said, name))


def describe_silence(said: Said, name: str) -> str:
    """Why an answer has no meaning; never its text, which may hold anything."""
    if said.code < 0:
        return f"`{name}` {describe_death(-said.code)}"
    if said.code > 0:
        return f"`{name}` ended with code {said.code}"
    if not (said.out.strip() or said.err.strip()):
        return f"`{name}` printed nothing"
    return f"`{name}` printed something else than its version"


def describe_death(number: int) -> str:
    """``died of SIGSEGV``."""
    try:
        return f"died of {signal.Signals(number).name}"
    except ValueError:
        return f"died of signal {number}"


def version_states(found: ToolVersion | Missing, *, has_kinds: bool) -> dict[str, FactState]:
    """``version``, ``build`` and, of tools that several makers offer, ``kind``."""
    if not isinstance(found, ToolVersion):
        return {"version": found}
    states: dict[str, FactState] = {"version": Known(found.version), "build": Known(found.build)}
    return {**states, "kind": Known(found.kind)} if has_kinds else states
