"""NVIDIA's kernel module: which version is loaded, and whether it is the open one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.collect.below_root import locate, names_in
from envtrack.collect.reading import read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from pathlib import Path

# "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024" and
# "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (user@host)":
# NVIDIA's README, chapter on the open modules; open-gpu-kernel-modules, utils.mk. Older open ones
# said "Open Kernel Module" and no "for"; a Jetson's version is its L4T's, "35.3.1" or "540.4.0".
_BANNER = re.compile(
    r"^NVRM version: (?P<kind>.*?)\s+(?P<version>\d+\.\d+(?:\.\d+)*)(?:\s|$)", re.MULTILINE
)
_DEVICE = re.compile(r"nvidia\d+")
_L4T = re.compile(r"^# R(\d+) \(release\), REVISION: (\d+(?:\.\d+)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NvidiaModule:
    """What is loaded.

    Attributes:
        version: ``550.54.15``; absent: it is not loaded.
        is_open: whether it is the open kernel module.
    """

    version: FactState
    is_open: FactState


def read_nvidia_module(root: Path) -> NvidiaModule:
    """By ``/proc/driver/nvidia/version``, or by sysfs where that is kept from us."""
    text = read_text(locate(root, "/proc/driver/nvidia/version"))
    found = _BANNER.search(text) if isinstance(text, str) else None
    if found is not None:
        return NvidiaModule(
            version=Known(found["version"]), is_open=Known("Open" in found["kind"].split())
        )
    version = read_text(locate(root, "/sys/module/nvidia/version"))
    if isinstance(version, str):
        return NvidiaModule(version=Known(version.strip()), is_open=_read_taint(root))
    if isinstance(text, str):  # the file is there, so a module is
        text = Unknown("the driver's version file has another form")
    state = text if isinstance(text, Unknown) else version
    return NvidiaModule(version=state, is_open=state)


def _read_taint(root: Path) -> FactState:
    """A module that is not free taints the kernel with a P (Documentation/admin-guide)."""
    text = read_text(locate(root, "/sys/module/nvidia/taint"))
    return Known("P" not in text) if isinstance(text, str) else text


def read_l4t_version(root: Path) -> FactState:
    """The release of Linux for Tegra, NVIDIA's for Jetsons: ``36.4.3``."""
    text = read_text(locate(root, "/etc/nv_tegra_release"))
    if not isinstance(text, str):
        return text
    found = _L4T.search(text)
    return Known(f"{found[1]}.{found[2]}") if found else Unknown("its file has another form")


def count_device_files(root: Path) -> FactState:
    """How many GPUs have a file under ``/dev``: none in a container that was given no GPU."""
    count = sum(_DEVICE.fullmatch(name) is not None for name in names_in(root, "/dev"))
    return Known(count) if count else Absent()
