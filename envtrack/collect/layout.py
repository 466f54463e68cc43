"""How an environment's folder is laid out, on every platform, read without starting anything."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from envtrack.collect.reading import Missing, missing_state, parse_assignments, read_text
from envtrack.model.fact import Absent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# lib/python3.13t is the free-threaded build's; lib/python3 is where Debian keeps dist-packages.
_LIBRARY = re.compile(r"(?P<family>python|pypy|graalpy)(?P<version>\d+(?:\.\d+)*)(?P<flags>[a-z]*)")
_POSIX_LIBRARIES = ("lib", "lib64")
_INTERPRETERS = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One ``lib/pythonX.Y`` folder; on Windows the one ``Lib``, which names no version.

    Attributes:
        folder: its path.
        family: ``python``, ``pypy`` or ``graalpy``.
        version: ``3.11``; empty on Windows.
        flags: ``t`` for a free-threaded build; mostly empty.
    """

    folder: Path
    family: str = "python"
    version: str = ""
    flags: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What the folder of an environment shows.

    Attributes:
        folder: its path.
        config: ``pyvenv.cfg``, keys in lower case; empty without one.
        has_config: whether there is a ``pyvenv.cfg``.
        is_conda: whether it has a ``conda-meta`` folder.
        libraries: its library folders, each once; of those several Pythons left behind, only the
            current one's.
        interpreter: its ``bin/python``, which may be a link to nothing; ``None`` without one.
    """

    folder: Path
    config: Mapping[str, str] = field(default_factory=dict)
    has_config: bool = False
    is_conda: bool = False
    libraries: tuple[Library, ...] = ()
    interpreter: Path | None = None

    @property
    def version(self) -> str:
        """As ``pyvenv.cfg`` says it: ``3.11.7``; empty where it does not."""
        # virtualenv writes version_info = 3.11.7.final.0; uv and venv write three numbers.
        said = self.config.get("version_info") or self.config.get("version") or ""
        found = re.match(r"\d+(?:\.\d+){0,2}(?:(?:a|b|rc)\d+)?", said)
        return found.group() if found else ""


def read_layout(environment: Path | None) -> Layout | Missing:
    """The layout; absent without a folder, unknown where it can't be read.

    Cost: a dozen file-system calls.
    """
    if environment is None:
        return Absent()
    try:
        with os.scandir(environment) as entries:
            names = {entry.name for entry in entries}
    except OSError as error:
        return missing_state(error)
    config = read_text(environment / "pyvenv.cfg")
    if not isinstance(config, (str, Absent)):
        return config
    values = parse_assignments(config) if isinstance(config, str) else {}
    bare = Layout(
        folder=environment,
        config={key.lower(): value for key, value in values.items()},
        has_config=isinstance(config, str),
        is_conda="conda-meta" in names,
        interpreter=_find_interpreter(environment),
    )
    return replace(bare, libraries=_current(tuple(_libraries(environment)), bare.version))


def site_folders(layout: Layout) -> tuple[Path, ...]:
    """The folders in which distributions are installed, those that exist, each once."""
    folders = [
        library.folder / name
        for library in layout.libraries
        for name in ("site-packages", "dist-packages")
    ]
    return tuple({os.path.realpath(path): path for path in folders if path.is_dir()}.values())


def _find_interpreter(environment: Path) -> Path | None:
    # lexists: a link to an interpreter that is gone is the finding, not an absence.
    paths = (environment / name for name in _INTERPRETERS)
    return next((path for path in paths if os.path.lexists(path)), None)


def _libraries(environment: Path) -> Iterator[Library]:
    seen = set()
    for parent in _POSIX_LIBRARIES:
        for path in sorted(_folders(environment / parent)):
            found = _LIBRARY.fullmatch(path.name)
            real = os.path.realpath(path)
            if found and real not in seen:  # lib64 is mostly a link to lib
                seen.add(real)
                yield Library(folder=path, **found.groupdict())
    # On a file system that ignores case, Lib is lib: only a Lib with site-packages is Windows's.
    if (environment / "Lib" / "site-packages").is_dir():
        yield Library(folder=environment / "Lib")


def _folders(parent: Path) -> Iterator[Path]:
    try:
        with os.scandir(parent) as entries:
            yield from [parent / entry.name for entry in entries if entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return


def _current(libraries: tuple[Library, ...], version: str) -> tuple[Library, ...]:
    """Only the current Python's, if the configuration says which and it is there."""
    series = ".".join(version.split(".")[:2])
    ours = tuple(library for library in libraries if library.version in {series, ""})
    return ours if series and ours else libraries
