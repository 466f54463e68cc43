"""AMD's GPUs, by the compute driver's topology in sysfs (``amdkfd``) and the bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.collect.below_root import names_in, numbered
from envtrack.collect.pci import Controller, read_attribute
from envtrack.collect.reading import Missing, read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from envtrack.collect.nvidia_gpus import GpuFacts

_NODES = "/sys/class/kfd/kfd/topology/nodes"
_VENDOR = 0x1002
_MIB = 1024 * 1024
_NO_NODE = Unknown("the compute driver (amdkfd) does not run it")


def read_amd_gpus(
    root: Path, controllers: tuple[Controller, ...] | Missing
) -> tuple[GpuFacts, ...] | Missing:
    """In the order of the topology's nodes, which is ROCm's; then those that only the bus shows.

    Returns:
        Empty: there is none. Absent: there was nothing to look at.
    """
    on_bus = controllers if isinstance(controllers, tuple) else ()
    mine = tuple(one for one in on_bus if one.vendor == "amd")
    nodes = tuple(_read_nodes(root, {one.slot: one for one in mine}))
    slots = {one["pci-id"] for one in nodes}
    rest = tuple(_tell(one, _NO_NODE) for one in mine if Known(one.slot) not in slots)
    if not nodes and not rest and not isinstance(controllers, tuple):
        return controllers
    return (*nodes, *rest)


def decode_target(number: int) -> str:
    """``gfx_target_version`` as compilers spell it: 90010 is ``gfx90a``, 110501 ``gfx1151``.

    Decimal pairs of major, minor and stepping, the last two as hexadecimal digits
    (libhsakmt/src/topology.c in ROCm's runtime).
    """
    major, minor, stepping = number // 10000, number // 100 % 100, number % 100
    return f"gfx{major}{minor:x}{stepping:x}"


def _read_nodes(root: Path, by_slot: Mapping[str, Controller]) -> Iterator[GpuFacts]:
    for _, number in numbered(names_in(root, _NODES), ""):
        folder = root / _NODES[1:] / number
        text = read_text(folder / "properties")
        if not isinstance(text, str):
            # Only a GPU's node can be closed: to a container whose device cgroup leaves it out.
            yield _hide(text)
            continue
        said = _parse_properties(text)
        # A node without SIMD units is a processor; its memory banks belong to the topology too.
        if said.get("simd_count", 0) and said.get("vendor_id", _VENDOR) == _VENDOR:
            yield _tell_node(folder, said, by_slot)


def _tell_node(
    folder: Path, said: Mapping[str, int], by_slot: Mapping[str, Controller]
) -> GpuFacts:
    target = said.get("gfx_target_version", 0)
    gfx: FactState = Known(decode_target(target)) if target else Unknown("an old amdkfd")
    chip = read_attribute(folder, "name")
    name: FactState = Known(chip) if chip else Unknown("the driver does not say it")
    slot = _decode_slot(said)
    return {**_tell(by_slot.get(slot), gfx, name), "pci-id": Known(slot)}


def _parse_properties(text: str) -> dict[str, int]:
    rows = (line.partition(" ") for line in text.splitlines())
    return {key: int(value) for key, _, value in rows if value.isdecimal()}


def _decode_slot(said: Mapping[str, int]) -> str:
    """Bus, device and function are packed into ``location_id`` as PCI packs them."""
    place = said.get("location_id", 0)
    bus, device, function = place >> 8 & 0xFF, place >> 3 & 0x1F, place & 0x7
    return f"{said.get('domain', 0):04x}:{bus:02x}:{device:02x}.{function}"


def _tell(
    controller: Controller | None, gfx: FactState, name: FactState = _NO_NODE
) -> dict[str, FactState]:
    """``product_name`` is the card's; the node's own ``name`` is the chip's, and often empty."""
    facts = {"vendor": Known("amd"), "model": name, "gfx": gfx}
    if controller is None:
        return {**facts, "memory-mib": Absent(), "pci-device": Absent()}
    product = read_attribute(controller.folder, "product_name")
    memory = read_attribute(controller.folder, "mem_info_vram_total")
    return {
        **facts,
        "model": Known(product) if product else name,
        "memory-mib": Known(int(memory) // _MIB) if memory.isdecimal() else _NO_NODE,
        "pci-id": Known(controller.slot),
        "pci-device": Known(controller.device),
    }


def _hide(reason: Missing) -> GpuFacts:
    names = ("model", "gfx", "memory-mib", "pci-id", "pci-device")
    return {"vendor": Known("amd"), **dict.fromkeys(names, reason)}
