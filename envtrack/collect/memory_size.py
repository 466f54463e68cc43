"""How much memory a machine has, in a number that stays the same from boot to boot."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.below_root import locate
from envtrack.collect.reading import read_text
from envtrack.model.fact import FactState, Known, Unknown

if TYPE_CHECKING:
    from pathlib import Path

_TOTAL = re.compile(r"^MemTotal:\s*(\d+) kB", re.MULTILINE)
_STEPS = 32


def read_memory_mib(root: Path) -> FactState:
    """``MemTotal`` in MiB, rounded (proc_meminfo(5)).

    It is what is installed less what firmware, kernel and crash kernel keep, so that it moves by
    some MiB with every kernel.
    """
    text = read_text(locate(root, "/proc/meminfo"))
    if not isinstance(text, str):
        return text
    found = _TOTAL.search(text)
    return Known(round_size(int(found[1]) // 1024)) if found else Unknown("meminfo does not say it")


def round_size(size_mib: int) -> int:
    """To the nearest 32nd of the power of two below: 24105 → 24064, 515698 → 516096."""
    step = max(1, (1 << max(0, size_mib.bit_length() - 1)) // _STEPS)
    return (size_mib + step // 2) // step * step
