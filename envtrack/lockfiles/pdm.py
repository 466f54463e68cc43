"""pdm.lock, from lock version 0.1 to 4.5."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import read_file_rows, sort_artifacts
from envtrack.lockfiles.flat import MAIN
from envtrack.lockfiles.group_markers import combine_group_markers, join_alternatives
from envtrack.lockfiles.pdm_targets import read_targets
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
from envtrack.lockfiles.uv_package import note_strange
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

NEWEST: Final = 4

_DEFAULT: Final = "default"
_VCS: Final = ("git", "hg", "svn", "bzr")
_ARCHIVES: Final = (".whl", ".gz", ".tgz", ".zip", ".bz2", ".xz")
_PROJECT = re.compile(r"file://+(?:\$\{PROJECT_ROOT\}/*)?")
_TOP_KEYS = frozenset(["package", "metadata"])
_METADATA_KEYS = frozenset(
    [
        *("groups", "strategy", "lock_version", "content_hash", "targets", "files"),
        *("cross_platform", "static_urls", "inherit_metadata", "direct_minimal_versions"),
        "meta_version",
    ]
)
_PACKAGE_KEYS = frozenset(
    [
        *("name", "version", "requires_python", "summary", "groups", "sections", "marker"),
        *("extras", "dependencies", "files", "ref", "revision", "url", "path", "editable"),
        *("subdirectory", *_VCS),
    ]
)


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a pdm.lock pins; what the project asked for stands in its pyproject.toml alone.

    A package that is locked with extras stands in the file once more for each set of them; here it
    is one package, its entries' dependencies together, each entry's marker tied to its groups.
    Markers and groups are known up to lock version 2 and where the strategy is
    ``inherit_metadata`` (the default from 4.4.1 on); between these only edges have markers. The
    group ``default`` is called ``main``; extras of the project are groups too. The machines that
    the file was made for are in `Lock.supported_markers`. The content hash is passed over.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, not TOML, of a newer version, or something in
            it is missing or of a wrong type.
    """
    document = load_toml(text, path=path)
    strange: set[str] = set()
    note_strange(document, _TOP_KEYS, "", strange)
    try:
        metadata: dict[str, Any] = take(document, "metadata", dict, {})
        tables = take_tables(document, "package")
        _refuse_other(metadata, tables)
        schema, revision = read_schema(metadata, "lock_version", NEWEST)
        note_strange(metadata, _METADATA_KEYS, "metadata.", strange)
        files = _read_files(metadata)
        is_inherited = _inherits(metadata)
        python, targets = read_targets(take_tables(metadata, "targets"))
        groups = take_texts(metadata, "groups") if "groups" in metadata else None
    except OddValueError as error:
        line = find_key_line(text, str(error), section="metadata")
        raise LockfileProblem(path, line, str(error)) from error
    one = partial(_read_package, files=files, strange=strange)
    read = list(read_packages(tables, text, path, one))
    known = {
        Knowledge.GRAPH: True,
        Knowledge.HASHES: any(a.hash for package in read for a in package.artifacts),
        Knowledge.GROUPS: any(package.belongs_to for package in read),
        Knowledge.MARKERS: is_inherited or any(p.resolution_markers for p in read),
    }
    return Lock(
        format="pdm.lock",
        path=path,
        schema=schema,
        revision=revision,
        knows=frozenset(part for part, is_known in known.items() if is_known),
        requires_python=python,
        supported_markers=targets,
        group_names=None if groups is None else _name_groups(groups),
        packages=tuple(_fold(read)),
        unknown_keys=tuple(sorted(strange)),
    )


def _inherits(metadata: Mapping[str, Any]) -> bool:
    """Whether packages have the markers and groups of all that lead to them."""
    if "inherit_metadata" in take_texts(metadata, "strategy"):
        return True
    return take(metadata, "inherit_metadata", bool, default=False)


def _name_groups(groups: Iterable[str]) -> tuple[str, ...]:
    return tuple(MAIN if group == _DEFAULT else group for group in groups)


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
    table: Mapping[str, Any],
    line: int,
    *,
    files: Mapping[str, tuple[Artifact, ...]],
    strange: set[str],
) -> LockedPackage:
    note_strange(table, _PACKAGE_KEYS, "package.", strange)
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
        belongs_to=_name_groups(groups),
        line=line,
    )


def _read_source(table: Mapping[str, Any]) -> Source:
    subdirectory = take(table, "subdirectory", str, "")
    for kind in _VCS:
        if location := take(table, kind, str, ""):
            reference = take(table, "ref", str, "")
            return Source(
                kind=SourceKind.GIT if kind == "git" else SourceKind.UNKNOWN,
                location=location,
                commit=take(table, "revision", str, ""),
                reference=f"rev={reference}" if reference else "",
                subdirectory=subdirectory,
            )
    url, path = take(table, "url", str, ""), take(table, "path", str, "")
    if url and not path and not url.startswith("file:"):
        return Source(kind=SourceKind.URL, location=url, subdirectory=subdirectory)
    # Both may stand there: the one as the project wrote it, the other as pip wants it.
    path = path or _PROJECT.sub(lambda found: "./" if "$" in found[0] else "/", url)
    if not path:
        return Source(kind=SourceKind.REGISTRY, location="")
    is_archive = path.lower().endswith(_ARCHIVES)
    is_editable = take(table, "editable", bool, default=False)
    tree = SourceKind.EDITABLE if is_editable else SourceKind.DIRECTORY
    kind_here = SourceKind.PATH if is_archive else tree
    return Source(kind=kind_here, location=path, subdirectory=subdirectory)


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
    found: dict[tuple[object, ...], list[LockedPackage]] = {}
    for package in packages:
        key = (package.name, package.version, package.source.key)
        found.setdefault(key, []).append(package)
    for some in found.values():
        yield some[0] if len(some) == 1 else _merge(some)


def _merge(entries: Sequence[LockedPackage]) -> LockedPackage:
    dependencies = (edge for entry in entries for edge in entry.dependencies)
    artifacts = (artifact for entry in entries for artifact in entry.artifacts)
    groups = (group for entry in entries for group in entry.belongs_to)
    # An entry of no group is there whatever was asked for.
    is_grouped = all(entry.belongs_to for entry in entries)
    return entries[0]._replace(
        resolution_markers=_merge_markers(entries),
        dependencies=tuple(dict.fromkeys(dependencies)),
        artifacts=sort_artifacts(dict.fromkeys(artifacts)),
        belongs_to=tuple(dict.fromkeys(groups)) if is_grouped else (),
    )


def _merge_markers(entries: Sequence[LockedPackage]) -> tuple[str, ...]:
    """When one of the entries is installed: where its marker holds, for its own groups."""
    by_group: dict[str, list[str]] = {}
    for entry in entries:
        marker = "".join(entry.resolution_markers)  # one, or none
        for group in entry.belongs_to or (MAIN,):
            by_group.setdefault(group, []).append(marker)
    return combine_group_markers(
        {group: join_alternatives(*markers) for group, markers in by_group.items()}
    )
