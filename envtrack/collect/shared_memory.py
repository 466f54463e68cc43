"""How large ``/dev/shm`` is: what PyTorch's DataLoader workers and NCCL pass data through."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from envtrack.collect.reading import missing_state, read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from envtrack.collect.interface import Machine

_MIB = 1024 * 1024
_SIZE = re.compile(r"(?:^|,)size=(?P<number>\d+)(?P<unit>[kmg%]?)(?:,|$)", re.IGNORECASE)
_UNITS = {"": 1, "k": 1024, "m": _MIB, "g": 1024 * _MIB}


def read_shared_memory(machine: Machine) -> FactState:
    """Its size in MiB; absent: nothing is mounted there.

    Of this machine from statvfs(2); of another from the mount's options, as tmpfs(5) writes them.
    """
    text = read_text(machine.root / "proc/self/mounts")
    if isinstance(text, Unknown):
        return text
    options = _find_mount(text) if isinstance(text, str) else None
    if options is None:
        return Absent()
    if machine.is_this_one:
        return _measure()
    found = _SIZE.search(options)
    unit = _UNITS.get(found["unit"].lower()) if found else None
    if found is None or unit is None:
        return Unknown("its mount does not name its size: it is a share of the memory")
    return Known(int(found["number"]) * unit // _MIB)


def _find_mount(text: str) -> str | None:
    """The options of the uppermost mount at ``/dev/shm``: the last one."""
    options = None
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) > 3 and fields[1] == "/dev/shm":  # noqa: PLR2004, S108 - fstab(5)'s fields
            options = fields[3]
    return options


def _measure() -> FactState:
    try:
        size = os.statvfs("/dev/shm")  # noqa: S108 - only looked at
    except OSError as error:
        return missing_state(error)
    return Known(size.f_blocks * size.f_frsize // _MIB)
