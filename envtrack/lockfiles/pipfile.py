"""Pipfile.lock, pipfile-spec 1 to 6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact
from envtrack.lockfiles.flat import MAIN
from envtrack.lockfiles.json_text import load_json
from envtrack.lockfiles.tables import OddValueError, take, take_tables, take_texts
from envtrack.lockfiles.text import Include, line_of
from envtrack.model.lock import Knowledge, Lock, LockedPackage, Source, SourceKind
from envtrack.model.names import normalise

NEWEST = 6

_GROUPS = {"default": MAIN, "develop": "dev"}


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a Pipfile.lock pins, for the one Python it was made with.

    ``default`` is the group ``main`` and ``develop`` the group ``dev``; other categories keep their
    names. There is no graph, and what was asked for stands in the Pipfile alone. Its own hash of
    that is passed over.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, not JSON, of a newer version, or something in
            it is missing or of a wrong type.
    """
    document = load_json(text, path=path)
    try:
        meta, schema = _read_meta(document)
        requires: dict[str, Any] = take(meta, "requires", dict, {})
        python = take(requires, "python_version", str, "")
        full = take(requires, "python_full_version", str, "")
        indexes = {
            take(row, "name", str, ""): take(row, "url", str, "")
            for row in take_tables(meta, "sources")
        }
        packages = tuple(_read_categories(document, text, indexes))
    except OddValueError as error:
        raise LockfileProblem(path, _find_line(text, str(error)), str(error)) from error
    has_hashes = any(artifact.hash for package in packages for artifact in package.artifacts)
    known = {Knowledge.GROUPS, Knowledge.MARKERS}
    return Lock(
        format="Pipfile.lock",
        path=path,
        schema=schema,
        knows=frozenset(known | {Knowledge.HASHES} if has_hashes else known),
        requires_python=f"=={full}" if full else (f"=={python}.*" if python else ""),
        packages=packages,
    )


def _read_meta(document: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    meta: dict[str, Any] = take(document, "_meta", dict, {})
    if not meta:
        raise OddValueError("`_meta` is missing: it is no Pipfile.lock")
    schema = take(meta, "pipfile-spec", int, 0)
    if schema > NEWEST:
        raise OddValueError(f"`pipfile-spec` {schema} is newer than the one read ({NEWEST})")
    return meta, schema


def _read_categories(
    document: Mapping[str, Any], text: str, indexes: Mapping[str, str]
) -> Iterator[LockedPackage]:
    """The packages; one that stands alike in several categories once."""
    found: dict[LockedPackage, list[str]] = {}
    for category in document:
        if category == "_meta":
            continue
        rows: dict[str, Any] = take(document, category, dict, {})
        for name in rows:
            package = _read_package(name, take(rows, name, dict, {}), indexes)
            found.setdefault(package, []).append(_GROUPS.get(category, category))
    for package, groups in found.items():
        line = _find_line(text, f"`{package.name}`") or 0
        yield replace(package, belongs_to=tuple(groups), line=line)


def _read_package(name: str, row: Mapping[str, Any], indexes: Mapping[str, str]) -> LockedPackage:
    version = take(row, "version", str, "")
    # `*`: nothing was pinned, as for a project's own folder.
    pinned = version.removeprefix("==").removeprefix("=") if version != "*" else ""
    marker = take(row, "markers", str, "")
    index = take(row, "index", str, "")
    source = _read_source(row)
    if source.kind is SourceKind.REGISTRY:
        source = replace(source, location=indexes.get(index, ""))
    hashes = take_texts(row, "hashes") or take_texts(row, "hash")
    return LockedPackage(
        name=normalise(name),
        version=pinned or None,
        source=source,
        resolution_markers=(marker,) if marker else (),
        artifacts=tuple(make_artifact("", digest=digest) for digest in sorted(hashes)),
        # A field of mappings would make it unhashable; there are none in this format.
        optional_dependencies=_NONE,
        groups=_NONE,
        group_requirements=_NONE,
    )


class _Nothing(dict[str, Any]):
    """An empty mapping that can be hashed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return 0


_NONE = _Nothing()


def _read_source(row: Mapping[str, Any]) -> Source:
    subdirectory = take(row, "subdirectory", str, "")
    if git := take(row, "git", str, ""):
        return Source(
            kind=SourceKind.GIT,
            location=git,
            commit=take(row, "ref", str, ""),
            subdirectory=subdirectory,
        )
    location = take(row, "path", str, "") or take(row, "file", str, "")
    if not location:
        return Source(kind=SourceKind.REGISTRY, location="")
    if "://" in location:
        kind = SourceKind.URL
    elif row.get("editable") is True:
        kind = SourceKind.EDITABLE
    else:
        is_archive = location.lower().endswith((".whl", ".gz", ".zip"))
        kind = SourceKind.PATH if is_archive else SourceKind.DIRECTORY
    return Source(kind=kind, location=location, subdirectory=subdirectory)


def _find_line(text: str, message: str) -> int | None:
    """The line of the first key that a message quotes, as JSON writes it."""
    _, quote, rest = message.partition("`")
    key = rest.partition("`")[0]
    position = text.find(f'"{key}"') if quote else -1
    return None if position < 0 else line_of(text, position)
