"""What ``nvidia-smi`` says where NVML itself could not be asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.below_root import is_there
from envtrack.collect.interface import Said
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from envtrack.collect.interface import Machine

_WSL_PROGRAM = "/usr/lib/wsl/lib/nvidia-smi"  # often not on PATH there
# The banner: "Driver Version: 565.57.01   CUDA Version: 12.7" up to branch 595, from 610 on
# "KMD Version: 610.57.04   CUDA UMD Version: 13.3"; older than 410 without the CUDA part.
_CUDA = re.compile(r"CUDA(?: UMD)? Version\s*:\s*(\S+)")
_NUMBER = re.compile(r"\d+\.\d+")
_LONGEST_REASON = 100


def ask_cuda_version(machine: Machine) -> FactState:
    """The newest CUDA that the driver supports; absent: there is no such program.

    It prints a table of other people's processes too: of that nothing but the banner is looked at.
    """
    said = machine.ask(["nvidia-smi"])
    if isinstance(said, Absent) and is_there(machine.root, _WSL_PROGRAM):
        said = machine.ask([_WSL_PROGRAM])
    return parse_cuda_version(said) if isinstance(said, Said) else said


def parse_cuda_version(said: Said) -> FactState:
    """The number behind it, or why there is none: ``ERR!``, an error, an old driver."""
    found = _CUDA.search(said.out)
    if found is None:
        line = f"{said.out}\n{said.err}".strip().partition("\n")[0]
        words = line.partition(". ")[0].strip()
        is_error = said.code != 0 and words != ""
        return Unknown(words[:_LONGEST_REASON] if is_error else "nvidia-smi does not say it")
    if not _NUMBER.fullmatch(found[1]):
        return Unknown(f"nvidia-smi says {found[1][:_LONGEST_REASON]}")
    return Known(found[1])
