"""pdm.lock, from lock version 0.1 to 4.5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import read_file_rows, sort_artifacts
from envtrack.lockfiles.flat import MAIN
from envtrack.lockfiles.requirement_edges import read_pypi_edges
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

NEWEST = 4

_DEFAULT = "default"


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a pdm.lock pins; what the project asked for stands in its pyproject.toml alone.

    A package that is locked with extras stands in the file once more for each set of them; here it
    is one package, its entries' dependencies together. Markers are known where the strategy is
    ``inherit_metadata`` (the default from 4.4.1 on), groups likewise. The content hash is passed
    over.

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
        metadata: dict[str, Any] = take(document, "metadata", dict, {})
        tables = take_tables(document, "package")
        _refuse_other(metadata, tables)
        schema, revision = read_schema(metadata, "lock_version", NEWEST)
        files = _read_files(metadata)
        strategy = take_texts(metadata, "strategy")
        targets = take_tables(metadata, "targets")
        pythons = {take(target, "requires_python", str, "") for target in targets}
    except OddValueError as error:
        raise LockfileProblem(path, find_key_line(text, str(error)), str(error)) from error
    read = list(read_packages(tables, text, path, partial(_read_package, files=files)))
    has_groups = any(package.belongs_to for package in read)
    has_markers = "inherit_metadata" in strategy or any(p.resolution_markers for p in read)
    known = {
        Knowledge.GRAPH: True,
        Knowledge.HASHES: any(a.hash for package in read for a in package.artifacts),
        Knowledge.GROUPS: has_groups,
        Knowledge.MARKERS: has_markers,
    }
    return Lock(
        format="pdm.lock",
        path=path,
        schema=schema,
        revision=revision,
        knows=frozenset(part for part, is_known in known.items() if is_known),
        requires_python=pythons.pop() if len(pythons) == 1 else "",
        packages=tuple(_fold(read)),
    )


def _refuse_other(metadata: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> None:
    if not tables and not metadata:
        raise OddValueError("`metadata` and packages are missing: it is no pdm.lock")


def _read_files(metadata: Mapping[str, Any]) -> dict[str, tuple[Artifact, ...]]:
    """Of lock versions before 4.3: by ``name version``."""
    files: dict[str, Any] = take(metadata, "files", dict, {})
    found = {}
    for key in files:
        try:
            rows = read_file_rows(take(files, key, list, []))
        except OddValueError as error:
            raise OddValueError(f"the files of `{key}`: {error}") from error
        found[_key(*key.partition(" ")[::2])] = tuple(rows)
    return found


def _key(name: str, version: str) -> str:
    return f"{normalise(name.partition('[')[0])} {version}"


def _read_package(
    table: Mapping[str, Any], line: int, *, files: Mapping[str, tuple[Artifact, ...]]
) -> LockedPackage:
    # In the oldest files the extras stand in the name.
    name = normalise(take_text(table, "name").partition("[")[0])
    if not name:
        raise OddValueError("`name` is missing before its extras")
    version = take(table, "version", str, "") or None
    inline = read_file_rows(take(table, "files", list, []))
    groups = take_texts(table, "groups") or take_texts(table, "sections")
    marker = take(table, "marker", str, "")
    return LockedPackage(
        name=name,
        version=version,
        source=_read_source(table),
        resolution_markers=(marker,) if marker else (),
        dependencies=tuple(e for e in _read_edges(table.get("dependencies")) if e.name != name),
        artifacts=sort_artifacts(inline or files.get(_key(name, version or ""), ())),
        belongs_to=tuple(MAIN if group == _DEFAULT else group for group in groups),
        line=line,
    )


def _read_source(table: Mapping[str, Any]) -> Source:
    subdirectory = take(table, "subdirectory", str, "")
    if git := take(table, "git", str, ""):
        reference = take(table, "ref", str, "")
        return Source(
            kind=SourceKind.GIT,
            location=git,
            commit=take(table, "revision", str, ""),
            reference=f"rev={reference}" if reference else "",
            subdirectory=subdirectory,
        )
    if url := take(table, "url", str, ""):
        return Source(kind=SourceKind.URL, location=url, subdirectory=subdirectory)
    if path := take(table, "path", str, ""):
        is_archive = path.lower().endswith((".whl", ".gz", ".zip", ".bz2", ".xz"))
        is_editable = table.get("editable") is True
        tree = SourceKind.EDITABLE if is_editable else SourceKind.DIRECTORY
        return Source(
            kind=SourceKind.PATH if is_archive else tree, location=path, subdirectory=subdirectory
        )
    return Source(kind=SourceKind.REGISTRY, location="")


def _read_edges(value: object) -> Iterator[Dependency]:
    """PEP 508 texts, or in the oldest files a table by name."""
    if value is None:
        return
    if isinstance(value, dict):
        yield from (Dependency(name=normalise(name.partition("[")[0])) for name in value)
        return
    yield from read_pypi_edges(take_texts({"dependencies": value}, "dependencies"))


def _fold(packages: Iterable[LockedPackage]) -> Iterator[LockedPackage]:
    """The entries of one package for different extras as one, where the first of them stands."""
    found: dict[tuple[object, ...], LockedPackage] = {}
    for package in packages:
        key = (package.name, package.version, package.source.key)
        first = found.get(key)
        found[key] = package if first is None else _merge(first, package)
    yield from found.values()


def _merge(one: LockedPackage, other: LockedPackage) -> LockedPackage:
    is_everywhere = not (one.resolution_markers and other.resolution_markers)
    markers = () if is_everywhere else (*one.resolution_markers, *other.resolution_markers)
    return replace(
        one,
        resolution_markers=tuple(dict.fromkeys(markers)),
        dependencies=tuple(dict.fromkeys((*one.dependencies, *other.dependencies))),
        artifacts=one.artifacts or other.artifacts,
        belongs_to=tuple(dict.fromkeys((*one.belongs_to, *other.belongs_to))),
    )
