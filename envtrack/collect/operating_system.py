"""The distribution, its C library and the C++ library that Python uses."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from envtrack.collect.c_library import find_libc
from envtrack.collect.cxx_library import read_libstdcxx
from envtrack.collect.reading import Missing, parse_assignments, read_text
from envtrack.model.fact import Absent, Fact, FactState, Known
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.interface import Machine

# os-release(5): /etc first, /usr/lib where /etc is empty.
_OS_RELEASE = ("etc/os-release", "usr/lib/os-release")


class OperatingSystemCollector:
    """Reads ``os-release`` and looks at the libraries' files."""

    layer = Layer.OS

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``os.distribution.…``, ``os.libc.…`` and ``os.libstdcxx.…``.

        The distribution's id, version and name; the C library's name and version; and of the
        libstdc++ its path and its newest symbol versions, ``glibcxx`` and ``cxxabi``: a wheel that
        was built against newer ones does not load.
        """
        for part, state in zip(("id", "version", "name"), _read_distribution(machine), strict=True):
            yield Fact(name=f"os.distribution.{part}", state=state)
        name, version = find_libc(machine)
        yield Fact(name="os.libc.name", state=name)
        yield Fact(name="os.libc.version", state=version)
        yield from read_libstdcxx(machine)


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
