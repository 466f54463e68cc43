"""Where a shared library that could not be loaded lies after all; read, never loaded.

``ldd`` runs the program that it is asked about (ldd(1), "Security"); here names of files are
looked up, and a file's first bytes show whether it is a library for this machine (elf(5)).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from envtrack.collect.below_root import describe_below, list_folder, locate, names_in
from envtrack.collect.elf import find_section
from envtrack.collect.interface import Machine
from envtrack.collect.layout import Layout, read_layout, site_folders
from envtrack.collect.loader_path import read_loader_path
from envtrack.collect.places import describe_place
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown

_PREFIX: Final = "evidence.library"
_STEM: Final = re.compile(r"(?P<stem>[\w+-]+?)(?:-[0-9a-f]{8})?\.so\b")
# Where libraries are installed that no configuration of the loader need name.
_USUAL: Final = ("/usr/local/lib", "/usr/local/cuda/lib64", "/opt/conda/lib")
_TOOLKITS: Final = ("/usr/local", "/opt/nvidia", "/opt")
_INSIDE: Final = ("", "lib", "lib64", ".libs", ".dylibs")


def find_library(machine: Machine, name: str) -> list[Fact]:
    """What is known of a library's name: in the environment, in the system, in another version.

    Args:
        machine: where to look.
        name: as the loader said it: ``libcudart.so.11.0``.

    Returns:
        ``evidence.library.environment``, ``.loader`` (found as the loader is set up), ``.system``
        (elsewhere in the system), ``.other-version``, ``.nowhere`` (true or false).

    Cost: one listing a folder, some hundred folders.
    """
    name = Path(name).name
    found = _STEM.match(name)
    if found is None:
        return []
    layout = read_layout(machine.environment)
    inside = list(_environment_folders(layout)) if isinstance(layout, Layout) else []
    by_loader = [one.place for one in read_loader_path(machine)]
    others = [place for place in _system_folders(machine) if place not in by_loader]
    states: dict[str, FactState] = {
        "environment": _find_in(inside, name, machine),
        "loader": _find_in(by_loader, name, machine),
        "system": _find_in(others, name, machine),
        "other-version": _find_other((*inside, *by_loader, *others), found["stem"], name, machine),
    }
    is_nowhere = all(not isinstance(state, Known) for state in states.values())
    states["nowhere"] = Known("true" if is_nowhere else "false")
    return [Fact(name=f"{_PREFIX}.{key}", state=state) for key, state in states.items()]


def _find_in(folders: list[Path], name: str, machine: Machine) -> FactState:
    for folder in folders:
        path = folder / name
        if path.is_file():
            return Known(f"{_describe(path, machine)}{_say_kind(path)}")
    return Absent()


def _find_other(folders: tuple[Path, ...], stem: str, name: str, machine: Machine) -> FactState:
    for folder in folders:
        for other in _names(folder):
            if other != name and other.startswith(f"{stem}.so"):
                return Known(_describe(folder / other, machine))
    return Absent()


def _say_kind(path: Path) -> str:
    """What is to be said of a file that has the name and is no library for this machine."""
    section = find_section(path, ".dynsym")
    return f" ({section.reason})" if isinstance(section, Unknown) else ""


def _describe(path: Path, machine: Machine) -> str:
    if machine.root != Path("/"):
        return describe_below(machine.root, path)
    if machine.environment is not None and path.is_relative_to(machine.environment):
        return f"<environment>/{path.relative_to(machine.environment)}"
    return describe_place(path, machine)


def _environment_folders(layout: Layout) -> Iterator[Path]:
    """Where wheels put libraries: beside their modules, in ``lib``, in ``NAME.libs``."""
    for site in site_folders(layout):
        yield site
        for name in _names(site):
            yield from (site / name / inner for inner in _INSIDE)
        for part in _names(site / "nvidia"):
            yield site / "nvidia" / part / "lib"
    yield layout.folder / "lib"


def _system_folders(machine: Machine) -> Iterator[Path]:
    for path in _USUAL:
        yield locate(machine.root, path)
    for parent in _TOOLKITS:
        for name in names_in(machine.root, parent):
            for inner in ("lib64", "lib", "targets/x86_64-linux/lib", "compat"):
                yield locate(machine.root, f"{parent}/{name}/{inner}")


def _names(folder: Path) -> tuple[str, ...]:
    names = list_folder(folder)
    return names if isinstance(names, tuple) else ()
