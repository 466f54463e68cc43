"""The kernel that runs, and whether a newer one waits for a reboot."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from envtrack.collect.reading import missing_state, read_text
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from envtrack.collect.interface import Machine

# The variable of the UEFI specification, 2.10, section 3.3: four bytes of attributes, one of value.
_SECURE_BOOT = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_EFI = "sys/firmware/efi"
_EFI_VALUE_AT = 4
_MODULES = ("lib/modules", "usr/lib/modules")
# vmlinuz on most; vmlinux on ppc64le; Image on aarch64 of some.
_IMAGE = re.compile(r"(?:vmlinuz|vmlinux|Image)-(?P<release>\d+\.\d+\S*)")
_RELEASE = re.compile(r"\d+\.\d+\S*")  # not RHEL's 0-rescue-<machine id>
_IMAGE_NAMES = ("vmlinuz", "vmlinux", "Image")
# Debian's and Ubuntu's, written by packages that want a reboot: the kernel, the C library, drivers.
_REBOOT_MARKS = ("run/reboot-required", "var/run/reboot-required")


class KernelCollector:
    """Reads ``/proc``; asks ``uname`` where there is none on the running machine."""

    layer = Layer.KERNEL

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """What runs: ``kernel.name``, ``.release``, ``.build``, ``.machine`` and ``.secure-boot``.

        And what is installed: ``kernel.newest-installed`` of the same flavour as the running one
        (``generic``, ``lowlatency``), and ``kernel.reboot-pending``: whether that is newer, or a
        package asked for a reboot; absent where neither can be seen, as in a container.
        """
        proc = machine.root / "proc"
        banner = read_text(proc / "version")
        name: FactState = Known(banner.split(" ", 1)[0]) if isinstance(banner, str) else banner
        rows = {
            "name": (name, 0),
            "release": (_read_line(machine, "osrelease"), 2),
            "build": (_parse_build(banner) if isinstance(banner, str) else banner, 3),
            # Linux 6.1 and newer; unlike uname it does not change under `setarch`.
            "machine": (_read_line(machine, "arch"), 4),
        }
        for part, (state, position) in rows.items():
            asked = _ask_uname(machine, position) if isinstance(state, Absent) else state
            yield Fact(name=f"kernel.{part}", state=asked)
            if part == "release":
                yield from _compare_installed(machine.root, asked)
        yield Fact(name="kernel.secure-boot", state=_read_secure_boot(machine.root))


def _read_line(machine: Machine, name: str) -> FactState:
    text = read_text(machine.root / "proc" / "sys" / "kernel" / name)
    return Known(text.strip()) if isinstance(text, str) else text


def _parse_build(banner: str) -> FactState:
    """What follows the ``#``: before it stand the login and host of whoever built the kernel."""
    _, mark, build = banner.partition(" #")
    return Known(f"#{build.strip()}") if mark else Absent()


def _ask_uname(machine: Machine, position: int) -> FactState:
    """One field of ``uname``; a kernel without ``/proc`` is macOS, a BSD or a strict sandbox."""
    if not machine.is_this_one:
        return Absent()
    if sys.platform == "win32":
        import platform

        return Known(platform.uname()[position])
    return Known(os.uname()[position])


def _read_secure_boot(root: Path) -> FactState:
    """Absent where the machine was not started by UEFI, as far as can be seen from here."""
    try:
        raw = (root / _EFI / "efivars" / _SECURE_BOOT).read_bytes()
    except OSError as error:
        state = missing_state(error)
        if isinstance(state, Absent) and (root / _EFI).is_dir():
            return Unknown("there is UEFI, and its variables are not to be seen")
        return state
    if len(raw) <= _EFI_VALUE_AT:
        return Unknown("the variable is too short")
    return Known(raw[_EFI_VALUE_AT] == 1)


def _compare_installed(root: Path, running: FactState) -> Iterator[Fact]:
    newest = _find_newest(root, running)
    yield Fact(name="kernel.newest-installed", state=newest)
    yield Fact(name="kernel.reboot-pending", state=_find_pending(root, running, newest))


def _find_newest(root: Path, running: FactState) -> FactState:
    if not isinstance(running, Known):
        return running
    flavour = _flavour(str(running.value))
    try:
        found = {name for name in _list_installed(root) if _flavour(name) == flavour}
    except OSError as error:
        return missing_state(error)
    return Known(max(found, key=_rank)) if found else Absent()


def _find_pending(root: Path, running: FactState, newest: FactState) -> FactState:
    if any((root / mark).exists() for mark in _REBOOT_MARKS):
        return Known(value=True)
    if isinstance(running, Known) and isinstance(newest, Known):
        return Known(_rank(str(newest.value)) > _rank(str(running.value)))
    return newest


def _list_installed(root: Path) -> Iterator[str]:
    """Releases that can be booted: a folder of modules alone may be what a removal left behind."""
    for name in _list_names(root / "boot"):
        if found := _IMAGE.fullmatch(name):
            yield found["release"]
    for folder in _MODULES:
        for name in _list_names(root / folder):
            # Where Fedora, Arch and openSUSE keep the image.
            if _RELEASE.fullmatch(name) and any(
                (root / folder / name / image).exists() for image in _IMAGE_NAMES
            ):
                yield name


def _list_names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all that is wanted
    except (FileNotFoundError, NotADirectoryError):
        return []


def _flavour(release: str) -> tuple[str, ...]:
    """The words of a release: ``generic`` is never newer than ``lowlatency``."""
    return tuple(re.findall(r"[a-z]+", release.lower()))


def _rank(release: str) -> tuple[tuple[int, int, str], ...]:
    """Numbers by value, and any number before a word: 427.13.1.el9_4 is newer than 427.el9."""
    parts = re.findall(r"\d+|[a-z]+", release.lower())
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
