"""A forward-compatibility package in use against the driver and the GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.gpu_groups import group_gpus
from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.model.finding import Fit, Purpose

_UNUSED = "take it off LD_LIBRARY_PATH and out of /etc/ld.so.conf.d"


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    package, driver = stack.driver.compat.value, stack.driver.version.value
    if package is None:
        yield Nothing("no forward-compatibility package is in use")
        return
    compared = f"forward-compatibility libcuda {package} against driver {driver or 'not known'}"
    if driver is not None and driver.major > package.major:
        yield Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason="it is older than the driver itself, whose module refuses it (error 803)",
            remedy=_UNUSED,
        )
        return
    if not stack.gpus.value:
        why = stack.gpus.why or "there is no NVIDIA GPU"
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=why)
    for group in group_gpus(stack.gpus.value or ()):
        yield _judge_kind(f"{compared} on {group}", group.kind.value, tables)


def _judge_kind(compared: str, kind: str | None, tables: Tables) -> Opinion:
    if kind in tables.forward_kinds:
        reason = "on data-centre GPUs it runs newer CUDA than the driver's own"
        return Opinion(compared=compared, fit=Fit.FITS, reason=reason)
    if kind == "geforce":
        return Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason="on GeForce every CUDA program ends with error 804",
            remedy=_UNUSED,
        )
    reason = "it works on data-centre GPUs and on some others; the tables do not say on which"
    return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)


RULE = Rule(
    name="forward-compatibility",
    purpose=Purpose.RUNNING,
    compares="a cuda-compat package on the loader's path against the driver and the GPUs",
    facts=(
        "driver.nvidia.compat.version",
        "driver.nvidia.version",
        "hardware.gpu.<n>.model",
    ),
    judge=_judge,
)
