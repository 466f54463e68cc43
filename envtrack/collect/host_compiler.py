"""Which C and C++ compilers a build would take, by the variables that choose them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.reading import Missing
from envtrack.collect.toolchain_asking import ask_version
from envtrack.collect.versions_said import ToolVersion
from envtrack.model.fact import Absent, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envtrack.collect.interface import Machine

# They pass their work on to the compiler that is named behind them.
_LAUNCHERS = frozenset({"ccache", "sccache", "distcc", "icecc", "env"})
_PLAIN = {"cc": "CC", "cxx": "CXX", "cudahostcxx": "CUDAHOSTCXX"}
# nvcc's manual: appended options come last and win, prepended ones come before NVCC_CCBIN's word.
_NVCC_VARIABLES = ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS")
_OPTIONS = ("-ccbin", "--compiler-bindir")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCompiler:
    """A compiler that a variable names.

    Attributes:
        source: the variable.
        program: what is to be asked: a name or a path.
    """

    source: str
    program: str


def find_named_compilers(environ: Mapping[str, str]) -> dict[str, NamedCompiler]:
    """``cc``, ``cxx``, ``cudahostcxx`` (CMake's), ``nvcc-ccbin``; only those that are named."""
    named = {
        key: NamedCompiler(source=variable, program=program)
        for key, variable in _PLAIN.items()
        if (program := first_program(environ.get(variable, "")))
    }
    if found := _find_ccbin(environ):
        named["nvcc-ccbin"] = found
    return named


def ask_named_compiler(machine: Machine, named: NamedCompiler) -> ToolVersion | Missing:
    """Its version; ``-ccbin`` may name the folder in which a ``gcc`` is."""
    found = ask_version(machine.ask, named.program, "compiler")
    if isinstance(found, ToolVersion) or "/" not in named.program:
        return _say_named(found, named)
    inside = f"{named.program.rstrip('/')}/gcc"
    below = ask_version(machine.ask, inside, "compiler")
    return below if isinstance(below, ToolVersion) else _say_named(found, named)


def _say_named(found: ToolVersion | Missing, named: NamedCompiler) -> ToolVersion | Missing:
    if isinstance(found, Absent):
        return Unknown(f"{named.source} names a program that is not there")
    return found


def _find_ccbin(environ: Mapping[str, str]) -> NamedCompiler | None:
    append, prepend = (_split(environ.get(name, "")) for name in _NVCC_VARIABLES)
    rows = (
        (_NVCC_VARIABLES[0], _read_option(append)),
        (_NVCC_VARIABLES[1], _read_option(prepend)),
        ("NVCC_CCBIN", environ.get("NVCC_CCBIN", "").strip()),
    )
    return next((NamedCompiler(source=name, program=word) for name, word in rows if word), None)


def _read_option(words: list[str]) -> str:
    """The value of the last ``-ccbin X`` or ``-ccbin=X``."""
    value = ""
    for position, word in enumerate(words):
        option, equals, tail = word.partition("=")
        if option not in _OPTIONS:
            continue
        value = tail if equals else (words[position + 1 : position + 2] or [""])[0]
    return value


def first_program(text: str) -> str:
    """The compiler's own word: behind launchers and ``NAME=value``, before its options."""
    for word in _split(text):
        if PurePosixPath(word).name in _LAUNCHERS or "=" in word or word.startswith("-"):
            continue
        return word
    return ""


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is never closed
        return text.split()
