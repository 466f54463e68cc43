"""One `[[package]]` of a poetry.lock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from envtrack.lockfiles.artifacts import read_file_rows, sort_artifacts
from envtrack.lockfiles.group_markers import combine_group_markers, join_markers
from envtrack.lockfiles.poetry_files import FileIndex
from envtrack.lockfiles.poetry_python import make_marker
from envtrack.lockfiles.tables import OddValueError, take, take_text, take_texts
from envtrack.lockfiles.uv_package import note_strange, plain_edge
from envtrack.model.lock import Dependency, LockedPackage, Source, SourceKind
from envtrack.model.names import normalise

_KINDS: Final = {
    "git": SourceKind.GIT,
    "directory": SourceKind.DIRECTORY,
    "file": SourceKind.PATH,
    "url": SourceKind.URL,
    "legacy": SourceKind.REGISTRY,
}
_REGISTRY: Final = Source(kind=SourceKind.REGISTRY, location="")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}", re.ASCII)
_EXTRA = re.compile(r"\bextra\s*==\s*['\"]([^'\"]+)['\"]")
_NAME = re.compile(r"[\w.-]+", re.ASCII)
# Of edges of one name and extras that need it; a real file has a few.
_MOST_PAIRS: Final = 10_000
_PACKAGE_KEYS = frozenset(
    [
        *("name", "version", "description", "category", "optional", "python-versions", "groups"),
        *("markers", "marker", "files", "develop", "source", "dependencies", "extras"),
        *("requirements", "platform"),
    ]
)
_SOURCE_KEYS = frozenset(["type", "url", "reference", "resolved_reference", "subdirectory"])


def read_package(
    table: Mapping[str, Any], line: int, *, files: FileIndex, python: str, strange: set[str]
) -> LockedPackage:
    """One package; keys it does not know are added to `strange`.

    Args:
        table: as TOML has it.
        line: where it stands.
        files: where the file keeps them apart from the packages.
        python: the constraint on Pythons of the whole lock; of a package, what it leaves open is
            part of its marker, in files that do not tell the packages' markers.
        strange: see above.

    Raises:
        OddValueError: name or version is missing, or something is of a wrong type.
    """
    note_strange(table, _PACKAGE_KEYS, "package.", strange)
    name, version = normalise(take_text(table, "name")), take_text(table, "version")
    inline = read_file_rows(take(table, "files", list, []))
    plain, by_extra = _read_edges(table)
    return LockedPackage(
        name=name,
        version=version,
        source=_read_source(table, strange),
        resolution_markers=_read_markers(table, python),
        dependencies=plain,
        optional_dependencies=by_extra,
        artifacts=sort_artifacts(inline) if inline else files.find(name, version),
        belongs_to=take_texts(table, "groups") or take_texts(table, "category"),
        line=line,
    )


def _read_source(table: Mapping[str, Any], strange: set[str]) -> Source:
    source: dict[str, Any] = take(table, "source", dict, {})
    if not source:
        return _REGISTRY
    note_strange(source, _SOURCE_KEYS, "package.source.", strange)
    kind = _KINDS.get(take(source, "type", str, ""), SourceKind.UNKNOWN)
    if kind is SourceKind.DIRECTORY and take(table, "develop", bool, default=False):
        kind = SourceKind.EDITABLE
    location = take(source, "url", str, "")
    subdirectory = take(source, "subdirectory", str, "")
    if kind is not SourceKind.GIT:
        return Source(kind=kind, location=location, subdirectory=subdirectory)
    asked = take(source, "reference", str, "")
    commit = take(source, "resolved_reference", str, "")
    # Before 1.1 the reference itself was the commit.
    if not commit and _COMMIT.fullmatch(asked):
        asked, commit = "", asked
    return Source(
        kind=kind,
        location=location,
        commit=commit,
        reference=f"rev={asked}" if asked else "",
        subdirectory=subdirectory,
    )


def _read_markers(table: Mapping[str, Any], python: str) -> tuple[str, ...]:
    """When the package is installed, as far as its own table says it."""
    if "groups" not in table and "markers" not in table:
        marker = _read_old_marker(table, python)
        return (marker,) if marker else ()
    markers = table.get("markers", "")
    if isinstance(markers, str):
        return (markers,) if markers else ()
    if not isinstance(markers, dict):
        raise OddValueError("`markers` is neither a string nor a table")
    groups = dict.fromkeys((*take_texts(table, "groups"), *markers))
    # A group that the table leaves out takes the package everywhere.
    by_group = {group: take(markers, group, str, "") for group in groups}
    return combine_group_markers(by_group) if by_group else ()


def _read_old_marker(table: Mapping[str, Any], python: str) -> str:
    """Of the files before groups: 2018's markers, and the Pythons that the package is for.

    poetry 1 passed over a package that was not for the Python at hand; so its several versions
    could stand side by side.
    """
    asked: dict[str, Any] = take(table, "requirements", dict, {})
    return join_markers(
        take(table, "marker", str, ""),
        _read_conditions(asked),
        make_marker(take(table, "python-versions", str, ""), among=python),
    )


def _read_conditions(row: Mapping[str, Any]) -> str:
    """What `python` and `platform` of a dependency come to, as a marker."""
    platform = take(row, "platform", str, "")
    is_platform = platform and platform != "*"
    return join_markers(
        make_marker(take(row, "python", str, "")),
        f'sys_platform == "{platform}"' if is_platform and '"' not in platform else "",
    )


def _read_edges(
    table: Mapping[str, Any],
) -> tuple[tuple[Dependency, ...], dict[str, tuple[Dependency, ...]]]:
    """What the package always needs, and what by extra."""
    dependencies: dict[str, Any] = take(table, "dependencies", dict, {})
    extras_of = _find_extras(take(table, "extras", dict, {}))
    plain: list[Dependency] = []
    by_extra: dict[str, list[Dependency]] = {}
    for name, value in dependencies.items():
        if name.lower() == "python":
            continue
        rows = value if isinstance(value, list) else [value]
        named = extras_of.get(normalise(name), [])
        for row in rows:
            edge, is_optional = _read_edge(name, row)
            in_marker = [normalise(extra) for extra in _EXTRA.findall(edge.marker)]
            extras = named or in_marker
            if not (is_optional or in_marker) or len(rows) * len(extras) > _MOST_PAIRS:
                extras = []
            if not extras:
                plain.append(edge)
            for extra in extras:
                by_extra.setdefault(extra, []).append(edge)
    return tuple(plain), {extra: tuple(edges) for extra, edges in by_extra.items()}


def _read_edge(name: str, row: object) -> tuple[Dependency, bool]:
    """An edge, and whether only an extra needs it."""
    if isinstance(row, str):
        return plain_edge(name), False
    if not isinstance(row, dict):
        raise OddValueError(f"the dependency `{name}` is neither a string nor a table")
    marker = take(row, "markers", str, "") or take(row, "marker", str, "")
    edge = Dependency(
        name=normalise(name),
        extras=tuple(normalise(extra) for extra in take_texts(row, "extras")),
        marker=join_markers(marker, _read_conditions(row)),
    )
    return edge, take(row, "optional", bool, default=False)


def _find_extras(extras: Mapping[str, Any]) -> dict[str, list[str]]:
    """The extras of the package by the name of what each needs."""
    found: dict[str, list[str]] = {}
    for extra in extras:
        for text in take_texts(extras, extra):
            if name := _NAME.match(text.strip()):
                found.setdefault(normalise(name[0]), []).append(normalise(extra))
    return {name: list(dict.fromkeys(some)) for name, some in found.items()}
