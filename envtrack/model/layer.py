"""The storeys of an environment, from the ground up."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias


class Layer(StrEnum):
    """One storey of the stack; the order of definition is the order from the ground."""

    HARDWARE = "hardware"
    KERNEL = "kernel"
    DRIVER = "driver"
    OS = "os"
    CONTAINER = "container"
    TOOLCHAIN = "toolchain"
    PYTHON = "python"
    CUDA_RUNTIME = "cuda-runtime"
    FRAMEWORK = "framework"
    PACKAGES = "packages"
    SETTINGS = "settings"

    @property
    def height(self) -> int:
        """The storey's number, 0 at the ground."""
        return _HEIGHTS[self]


_HEIGHTS = {layer: height for height, layer in enumerate(Layer)}
LayerRules: TypeAlias = tuple[tuple[Layer, tuple[str, ...]], ...]
"""Layers with globs of the normalised names of packages that belong to them; the first fits."""

# Packages that carry CUDA, cuDNN, NCCL… into an environment: `nvidia-cublas-cu12`, `cuda-bindings`.
_RUNTIME_PREFIXES = ("nvidia-", "cuda-", "cupy-cuda", "rocm-", "pytorch-triton-rocm")
_RUNTIME_EXCEPTIONS = frozenset({"nvidia-ml-py", "nvidia-dali"})
_FRAMEWORKS = frozenset(
    {
        "jax",
        "jaxlib",
        "jax-cuda12-pjrt",
        "jax-cuda12-plugin",
        "jax-cuda13-pjrt",
        "jax-cuda13-plugin",
        "keras",
        "mxnet",
        "paddlepaddle",
        "paddlepaddle-gpu",
        "pytorch-triton",
        "tensorflow",
        "tensorflow-cpu",
        "tensorflow-gpu",
        "tf-nightly",
        "torch",
        "torchaudio",
        "torchcodec",
        "torchtext",
        "torchvision",
        "triton",
    }
)


def find_package_layer(name: str) -> Layer:
    """The layer to which a package of this normalised name belongs."""
    if name in _FRAMEWORKS:
        return Layer.FRAMEWORK
    if name.startswith(_RUNTIME_PREFIXES) and name not in _RUNTIME_EXCEPTIONS:
        return Layer.CUDA_RUNTIME
    return Layer.PACKAGES
