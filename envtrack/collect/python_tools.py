"""The versions of the tools that change environments: pip, uv and conda."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.interface import Said
from envtrack.collect.layout import Layout, site_folders
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.interface import Machine
    from envtrack.collect.reading import Missing

_UV = re.compile(r"uv (\d\S*)")
_PIP = re.compile(r"pip-(?P<version>[^-]+)\.dist-info", re.IGNORECASE)
_CONDA = re.compile(r"conda-(?P<version>\d[^-]*)-[^-]+\.json")


def read_tools(machine: Machine, layout: Layout | Missing) -> Iterator[tuple[str, FactState]]:
    """``tool.pip``, ``tool.uv`` and ``tool.conda``; only uv is started: it takes ten milliseconds.

    pip is the one of the environment, uv the one on ``PATH`` (``python.uv`` is the one that made
    the environment), conda the one whose base the environment belongs to, or the active one.
    """
    yield "tool.pip", _find_pip(layout) if isinstance(layout, Layout) else Absent()
    yield "tool.uv", _ask_uv(machine)
    yield "tool.conda", _find_conda(machine)


def _find_pip(layout: Layout) -> FactState:
    for folder in site_folders(layout):
        if version := _find_name(folder, _PIP):
            return Known(version)
    return Absent()


def _ask_uv(machine: Machine) -> FactState:
    said = machine.ask(["uv", "--version"])
    if not isinstance(said, Said):
        return said
    found = _UV.match(said.out)
    return Known(found[1]) if found else Unknown("`uv` does not say its version")


def _find_conda(machine: Machine) -> FactState:
    """By the package `conda` of a base: conda itself is mostly a shell's function, and slow."""
    for base in _conda_bases(machine):
        if version := _find_name(base / "conda-meta", _CONDA):
            return Known(version)
    return Absent()


def _conda_bases(machine: Machine) -> Iterator[Path]:
    environment = machine.environment
    if environment is not None:
        yield environment
        if environment.parent.name == "envs":
            yield environment.parent.parent
    program = machine.environ.get("CONDA_EXE", "")
    if program.startswith("/"):
        # <base>/bin/conda, or <base>/condabin/conda.
        yield Path(program).parent.parent


def _find_name(folder: Path, pattern: re.Pattern[str]) -> str:
    """The version in the first name that fits; nothing where there is none to be seen."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return ""
    found = next((match for match in map(pattern.fullmatch, names) if match), None)
    return found["version"] if found else ""
