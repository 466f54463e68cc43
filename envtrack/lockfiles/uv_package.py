"""One `[[package]]` of a uv.lock."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from envtrack.lockfiles.tables import OddValueError, take, take_tables, take_text, take_texts
from envtrack.lockfiles.uv_artifacts import parse_artifacts
from envtrack.lockfiles.uv_source import parse_source, render_requirement
from envtrack.model.lock import Dependency, LockedPackage
from envtrack.model.names import normalise

_PACKAGE_KEYS = frozenset(
    [
        "name",
        "version",
        "source",
        "resolution-markers",
        "environment-markers",
        "sdist",
        "wheels",
        "dependencies",
        "optional-dependencies",
        "dev-dependencies",
        "dependency-groups",
        "metadata",
    ]
)
_METADATA_KEYS = frozenset(["requires-dist", "provides-extras", "provides-extra", "requires-dev"])
_EDGE_KEYS = frozenset(["name", "version", "source", "extra", "marker"])


def read_package(table: Mapping[str, Any], *, strange: set[str]) -> LockedPackage:
    """One package; keys it does not know are added to `strange`.

    Raises:
        OddValueError: name or source is missing, or something is of a wrong type.
    """
    note_strange(table, _PACKAGE_KEYS, "package.", strange)
    source = parse_source(table.get("source"))
    metadata: dict[str, Any] = take(table, "metadata", dict, {})
    note_strange(metadata, _METADATA_KEYS, "package.metadata.", strange)
    return LockedPackage(
        name=normalise(take_text(table, "name")),
        version=take(table, "version", str, "") or None,
        source=source,
        resolution_markers=take_texts(table, "resolution-markers", alias="environment-markers"),
        dependencies=read_edges(table, "dependencies", strange),
        optional_dependencies=_read_edge_groups(table, "optional-dependencies", None, strange),
        groups=_read_edge_groups(table, "dev-dependencies", "dependency-groups", strange),
        artifacts=parse_artifacts(table, source, strange),
        # An empty table is a project that asks for nothing; only without one nothing is known.
        requirements=read_requirements(metadata, "requires-dist") if "metadata" in table else None,
        group_requirements=read_groups(metadata, "requires-dev"),
        provides_extras=tuple(
            normalise(name)
            for name in take_texts(metadata, "provides-extras", alias="provides-extra")
        ),
    )


def _read_edge_groups(
    table: Mapping[str, Any], key: str, alias: str | None, strange: set[str]
) -> dict[str, tuple[Dependency, ...]]:
    groups: dict[str, Any] = take(table, key, dict, {}, alias=alias)
    return {normalise(name): read_edges(groups, name, strange) for name in groups}


def read_edges(table: Mapping[str, Any], key: str, strange: set[str]) -> tuple[Dependency, ...]:
    """The edges of the array at `key`; keys that are not known are added to `strange`.

    Raises:
        OddValueError: one has no name, or something is of a wrong type.
    """
    return tuple(_read_edge(row, strange) for row in take_tables(table, key))


def _read_edge(row: Mapping[str, Any], strange: set[str]) -> Dependency:
    name = row.get("name")
    if not isinstance(name, str) or not name:
        raise OddValueError("a dependency has no `name`")
    if len(row) == 1:
        return plain_edge(name)
    note_strange(row, _EDGE_KEYS, "package.dependencies.", strange)
    source = row.get("source")
    return Dependency(
        name=normalise(name),
        version=take(row, "version", str, "") or None,
        source=None if source is None else parse_source(source),
        extras=tuple(normalise(extra) for extra in take_texts(row, "extra")),
        marker=take(row, "marker", str, ""),
    )


@lru_cache(maxsize=20_000)
def plain_edge(name: str) -> Dependency:
    """An edge that says a name only. Most edges say a name only: one value serves them all."""
    return Dependency(name=normalise(name))


def note_strange(
    table: Mapping[str, Any], known: frozenset[str], prefix: str, strange: set[str]
) -> None:
    """Adds the keys of `table` that are not `known`, each with `prefix`, to `strange`."""
    if not known.issuperset(table):
        strange.update(f"{prefix}{key}" for key in table if key not in known)


def read_requirements(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Requirement tables, or strings, as PEP 508 text; empty without the key."""
    rows: list[Any] = take(table, key, list, [])
    if all(isinstance(row, str) for row in rows):
        return tuple(rows)
    tables = take_tables(table, key)
    try:
        return tuple(render_requirement(row) for row in tables)
    except OddValueError as error:
        raise OddValueError(f"in `{key}`, {error}") from error


def read_groups(table: Mapping[str, Any], key: str) -> dict[str, tuple[str, ...]]:
    """Requirements by dependency group."""
    groups: dict[str, Any] = take(table, key, dict, {})
    return {normalise(name): read_requirements(groups, name) for name in groups}
