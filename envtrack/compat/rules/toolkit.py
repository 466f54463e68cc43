"""The CUDA toolkit (nvcc) against the CUDA that torch was built for: for building extensions only.

torch.utils.cpp_extension stops where the majors differ and warns where the minors do.
"""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.compat.versions import Numbers
from envtrack.model.finding import Fit, Purpose

_IRRELEVANT = "for running it is irrelevant: torch brings its own CUDA"


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    nvcc, torch = stack.toolchain.nvcc, stack.torch
    if nvcc.is_absent:
        yield Nothing("there is no nvcc, and running needs none")
    elif torch.version.value is None:
        yield Nothing(torch.version.why)
    elif torch.cuda.is_absent:
        yield Nothing("torch was built without CUDA")
    elif nvcc.value is None or torch.cuda.value is None:
        compared = f"nvcc {nvcc.value or '…'} against the CUDA of torch {torch.version.value}"
        reason = f"{nvcc.why or torch.cuda.why}; {_IRRELEVANT}"
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    else:
        yield _judge_releases(stack, nvcc.value, torch.cuda.value)


def _judge_releases(stack: Stack, nvcc: Numbers, cuda: Numbers) -> Opinion:
    compared = f"nvcc {nvcc} against CUDA {cuda} of torch {stack.torch.version.value}"
    cited = stack.torch.cuda.sources
    if nvcc.series == cuda.series:
        reason = f"extensions are built with torch's own CUDA; {_IRRELEVANT}"
        return Opinion(compared=compared, fit=Fit.FITS, reason=reason, cited=cited)
    if nvcc.major == cuda.major:
        reason = f"PyTorch warns and builds extensions across minor releases; {_IRRELEVANT}"
        return Opinion(compared=compared, fit=Fit.LIMITED, reason=reason, cited=cited)
    return Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason=f"PyTorch refuses to build extensions with another major; {_IRRELEVANT}",
        remedy=f"point CUDA_HOME at a toolkit {cuda.major}.x where extensions are built",
        command=f"export CUDA_HOME=/usr/local/cuda-{cuda.series}",
        cited=cited,
    )


RULE = Rule(
    name="toolkit",
    purpose=Purpose.BUILDING,
    compares="the release of nvcc against torch.version.cuda; irrelevant for running",
    facts=("toolchain.nvcc.release", "framework.torch.version", "framework.torch.cuda"),
    judge=_judge,
)
