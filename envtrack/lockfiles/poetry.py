"""poetry.lock, from 2018's files without a version to lock-version 2.1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.poetry_extras import TooManyExtrasError, mark_optional
from envtrack.lockfiles.poetry_files import FileIndex
from envtrack.lockfiles.poetry_package import read_package
from envtrack.lockfiles.poetry_python import make_specifiers
from envtrack.lockfiles.tables import (
    OddValueError,
    find_key_line,
    load_toml,
    read_packages,
    take,
    take_tables,
    take_texts,
)
from envtrack.lockfiles.text import Include
from envtrack.lockfiles.uv_package import note_strange
from envtrack.lockfiles.versions import read_schema
from envtrack.model.lock import Knowledge, Lock, LockedPackage
from envtrack.model.names import normalise

NEWEST: Final = 2
# The first lock-version that tells groups and markers of packages.
_TELLING: Final = (2, 1)
_MOST_NAMED: Final = 10

_TOP_KEYS = frozenset(["package", "extras", "metadata"])
_METADATA_KEYS = frozenset(
    ["lock-version", "python-versions", "content-hash", "files", "hashes", "platform"]
)


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a poetry.lock pins; what the project asked for stands in its pyproject.toml alone.

    Groups are known from lock-version 2.1 on; up to 1.1 there is a category (``main`` or ``dev``)
    instead, and between these neither. Markers of packages are known from 2.1 on and in 2018's
    files. Where they are not, only edges have them, and a package's marker here is no more than the
    Pythons that it is for and, if it is there for an extra, ``extra == "name"``. The content hash
    is passed over: it moves with every edit of pyproject.toml.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, not TOML, cut off or no poetry.lock, of a newer
            version, or something in it is missing or of a wrong type.
    """
    document = load_toml(text, path=path)
    strange: set[str] = set()
    note_strange(document, _TOP_KEYS, "", strange)
    try:
        tables = take_tables(document, "package")
        metadata = _read_metadata(document, strange)
        version = read_schema(metadata, "lock-version", NEWEST)
        files = FileIndex(metadata, {name for name, count in _count(tables) if count > 1})
        extras: dict[str, Any] = take(document, "extras", dict, {})
        by_extra = {name: take_texts(extras, name) for name in extras}
        python = take(metadata, "python-versions", str, "")
    except OddValueError as error:
        reason = str(error)
        hint = "upgrade envtrack" if "newer" in reason else ""
        raise LockfileProblem(path, _find_line(text, reason), reason, hint=hint) from error
    read = partial(read_package, files=files, python=python, strange=strange)
    packages = tuple(read_packages(tables, text, path, read))
    notes: list[str] = []
    # From 2.1 on poetry asks the markers alone, and takes an optional package without one.
    if version < _TELLING:
        packages = _tell_extras(packages, tables, by_extra, notes)
        notes += _note_several(tables)
    return Lock(
        format="poetry.lock",
        path=path,
        schema=version[0],
        revision=version[1],
        knows=_find_known(tables, packages, version),
        requires_python=make_specifiers(python),
        packages=packages,
        notes=tuple(notes),
        unknown_keys=tuple(sorted(strange)),
    )


def _read_metadata(document: Mapping[str, Any], strange: set[str]) -> dict[str, Any]:
    metadata: dict[str, Any] = take(document, "metadata", dict, {})
    # It stands at the end: what lacks it was cut off, if it ever was a poetry.lock.
    if not _METADATA_KEYS.intersection(metadata):
        raise OddValueError("`metadata` is missing: the file is cut off, or no poetry.lock")
    note_strange(metadata, _METADATA_KEYS, "metadata.", strange)
    return metadata


def _find_line(text: str, message: str) -> int | None:
    """The line of the key that a message about the head quotes; packages have keys like it."""
    if "is missing" in message:
        return None
    return find_key_line(text, message, section="metadata")


def _count(tables: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    names = (table.get("name") for table in tables)
    yield from Counter(normalise(name) for name in names if isinstance(name, str)).items()


def _tell_extras(
    packages: tuple[LockedPackage, ...],
    tables: Sequence[Mapping[str, Any]],
    by_extra: Mapping[str, tuple[str, ...]],
    notes: list[str],
) -> tuple[LockedPackage, ...]:
    optional = {place for place, table in enumerate(tables) if table.get("optional") is True}
    if not optional:
        return packages
    try:
        return mark_optional(packages, optional, by_extra)
    except TooManyExtrasError:
        notes.append("there are too many extras to tell which package is there for which")
        return packages


def _note_several(tables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    several = sorted(name for name, count in _count(tables) if count > 1)
    if several:
        names = ", ".join(several[:_MOST_NAMED]) + (", …" if len(several) > _MOST_NAMED else "")
        yield f"locked in several versions, and the file does not say which is for whom: {names}"


def _find_known(
    tables: Sequence[Mapping[str, Any]],
    packages: Sequence[LockedPackage],
    version: tuple[int, int],
) -> frozenset[Knowledge]:
    is_telling = version >= _TELLING
    # Without a version: 2018's files.
    old_markers = any("marker" in table or "requirements" in table for table in tables)
    known = {
        Knowledge.GRAPH: True,
        Knowledge.HASHES: any(a.hash for package in packages for a in package.artifacts),
        Knowledge.GROUPS: is_telling or any(package.belongs_to for package in packages),
        Knowledge.MARKERS: is_telling or (not version[0] and old_markers),
    }
    return frozenset(part for part, is_known in known.items() if is_known)
