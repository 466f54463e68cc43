"""Paths of a machine whose root may be another folder: an unpacked image, a mounted disk."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.reading import Missing, missing_state

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_LINKS = 40  # Linux's own limit (path_resolution(7))


def locate(root: Path, path: str) -> Path:
    """Where an absolute path of the machine lies, its links followed as that machine would.

    A link to ``/etc/alternatives/cuda`` leads below the root, not to the running machine's, and no
    number of ``..`` leads out. A path that is not there is given all the same.
    """
    if root == Path("/"):
        return Path(os.path.realpath(path))
    rest = list(reversed(PurePosixPath(path).parts))
    here, links = root, 0
    while rest:
        part = rest.pop()
        if part == "/":
            here = root
        elif part == "..":
            here = root if here == root else here.parent
        elif links < _MOST_LINKS and (target := _read_link(here / part)):
            links += 1
            rest.extend(reversed(PurePosixPath(target).parts))
        else:
            here = here / part
    return here


def describe_below(root: Path, path: Path) -> str:
    """A located path as the machine itself calls it: ``/usr/local/cuda-12.4``."""
    return f"/{path.relative_to(root).as_posix()}"


def list_names(root: Path, path: str) -> tuple[str, ...] | Missing:
    """The names in a folder of the machine, sorted; absent without one."""
    return list_folder(locate(root, path))


def list_folder(folder: Path) -> tuple[str, ...] | Missing:
    """The names in a folder wherever it lies, sorted; absent without one."""
    try:
        with os.scandir(folder) as entries:
            return tuple(sorted(entry.name for entry in entries))
    except OSError as error:
        return missing_state(error)


def names_in(root: Path, path: str) -> tuple[str, ...]:
    """The same where it makes no difference why there are none."""
    names = list_names(root, path)
    return names if isinstance(names, tuple) else ()


def is_there(root: Path, path: str) -> bool:
    """Whether a path of the machine exists; one that may not be looked at does not."""
    return exists(locate(root, path))


def exists(path: Path) -> bool:
    """The same of a path that is located already."""
    try:
        return path.exists()
    except OSError:  # Path.exists passes on some: not permitted, a name too long
        return False


def numbered(names: tuple[str, ...], prefix: str) -> Iterator[tuple[int, str]]:
    """The names that are a prefix and a number, by that number: ``cpu1`` before ``cpu10``."""
    for name in sorted(names, key=lambda name: (len(name), name)):
        number = name.removeprefix(prefix)
        if name.startswith(prefix) and number.isdecimal():
            yield int(number), name


def _read_link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:  # it is no link, or not there
        return ""
