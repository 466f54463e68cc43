"""NVIDIA's forward-compatibility packages: a newer libcuda on an older kernel module."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envtrack.compat.stack import Stack
from envtrack.compat.tables import Cited, Forward, Tables
from envtrack.compat.versions import Numbers, numbers

# Some workstation cards are eligible, and nobody lists them.
_NEVER = frozenset({"geforce"})
_PACKAGE = re.compile(r"(\d+\.\d+): (\d+(?:\.\d+)+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardAnswer:
    """Whether a runtime of a newer family runs that way.

    Attributes:
        runs: a package for it is in use, and may be; ``None``: it is, and nobody knows if it may.
        reason: why, or why not.
        remedy: how it could be used; empty where it can't.
        command: the same as a command.
        cited: the entry that decided it.
    """

    runs: bool | None
    reason: str
    remedy: str = ""
    command: str = ""
    cited: Cited | None = None


def find_forward(stack: Stack, tables: Tables, runtime: Numbers) -> ForwardAnswer:
    """Whether the forward-compatibility package carries a runtime that the driver does not."""
    kinds = {gpu.kind.value for gpu in stack.gpus.value or ()}
    if kinds and kinds <= _NEVER:
        reason = "forward compatibility works on data-centre GPUs only"
        return ForwardAnswer(runs=False, reason=reason)
    is_sure = bool(kinds) and kinds <= tables.forward_kinds
    entry = next((one for one in tables.forward if one.cuda == runtime.series), None)
    used = _find_used(stack, tables)
    if used is not None and used >= runtime.series:
        package = stack.driver.compat.value
        reason = f"forward compatibility: programs load libcuda {package}, CUDA {used}"
        if not is_sure:
            reason = f"{reason}; whether these GPUs can use it the tables do not say"
        runs = True if is_sure else None
        return ForwardAnswer(runs=runs, reason=reason, cited=entry.cited if entry else None)
    return _suggest(stack, runtime, entry, is_sure=is_sure)


def _find_used(stack: Stack, tables: Tables) -> Numbers | None:
    """The CUDA of the package that programs would load."""
    package = stack.driver.compat.value
    told = tables.find_driver_cuda(package) if package is not None else None
    return told.least if told else None


def _suggest(
    stack: Stack, runtime: Numbers, entry: Forward | None, *, is_sure: bool
) -> ForwardAnswer:
    package = f"cuda-compat-{runtime.major}-{runtime.minor}"
    if not is_sure:
        reason = "no forward-compatibility package is in use"
        return ForwardAnswer(runs=False, reason=reason)
    driver = stack.driver.version.value
    if entry is not None and driver is not None and driver.major not in entry.branches:
        listed = ", ".join(map(str, entry.branches))
        reason = f"{package} is made for the branches {listed}, and not for {driver.major}"
        return ForwardAnswer(runs=False, reason=reason, cited=entry.cited)
    installed = dict(_PACKAGE.findall(stack.driver.compat_packages.value or ""))
    ready = [cuda for cuda in installed if numbers(cuda) >= runtime.series]
    folder = f"/usr/local/cuda-{ready[0] if ready else runtime.series}/compat"
    unlisted = "" if entry else ", if it is made for this branch: the tables do not say"
    what = "is installed, and not on the loader's path" if ready else "is not installed"
    return ForwardAnswer(
        runs=False,
        reason=f"the forward-compatibility package {what}",
        remedy=f"{package} on its data-centre GPUs{unlisted}",
        command=f'export LD_LIBRARY_PATH="{folder}:$LD_LIBRARY_PATH"',
        cited=entry.cited if entry else None,
    )
