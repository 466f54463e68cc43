"""The NVIDIA GPUs of a machine: as NVML tells of them, or as far as files do where it can't."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from envtrack.collect.below_root import is_there, list_names, locate
from envtrack.collect.interface import GpuInfo, NvmlReport
from envtrack.collect.pci import Controller, find_device
from envtrack.collect.reading import Missing, read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

GpuFacts: TypeAlias = "Mapping[str, FactState]"
"""What is known of one GPU, by the last part of the fact's name."""

_ONLY_NVML = ("compute-capability", "memory-mib", "mig", "mig-devices")
_PROC = "/proc/driver/nvidia/gpus"
_NOT_ASKED = Unknown("there is no NVIDIA driver library to ask")
# "Model: \t\t NVIDIA L4"; the same file tells UUID and firmware, which are nobody's business.
_PROC_LINE = re.compile(r"^(Model|Bus Location):[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def read_nvidia_gpus(
    root: Path,
    report: NvmlReport | Missing,
    controllers: tuple[Controller, ...] | Missing,
) -> tuple[GpuFacts, ...] | Missing:
    """Each GPU in NVML's order, which is the order of the bus.

    NVML's word is taken whole: in a container it knows only the GPUs that were given to it. Without
    it the kernel module's files under ``/proc`` tell model and place; without those the bus tells
    that there are GPUs that no driver runs; and a Jetson's has no bus.

    Returns:
        Empty: there is none. Absent: there was nothing to look at. Unknown: one may be there.
    """
    if isinstance(report, NvmlReport):
        return tuple(_read_report(report, controllers))
    reason = report if isinstance(report, Unknown) else _NOT_ASKED
    told = tuple(_read_proc(root))
    if not told and isinstance(controllers, tuple):
        mine = (one for one in controllers if one.vendor == "nvidia")
        told = tuple({"pci-id": Known(one.slot)} for one in mine)
    if not told and is_tegra(root):
        told = ({"model": _read_board(root), "pci-id": Absent()},)
    if told:
        return tuple(_fill(one, reason, controllers) for one in told)
    if is_wsl(root) or not isinstance(controllers, tuple):
        return report  # under WSL a GPU stands on no bus
    return ()


def is_tegra(root: Path) -> bool:
    """Whether it is a Jetson or its like, by the file of its Linux (L4T)."""
    return is_there(root, "/etc/nv_tegra_release")


def is_wsl(root: Path) -> bool:
    """Whether Windows's graphics driver is lent to this Linux (``/dev/dxg``)."""
    return is_there(root, "/dev/dxg")


def _read_report(
    report: NvmlReport, controllers: tuple[Controller, ...] | Missing
) -> Iterator[GpuFacts]:
    for gpu in report.gpus:
        if isinstance(gpu, GpuInfo):
            yield {
                "vendor": Known("nvidia"),
                "model": gpu.model,
                "compute-capability": gpu.compute_capability,
                "memory-mib": gpu.memory_mib,
                "pci-id": gpu.pci_id,
                "pci-device": find_device(controllers, gpu.pci_id),
                "mig": gpu.mig,
                "mig-devices": gpu.mig_devices,
            }
        else:
            yield _fill({"model": gpu, "pci-id": gpu}, gpu, controllers)


def _fill(
    told: GpuFacts, reason: Unknown, controllers: tuple[Controller, ...] | Missing
) -> GpuFacts:
    """All the facts of a GPU of which only some are told, and why the others are not."""
    slot = told.get("pci-id", reason)
    return {
        "vendor": Known("nvidia"),
        "model": reason,
        **dict.fromkeys(_ONLY_NVML, reason),
        "pci-device": find_device(controllers, slot),
        **told,
    }


def _read_proc(root: Path) -> Iterator[GpuFacts]:
    names = list_names(root, _PROC)
    for name in names if isinstance(names, tuple) else ():
        text = read_text(locate(root, f"{_PROC}/{name}/information"))
        said = dict(_PROC_LINE.findall(text)) if isinstance(text, str) else {}
        model: FactState = (
            text if not isinstance(text, str) else Unknown("the driver does not say it")
        )
        yield {
            "model": Known(said["Model"]) if "Model" in said else model,
            "pci-id": Known(said.get("Bus Location", name).lower()),
        }


def _read_board(root: Path) -> FactState:
    """``NVIDIA Jetson AGX Orin Developer Kit``, of the device tree; it ends with a zero byte."""
    text = read_text(locate(root, "/proc/device-tree/model"))
    return Known(text.rstrip("\0\n")) if isinstance(text, str) else text
