"""The user-space half of NVIDIA's driver: which ``libcuda`` a program would load."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.collect.below_root import describe_below, exists, locate, names_in
from envtrack.collect.loader_path import LoaderFolder, place_folders
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

CUDA = "libcuda.so.1"
NVML = "libnvidia-ml.so.1"
# A driver's version begins with its branch, of three digits: Jetsons and WSL have libcuda.so.1.1.
_VERSION = re.compile(r".+\.so\.(\d{3,}(?:\.\d+){1,2})")
# Beside the loader's own: WSL, NixOS, Google's nodes, containers of the older runtime.
_USUAL = (
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib/nvidia",
)
_TOOLKIT = re.compile(r"cuda(?:-(\d+(?:\.\d+)?))?")
# NGC images keep the libraries in lib.real and link them as lib when they are to be used.
_COMPAT_FOLDERS = ("compat", "compat/lib", "compat/lib.real", "compat/orin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """NVIDIA's forward-compatibility packages: a newer ``libcuda`` for an older module.

    Attributes:
        packages: what is installed: ``12.4: 550.54.15, 13.0: 580.65.06``.
        version: of the one that the loader would take; absent if it takes the driver's own.
        by: what puts it there: ``LD_LIBRARY_PATH`` or a file of ``/etc/ld.so.conf.d``.
    """

    packages: FactState
    version: FactState
    by: FactState


def find_library_version(root: Path, folders: Sequence[LoaderFolder], name: str) -> FactState:
    """The version of the driver's own copy, by the name of the file that the first link leads to.

    Absent: there is none. Unknown: its name does not tell, or the link leads to nothing.
    """
    usual = place_folders(root, ((path, "usual place") for path in _USUAL))
    for folder in (*folders, *usual):
        if not _is_compat(folder) and os.path.lexists(folder.place / name):
            return _read_version(root, folder, name)
    return Absent()


def read_compatibility(root: Path, folders: Sequence[LoaderFolder]) -> Compatibility:
    """Which packages there are, and whether a program started now would get one of them."""
    packages = ", ".join(f"{cuda}: {version}" for cuda, version in _find_packages(root))
    taken = next((one for one in folders if os.path.lexists(one.place / CUDA)), None)
    is_used = taken is not None and _is_compat(taken)
    return Compatibility(
        packages=Known(packages) if packages else Absent(),
        version=_read_version(root, taken, CUDA) if taken is not None and is_used else Absent(),
        by=Known(taken.by) if taken is not None and is_used else Absent(),
    )


def _is_compat(folder: LoaderFolder) -> bool:
    return "compat" in folder.path.split("/")


def _read_version(root: Path, folder: LoaderFolder, name: str) -> FactState:
    target = locate(root, describe_below(root, folder.place / name))
    if not exists(target):
        return Unknown(f"{name} is a link to {target.name}, which is not there")
    found = _VERSION.fullmatch(target.name)
    return Known(found[1]) if found else Unknown(f"{target.name} has no version in its name")


def _find_packages(root: Path) -> Iterator[tuple[str, str]]:
    """CUDA release and driver version of each, once: ``/usr/local/cuda`` is mostly a link."""
    seen = set()
    for name in names_in(root, "/usr/local"):
        if not _TOOLKIT.fullmatch(name):
            continue
        toolkit = locate(root, f"/usr/local/{name}")
        for part in _COMPAT_FOLDERS:
            for file in names_in(root, f"{describe_below(root, toolkit)}/{part}"):
                found = _VERSION.fullmatch(file)
                release = toolkit.name.removeprefix("cuda").lstrip("-") or "cuda"
                if found and file.startswith("libcuda.so.") and (release, found[1]) not in seen:
                    seen.add((release, found[1]))
                    yield release, found[1]
