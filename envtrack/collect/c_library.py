"""Which C library a machine has, and of what version."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.interface import Said
from envtrack.collect.reading import read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.interface import Machine

_FOLDERS = ("lib", "lib64", "usr/lib", "usr/lib64")
# glibc up to 2.33 put its version into the file name; since then only its text says it.
_GLIBC_FILE = re.compile(r"(?:libc|ld)-(\d+\.\d+)\.so")
_GLIBC_TEXT = re.compile(rb"GNU C Library [^\n]{0,200}? version (\d+\.\d+)")
_MUSL_PACKAGE = re.compile(r"^P:musl\n(?:.+\n)*?V:(.+)$", re.MULTILINE)
_MUSL_VERSION = re.compile(r"^Version (\d+(?:\.\d+)+)", re.MULTILINE)
_APK_DATABASES = ("lib/apk/db/installed", "usr/lib/apk/db/installed")
_LIMIT_BYTES = 8 * 1024 * 1024


def find_libc(machine: Machine) -> tuple[FactState, FactState]:
    """Name and version: asked of the running system if it is this one, else read from files."""
    if machine.is_this_one:
        if sys.platform != "linux":
            return Absent(), Absent()
        if words := _ask_libc().split():
            return Known(words[0]), Known(words[-1])
    # Alpine's libc6-compat links libc.so.6 to musl.
    files = {
        name: path
        for name, path in _library_files(machine.root)
        if name.startswith("ld-musl-") or "musl" not in Path(os.path.realpath(path)).name
    }
    if any(name.startswith("libc.so.6") or _GLIBC_FILE.match(name) for name in files):
        return Known("glibc"), _read_glibc_version(files)
    if any(name.startswith("ld-musl-") for name in files):
        return Known("musl"), _read_musl_version(machine)
    return Absent(), Absent()


def _ask_libc() -> str:
    """``glibc 2.39``, or nothing: musl does not know the name (`confstr` raises)."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def _library_files(root: Path) -> Iterator[tuple[str, Path]]:
    """The C library's files, also one folder down where Debian keeps each architecture's."""
    for folder in _FOLDERS:
        for pattern in ("libc.so.6", "libc-*", "ld-*", "*-linux-*/libc.so.6", "*-linux-*/libc-*"):
            for path in sorted((root / folder).glob(pattern)):
                yield path.name, path


def _read_glibc_version(files: dict[str, Path]) -> FactState:
    for name in files:
        if found := _GLIBC_FILE.match(name):
            return Known(found[1])
    try:
        with files["libc.so.6"].open("rb") as source:
            said = _GLIBC_TEXT.search(source.read(_LIMIT_BYTES))
    except OSError:
        return Unknown("the C library can't be read")
    return Known(said[1].decode("ascii")) if said else Unknown("the C library does not say it")


def _read_musl_version(machine: Machine) -> FactState:
    """From Alpine's package list, else from musl's loader itself."""
    for place in _APK_DATABASES:
        text = read_text(machine.root / place, limit_bytes=_LIMIT_BYTES)
        if isinstance(text, str) and (found := _MUSL_PACKAGE.search(text)):
            return Known(found[1].strip())
    for name, path in _library_files(machine.root):
        # Without arguments it says what it is, and ends.
        asked = name.startswith("ld-musl-") and machine.ask([f"/{path.relative_to(machine.root)}"])
        if isinstance(asked, Said) and (said := _MUSL_VERSION.search(asked.err + asked.out)):
            return Known(said[1])
    return Unknown("musl says its version in no file")
