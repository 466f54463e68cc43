"""CUDA's libraries as packages of the project's environment: wheels and conda's."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.collect.distributions import normalise_name
from envtrack.collect.layout import Layout, site_folders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Names of NVIDIA's wheels without "nvidia-" and "-cu12", and what this layer calls each. From
# CUDA 13 on most have no suffix any more; cuDNN, NCCL, cuSPARSELt and NVSHMEM keep theirs.
_WHEELS = {
    "cuda-runtime": "cudart",
    "cublas": "cublas",
    "cudnn": "cudnn",
    "nccl": "nccl",
    "cuda-nvrtc": "nvrtc",
    "cufft": "cufft",
    "curand": "curand",
    "cusolver": "cusolver",
    "cusparse": "cusparse",
    "cusparselt": "cusparselt",
    "nvshmem": "nvshmem",
    "nvjitlink": "nvjitlink",
    "nvtx": "nvtx",
    "cuda-cupti": "cupti",
    "cuda-nvcc": "nvcc",
    "cufile": "cufile",
    "npp": "npp",
    "nvjpeg": "nvjpeg",
}
_CONDA = {
    "cudatoolkit": "conda.cudatoolkit",
    "cuda-version": "conda.cuda-version",
    "cuda-cudart": "cudart",
    "libcublas": "cublas",
    "cudnn": "cudnn",
    "libcudnn": "cudnn",
    "nccl": "nccl",
    "cuda-nvrtc": "nvrtc",
    "libcufft": "cufft",
    "libcurand": "curand",
    "libcusolver": "cusolver",
    "libcusparse": "cusparse",
    "cusparselt": "cusparselt",
    "libcusparselt0": "cusparselt",
    "libnvshmem3": "nvshmem",
    "libnvjitlink": "nvjitlink",
    "cuda-nvtx": "nvtx",
    "cuda-cupti": "cupti",
    "cuda-nvcc": "nvcc",
    "libcufile": "cufile",
    "libnpp": "npp",
    "libnvjpeg": "nvjpeg",
}
# What PyTorch and JAX need: of these, one that is not there is recorded as absent.
COMPONENTS = (
    *("cudart", "cublas", "cudnn", "nccl", "nvrtc", "cufft", "curand", "cusolver"),
    *("cusparse", "cusparselt", "nvshmem", "nvjitlink", "nvtx", "cupti"),
)
# These are numbered as CUDA itself is; cuBLAS, cuFFT and the others have numbers of their own.
_NUMBERED_AS_CUDA = frozenset(
    {"cudart", "nvrtc", "nvjitlink", "nvtx", "cupti", "nvcc"}
    | {"conda.cudatoolkit", "conda.cuda-version"}
)
_WHEEL = re.compile(r"nvidia-(?P<part>.+?)(?:-cu(?P<major>\d\d)\d*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaPackage:
    """One library of CUDA as it is installed.

    Attributes:
        component: ``cudart``, ``cudnn``, …; ``conda.cuda-version`` for what only conda has.
        version: ``12.4.127``.
        major: the CUDA it is for, ``12``; empty where neither name nor version tells.
        source: ``wheels`` or ``conda``.
    """

    component: str
    version: str
    major: str
    source: str


def read_cuda_packages(layout: Layout) -> Iterator[CudaPackage]:
    """By the names of ``*.dist-info`` folders and of conda's records; no file is opened.

    Raises:
        OSError: a folder can't be listed.
    """
    for site in site_folders(layout):
        for name in _list_stems(site, ".dist-info"):
            if wheel := _parse_wheel(name):
                yield wheel
    if layout.is_conda:
        for name in _list_stems(layout.folder / "conda-meta", ".json"):
            if package := _parse_conda(name):
                yield package


def _list_stems(folder: Path, suffix: str) -> list[str]:
    with os.scandir(folder) as entries:
        return [e.name.removesuffix(suffix) for e in entries if e.name.endswith(suffix)]


def _parse_wheel(stem: str) -> CudaPackage | None:
    name, _, version = stem.partition("-")
    normal = normalise_name(name)
    if normal == "cuda-toolkit":  # the package that pins all others
        return _package("toolkit", version, version.partition(".")[0], "wheels")
    found = _WHEEL.fullmatch(normal)
    if found is None or found["part"] not in _WHEELS:
        return None
    return _package(_WHEELS[found["part"]], version, found["major"] or "", "wheels")


def _parse_conda(stem: str) -> CudaPackage | None:
    """``libcublas-12.4.5.8-h99ab3db_1``: name, version and build string."""
    name, _, version = stem.rpartition("-")[0].rpartition("-")
    return _package(_CONDA[name], version, "", "conda") if name in _CONDA else None


def _package(component: str, version: str, major: str, source: str) -> CudaPackage:
    if not major and component in _NUMBERED_AS_CUDA:
        major = version.partition(".")[0]
    return CudaPackage(component=component, version=version, major=major, source=source)
