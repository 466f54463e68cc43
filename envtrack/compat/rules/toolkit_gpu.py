"""The CUDA toolkit (nvcc) against the GPUs it would compile for."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.gpu_groups import GpuGroup, group_gpus
from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.compat.versions import Numbers
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    nvcc = stack.toolchain.nvcc
    if nvcc.value is None:
        yield Nothing("there is no nvcc, and running needs none" if nvcc.is_absent else nvcc.why)
    elif not stack.gpus.value:
        yield Nothing(stack.gpus.why or "there is no NVIDIA GPU")
    else:
        for group in group_gpus(stack.gpus.value):
            yield _judge_group(group, nvcc.value, tables)


def _judge_group(group: GpuGroup, nvcc: Numbers, tables: Tables) -> Opinion:
    capability = group.capability.value
    if capability is None:
        compared = f"nvcc {nvcc} against {group}"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=group.capability.why)
    compared = f"nvcc {nvcc} against {group}, compute capability {capability}"
    known = tables.find_capability(capability)
    if known is None or nvcc.series > tables.newest.cuda:
        what = f"compute capability {capability}" if known is None else f"nvcc {nvcc}"
        reason = f"{what} is not in the tables"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    if known.last is not None and nvcc.series > known.last:
        return Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason=f"CUDA {known.last} is the last toolkit that compiles for it",
            remedy=f"build with a toolkit up to {known.last}",
            command=f"export CUDA_HOME=/usr/local/cuda-{known.last}",
            cited=(known.cited,),
        )
    if nvcc.series < known.first:
        return Opinion(
            compared=compared,
            fit=Fit.LIMITED,
            reason=f"it compiles for this GPU from CUDA {known.first} on; what it builds for an "
            "older one runs as PTX, or as a binary of the same major",
            remedy=f"a toolkit from {known.first} on",
            cited=(known.cited,),
        )
    reason = f"it compiles for sm_{capability.major}{capability.minor}"
    return Opinion(compared=compared, fit=Fit.FITS, reason=reason, cited=(known.cited,))


RULE = Rule(
    name="toolkit-gpu",
    purpose=Purpose.BUILDING,
    compares="the release of nvcc against the compute capability of each GPU",
    facts=("toolchain.nvcc.release", "hardware.gpu.<n>.compute-capability"),
    judge=_judge,
)
