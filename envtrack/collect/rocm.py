"""AMD's driver and ROCm, which is its user-space half."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.below_root import is_there, locate, names_in
from envtrack.collect.reading import read_text
from envtrack.collect.version_order import version_numbers
from envtrack.model.fact import Absent, FactState, Known

if TYPE_CHECKING:
    from pathlib import Path

_FOLDER = re.compile(r"rocm(?:-\d+(?:\.\d+)*)?")


def read_rocm(root: Path) -> dict[str, FactState]:
    """Facts by what follows ``driver.``.

    ``amd.version`` is absent for the module that comes with the kernel: only AMD's own package has
    a version of its own. ``rocm.version`` is that of ``/opt/rocm``, ``rocm.installed`` those of all
    ``/opt/rocm-…``; ``amd.kfd`` says whether there is the device that compute goes through.
    """
    versions = dict(_find_versions(root))
    current: FactState = Absent()
    if is_there(root, "/opt/rocm"):
        current = _read_version(root, "/opt/rocm")
    elif len(versions) == 1:
        current = next(iter(versions.values()))
    known = {str(state.value) for state in versions.values() if isinstance(state, Known)}
    version = read_text(locate(root, "/sys/module/amdgpu/version"))
    loaded = is_there(root, "/sys/module/amdgpu")
    return {
        "amd.loaded": Known(value=True) if loaded else Absent(),
        "amd.version": Known(version.strip()) if isinstance(version, str) else version,
        "amd.kfd": Known(value=True) if is_there(root, "/dev/kfd") else Absent(),
        "rocm.version": current,
        "rocm.installed": Known(" ".join(sorted(known, key=version_numbers)))
        if known
        else Absent(),
    }


def _find_versions(root: Path) -> dict[Path, FactState]:
    """By real folder, since ``/opt/rocm`` is mostly a link to one of the others."""
    found = {}
    for name in names_in(root, "/opt"):
        if _FOLDER.fullmatch(name):
            found[locate(root, f"/opt/{name}")] = _read_version(root, f"/opt/{name}")
    return found


def _read_version(root: Path, folder: str) -> FactState:
    """``6.2.0-66``, in ROCm's own words; newer ones leave out the build."""
    text = read_text(locate(root, f"{folder}/.info/version"))
    return Known(text.strip()) if isinstance(text, str) else text
