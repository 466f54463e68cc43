"""The kernel: release, build and architecture."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from envtrack.collect.reading import read_text
from envtrack.model.fact import Absent, Fact, FactState, Known
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.interface import Machine


class KernelCollector:
    """Reads ``/proc``; asks ``uname`` where there is none on the running machine."""

    layer = Layer.KERNEL

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``kernel.name``, ``kernel.release``, ``kernel.build`` and ``kernel.machine``."""
        proc = machine.root / "proc"
        banner = read_text(proc / "version")
        name: FactState = Known(banner.split(" ", 1)[0]) if isinstance(banner, str) else banner
        rows = {
            "name": (name, 0),
            "release": (_read_line(machine, "osrelease"), 2),
            "build": (_parse_build(banner) if isinstance(banner, str) else banner, 3),
            # Linux 6.1 and newer; unlike uname it does not change under `setarch`.
            "machine": (_read_line(machine, "arch"), 4),
        }
        for part, (state, position) in rows.items():
            asked = _ask_uname(machine, position) if isinstance(state, Absent) else state
            yield Fact(name=f"kernel.{part}", state=asked)


def _read_line(machine: Machine, name: str) -> FactState:
    text = read_text(machine.root / "proc" / "sys" / "kernel" / name)
    return Known(text.strip()) if isinstance(text, str) else text


def _parse_build(banner: str) -> FactState:
    """What follows the ``#``: before it stand the login and host of whoever built the kernel."""
    _, mark, build = banner.partition(" #")
    return Known(f"#{build.strip()}") if mark else Absent()


def _ask_uname(machine: Machine, position: int) -> FactState:
    """One field of ``uname``; a kernel without ``/proc`` is macOS, a BSD or a strict sandbox."""
    if not machine.is_this_one:
        return Absent()
    if sys.platform == "win32":
        import platform

        return Known(platform.uname()[position])
    return Known(os.uname()[position])
