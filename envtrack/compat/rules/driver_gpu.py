"""The NVIDIA driver against the generation of the GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.gpu_groups import GpuGroup, group_gpus
from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.compat.versions import Numbers
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    driver = stack.driver.version
    if stack.tegra.value is not None:
        yield Nothing("a Jetson's driver comes with its system")
    elif driver.value is None:
        yield Nothing(driver.why)
    elif not stack.gpus.value:
        yield Nothing(stack.gpus.why or "there is no NVIDIA GPU")
    else:
        for group in group_gpus(stack.gpus.value):
            compared = f"driver {driver.value} against {group}"
            if group.is_read and not driver.is_planned:
                reason = "the driver itself lists it"
                yield Opinion(compared=compared, fit=Fit.FITS, reason=reason)
            else:
                yield _judge_group(compared, group, driver.value, tables)


def _judge_group(compared: str, group: GpuGroup, driver: Numbers, tables: Tables) -> Opinion:
    capability = group.capability.value
    if capability is None:
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=group.capability.why)
    compared = f"{compared}, compute capability {capability}"
    known = tables.find_capability(capability)
    if known is None:
        reason = f"compute capability {capability} is not in the tables"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    return (
        _judge_too_new(compared, capability, driver, tables)
        or _judge_too_old(compared, known.first, driver, tables)
        or Opinion(compared=compared, fit=Fit.FITS, reason="this branch drives such GPUs")
    )


def _judge_too_new(
    compared: str, capability: Numbers, driver: Numbers, tables: Tables
) -> Opinion | None:
    for end in tables.last_branches:
        if end.first <= capability <= end.last and driver.major > end.branch:
            return Opinion(
                compared=compared,
                fit=Fit.MISFIT,
                reason=f"branch {end.branch} is the last one that drives this generation",
                remedy=f"stay on branch {end.branch}",
                cited=(end.cited,),
            )
    return None


def _judge_too_old(
    compared: str, first: Numbers, driver: Numbers, tables: Tables
) -> Opinion | None:
    """A driver carries the compiler of its CUDA, which does not know GPUs that came later."""
    told = tables.find_driver_cuda(driver)
    branch = tables.find_branch_for(first)
    if told is None or told.most is None or told.most >= first:
        return None
    needed = f" (branch {branch.number})" if branch else ""
    return Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason=f"such GPUs came with CUDA {first}; this driver's is {told.most} at most",
        remedy=f"a driver for CUDA {first} or newer{needed}",
        cited=(told.cited,),
    )


RULE = Rule(
    name="driver-gpu",
    purpose=Purpose.RUNNING,
    compares="the driver's branch against the generation of each GPU",
    facts=(
        "driver.nvidia.version",
        "hardware.gpu.<n>.model",
        "hardware.gpu.<n>.compute-capability",
    ),
    judge=_judge,
)
