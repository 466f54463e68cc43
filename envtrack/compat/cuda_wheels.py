"""CUDA's libraries among the packages of an environment: component, and the CUDA they are for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from envtrack.compat.versions import Numbers, parse_numbers
from envtrack.model.snapshot import InstalledPackage

_WHEEL = re.compile(r"nvidia-(?P<part>.+?)(?:-cu(?P<major>\d\d)\d*)?")
# From CUDA 13 on these have no suffix and are numbered as CUDA itself.
_NUMBERED_AS_CUDA = frozenset({"cuda-runtime", "cuda-nvrtc", "cuda-cupti", "nvjitlink", "nvtx"})
# Others that are built for one CUDA: cupy-cuda12x, jax-cuda12-plugin.
_BUILT_FOR = re.compile(r"(?:cupy-cuda|jax-cuda|cudf-cu|rmm-cu|cuml-cu)(?P<major>\d\d)\w*(?:-.+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaWheel:
    """One of them.

    Attributes:
        package: its name, ``nvidia-cudnn-cu12``.
        component: ``cudnn``; of others their own name.
        version: as it is installed.
        major: of the CUDA it is for; ``None`` where neither name nor version tells.
    """

    package: str
    component: str
    version: Numbers | None
    major: int | None


def find_cuda_wheels(packages: Mapping[str, InstalledPackage]) -> Iterable[CudaWheel]:
    """Sorted by name."""
    for name in sorted(packages):
        version = parse_numbers(packages[name].version)
        if found := _WHEEL.fullmatch(name):
            major = int(found["major"]) if found["major"] else None
            if major is None and found["part"] in _NUMBERED_AS_CUDA and version is not None:
                major = version.major
            yield CudaWheel(package=name, component=found["part"], version=version, major=major)
        elif found := _BUILT_FOR.fullmatch(name):
            major = int(found["major"])
            yield CudaWheel(package=name, component=name, version=version, major=major)
