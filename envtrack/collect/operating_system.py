"""The distribution and its C library."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

from envtrack.collect.reading import Missing, parse_assignments, read_text
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from envtrack.collect.interface import Machine

# os-release(5): /etc first, /usr/lib where /etc is empty.
_OS_RELEASE = ("etc/os-release", "usr/lib/os-release")
_LIBRARY_FOLDERS = ("lib", "lib64", "usr/lib", "usr/lib64")
# glibc up to 2.33 put its version into the file name; since then only its text says it.
_GLIBC_FILE = re.compile(r"(?:libc|ld)-(\d+\.\d+)\.so")
_GLIBC_TEXT = re.compile(rb"GNU C Library [^\n]{0,200}? version (\d+\.\d+)")
_MUSL_PACKAGE = re.compile(r"^P:musl\n(?:.+\n)*?V:(.+)$", re.MULTILINE)
_APK_DATABASES = ("lib/apk/db/installed", "usr/lib/apk/db/installed")
_LIBC_LIMIT_BYTES = 8 * 1024 * 1024


class OperatingSystemCollector:
    """Reads ``os-release`` and looks at the C library's files."""

    layer = Layer.OS

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``os.distribution.…`` (id, version, name) and ``os.libc.…`` (name, version)."""
        for part, state in zip(("id", "version", "name"), _read_distribution(machine), strict=True):
            yield Fact(name=f"os.distribution.{part}", state=state)
        name, version = _find_libc(machine)
        yield Fact(name="os.libc.name", state=name)
        yield Fact(name="os.libc.version", state=version)


def _read_distribution(machine: Machine) -> tuple[FactState, FactState, FactState]:
    found: str | Missing = Absent()
    for place in _OS_RELEASE:
        found = read_text(machine.root / place)
        if not isinstance(found, Absent):
            break
    if isinstance(found, str):
        values = parse_assignments(found)
        return (
            # os-release(5): ID defaults to "linux".
            Known(_unquote(values.get("ID", "linux"))),
            _value(values, "VERSION_ID", "BUILD_ID"),
            _value(values, "PRETTY_NAME", "NAME"),
        )
    if isinstance(found, Absent) and machine.is_this_one and sys.platform != "linux":
        return _ask_platform()
    return found, found, found


def _value(values: dict[str, str], *keys: str) -> FactState:
    """The first of these that is set; a rolling distribution has no version, which is Absent."""
    for key in keys:
        if text := _unquote(values.get(key, "")):
            return Known(text)
    return Absent()


def _unquote(text: str) -> str:
    """A shell-like value without its quotes; as it stands where they do not match."""
    try:
        return " ".join(shlex.split(text))
    except ValueError:
        return text.strip("\"'")


def _ask_platform() -> tuple[FactState, FactState, FactState]:
    import platform

    if sys.platform == "darwin":
        version = platform.mac_ver()[0]
        return Known("macos"), Known(version), Known(f"macOS {version}")
    system, release = platform.system(), platform.release()
    return Known(system.lower()), Known(release), Known(f"{system} {release}")


def _find_libc(machine: Machine) -> tuple[FactState, FactState]:
    """Name and version: asked of the running system if it is this one, else read from files."""
    if machine.is_this_one:
        if sys.platform != "linux":
            return Absent(), Absent()
        if words := _ask_libc().split():
            return Known(words[0]), Known(words[-1])
    files = dict(_library_files(machine.root))
    if any(name.startswith("libc.so.6") or _GLIBC_FILE.match(name) for name in files):
        return Known("glibc"), _read_glibc_version(files)
    if any(name.startswith("ld-musl-") for name in files):
        return Known("musl"), _read_musl_version(machine.root)
    return Absent(), Absent()


def _ask_libc() -> str:
    """``glibc 2.39``, or nothing: musl does not know the name (`confstr` raises)."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def _library_files(root: Path) -> Iterator[tuple[str, Path]]:
    """The C library's files, also one folder down where Debian keeps each architecture's."""
    for folder in _LIBRARY_FOLDERS:
        for pattern in ("libc.so.6", "libc-*", "ld-*", "*-linux-*/libc.so.6", "*-linux-*/libc-*"):
            for path in sorted((root / folder).glob(pattern)):
                yield path.name, path


def _read_glibc_version(files: dict[str, Path]) -> FactState:
    for name in files:
        if found := _GLIBC_FILE.match(name):
            return Known(found[1])
    try:
        with files["libc.so.6"].open("rb") as source:
            said = _GLIBC_TEXT.search(source.read(_LIBC_LIMIT_BYTES))
    except OSError:
        return Unknown("the C library can't be read")
    return Known(said[1].decode("ascii")) if said else Unknown("the C library does not say it")


def _read_musl_version(root: Path) -> FactState:
    for place in _APK_DATABASES:
        text = read_text(root / place, limit_bytes=_LIBC_LIMIT_BYTES)
        if isinstance(text, str) and (found := _MUSL_PACKAGE.search(text)):
            return Known(found[1].strip())
    return Unknown("musl says its version in no file")
