"""Whether code that was compiled for some GPUs runs on another one.

NVIDIA's rule (CUDA programming guide, "Compute Capabilities"): a binary ``sm_XY`` runs on GPUs of
the same major and a minor of at least Y; one for an architecture alone (``sm_90a``) on that one,
one for a family (``sm_100f``) within it. PTX ``compute_XY`` can be compiled for any GPU from X.Y
on. Binaries of Jetson and other Tegra parts and of the others are no good for each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

from envtrack.compat.versions import Numbers, numbers

_ARCH = re.compile(r"(?P<kind>sm|compute)_(?P<major>\d{1,3})(?P<minor>\d)(?P<suffix>[af]?)")


class Code(Enum):
    """What of the code a GPU can use."""

    BINARY = auto()
    """It runs as it is."""
    PTX = auto()
    """The driver has to compile it first."""
    NONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usable:
    """The code that a GPU would use, and by which entry of the list."""

    code: Code
    arch: str = ""


def find_code(capability: Numbers, archs: Iterable[str], *, tegra: frozenset[Numbers]) -> Usable:
    """The best code in a list of architectures for a GPU of this capability.

    Args:
        capability: the GPU's.
        archs: ``sm_80``, ``compute_90``; others (``gfx90a``) are passed over.
        tegra: the capabilities of Tegra parts.
    """
    best = Usable(code=Code.NONE)
    for arch in archs:
        found = _ARCH.fullmatch(arch)
        if found is None:
            continue
        target = numbers(f"{found['major']}.{found['minor']}")
        if not _reaches(target, capability, found["suffix"]):
            continue
        if found["kind"] == "compute":
            best = best if best.code is Code.BINARY else Usable(code=Code.PTX, arch=arch)
        elif _shares_binaries(target, capability, tegra):
            best = Usable(code=Code.BINARY, arch=arch)
    return best


def _reaches(target: Numbers, capability: Numbers, suffix: str) -> bool:
    if suffix == "a":
        return target == capability
    if suffix == "f" and target.major != capability.major:
        return False
    return target <= capability


def _shares_binaries(target: Numbers, capability: Numbers, tegra: frozenset[Numbers]) -> bool:
    if target == capability:
        return True
    return target.major == capability.major and not {target, capability} & tegra
