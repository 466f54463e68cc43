"""poetry.lock, from 2018's files without a version to lock-version 2.1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact, read_file_rows, sort_artifacts
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

NEWEST = 2

_KINDS = {
    "git": SourceKind.GIT,
    "directory": SourceKind.DIRECTORY,
    "file": SourceKind.PATH,
    "url": SourceKind.URL,
    "legacy": SourceKind.REGISTRY,
}
_REGISTRY = Source(kind=SourceKind.REGISTRY, location="")


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a poetry.lock pins; what the project asked for stands in its pyproject.toml alone.

    Groups are known from lock-version 2.1 on, before that the category (``main`` or ``dev``).
    Markers of packages are known from 2.1 on; before, only edges have them. A package that is there
    for an extra gets the marker ``extra == "name"``. The content hash is passed over: it moves with
    every edit of pyproject.toml.

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
        schema, revision = read_schema(metadata, "lock-version", NEWEST)
        files = _read_files(metadata)
        extras: dict[str, Any] = take(document, "extras", dict, {})
        by_extra = {name: take_texts(extras, name) for name in extras}
        python = take(metadata, "python-versions", str, "")
    except OddValueError as error:
        raise LockfileProblem(path, find_key_line(text, str(error)), str(error)) from error
    packages = tuple(read_packages(tables, text, path, partial(_read_package, files=files)))
    has_markers = any("groups" in table for table in tables)
    if not has_markers:
        packages = _mark_optional(packages, tables, by_extra)
    has_groups = any("groups" in table or "category" in table for table in tables)
    has_files = any(artifact.hash for package in packages for artifact in package.artifacts)
    known = {
        Knowledge.GRAPH: True,
        Knowledge.HASHES: has_files,
        Knowledge.GROUPS: has_groups,
        Knowledge.MARKERS: has_markers,
    }
    return Lock(
        format="poetry.lock",
        path=path,
        schema=schema,
        revision=revision,
        knows=frozenset(part for part, is_known in known.items() if is_known),
        requires_python="" if python == "*" else python,
        packages=packages,
    )


def _refuse_other(metadata: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> None:
    if not tables and not metadata:
        raise OddValueError("`metadata` and packages are missing: it is no poetry.lock")


def _read_files(metadata: Mapping[str, Any]) -> dict[str, tuple[Artifact, ...]]:
    """The files by package, as lock-version 1 keeps them; hashes alone in 2018's files."""
    files: dict[str, Any] = take(metadata, "files", dict, {})
    hashes: dict[str, Any] = take(metadata, "hashes", dict, {})
    found = {normalise(name): tuple(read_file_rows(take(files, name, list, []))) for name in files}
    for name in hashes:
        found[normalise(name)] = tuple(
            make_artifact("", digest=f"sha256:{digest}") for digest in take_texts(hashes, name)
        )
    return found


def _choose_files(files: tuple[Artifact, ...], version: str) -> tuple[Artifact, ...]:
    """Of a list that several versions of a package share, those of one."""
    marks = f"-{version}-", f"-{version}."
    own = tuple(one for one in files if any(mark in one.filename for mark in marks))
    return own or files


def _read_package(
    table: Mapping[str, Any], line: int, *, files: Mapping[str, tuple[Artifact, ...]]
) -> LockedPackage:
    name = normalise(take_text(table, "name"))
    inline = read_file_rows(take(table, "files", list, []))
    groups = take_texts(table, "groups") or take_texts(table, "category")
    version = take_text(table, "version")
    return LockedPackage(
        name=name,
        version=version,
        source=_read_source(table),
        resolution_markers=_read_markers(table),
        dependencies=tuple(_read_edges(take(table, "dependencies", dict, {}))),
        artifacts=sort_artifacts(inline or _choose_files(files.get(name, ()), version)),
        belongs_to=groups,
        line=line,
    )


def _read_source(table: Mapping[str, Any]) -> Source:
    source: dict[str, Any] = take(table, "source", dict, {})
    if not source:
        return _REGISTRY
    kind = _KINDS.get(take(source, "type", str, ""), SourceKind.UNKNOWN)
    if kind is SourceKind.DIRECTORY and table.get("develop") is True:
        kind = SourceKind.EDITABLE
    is_git = kind is SourceKind.GIT
    reference = take(source, "reference", str, "")
    resolved = take(source, "resolved_reference", str, "")
    return Source(
        kind=kind,
        location=take(source, "url", str, ""),
        # Before 1.1 the reference itself was the commit.
        commit=(resolved or reference) if is_git else "",
        reference=f"rev={reference}" if is_git and resolved and reference else "",
        subdirectory=take(source, "subdirectory", str, ""),
    )


def _read_markers(table: Mapping[str, Any]) -> tuple[str, ...]:
    """A marker, or one a group: the package is installed where any of them holds."""
    markers = table.get("markers")
    if markers is None:
        old = take(table, "marker", str, "")  # 2018
        return (old,) if old else ()
    if isinstance(markers, str):
        return (markers,)
    if not isinstance(markers, dict):
        raise OddValueError("`markers` is neither a string nor a table")
    of_groups = tuple(take(markers, name, str, "") for name in markers)
    # A group that has none in the table takes the package everywhere.
    is_everywhere = len(of_groups) < len(take_texts(table, "groups")) or "" in of_groups
    return () if is_everywhere else tuple(dict.fromkeys(of_groups))


def _read_edges(dependencies: Mapping[str, Any]) -> Iterator[Dependency]:
    for name, value in dependencies.items():
        if name.lower() == "python":
            continue
        for row in value if isinstance(value, list) else [value]:
            if isinstance(row, str):
                yield Dependency(name=normalise(name))
            elif isinstance(row, dict):
                yield Dependency(
                    name=normalise(name),
                    extras=tuple(normalise(extra) for extra in take_texts(row, "extras")),
                    marker=take(row, "markers", str, "") or take(row, "marker", str, ""),
                )
            else:
                raise OddValueError(f"the dependency `{name}` is neither a string nor a table")


def _mark_optional(
    packages: tuple[LockedPackage, ...],
    tables: Iterable[Mapping[str, Any]],
    extras: Mapping[str, tuple[str, ...]],
) -> tuple[LockedPackage, ...]:
    """Optional packages with the extras that lead to them, through the lock's own graph."""
    edges: dict[str, set[str]] = {}
    for package in packages:
        edges.setdefault(package.name, set()).update(one.name for one in package.dependencies)
    by_name: dict[str, list[str]] = {}
    for extra, names in extras.items():
        reached: set[str] = set()
        waiting = [normalise(name) for name in names]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += edges.get(name, ())
        for name in reached:
            by_name.setdefault(name, []).append(f'extra == "{normalise(extra)}"')
    return tuple(
        replace(package, resolution_markers=tuple(sorted(by_name.get(package.name, ()))))
        if table.get("optional") is True
        else package
        for package, table in zip(packages, tables, strict=True)
    )
