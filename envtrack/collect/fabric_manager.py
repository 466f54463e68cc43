"""Fabric Manager, which machines with NVSwitches need, in the driver's own version."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.below_root import is_there, locate
from envtrack.collect.reading import read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from pathlib import Path

_PROGRAM = "/usr/bin/nv-fabricmanager"
_DATABASE = "/var/lib/dpkg/status"
_DATABASE_LIMIT_BYTES = 32 * 1024 * 1024
# deb-version(7): what follows the last hyphen is the packager's.
_PACKAGE = re.compile(
    r"^Package: nvidia-fabricmanager(?:-\d+)?\nStatus: install ok installed\n(?:.+\n)*?"
    r"Version: (?:\d+:)?(\S+?)(?:-[^\s-]+)?\n",
    re.MULTILINE,
)


def read_fabric_manager_version(root: Path) -> FactState:
    """By Debian's and Ubuntu's list of packages; the program is not started to ask it."""
    if not is_there(root, _PROGRAM):
        return Absent()
    text = read_text(locate(root, _DATABASE), limit_bytes=_DATABASE_LIMIT_BYTES)
    found = _PACKAGE.search(text) if isinstance(text, str) else None
    return Known(found[1]) if found else Unknown("only the program itself could say it")
