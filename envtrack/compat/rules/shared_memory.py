"""The size of ``/dev/shm`` in a container."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.model.finding import Fit, Purpose

# docker-run(1) and Kubernetes give 64 MiB. DataLoader workers hand whole batches over there, and
# NCCL some MiB a GPU; below a gigabyte one batch of images a worker is too much.
_PLACE = "/dev/shm"  # noqa: S108 - only named
_SMALL_MIB = 1024
_START = {
    "docker": "docker run --shm-size=8g …",
    "podman": "podman run --shm-size=8g …",
}
_KUBERNETES = "mount an emptyDir with `medium: Memory` at /dev/shm"


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    runtime, size = stack.container.value, stack.shm_mib.value
    if runtime is None:
        yield Nothing(stack.container.why if not stack.container.is_absent else "no container")
        return
    compared = f"{_PLACE} of this {runtime} container"
    if size is None:
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=stack.shm_mib.why)
        return
    compared = f"{compared}, {size} MiB, against what DataLoader workers and NCCL need"
    if size >= _SMALL_MIB:
        yield Opinion(compared=compared, fit=Fit.FITS, reason="it is large enough for most")
        return
    yield Opinion(
        compared=compared,
        fit=Fit.LIMITED,
        reason="workers that hand over large batches end with a bus error; without workers "
        "(num_workers=0) and on one GPU it is enough",
        remedy=(_START.get(runtime, "") and "start it with more shared memory") or _KUBERNETES,
        command=_START.get(runtime, ""),
    )


RULE = Rule(
    name="shared-memory",
    purpose=Purpose.RUNNING,
    compares="the size of /dev/shm in a container against what data loaders need",
    facts=("container.runtime", "container.shm-mib"),
    judge=_judge,
)
