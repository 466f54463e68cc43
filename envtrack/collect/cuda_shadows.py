"""Copies of CUDA's libraries on the loader's path that could be taken for the environment's own.

``LD_LIBRARY_PATH`` goes before the RUNPATH by which wheels find each other (ld.so(8)), so that what
stands there is taken; the configured and the built-in folders come after it and matter only to what
is loaded by its bare name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.collect.below_root import list_folder
from envtrack.collect.layout import Layout, site_folders
from envtrack.collect.loader_path import LoaderFolder, read_loader_path
from envtrack.model.fact import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from envtrack.collect.interface import Machine

_LIBRARIES = {
    "cudart": "cudart",
    "cublas": "cublas",
    "cublasLt": "cublas",
    "cudnn": "cudnn",
    "nccl": "nccl",
    "nvrtc": "nvrtc",
    "cufft": "cufft",
    "curand": "curand",
    "cusolver": "cusolver",
    "cusparse": "cusparse",
    "cusparseLt": "cusparselt",
    "nvshmem_host": "nvshmem",
    "nvJitLink": "nvjitlink",
    "nvToolsExt": "nvtx",
    "cupti": "cupti",
}
# As programs ask for it: libcudart.so.12, libcudart.so.11.0; not the file libcudart.so.12.4.127.
_SONAME = re.compile(r"lib(?P<name>\w+)\.so\.\d+(?:\.\d)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """One copy.

    Attributes:
        component: ``cudart``.
        file: where it lies, ``/usr/local/cuda/lib64/libcudart.so.12``.
        by: what leads the loader there (`LoaderFolder`).
    """

    component: str
    file: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadows:
    """What was found.

    Attributes:
        found: of each component the copy that comes first.
        unread: folders that could not be looked at, each with its reason.
    """

    found: tuple[Shadow, ...]
    unread: tuple[str, ...]


def find_shadows(machine: Machine, layout: Layout) -> Shadows:
    """Libraries outside the environment that have the very name of one inside it.

    A ``libcudart.so.11.0`` does not stand in the way of a ``libcudart.so.12``.

    Cost: one listing a folder.
    """
    own = _own_libraries(layout)
    first: dict[str, Shadow] = {}
    unread = []
    for folder in read_loader_path(machine) if own else ():
        if _is_inside(folder, layout):
            continue
        names = list_folder(folder.place)
        if isinstance(names, Unknown):
            unread.append(f"{folder.path}: {names.reason}")
        for name in names if isinstance(names, tuple) else ():
            if component := own.get(name):
                shadow = Shadow(component=component, file=f"{folder.path}/{name}", by=folder.by)
                first.setdefault(component, shadow)
    return Shadows(found=tuple(first.values()), unread=tuple(unread))


def _own_libraries(layout: Layout) -> dict[str, str]:
    """File names of the environment's own, and the component of each."""
    own = {}
    for folder in _library_folders(layout):
        for name in _names_of(folder):
            found = _SONAME.fullmatch(name)
            if found and found["name"] in _LIBRARIES:
                own[name] = _LIBRARIES[found["name"]]
    return own


def _library_folders(layout: Layout) -> Iterator[Path]:
    """Of wheels ``nvidia/cudnn/lib``, and from CUDA 13 on one ``nvidia/cu13/lib`` for most."""
    for site in site_folders(layout):
        for name in _names_of(site / "nvidia"):
            yield site / "nvidia" / name / "lib"
    if layout.is_conda:
        yield layout.folder / "lib"


def _names_of(folder: Path) -> tuple[str, ...]:
    names = list_folder(folder)
    return names if isinstance(names, tuple) else ()


def _is_inside(folder: LoaderFolder, layout: Layout) -> bool:
    places = {str(layout.folder.absolute()), os.path.realpath(layout.folder)}
    return any(f"{folder.path}/".startswith(f"{place}/") for place in places)
