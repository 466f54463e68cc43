"""CUDA toolkits and cuDNN that are installed on the system, outside of any environment."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from envtrack.collect.below_root import is_there, locate, names_in
from envtrack.collect.reading import read_text
from envtrack.collect.version_order import version_numbers
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from pathlib import Path

# NVIDIA's own place, Arch's and Debian's.
_CURRENT = ("/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda")
_NAME = re.compile(r"cuda-(\d+(?:\.\d+)?)")
_RELEASE = re.compile(r"cuda-\d+\.\d+")
_TEXT = re.compile(r"CUDA Version (\d+(?:\.\d+)+)")
_INCLUDES = (
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/aarch64-linux-gnu",
    "/usr/include",
    "/usr/local/cuda/include",
    "/opt/cuda/include",
)
_CUDNN = re.compile(r"^#define\s+CUDNN_(MAJOR|MINOR|PATCHLEVEL)\s+(\d+)", re.MULTILINE)
_NO_VERSION = Unknown("the toolkit says its version in no file")


def read_toolkits(root: Path) -> tuple[FactState, FactState]:
    """The version of the one that is in use, and those of all, sorted: ``11.8.0 12.4.1``.

    In use: that of the bare name, ``/usr/local/cuda``. `nvcc` on PATH may be another's; the
    toolchain tells that.
    """
    folder = next((path for path in _CURRENT if is_there(root, path)), None)
    current = _read_version(root, folder) if folder else Absent()
    states = [_read_version(root, f"/usr/local/{name}") for name in _find_names(root)]
    found = {str(state.value) for state in (current, *states) if isinstance(state, Known)}
    versions = " ".join(sorted(found, key=version_numbers))
    return current, Known(versions) if versions else Absent()


def read_cudnn_version(root: Path) -> FactState:
    """Of the headers, which come with the library; before cuDNN 8 they were one."""
    for folder in _INCLUDES:
        for name in ("cudnn_version.h", "cudnn.h"):
            text = read_text(locate(root, f"{folder}/{name}"))
            said = dict(_CUDNN.findall(text)) if isinstance(text, str) else {}
            if "MAJOR" in said:
                parts = (said.get(part) for part in ("MAJOR", "MINOR", "PATCHLEVEL"))
                return Known(".".join(part for part in parts if part))
            if isinstance(text, Unknown):
                return text
    return Absent()


def _find_names(root: Path) -> tuple[str, ...]:
    """Not ``cuda-12``: that is a link to the newest of its series."""
    return tuple(name for name in names_in(root, "/usr/local") if _RELEASE.fullmatch(name))


def _read_version(root: Path, folder: str) -> FactState:
    """``version.json`` since CUDA 11.1, ``version.txt`` before; else what the folder is called."""
    text = read_text(locate(root, f"{folder}/version.json"))
    if isinstance(text, str) and (version := _parse_version(text)):
        return Known(version)
    text = read_text(locate(root, f"{folder}/version.txt"))
    if isinstance(text, str) and (found := _TEXT.search(text)):
        return Known(found[1])
    named = _NAME.fullmatch(locate(root, folder).name)
    return Known(named[1]) if named else _NO_VERSION


def _parse_version(text: str) -> str:
    try:
        document = json.loads(text)
        version = document["cuda"]["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return version if isinstance(version, str) else ""
