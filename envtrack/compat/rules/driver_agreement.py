"""The kernel's half of the NVIDIA driver against the user-space half."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.model.finding import Fit, Purpose

_REBOOT = "reboot; until then nothing that is started new can use the GPUs"


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    driver = stack.driver
    if driver.version.is_absent:
        yield _judge_missing_module(stack)
    elif driver.agrees.value == "no":
        yield _judge_disagreement(stack)
    elif driver.agrees.value == "yes":
        yield _opinion(stack, Fit.FITS, "both halves are of one version")
    elif driver.version.value is not None and driver.library.is_absent:
        yield _judge_missing_library(stack)
    elif driver.version.value is not None and driver.library.value is not None:
        if driver.version.value == driver.library.value:
            yield _opinion(stack, Fit.FITS, "both halves are of one version")
        else:
            yield _judge_disagreement(stack)
    else:
        why = driver.version.why or driver.agrees.why or driver.answers.why
        yield _opinion(stack, Fit.UNKNOWN, why)


def _judge_missing_module(stack: Stack) -> Answer:
    count = stack.on_bus.value or 0
    if not count or not stack.needs_gpu:
        return Nothing("there is no NVIDIA driver here")
    gpus = "an NVIDIA GPU" if count == 1 else f"{count} NVIDIA GPUs"
    return Opinion(
        compared=f"{gpus} on the PCI bus against the kernel's NVIDIA driver, which is not loaded",
        fit=Fit.MISFIT,
        reason="without the driver CUDA sees no GPU",
        remedy="install the driver, or load it; after a kernel upgrade it may not have been built",
        command="sudo modprobe nvidia && nvidia-smi",
    )


def _judge_disagreement(stack: Stack) -> Opinion:
    if stack.wsl.value is not None:
        reason = "under WSL the module is Windows's, and its number says nothing"
        return _opinion(stack, Fit.UNKNOWN, reason)
    return Opinion(
        compared=_compared(stack),
        fit=Fit.MISFIT,
        reason="the driver was upgraded under a running kernel module: NVML and CUDA refuse to "
        "work with a module of another version",
        remedy=_REBOOT,
        command="sudo reboot",
    )


def _judge_missing_library(stack: Stack) -> Opinion:
    if not stack.needs_gpu:
        reason = "the user-space half is not here, and nothing here was built for CUDA"
        return _opinion(stack, Fit.UNKNOWN, reason)
    if stack.container.value is not None:
        return Opinion(
            compared=_compared(stack),
            fit=Fit.MISFIT,
            reason=f"this {stack.container.value} container was started without the GPUs: the "
            "host's driver is loaded, and its libraries are not lent to the container",
            remedy="start it with the GPUs (NVIDIA Container Toolkit)",
            command=_START.get(stack.container.value, ""),
        )
    return Opinion(
        compared=_compared(stack),
        fit=Fit.MISFIT,
        reason="the kernel module is loaded, and libcuda and NVML are nowhere on the loader's path",
        remedy=f"install the user-space half of driver {stack.driver.version.value}",
    )


_START = {
    "docker": "docker run --gpus all …",
    "podman": "podman run --device nvidia.com/gpu=all …",
    "apptainer": "apptainer exec --nv …",
    "singularity": "singularity exec --nv …",
}


def _opinion(stack: Stack, fit: Fit, reason: str) -> Opinion:
    return Opinion(compared=_compared(stack), fit=fit, reason=reason)


def _compared(stack: Stack) -> str:
    driver = stack.driver
    module = driver.version.value or "not known"
    library = driver.library.value or ("absent" if driver.library.is_absent else "not known")
    return f"kernel module {module} against user-space library {library}"


RULE = Rule(
    name="driver-agreement",
    purpose=Purpose.RUNNING,
    compares="the driver's kernel module against its user-space library",
    facts=(
        "driver.nvidia.version",
        "driver.nvidia.library.version",
        "driver.nvidia.nvml.version",
        "driver.nvidia.nvml.answers",
        "driver.nvidia.agrees",
        "hardware.pci.nvidia",
        "container.runtime",
        "container.wsl",
    ),
    judge=_judge,
)
