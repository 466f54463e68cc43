"""The machines that a pdm.lock was made for, as PEP 508 markers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from envtrack.lockfiles.group_markers import join_markers
from envtrack.lockfiles.poetry_python import make_marker
from envtrack.lockfiles.tables import take

_SYSTEMS: Final = {
    "linux": "linux",
    "alpine": "linux",
    "manylinux": "linux",
    "musllinux": "linux",
    "macos": "darwin",
    "windows": "win32",
}
# pdm: a system alone stands for the commonest machine with it.
_MACHINES: Final = {"linux": "x86_64", "alpine": "x86_64", "macos": "arm64", "windows": "AMD64"}
_SPELLINGS: Final = {
    ("win32", "amd64"): "AMD64",
    ("win32", "arm64"): "ARM64",
}
_IMPLEMENTATIONS: Final = {"cpython": "CPython", "pypy": "PyPy", "pyston": "Pyston"}
_PLATFORM = re.compile(r"(?P<system>[a-z]+)(?:_\d+_\d+)?(?:_(?P<machine>[a-z]\w*))?", re.ASCII)


def read_targets(targets: Iterable[Mapping[str, Any]]) -> tuple[str, tuple[str, ...]]:
    """The Pythons that all `targets` are for, and a marker for each of them.

    Returns:
        The constraint is empty if it differs between them. There are no markers if there is but
        one target, and it is for every platform: then the constraint says it all.

    Raises:
        OddValueError: something is of a wrong type.
    """
    pythons: dict[str, None] = {}
    markers: dict[str, None] = {}
    is_any = False
    for target in targets:
        python = take(target, "requires_python", str, "")
        where = join_markers(
            _tell_platform(take(target, "platform", str, "")),
            _tell_implementation(take(target, "implementation", str, "")),
        )
        is_any = is_any or not where
        pythons[python] = None
        markers[join_markers(make_marker(python), where)] = None
    constraint = next(iter(pythons)) if len(pythons) == 1 else ""
    is_told = "" in markers or (constraint and is_any)
    return constraint, () if is_told else tuple(markers)


def _tell_platform(platform: str) -> str:
    found = _PLATFORM.fullmatch(platform)
    system = _SYSTEMS.get(found["system"]) if found else None
    if found is None or system is None:
        return ""
    named = found["machine"] or _MACHINES.get(found["system"], "")
    machine = _SPELLINGS.get((system, named), named)
    return join_markers(
        f'sys_platform == "{system}"', f'platform_machine == "{machine}"' if machine else ""
    )


def _tell_implementation(implementation: str) -> str:
    name = _IMPLEMENTATIONS.get(implementation)
    return f'platform_python_implementation == "{name}"' if name else ""
