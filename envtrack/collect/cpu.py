"""The processor as ``/proc/cpuinfo`` tells of it, in the form of each architecture.

The forms are those of the kernel's ``arch/*/kernel/cpu/proc.c`` and their likes: x86 gives each CPU
a block with its place; aarch64, ppc64le, s390x and riscv64 leave the places to sysfs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from envtrack.collect.cpu_parts import describe_arm_parts, describe_arm_vendor
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What wheels and their libraries choose by; the kernel's spelling (arch/x86/include/asm/
# cpufeatures.h, arch/arm64/kernel/cpuinfo.c, arch/s390/kernel/processor.c).
FLAGS = (
    *("sse4_2", "avx", "avx2", "fma", "f16c", "bmi2"),
    *("avx512f", "avx512bw", "avx512vl", "avx512_bf16", "avx512_vnni", "amx_tile", "amx_bf16"),
    *("asimd", "atomics", "sve", "sve2", "bf16", "i8mm"),
    *("vx", "vxe", "vxe2", "nnpa"),
)
# x86-64 psABI, table "Micro-Architecture Levels", in the kernel's words: sse3 is pni, lzcnt is abm,
# osxsave shows as xsave.
_LEVELS = {
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
_SILENT = Unknown("cpuinfo does not say it")
_LINE = re.compile(r"^([^\s:][^:\n]*?)[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
# One CPU's place, without a look at the kilobyte of flags around it.
_PLACE = re.compile(r"^(processor|physical id|core id)[ \t]*:[ \t]*(\d+)[ \t]*$", re.MULTILINE)
_CPU = re.compile(r"^processor[ \t]*:", re.MULTILINE)
_S390_CPU = re.compile(r"^processor \d+: .*?machine = (\w+)", re.MULTILINE)
_ARM_PART = re.compile(
    r"^CPU implementer[ \t]*: (0x\w+)$(?:\n.+)*?\nCPU part[ \t]*: (0x\w+)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    """What a machine's ``cpuinfo`` says.

    Attributes:
        architecture: as ``uname -m`` would say it.
        model: ``AMD EPYC 7763 64-Core Processor``.
        vendor: ``AuthenticAMD``.
        flags: those of `FLAGS` that it has, in that order; riscv64: its ``isa``.
        level: of x86: ``x86-64-v3``.
        threads: how many CPUs the kernel runs.
        sockets: how many processors; unknown where only sysfs could say it.
        cores: likewise, of all sockets.
    """

    architecture: FactState
    model: FactState
    vendor: FactState
    flags: FactState
    level: FactState
    threads: FactState
    sockets: FactState
    cores: FactState


def parse_cpuinfo(text: str) -> Cpu:
    """Model and flags of the first CPU, and how many there are.

    Cost: 5 ms for the 0.35 MB of a machine with 256 CPUs.
    """
    first = dict(_first_values(text))
    flags = frozenset(
        (first.get("flags") or first.get("Features") or first.get("features", "")).split()
    )
    sockets, cores, threads = _count_places(text)
    return Cpu(
        architecture=_guess_architecture(first, flags),
        model=_describe_model(first, text),
        vendor=_describe_vendor(first),
        flags=_choose_flags(first, flags),
        level=_find_level(flags),
        threads=Known(threads) if threads else _SILENT,
        sockets=Known(sockets) if sockets else _SILENT,
        cores=Known(cores) if cores else _SILENT,
    )


def _first_values(text: str) -> Iterator[tuple[str, str]]:
    """The lines up to the second CPU; of ppc64le also the last ones, which are the machine's."""
    starts = islice(_CPU.finditer(text), 1, 2)
    head = next((text[: second.start()] + text[-1024:] for second in starts), text)
    seen = set()
    for found in _LINE.finditer(head):
        if found[1] not in seen:
            seen.add(found[1])
            yield found[1], found[2]


def _count_places(text: str) -> tuple[int, int, int]:
    """Sockets, cores and threads; 0 for what is not said."""
    sockets, cores, threads = set(), set(), 0
    package = -1
    for found in _PLACE.finditer(text):
        match found[1]:
            case "processor":
                threads += 1
            case "physical id":
                package = int(found[2])
                sockets.add(package)
            case _ if package >= 0:
                cores.add((package, int(found[2])))
            case _:
                pass
    return len(sockets), len(cores), threads or len(_S390_CPU.findall(text))


def _guess_architecture(first: Mapping[str, str], flags: frozenset[str]) -> FactState:
    if "flags" in first:
        return Known("x86_64" if "lm" in flags else "i686")
    if "CPU implementer" in first:
        # A 64-bit kernel says 8 or AArch64, a 32-bit one 7 and the like.
        is_64 = first.get("CPU architecture", "8") in {"8", "AArch64"}
        return Known("aarch64" if is_64 else "armv7l")
    if first.get("vendor_id") == "IBM/S390":
        return Known("s390x")
    if isa := first.get("isa", ""):
        return Known("riscv64" if isa.startswith("rv64") else "riscv32")
    return Unknown("cpuinfo does not say it")  # POWER runs in either byte order


def _describe_model(first: Mapping[str, str], text: str) -> FactState:
    if "CPU implementer" in first and (parts := set(_ARM_PART.findall(text))):
        # Its "model name", where there is one, is only "ARMv8 Processor rev 1 (v8l)".
        return Known(describe_arm_parts(parts))
    if first.get("vendor_id") == "IBM/S390" and (found := _S390_CPU.search(text)):
        return Known(f"IBM/S390 {found[1]}")  # what stands before it is the machine's serial number
    for key in ("model name", "Model Name", "cpu", "uarch"):
        if said := first.get(key):
            return Known(" ".join(said.split()))
    return _SILENT


def _describe_vendor(first: Mapping[str, str]) -> FactState:
    if implementer := first.get("CPU implementer"):
        return Known(describe_arm_vendor(implementer))
    said = first.get("vendor_id") or first.get("mvendorid")
    return Known(said) if said else Absent()


def _choose_flags(first: Mapping[str, str], flags: frozenset[str]) -> FactState:
    if not flags:
        return Known(first["isa"]) if "isa" in first else Absent()
    chosen = " ".join(flag for flag in FLAGS if flag in flags)
    return Known(chosen) if chosen else Absent()


def _find_level(flags: frozenset[str]) -> FactState:
    if "lm" not in flags:
        return Absent()
    level = "x86-64-v1"
    for name, needed in _LEVELS.items():
        if not needed <= flags:
            break
        level = name
    return Known(level)
