"""The folders in which the dynamic loader looks for a shared library, in its order (ld.so(8)).

The loader itself reads ``/etc/ld.so.cache``, which `ldconfig` makes of the configuration files;
here those files are read, so that a folder counts as soon as it is named. What a library carries
in its own RPATH is not known here.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.below_root import locate, names_in
from envtrack.collect.reading import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from envtrack.collect.interface import Machine

BY_VARIABLE = "LD_LIBRARY_PATH"
BY_DEFAULT = "default"
_CONFIGURATION = "/etc/ld.so.conf"
_DEEPEST_INCLUDE = 4
# glibc's built-in ones, with the places of Debian's and Arm's multiarch.
_DEFAULTS = (
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderFolder:
    """One folder of the search.

    Attributes:
        path: as it was named, absolute on the machine.
        by: ``LD_LIBRARY_PATH``, the configuration file that names it, or ``default``.
        place: where it lies below the machine's root, its links followed.
    """

    path: str
    by: str
    place: Path


def read_loader_path(machine: Machine) -> tuple[LoaderFolder, ...]:
    """Every folder once, where it comes first; those that do not exist as well.

    Relative parts of ``LD_LIBRARY_PATH`` are left out: they depend on where a program starts.
    """
    return place_folders(machine.root, _named_folders(machine))


def place_folders(root: Path, named: Iterable[tuple[str, str]]) -> tuple[LoaderFolder, ...]:
    """Folders by path and by what names them, each once, where it comes first."""
    first: dict[Path, LoaderFolder] = {}
    for path, by in named:
        place = locate(root, path)
        first.setdefault(place, LoaderFolder(path=path, by=by, place=place))
    return tuple(first.values())


def _named_folders(machine: Machine) -> Iterator[tuple[str, str]]:
    for part in re.split("[:;]", machine.environ.get(BY_VARIABLE, "")):
        if part.startswith("/"):
            yield posixpath.normpath(part), BY_VARIABLE
    yield from _read_configuration(machine.root, _CONFIGURATION, _DEEPEST_INCLUDE)
    for path in _DEFAULTS:
        yield path, BY_DEFAULT


def _read_configuration(root: Path, file: str, depth: int) -> Iterator[tuple[str, str]]:
    """ldconfig(8): folders by lines, spaces, tabs, commas or colons; ``include`` with patterns."""
    text = read_text(locate(root, file))
    for line in text.splitlines() if isinstance(text, str) else ():
        words = re.split(r"[\s,:]+", line.partition("#")[0].strip())
        if words[0] == "include":
            for pattern in words[1:] if depth else ():
                for included in _match_files(root, file, pattern):
                    yield from _read_configuration(root, included, depth - 1)
            continue
        for word in words:
            if word.startswith("/"):
                # Up to glibc 2.32 a folder could be followed by =TYPE.
                yield posixpath.normpath(word.partition("=")[0]), file


def _match_files(root: Path, file: str, pattern: str) -> Iterator[str]:
    folder, _, names = str(PurePosixPath(file).parent / pattern).rpartition("/")
    for name in names_in(root, folder):
        if fnmatch.fnmatchcase(name, names):
            yield f"{folder}/{name}"
