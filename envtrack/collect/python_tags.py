"""What a Python accepts: the newest platform tag, and packages of the user's own folder."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from envtrack.collect.c_library import find_libc
from envtrack.collect.reading import missing_state, read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.interface import Machine
    from envtrack.collect.layout import Layout

# The architectures whose name in a multiarch tuple is not that of a wheel's tag.
_ARCHITECTURES = {
    "i386": "i686",
    "arm": "armv7l",
    "powerpc64le": "ppc64le",
    "powerpc64": "ppc64",
}
_TUPLE = re.compile(r"(?P<arch>\w+)-linux-(?P<libc>gnu|musl)\w*")
_SERIES = re.compile(r"(\d+)\.(\d+)")


def find_platform_tag(machine: Machine, platform: FactState) -> FactState:
    """``manylinux_2_36_x86_64``: the newest that the C library allows; older ones fit as well.

    The rules are PEP 600's and PEP 656's. A ``_manylinux`` module that forbids some is not asked.

    Args:
        machine: whose C library it is.
        platform: the multiarch tuple of the interpreter, as far as it is known.
    """
    name, version = find_libc(machine)
    if not isinstance(name, Known) or not isinstance(version, Known):
        return _first_unknown(name, version)
    found = _TUPLE.fullmatch(str(platform.value)) if isinstance(platform, Known) else None
    family = {"glibc": "manylinux", "musl": "musllinux"}.get(str(name.value))
    series = _SERIES.match(str(version.value))
    architecture = found["arch"] if found else _read_architecture(machine)
    if not family or not series or not architecture:
        return Unknown("the C library or the architecture is of no known kind")
    if found and (found["libc"] == "musl") != (family == "musllinux"):
        return Unknown("the interpreter was built for another C library")
    tag = _ARCHITECTURES.get(architecture, architecture)
    return Known(f"{family}_{series[1]}_{series[2]}_{tag}")


def _first_unknown(*states: FactState) -> FactState:
    return next((state for state in states if isinstance(state, Unknown)), Absent())


def _read_architecture(machine: Machine) -> str:
    text = read_text(machine.root / "proc" / "sys" / "kernel" / "arch")
    return text.strip() if isinstance(text, str) else ""


def read_user_site(
    machine: Machine, layout: Layout, version: FactState
) -> Iterator[tuple[str, FactState]]:
    """``user-site``: whether Python looks into it, by the rules of `site`; and where it is.

    ``user-site-folder`` is absent where there is no such folder: then it makes no difference yet.
    """
    system = layout.config.get("include-system-site-packages", "true").lower() == "true"
    is_on = (system or not layout.has_config) and not machine.environ.get("PYTHONNOUSERSITE")
    yield "user-site", Known(is_on)
    yield "user-site-folder", _find_user_site(machine, layout, version)


def _find_user_site(machine: Machine, layout: Layout, version: FactState) -> FactState:
    series = _SERIES.match(str(version.value)) if isinstance(version, Known) else None
    if series is None:
        return Unknown("the version of Python is not known")
    library = next(iter(layout.libraries), None)
    family, flags = (library.family, library.flags) if library else ("python", "")
    base = machine.environ.get("PYTHONUSERBASE") or str(machine.home / ".local")
    folder = f"{base}/lib/{family}{series[0]}{flags}/site-packages"
    try:
        os.stat(folder)  # noqa: PTH116 - the path is text
    except OSError as error:
        return missing_state(error)
    return Known(folder)
