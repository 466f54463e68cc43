"""``CUDA_VISIBLE_DEVICES`` against the GPUs that there are.

CUDA programming guide, "CUDA Environment Variables": the devices are enumerated in the order given,
and only those before the first that is not valid.
"""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.model.finding import Fit, Purpose

_NAME = "CUDA_VISIBLE_DEVICES"


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    said = stack.settings.get(_NAME)
    if said is None:
        yield Nothing(f"{_NAME} is not set")
    elif stack.gpus.value == ():
        yield Nothing("there is no NVIDIA GPU")
    elif stack.gpus.value is None:
        compared = f"{_NAME}={said} against the GPUs"
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=stack.gpus.why)
    else:
        yield _judge_value(said.strip(), len(stack.gpus.value))


def _judge_value(said: str, count: int) -> Opinion:
    compared = f"{_NAME}={said} against {count} GPU{'s' * (count != 1)}"
    every = ",".join(map(str, range(count)))
    words = [word.strip() for word in said.split(",")]
    named = [word for word in words if word.startswith(("GPU-", "MIG-"))]
    if named or "set" in words:
        reason = "it names devices by their UUID, which a snapshot does not keep"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    numbers = [int(word) if word.isascii() and word.isdecimal() else -1 for word in words]
    before = next((at for at, n in enumerate(numbers) if not 0 <= n < count), len(numbers))
    if before == len(numbers):
        return Opinion(compared=compared, fit=Fit.FITS, reason="all of them are there")
    if before == 0:
        why = "it is empty" if not said else f"`{words[0]}` is none of the GPUs"
        reason = f"{why}: CUDA sees no GPU at all"
    else:
        seen = ",".join(words[:before])
        reason = f"there is no GPU {words[before]}: CUDA sees only those before it ({seen})"
    return Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason=reason,
        remedy="name GPUs that are there, or unset it; under Slurm ask the scheduler for GPUs",
        command=f"export {_NAME}={every}",
    )


RULE = Rule(
    name="visible-devices",
    purpose=Purpose.RUNNING,
    compares="CUDA_VISIBLE_DEVICES against the GPUs that there are",
    facts=(f"settings.{_NAME}", "hardware.gpu.count"),
    judge=_judge,
)
