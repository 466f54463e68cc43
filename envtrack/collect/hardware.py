"""The machine itself: processor, memory and GPUs."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from envtrack.collect.amd_gpus import read_amd_gpus
from envtrack.collect.below_root import locate, names_in, numbered
from envtrack.collect.cpu import Cpu, parse_cpuinfo
from envtrack.collect.memory_size import read_memory_mib
from envtrack.collect.nvidia_gpus import GpuFacts, read_nvidia_gpus
from envtrack.collect.pci import VENDORS, Controller, read_attribute, read_controllers
from envtrack.collect.reading import Missing, read_text
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from envtrack.collect.interface import Machine

_CPUS = "/sys/devices/system/cpu"
# A server with 256 CPUs has 0.35 MB; Linux on x86 runs at most 8192 of them.
_CPUINFO_LIMIT_BYTES = 12 * 1024 * 1024


class HardwareCollector:
    """Reads ``/proc`` and ``/sys``; NVIDIA's GPUs are asked for through NVML."""

    layer = Layer.HARDWARE

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``hardware.cpu.…``, ``.memory-mib``, ``.numa.nodes``, ``.board``, ``.gpu.…``, ``.pci.…``.

        ``hardware.gpu.<index>.…`` has NVIDIA's first, in NVML's order, then AMD's, then Intel's;
        ``hardware.pci.<vendor>`` counts those on the bus, which in a container can be more.

        Cost: 2 ms and one small file a PCI device; NVML's time comes on top.
        """
        for part, state in _read_cpu(machine).items():
            yield Fact(name=f"hardware.cpu.{part}", state=state)
        yield Fact(name="hardware.memory-mib", state=read_memory_mib(machine.root))
        yield Fact(name="hardware.numa.nodes", state=_count_nodes(machine.root))
        yield Fact(name="hardware.board", state=_read_board(machine.root))
        yield from _read_gpus(machine)


def _read_cpu(machine: Machine) -> dict[str, FactState]:
    text = read_text(locate(machine.root, "/proc/cpuinfo"), limit_bytes=_CPUINFO_LIMIT_BYTES)
    names = Cpu.__slots__
    if not isinstance(text, str):
        facts: dict[str, FactState] = dict.fromkeys(names, text)
    else:
        cpu = parse_cpuinfo(text)
        facts = {name: getattr(cpu, name) for name in names}
        sockets, cores = _read_topology(machine.root)
        if not isinstance(cpu.sockets, Known):
            facts |= {"sockets": sockets, "cores": cores}
    said = _read_architecture(machine)
    return {**facts, "architecture": said} if isinstance(said, Known) else facts


def _read_architecture(machine: Machine) -> FactState:
    """The kernel's word for it: since Linux 6.1 in a file, else of the running system."""
    text = read_text(locate(machine.root, "/proc/sys/kernel/arch"))
    if isinstance(text, str):
        return Known(text.strip())
    if machine.is_this_one and hasattr(os, "uname"):
        return Known(os.uname().machine)
    return Absent()


def _read_topology(root: Path) -> tuple[FactState, FactState]:
    """Sockets and cores, by sysfs (Documentation/admin-guide/cputopology.rst)."""
    packages, cores = set(), set()
    for _, name in numbered(names_in(root, _CPUS), "cpu"):
        folder = root / _CPUS[1:] / name / "topology"
        package = read_attribute(folder, "physical_package_id")
        core = read_attribute(folder, "core_id")
        if package.isdecimal() and core.isdecimal():  # -1: the firmware does not say it
            packages.add(package)
            cores.add((package, core))
    if not packages:
        return (Unknown("neither cpuinfo nor sysfs says it"),) * 2
    return Known(len(packages)), Known(len(cores))


def _count_nodes(root: Path) -> FactState:
    """Those that have CPUs: a Grace Hopper has more, for its GPU's memory, as its driver likes."""
    text = read_text(root / "sys/devices/system/node/has_cpu")
    if not isinstance(text, str):
        return text
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text)
    return Known(sum(int(last or first) - int(first) + 1 for first, last in ranges))


def _read_board(root: Path) -> FactState:
    """Model of server, virtual machine or board; of DMI, and of the device tree where that is."""
    for path in ("/sys/class/dmi/id/product_name", "/proc/device-tree/model"):
        text = read_text(locate(root, path))
        if isinstance(text, str) and (name := text.strip("\0 \n")):
            return Known(name)
    return Absent()


def _read_gpus(machine: Machine) -> Iterator[Fact]:
    controllers = read_controllers(machine.root)
    parts: list[tuple[GpuFacts, ...] | Missing] = [
        read_nvidia_gpus(machine.root, machine.nvml(), controllers),
        read_amd_gpus(machine.root, controllers),
        _read_intel_gpus(controllers),
    ]
    gpus = [gpu for part in parts if isinstance(part, tuple) for gpu in part]
    yield Fact(name="hardware.gpu.count", state=_count(parts, len(gpus)))
    for index, gpu in enumerate(gpus):
        for part, state in gpu.items():
            yield Fact(name=f"hardware.gpu.{index}.{part}", state=state)
    for vendor in VENDORS.values():
        yield Fact(name=f"hardware.pci.{vendor}", state=_count_on_bus(controllers, vendor))


def _read_intel_gpus(
    controllers: tuple[Controller, ...] | Missing,
) -> tuple[GpuFacts, ...] | Missing:
    if not isinstance(controllers, tuple):
        return controllers
    mine = (one for one in controllers if one.vendor == "intel")
    return tuple(
        {"vendor": Known("intel"), "pci-id": Known(one.slot), "pci-device": Known(one.device)}
        for one in mine
    )


def _count(parts: list[tuple[GpuFacts, ...] | Missing], found: int) -> FactState:
    """How many GPUs there are; unknown as soon as one vendor's could not be looked for."""
    for part in parts:
        if isinstance(part, Unknown):
            return part
    return Known(found) if any(isinstance(part, tuple) for part in parts) else Absent()


def _count_on_bus(controllers: tuple[Controller, ...] | Missing, vendor: str) -> FactState:
    if not isinstance(controllers, tuple):
        return controllers
    return Known(sum(one.vendor == vendor for one in controllers))
