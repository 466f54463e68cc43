"""pylock.toml (PEP 751), version 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact, pick_hash
from envtrack.lockfiles.tables import (
    OddValueError,
    find_key_line,
    load_toml,
    read_packages,
    take,
    take_tables,
    take_text,
    take_texts,
)
from envtrack.lockfiles.text import Include
from envtrack.lockfiles.versions import read_schema
from envtrack.model.lock import (
    Artifact,
    Dependency,
    Knowledge,
    Lock,
    LockedPackage,
    Source,
    SourceKind,
)
from envtrack.model.names import normalise

NEWEST = 1

_EXCLUSIVE = ("vcs", "directory", "archive")


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a pylock.toml pins; it never says what the project asked for.

    Required by PEP 751, and asked for here: ``lock-version``, ``created-by``, ``packages``, and of
    each package a name and where it comes from.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, not TOML, of a newer version, or something in
            it is missing or of a wrong type.
    """
    document = load_toml(text, path=path)
    try:
        schema, revision = _read_head(document)
        tables = take_tables(document, "packages")
        environments = take_texts(document, "environments")
        python = take(document, "requires-python", str, "")
    except OddValueError as error:
        raise LockfileProblem(path, find_key_line(text, str(error)), str(error)) from error
    packages = tuple(read_packages(tables, text, path, _read_package))
    known = {
        Knowledge.MARKERS: True,
        Knowledge.HASHES: any(a.hash for package in packages for a in package.artifacts),
        # Groups and extras stand in the markers.
        Knowledge.GROUPS: bool(document.get("dependency-groups") or document.get("extras")),
        Knowledge.GRAPH: any(package.dependencies for package in packages),
    }
    return Lock(
        format="pylock.toml",
        path=path,
        schema=schema,
        revision=revision,
        knows=frozenset(part for part, is_known in known.items() if is_known),
        requires_python=python,
        supported_markers=environments,
        packages=packages,
    )


def _read_head(document: Mapping[str, Any]) -> tuple[int, int]:
    """The version; first, for what a newer one requires is not known."""
    version = read_schema(document, "lock-version", NEWEST)
    for key in ("lock-version", "created-by", "packages"):
        if key not in document:
            raise OddValueError(f"`{key}` is missing")
    return version


def _read_package(table: Mapping[str, Any], line: int) -> LockedPackage:
    marker = take(table, "marker", str, "")
    source, artifacts = _read_origin(table)
    return LockedPackage(
        name=normalise(take_text(table, "name")),
        version=take(table, "version", str, "") or None,
        source=source,
        resolution_markers=(marker,) if marker else (),
        dependencies=tuple(_read_edges(table)),
        artifacts=artifacts,
        line=line,
    )


def _read_origin(table: Mapping[str, Any]) -> tuple[Source, tuple[Artifact, ...]]:
    named = [key for key in _EXCLUSIVE if key in table]
    files = [key for key in ("sdist", "wheels") if key in table]
    if len(named) > 1 or (named and files):
        raise OddValueError(f"`{named[0]}` excludes `{(named[1:] or files)[0]}`")
    if not named and not files:
        raise OddValueError("it says nowhere where it comes from (`wheels`, `sdist`, `vcs`, …)")
    if not named:
        index = take(table, "index", str, "")
        return Source(kind=SourceKind.REGISTRY, location=index), tuple(_read_files(table))
    row: dict[str, Any] = take(table, named[0], dict, {})
    location = take(row, "url", str, "") or take(row, "path", str, "")
    if not location:
        raise OddValueError(f"`{named[0]}` has neither `url` nor `path`")
    subdirectory = take(row, "subdirectory", str, "")
    if named == ["vcs"]:
        asked = take(row, "requested-revision", str, "")
        return Source(
            kind=SourceKind.GIT,
            location=location,
            commit=take_text(row, "commit-id"),
            reference=f"rev={asked}" if asked else "",
            subdirectory=subdirectory,
        ), ()
    if named == ["directory"]:
        kind = SourceKind.EDITABLE if row.get("editable") is True else SourceKind.DIRECTORY
        return Source(kind=kind, location=location, subdirectory=subdirectory), ()
    kind = SourceKind.URL if row.get("url") else SourceKind.PATH
    return Source(kind=kind, location=location, subdirectory=subdirectory), (_read_file(row),)


def _read_files(table: Mapping[str, Any]) -> Iterator[Artifact]:
    sdist: dict[str, Any] = take(table, "sdist", dict, {})
    if sdist:
        yield _read_file(sdist)
    for wheel in take_tables(table, "wheels"):
        yield _read_file(wheel)


def _read_file(row: Mapping[str, Any]) -> Artifact:
    location = take(row, "url", str, "") or take(row, "path", str, "")
    name = take(row, "name", str, "")
    if not location and not name:
        raise OddValueError("a file has neither `url` nor `path`")
    return make_artifact(
        location or name,
        digest=pick_hash(take(row, "hashes", dict, {})),
        size=take(row, "size", int, 0) or None,
        name=name,
    )


def _read_edges(table: Mapping[str, Any]) -> Iterator[Dependency]:
    for row in take_tables(table, "dependencies"):
        yield Dependency(
            name=normalise(take_text(row, "name")),
            version=take(row, "version", str, "") or None,
            marker=take(row, "marker", str, ""),
        )
