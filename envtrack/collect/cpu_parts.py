"""Names for the numbers by which an Arm processor knows itself.

Architects' and part numbers as in the registers MIDR_EL1 of Arm's manuals; the same table stands in
util-linux (``sys-utils/lscpu-arm.c``). Only what is met in servers, workstations and Jetsons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_IMPLEMENTERS = {
    "0x41": "ARM",
    "0x42": "Broadcom",
    "0x43": "Cavium",
    "0x46": "Fujitsu",
    "0x48": "HiSilicon",
    "0x4e": "NVIDIA",
    "0x50": "APM",
    "0x51": "Qualcomm",
    "0x61": "Apple",
    "0x6d": "Microsoft",
    "0x70": "Phytium",
    "0xc0": "Ampere",
}
_PARTS = {
    ("0x41", "0xd03"): "Cortex-A53",
    ("0x41", "0xd05"): "Cortex-A55",
    ("0x41", "0xd07"): "Cortex-A57",
    ("0x41", "0xd08"): "Cortex-A72",
    ("0x41", "0xd0b"): "Cortex-A76",
    ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd40"): "Neoverse-V1",
    ("0x41", "0xd42"): "Cortex-A78AE",
    ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd4f"): "Neoverse-V2",
    ("0x41", "0xd83"): "Neoverse-V3AE",
    ("0x41", "0xd84"): "Neoverse-V3",
    ("0x41", "0xd85"): "Cortex-X925",
    ("0x41", "0xd87"): "Cortex-A725",
    ("0x41", "0xd8e"): "Neoverse-N3",
    ("0x43", "0x0af"): "ThunderX2",
    ("0x46", "0x001"): "A64FX",
    ("0x48", "0xd01"): "TaiShan-v110",
    ("0x4e", "0x003"): "Denver 2",
    ("0x4e", "0x004"): "Carmel",
    ("0x4e", "0x010"): "Olympus",
    ("0x6d", "0xd49"): "Azure-Cobalt-100",
    ("0xc0", "0xac3"): "Ampere-1",
    ("0xc0", "0xac4"): "Ampere-1A",
}


def describe_arm_vendor(implementer: str) -> str:
    """``ARM``; the number where it has no name here."""
    return _IMPLEMENTERS.get(implementer.lower(), implementer.lower())


def describe_arm_parts(parts: Iterable[tuple[str, str]]) -> str:
    """The kinds of core of one machine: ``Neoverse-V2``, ``Cortex-A725 + Cortex-X925``."""
    return " + ".join(sorted(_describe_part(*part) for part in parts))


def _describe_part(implementer: str, part: str) -> str:
    key = (implementer.lower(), part.lower())
    return _PARTS.get(key, f"{describe_arm_vendor(implementer)} part {key[1]}")
