"""Pipfile.lock, pipfile-spec 1 to 6."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.flat import MAIN
from envtrack.lockfiles.json_text import find_key_lines, load_json
from envtrack.lockfiles.pipfile_package import find_place, read_index, read_package
from envtrack.lockfiles.tables import OddValueError, take, take_tables
from envtrack.lockfiles.text import Include
from envtrack.lockfiles.uv_package import note_strange
from envtrack.model.lock import Knowledge, Lock, LockedPackage, SourceKind

NEWEST: Final = 6
# The first that has markers.
_MARKED: Final = 6

_GROUPS: Final = {"default": MAIN, "develop": "dev"}
_META: Final = "_meta"
_META_KEYS = frozenset(["hash", "pipfile-spec", "requires", "sources", "host-environment-markers"])
_REQUIRES_KEYS = frozenset(["python_version", "python_full_version"])
_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,4}){0,3}", re.ASCII)


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a Pipfile.lock pins, for the one Python it was made with.

    ``default`` is the group ``main`` and ``develop`` the group ``dev``; other categories keep their
    names. What stands alike in several categories is one package of several groups; each category
    was resolved by itself, so that a name can have other versions or markers in another one. There
    is no graph, and what was asked for stands in the Pipfile alone. Its own hash of that is passed
    over, and so are the extras that a package was asked for with.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, not JSON, no Pipfile.lock, of a newer version,
            or something in it is missing or of a wrong type.
    """
    document = load_json(text, path=path)
    lines = find_key_lines(text)
    strange: set[str] = set()
    try:
        meta, schema = _read_meta(document, strange)
        python = _read_python(meta, strange)
        index_by_name = _read_indexes(meta)
    except OddValueError as error:
        raise LockfileProblem(path, _find_meta_line(lines, str(error)), str(error)) from error
    rows = list(_read_rows(document, lines, path, index_by_name, strange))
    packages = tuple(_fold([package for _, package in rows if find_place(package)]))
    has_hashes = any(artifact.hash for package in packages for artifact in package.artifacts)
    has_markers = schema >= _MARKED or any(package.resolution_markers for package in packages)
    known = {Knowledge.HASHES: has_hashes, Knowledge.MARKERS: has_markers, Knowledge.GROUPS: True}
    return Lock(
        format="Pipfile.lock",
        path=path,
        schema=schema,
        knows=frozenset(part for part, is_known in known.items() if is_known),
        requires_python=python,
        packages=packages,
        unpinned=tuple(dict.fromkeys(asked for asked, package in rows if not find_place(package))),
        unknown_keys=tuple(sorted(strange)),
    )


def _read_meta(document: Mapping[str, Any], strange: set[str]) -> tuple[dict[str, Any], int]:
    meta: dict[str, Any] = take(document, _META, dict, {})
    if "pipfile-spec" not in meta:
        raise OddValueError("`pipfile-spec` of `_meta` is missing: it is no Pipfile.lock")
    schema = take(meta, "pipfile-spec", int, 0)
    if schema > NEWEST:
        raise OddValueError(
            f"`pipfile-spec` {schema} is newer than the one that is read ({NEWEST})"
        )
    note_strange(meta, _META_KEYS, "_meta.", strange)
    return meta, schema


def _read_python(meta: Mapping[str, Any], strange: set[str]) -> str:
    requires: dict[str, Any] = take(meta, "requires", dict, {})
    note_strange(requires, _REQUIRES_KEYS, "_meta.requires.", strange)
    full = take(requires, "python_full_version", str, "")
    version = take(requires, "python_version", str, "")
    if _VERSION.fullmatch(full):
        return f"=={full}"
    # Anything else than a version is kept as it is, to be told where it is used.
    return f"=={version}.*" if _VERSION.fullmatch(version) else full or version


def _read_indexes(meta: Mapping[str, Any]) -> dict[str, str]:
    """URLs by name; the only one also by no name, since all packages come from it."""
    rows = take_tables(meta, "sources")
    found = {take(row, "name", str, ""): take(row, "url", str, "") for row in rows}
    if len(rows) == 1:
        found[""] = next(iter(found.values()))
    elif len(rows) > 1:
        found.pop("", None)
    return found


def _read_rows(
    document: Mapping[str, Any],
    lines: Mapping[tuple[str, ...], int],
    path: str,
    index_by_name: Mapping[str, str],
    strange: set[str],
) -> Iterator[tuple[str, LockedPackage]]:
    """Each entry as it was written (``name==1.0``) and as a package of one group."""
    for category in document:
        if category == _META:
            continue
        place: tuple[str, ...] = (category,)
        who = ""
        try:
            rows: dict[str, Any] = take(document, category, dict, {})
            for name in rows:
                place, who = (category, name), f"package `{name}`: "
                row: dict[str, Any] = take(rows, name, dict, {})
                package = read_package(name, row, strange=strange)
                yield (
                    f"{package.name}{take(row, 'version', str, '').replace('*', '')}",
                    package._replace(
                        source=read_index(package.source, row, index_by_name),
                        belongs_to=(_GROUPS.get(category, category),),
                        line=lines.get(place, 0),
                    ),
                )
        except OddValueError as error:
            raise LockfileProblem(path, lines.get(place), f"{who}{error}") from error


def _fold(packages: Sequence[LockedPackage]) -> Iterator[LockedPackage]:
    """What stands alike in several categories as one package, where the first of them stands."""
    indexes = {
        _key(package): package.source
        for package in packages
        if package.source.kind is SourceKind.REGISTRY and package.source.location
    }
    found: dict[tuple[object, ...], list[LockedPackage]] = {}
    for package in packages:
        key = _key(package)
        # pipenv names the index where a package is asked for, not where it follows from another.
        source = package.source if package.source.location else indexes.get(key, package.source)
        found.setdefault((*key, source), []).append(package._replace(source=source))
    for some in found.values():
        groups = dict.fromkeys(group for package in some for group in package.belongs_to)
        yield some[0]._replace(belongs_to=tuple(groups))


def _key(package: LockedPackage) -> tuple[object, ...]:
    return package.name, package.version, package.resolution_markers, package.artifacts


def _find_meta_line(lines: Mapping[tuple[str, ...], int], message: str) -> int | None:
    """The line of the key that a message about `_meta` quotes first."""
    key = message.partition("`")[2].partition("`")[0]
    inside = lines.get((_META, key))
    return lines.get((key,), lines.get((_META,))) if inside is None else inside
