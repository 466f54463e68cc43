"""A torch without CUDA against a machine with an NVIDIA GPU."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    torch = stack.torch
    count = len(stack.gpus.value or ()) or stack.on_bus.value or 0
    if torch.version.value is None:
        yield Nothing(torch.version.why)
    elif stack.lacks_gpus:
        yield Nothing("the container was given no GPU")
    elif not count and stack.gpus.value is not None:
        yield Nothing("there is no NVIDIA GPU")
    elif not count:
        compared = f"torch {torch.version.value} against the GPUs"
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=stack.gpus.why)
    else:
        gpus = "an NVIDIA GPU" if count == 1 else f"{count} NVIDIA GPUs"
        yield _judge_build(stack, tables, f"torch {torch.version.value} against {gpus}")


def _judge_build(stack: Stack, tables: Tables, compared: str) -> Opinion:
    cuda = stack.torch.cuda
    if cuda.value is not None:
        reason = f"it was built for CUDA {cuda.value}"
        return Opinion(compared=compared, fit=Fit.FITS, reason=reason, cited=cuda.sources)
    if not cuda.is_absent:
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=cuda.why)
    for_amd = stack.torch.hip.value is not None or stack.torch.tag.startswith("rocm")
    what = "for AMD's GPUs" if for_amd else "for CPUs only"
    return Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason=f"it is a build {what}: it runs, and sees no NVIDIA GPU",
        remedy=_suggest(stack, tables),
        command="uv lock --upgrade-package torch && uv sync",
    )


def _suggest(stack: Stack, tables: Tables) -> str:
    """The newest CUDA build of the same torch that the driver runs, limits included."""
    span = stack.driver.cuda.value
    machine = stack.architecture.value or "x86_64"
    builds = tables.find_builds(stack.torch.release, machine)
    if span is not None:
        builds = tuple(build for build in builds if build.cuda <= span.least) or tuple(
            build for build in builds if build.cuda.major == span.least.major
        )
    named = f" ({builds[-1].tag} suits this driver)" if builds and span is not None else ""
    return f"take torch from PyTorch's index for CUDA builds{named} in [tool.uv.sources]"


RULE = Rule(
    name="cpu-build",
    purpose=Purpose.RUNNING,
    compares="a torch that was built without CUDA against a machine with NVIDIA GPUs",
    facts=(
        "framework.torch.version",
        "framework.torch.cuda",
        "framework.torch.hip",
        "hardware.gpu.count",
        "hardware.pci.nvidia",
    ),
    judge=_judge,
)
