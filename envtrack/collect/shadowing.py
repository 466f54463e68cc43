"""Modules that are found before the ones they are named like: Python's own or an installed one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.model.fact import Absent, FactState, Known

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envtrack.collect.interface import Machine

# Modules that are compiled into the interpreter come first whatever the path; nobody means the
# standard library's own tests.
_STANDARD = (
    sys.stdlib_module_names - frozenset(sys.builtin_module_names) - {"test", "idlelib", "this"}
)
_SHOWN = 10


def find_shadowed(machine: Machine, sites: Sequence[Path]) -> FactState:
    """``2: <project>/random.py hides the standard library's; …``; absent: none.

    The project's folder is first on the path of a script that stands in it, then comes what
    ``PYTHONPATH`` names, then the standard library and the environment. A folder counts only with
    an ``__init__.py``: without one, an installed package of that name comes first.

    Cost: a listing of each folder.
    """
    installed = {name for site in sites for name, _ in _modules(site)}
    found = []
    own = {os.path.realpath(site) for site in sites}
    for folder in _folders_before(machine):
        if os.path.realpath(folder) in own:
            continue
        for name, path in sorted(_modules(folder)):
            owner = _owner(name, installed)
            if owner and _is_module(path):
                found.append(f"{path} hides {owner}")
    if not found:
        return Absent()
    more = "; …" if len(found) > _SHOWN else ""
    return Known(f"{len(found)}: {'; '.join(found[:_SHOWN])}{more}")


def _owner(name: str, installed: set[str]) -> str:
    if name in _STANDARD and not name.startswith("_"):
        return "the standard library's"
    return "the environment's" if name in installed else ""


def _folders_before(machine: Machine) -> Iterator[Path]:
    """The project's, then those of ``PYTHONPATH``, each once."""
    entries = machine.environ.get("PYTHONPATH", "").split(os.pathsep)
    folders = [] if machine.environ.get("PYTHONSAFEPATH") else [machine.project]
    for entry in filter(None, entries):
        path = Path(entry)
        is_whole = path.is_absolute()
        folders.append(machine.root / path.relative_to("/") if is_whole else machine.project / path)
    yield from {os.path.realpath(folder): folder for folder in folders}.values()


def _modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """What can be imported from a folder by its name: modules, extensions, folders."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except OSError:
        return
    for name in names:
        stem, _, suffix = name.partition(".")
        if stem.isidentifier() and (not suffix or name.endswith((".py", ".so", ".pyd"))):
            yield stem, folder / name


def _is_module(path: Path) -> bool:
    return bool(path.suffix) or (path / "__init__.py").is_file()
