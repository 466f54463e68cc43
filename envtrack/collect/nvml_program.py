"""The same report from ``nvidia-smi``, for where nvidia-ml-py is not installed.

Forms are those of NVIDIA's manual page nvidia-smi(1) and of public captures. What it prints without
arguments names other people's commands: nothing but the CUDA version is taken from that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.interface import GpuInfo, NvmlReport, Said
from envtrack.collect.nvidia_smi import parse_cuda_version
from envtrack.collect.nvml_library import read_pci_id
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from envtrack.collect.interface import Asks

_PROGRAM = "nvidia-smi"
_WSL_PROGRAM = "/usr/lib/wsl/lib/nvidia-smi"  # often not on PATH there
_FIELDS = (
    "index",
    "name",
    "driver_version",
    "compute_cap",
    "memory.total",
    "pci.bus_id",
    "mig.mode.current",
    "persistence_mode",
)
_REFUSED_FIELD = re.compile(r'Field "([\w.]+)" is not a valid field to query')
# `…for GPU1: 0000:34:00.0: Unknown Error`; `…for GPU0000:08:00.0: Unknown Error`; `…for GPU 0: …`
_LOST = re.compile(r"Unable to determine the device handle for GPU *([0-9A-Fa-f:. ]+): *(\S.*)")
_INDEX = re.compile(r"\d{1,3}(?=:|$)")
_NONE = "No devices were found"
_SWITCH = {"enabled": "on", "disabled": "off"}
_REASON_LENGTH = 200
_LAST = 1000


def ask_nvidia_smi(ask: Asks, *, timeout_s: float) -> NvmlReport | Absent | Unknown:
    """Its report; absent: there is no such program; unknown: why it could not tell."""
    program = _PROGRAM
    said, fields = _query(ask, program, timeout_s)
    if isinstance(said, Absent):
        program = _WSL_PROGRAM
        said, fields = _query(ask, program, timeout_s)
    if not isinstance(said, Said):
        return said
    rows = [_split(line, fields) for line in said.out.splitlines()]
    found = [row for row in rows if row]
    lost = dict(_find_lost(f"{said.out}\n{said.err}"))
    if not found and not lost and _NONE not in said.out:
        return Unknown(_find_reason(said))
    listing = ask((program, "-L"), timeout_s=timeout_s) if _has_mig(found) else Absent()
    counts = _count_mig_devices(listing) if isinstance(listing, Said) else {}
    banner = ask((program,), timeout_s=timeout_s)
    gpus: dict[int, GpuInfo | Unknown] = dict(lost)
    gpus.update((gpu.index, gpu) for gpu in (_read_row(row, counts) for row in found))
    versions = [row["driver_version"] for row in found]
    return NvmlReport(
        driver_version=_state(versions[0]) if versions else Unknown(_find_reason(said)),
        cuda_version=parse_cuda_version(banner) if isinstance(banner, Said) else banner,
        gpus=tuple(gpus[index] for index in sorted(gpus)),
    )


def _query(
    ask: Asks, program: str, timeout_s: float
) -> tuple[Said | Absent | Unknown, tuple[str, ...]]:
    """The rows, and their fields: a field that an old driver does not know makes it refuse all."""
    fields: tuple[str, ...] = _FIELDS
    while True:
        query = f"--query-gpu={','.join(fields)}"
        said = ask((program, query, "--format=csv,noheader,nounits"), timeout_s=timeout_s)
        refused = isinstance(said, Said) and _REFUSED_FIELD.search(said.out + said.err)
        if not refused or refused[1] not in fields:
            return said, fields
        fields = tuple(field for field in fields if field != refused[1])


def _split(line: str, fields: tuple[str, ...]) -> dict[str, str]:
    """A row by field; nothing for a line that is none."""
    values = [value.strip() for value in line.split(",")]
    if len(values) != len(fields) or not values[0].isdecimal():
        return {}
    return dict(zip(fields, values, strict=True))


def _read_row(row: dict[str, str], counts: dict[int, int]) -> GpuInfo:
    index = int(row["index"])
    mig = _state(row.get("mig.mode.current"), _SWITCH)
    if isinstance(mig, Unknown) and row.get("mig.mode.current") in {"[N/A]", "[Not Supported]"}:
        mig = Absent()
    if mig == Known("on"):
        devices: FactState = (
            Known(counts[index]) if index in counts else Unknown("nvidia-smi did not list them")
        )
    else:
        devices = Known(0) if isinstance(mig, Known) else mig
    return GpuInfo(
        index=index,
        model=_state(row["name"]),
        compute_capability=_state(row.get("compute_cap")),
        memory_mib=_number(row["memory.total"]),
        pci_id=_state(row["pci.bus_id"], convert=read_pci_id),
        mig=mig,
        mig_devices=devices,
        persistence=_state(row["persistence_mode"], _SWITCH),
    )


def _state(
    value: str | None,
    table: dict[str, str] | None = None,
    *,
    convert: Callable[[str], str] = str,
) -> FactState:
    """``[N/A]``, ``[Not Supported]``, ``[GPU is lost]``… are unknown, in nvidia-smi's word."""
    if value is None:
        return Unknown("this nvidia-smi does not know the field")
    if value.startswith("[") or value in {"N/A", ""}:
        return Unknown(value.strip("[]") or "nvidia-smi says nothing")
    if table is None:
        return Known(convert(value))
    word = table.get(value.lower())
    return Known(word) if word else Unknown(f"nvidia-smi says {value}")


def _number(value: str) -> FactState:
    state = _state(value)
    return Known(int(value)) if isinstance(state, Known) and value.isdecimal() else _as_fault(state)


def _as_fault(state: FactState) -> FactState:
    return state if isinstance(state, Unknown) else Unknown("nvidia-smi says no number")


def _has_mig(rows: list[dict[str, str]]) -> bool:
    return any(row.get("mig.mode.current", "").lower() == "enabled" for row in rows)


def _count_mig_devices(listing: Said) -> dict[int, int]:
    """By ``nvidia-smi -L``: under a line of the GPU one for each instance."""
    counts: dict[int, int] = {}
    index = -1
    for line in listing.out.splitlines():
        if found := re.match(r"GPU (\d+):", line):
            index = int(found[1])
            counts[index] = 0
        elif index in counts and re.match(r"\s+MIG\s.*Device\s+\d+:", line):
            counts[index] += 1
    return counts


def _find_lost(text: str) -> Iterator[tuple[int, Unknown]]:
    """GPUs that it can't reach, by index; those of which it says only the bus come last."""
    for place, found in enumerate(_LOST.finditer(text)):
        index = _INDEX.match(found[1])
        yield int(index[0]) if index else _LAST + place, Unknown(found[2].strip())


def _find_reason(said: Said) -> str:
    """The first line of what it printed instead of rows."""
    lines = (line.strip() for line in f"{said.out}\n{said.err}".splitlines())
    first = next((line for line in lines if line), "")
    first = first.removeprefix("Failed to initialize NVML: ")
    return first[:_REASON_LENGTH] or f"nvidia-smi ended with {said.code} and said nothing"
