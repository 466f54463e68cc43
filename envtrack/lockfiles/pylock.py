"""pylock.toml (PEP 751), version 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact, pick_hash
from envtrack.lockfiles.requirement_places import split_archive
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

NEWEST: Final = 1
# Of this major version what is read; a newer minor one adds what may be passed over.
NEWEST_MINOR: Final = 0

_EXCLUSIVE: Final = ("vcs", "directory", "archive")
_REQUIRED: Final = ("lock-version", "created-by", "packages")
_HEAD_KEYS = frozenset(
    [
        *_REQUIRED,
        *("environments", "requires-python", "extras", "dependency-groups", "default-groups"),
        "tool",
    ]
)
_PACKAGE_KEYS = frozenset(
    [
        *("name", "version", "marker", "requires-python", "dependencies", "index", "sdist"),
        *("wheels", "attestation-identities", "tool", *_EXCLUSIVE),
    ]
)


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a pylock.toml pins; it never says what the project asked for.

    Required by PEP 751, and asked for here: ``lock-version``, ``created-by``, ``packages``, and of
    each package a name and where it comes from. A newer minor version is read, and noted.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, not TOML, of another major version, or
            something in it is missing or of a wrong type.
    """
    document = load_toml(text, path=path)
    strange: set[str] = set()
    try:
        schema, revision = _read_version(document)
        head = _read_head(document, strange)
        tables = take_tables(document, "packages")
    except OddValueError as error:
        raise LockfileProblem(path, find_key_line(text, str(error)), str(error)) from error
    packages = tuple(read_packages(tables, text, path, partial(_read_package, strange=strange)))
    known = {
        Knowledge.MARKERS: True,
        Knowledge.HASHES: any(a.hash for package in packages for a in package.artifacts),
        # Groups and extras stand in the markers.
        Knowledge.GROUPS: bool(head.group_names or head.default_groups or head.extra_names),
        Knowledge.GRAPH: any(package.dependencies for package in packages),
    }
    return head._replace(
        path=path,
        schema=schema,
        revision=revision,
        knows=frozenset(part for part, is_known in known.items() if is_known),
        packages=packages,
        notes=tuple(_note_version(schema, revision)),
        unknown_keys=tuple(sorted(strange)),
    )


def _read_version(document: Mapping[str, Any]) -> tuple[int, int]:
    """The version; first, for what another one requires is not known."""
    schema, revision = read_schema(document, "lock-version", NEWEST)
    for key in _REQUIRED:
        if key not in document:
            raise OddValueError(f"`{key}` is missing")
    if schema != NEWEST:
        told = document["lock-version"]
        raise OddValueError(f"`lock-version` {told} is not of the version that is read ({NEWEST})")
    return schema, revision


def _note_version(schema: int, revision: int) -> Iterator[str]:
    if revision > NEWEST_MINOR:
        read = f"{NEWEST}.{NEWEST_MINOR}"
        yield f"lock-version {schema}.{revision} is newer than {read}: what it adds is passed over"


def _read_head(document: Mapping[str, Any], strange: set[str]) -> Lock:
    """What stands above the packages."""
    note_strange(document, _HEAD_KEYS, "", strange)
    take_text(document, "created-by")
    return Lock(
        format="pylock.toml",
        path="",
        schema=0,
        requires_python=take(document, "requires-python", str, ""),
        supported_markers=take_texts(document, "environments"),
        group_names=take_texts(document, "dependency-groups"),
        default_groups=take_texts(document, "default-groups"),
        extra_names=take_texts(document, "extras"),
    )


def _read_package(table: Mapping[str, Any], line: int, *, strange: set[str]) -> LockedPackage:
    note_strange(table, _PACKAGE_KEYS, "package.", strange)
    marker = take(table, "marker", str, "")
    source, artifacts = _read_origin(table)
    return LockedPackage(
        name=normalise(take_text(table, "name")),
        version=take(table, "version", str, "") or _find_version(source),
        source=source,
        resolution_markers=(marker,) if marker else (),
        dependencies=tuple(_read_edges(table)),
        artifacts=artifacts,
        requires_python=take(table, "requires-python", str, ""),
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
        is_git = take_text(row, "type") == "git"
        return Source(
            kind=SourceKind.GIT if is_git else SourceKind.UNKNOWN,
            location=location,
            commit=take_text(row, "commit-id"),
            reference=f"rev={asked}" if asked else "",
            subdirectory=subdirectory,
        ), ()
    if named == ["directory"]:
        kind = SourceKind.EDITABLE if row.get("editable") is True else SourceKind.DIRECTORY
        return Source(kind=kind, location=location, subdirectory=subdirectory), ()
    is_remote = "://" in location and not location.startswith("file:")
    kind = SourceKind.URL if is_remote else SourceKind.PATH
    return Source(kind=kind, location=location, subdirectory=subdirectory), (_read_file(row),)


def _find_version(source: Source) -> str | None:
    """The version that an archive's name says, where the file says none (pip writes it so)."""
    is_archive = source.kind in {SourceKind.URL, SourceKind.PATH}
    return split_archive(source.location)[1] if is_archive else None


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
    uploaded = row.get("upload-time")
    return make_artifact(
        location or name,
        digest=pick_hash(take(row, "hashes", dict, {})),
        size=take(row, "size", int, 0) or None,
        name=name,
    )._replace(uploaded_at=uploaded.isoformat() if isinstance(uploaded, datetime) else "")


def _read_edges(table: Mapping[str, Any]) -> Iterator[Dependency]:
    for row in take_tables(table, "dependencies"):
        yield Dependency(
            name=normalise(take_text(row, "name")),
            version=take(row, "version", str, "") or None,
            marker=take(row, "marker", str, ""),
        )
