"""CUDA runtimes of different majors in one environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envtrack.compat.cuda_wheels import CudaWheel, find_cuda_wheels
from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import SharedFile, Tables
from envtrack.model.finding import Fit, Purpose

_CLEAN = "take out what belongs to the other CUDA, then install the environment anew"


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    by_major: dict[int, list[CudaWheel]] = {}
    for wheel in find_cuda_wheels(stack.packages):
        if wheel.major is not None:
            by_major.setdefault(wheel.major, []).append(wheel)
    if not by_major:
        yield Nothing("no package here was made for one CUDA")
        return
    described = " against ".join(
        f"CUDA {major} ({_say_wheels(by_major[major])})" for major in sorted(by_major)
    )
    if len(by_major) == 1:
        yield Opinion(compared=described, fit=Fit.FITS, reason="there is one CUDA only")
        return
    clashes = list(_find_clashes(by_major, tables))
    if not clashes:
        yield Opinion(
            compared=described,
            fit=Fit.LIMITED,
            reason="two runtimes can be loaded side by side, each with its own memory and handles; "
            "a program that mixes them gets what was loaded first",
            remedy="if nobody needs both: " + _CLEAN,
        )
    for file, first, second in clashes:
        yield Opinion(
            compared=f"{_say(first)} against {_say(second)}",
            fit=Fit.MISFIT,
            reason=f"both install {file.file}: the one installed last is what both get",
            remedy=_CLEAN,
            command=f"uv pip uninstall {first.package} {second.package} && uv sync",
            cited=(file.cited,),
        )


def _find_clashes(
    by_major: dict[int, list[CudaWheel]], tables: Tables
) -> Iterator[tuple[SharedFile, CudaWheel, CudaWheel]]:
    """Two wheels of one component and of one major of its own, for two CUDAs."""
    wheels = [wheel for major in sorted(by_major) for wheel in by_major[major]]
    for file in tables.shared_files:
        mine = [one for one in wheels if one.component == file.component and one.version]
        for at, second in enumerate(mine):
            for first in mine[:at]:
                same = first.version and second.version
                if same and first.major != second.major and _own(first) == _own(second):
                    yield file, first, second


def _own(wheel: CudaWheel) -> int:
    return wheel.version.major if wheel.version else 0


def _say(wheel: CudaWheel) -> str:
    return f"{wheel.package} {wheel.version}"


def _say_wheels(wheels: Iterable[CudaWheel]) -> str:
    """The runtime itself if it is there, else the first; and how many more."""
    ordered = sorted(wheels, key=lambda one: (one.component != "cuda-runtime", one.package))
    more = f" and {len(ordered) - 1} more" if len(ordered) > 1 else ""
    return f"{_say(ordered[0])}{more}"


RULE = Rule(
    name="several-runtimes",
    purpose=Purpose.RUNNING,
    compares="the CUDA majors that the environment's packages were made for, with each other",
    facts=("installed: nvidia-*, cupy-cuda*, jax-cuda*",),
    judge=_judge,
)
