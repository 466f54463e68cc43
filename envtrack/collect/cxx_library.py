"""The libstdc++ that the environment's Python loads, and the newest symbols that it has."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.reading import missing_state
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.interface import Machine

_LIBRARY = "libstdc++.so.6"
_INTERPRETERS = ("bin/python", "bin/python3")
# 64 bits first: an i386 library beside it is for other programs.
_SYSTEM = ("usr/lib64", "lib64", "usr/lib/*-linux-gnu*", "lib/*-linux-gnu*", "usr/lib", "lib")
# The names of symbol versions stand among the first: before the code, after the symbols' names.
_LIMIT_BYTES = 3 * 1024 * 1024
_MARKS = (b"\0GLIBCXX_", b"\0CXXABI_")
_VERSION = re.compile(r"\d+(?:\.\d+)+")


def read_libstdcxx(machine: Machine) -> Iterator[Fact]:
    """``os.libstdcxx.path``, ``.glibcxx`` (``3.4.30``) and ``.cxxabi`` (``1.3.13``).

    Conda's own where Python comes from conda, whose Python carries the way to it; else the first of
    ``LD_LIBRARY_PATH``; else the system's. Absent where there is none, as on a slim image.

    Cost: one file of two megabytes.
    """
    # os.path: where Path raises on a folder that may not be searched, there is no library for us.
    path = next((path for path in _candidates(machine) if os.path.exists(path)), None)  # noqa: PTH110
    states: tuple[FactState, ...] = (Absent(), Absent(), Absent())
    if path is not None:
        states = (Known(_describe(path, machine.root)), *_read_ceilings(path))
    for name, state in zip(("path", "glibcxx", "cxxabi"), states, strict=True):
        yield Fact(name=f"os.libstdcxx.{name}", state=state)


def _describe(path: Path, root: Path) -> str:
    return f"/{path.relative_to(root)}" if path.is_relative_to(root) else str(path)


def _candidates(machine: Machine) -> Iterator[Path]:
    for prefix in _conda_prefixes(machine):
        yield prefix / "lib" / _LIBRARY
    for named in machine.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":"):
        if named.startswith("/"):
            yield machine.root / named.lstrip("/") / _LIBRARY
    for pattern in _SYSTEM:
        # x86_64 comes after i386 in the alphabet, and is what is meant.
        for folder in sorted(machine.root.glob(pattern), reverse=True):
            yield folder / _LIBRARY


def _conda_prefixes(machine: Machine) -> Iterator[Path]:
    """The environment, and the one that its interpreter belongs to, where they are conda's."""
    environment = machine.environment
    if environment is None:
        return
    bases = [Path(os.path.realpath(environment / name)).parents[1] for name in _INTERPRETERS]
    for prefix in (environment, *bases):
        if os.path.isdir(prefix / "conda-meta"):  # noqa: PTH112 - raises never
            yield prefix


def _read_ceilings(path: Path) -> tuple[FactState, FactState]:
    try:
        with path.open("rb") as source:
            raw = source.read(_LIMIT_BYTES)
    except OSError as error:
        state = missing_state(error)
        return state, state
    glibcxx, cxxabi = (_newest(list(_find_versions(raw, mark))) for mark in _MARKS)
    return glibcxx, cxxabi


def _find_versions(raw: bytes, mark: bytes) -> Iterator[str]:
    """Each version that follows a mark; by `bytes.find`, which takes a third of a regex's time."""
    at = raw.find(mark)
    while at >= 0:
        end = raw.find(b"\0", at + len(mark))
        version = raw[at + len(mark) : end].decode("ascii", "replace")
        if _VERSION.fullmatch(version):
            yield version
        at = raw.find(mark, end) if end >= 0 else -1


def _newest(versions: list[str]) -> FactState:
    if not versions:
        return Unknown("the library does not say it")
    return Known(max(versions, key=lambda text: [int(part) for part in text.split(".")]))
