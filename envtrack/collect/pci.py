"""The GPUs on the PCI bus, whether a driver runs them or not (sysfs, ``sysfs-bus-pci``)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.collect.below_root import list_names
from envtrack.collect.reading import Missing, read_text
from envtrack.model.fact import Absent, FactState, Known

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VENDORS = {"0x10de": "nvidia", "0x1002": "amd", "0x8086": "intel"}
_DEVICES = "/sys/bus/pci/devices"
_SLOT = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
# pci.ids, class 03: VGA, 3D and other display controllers. Class 12, accelerators, is where AMD's
# Instinct MI300 stands; of Intel's it is the NPU, which is no GPU.
_DISPLAY = ("0x0300", "0x0302", "0x0380")
_ACCELERATOR = "0x1200"


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """One GPU as the bus shows it.

    Attributes:
        slot: ``0000:17:00.0``.
        vendor: ``nvidia``, ``amd`` or ``intel``.
        device: vendor and device number, ``10de:20b2``: the model, for those who look it up.
        module: the kernel module that runs it, ``nvidia`` or ``vfio-pci``; empty without one.
        folder: where the bus keeps its attributes.
    """

    slot: str
    vendor: str
    device: str
    module: str
    folder: Path


def read_controllers(root: Path) -> tuple[Controller, ...] | Missing:
    """By slot, which is also NVML's order; absent where there is no bus to look at.

    Virtual functions, into which a card on its host may be cut, are left out.

    Cost: one small file a PCI device, three more a GPU.
    """
    slots = list_names(root, _DEVICES)
    if not isinstance(slots, tuple):
        return slots
    return tuple(_find_controllers(root, slots))


def _find_controllers(root: Path, slots: tuple[str, ...]) -> Iterator[Controller]:
    for slot in slots:
        if not _SLOT.fullmatch(slot):
            continue
        folder = root.joinpath(_DEVICES[1:], slot)  # sysfs has only relative links
        kind = read_attribute(folder, "class")[:6]
        if kind not in _DISPLAY and kind != _ACCELERATOR:
            continue
        number = read_attribute(folder, "vendor")
        vendor = VENDORS.get(number, "")
        is_gpu = vendor == "amd" or (vendor != "" and kind in _DISPLAY)
        if is_gpu and not os.path.lexists(folder / "physfn"):
            device = f"{number[2:]}:{read_attribute(folder, 'device')[2:]}"
            yield Controller(
                slot=slot, vendor=vendor, device=device, module=_find_module(folder), folder=folder
            )


def read_attribute(folder: Path, name: str) -> str:
    """One line of sysfs; empty where it can't be read."""
    text = read_text(folder / name)
    return text.strip() if isinstance(text, str) else ""


def find_device(controllers: tuple[Controller, ...] | Missing, slot: FactState) -> FactState:
    """The vendor and device number of the GPU in a slot."""
    if not isinstance(controllers, tuple):
        return controllers
    if not isinstance(slot, Known):
        return slot
    devices = {one.slot: one.device for one in controllers}
    return Known(devices[str(slot.value)]) if slot.value in devices else Absent()


def _find_module(folder: Path) -> str:
    try:
        return (folder / "driver").readlink().name
    except OSError:
        return ""
