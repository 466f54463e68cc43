"""Equal GPUs as one: a report on eight of a kind says it once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from envtrack.compat.readings import Reading
from envtrack.compat.stack import Gpu
from envtrack.compat.versions import Numbers

_INDEX = re.compile(r"(?<=gpu\.)\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuGroup:
    """The GPUs of one model and one compute capability."""

    gpus: tuple[Gpu, ...]

    @property
    def capability(self) -> Reading[Numbers]:
        """The one that they share."""
        return self.gpus[0].capability

    @property
    def kind(self) -> Reading[str]:
        """The class of the model, such as ``datacenter``."""
        return self.gpus[0].kind

    @property
    def is_read(self) -> bool:
        """Whether the capability is what the driver says, and neither planned nor of a table."""
        told = self.capability
        return told.value is not None and told.cited is None and not told.is_planned

    def __str__(self) -> str:
        model = self.gpus[0].model.value or "model not known"
        word = "GPU" if len(self.gpus) == 1 else "GPUs"
        return f"{word} {_say_indexes([gpu.index for gpu in self.gpus])} ({model})"


def group_gpus(gpus: Iterable[Gpu]) -> Iterator[GpuGroup]:
    """In the order of their first ones."""
    groups: dict[tuple[str | None, Numbers | None, str], list[Gpu]] = {}
    for gpu in gpus:
        key = (gpu.model.value, gpu.capability.value, _INDEX.sub("", gpu.capability.why))
        groups.setdefault(key, []).append(gpu)
    for members in groups.values():
        yield GpuGroup(gpus=tuple(members))


def _say_indexes(indexes: list[int]) -> str:
    """``0-3, 6``."""
    starts = [indexes[0], *(after for before, after in pairwise(indexes) if after != before + 1)]
    ends = [*(before for before, after in pairwise(indexes) if after != before + 1), indexes[-1]]
    spans = zip(starts, ends, strict=True)
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
