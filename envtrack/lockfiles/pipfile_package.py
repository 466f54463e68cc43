"""One entry of a Pipfile.lock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from envtrack.lockfiles.artifacts import make_artifact
from envtrack.lockfiles.group_markers import join_markers
from envtrack.lockfiles.tables import OddValueError, take, take_texts
from envtrack.lockfiles.uv_package import note_strange
from envtrack.model.lock import Artifact, LockedPackage, Source, SourceKind
from envtrack.model.names import normalise

_VCS: Final = ("git", "hg", "svn", "bzr")
# pipenv takes PEP 508's variables as keys too, each with an operator: `"os_name": "== 'nt'"`.
_VARIABLES: Final = (
    "os_name",
    "sys_platform",
    "platform_machine",
    "platform_python_implementation",
    "platform_release",
    "platform_system",
    "platform_version",
    "python_version",
    "python_full_version",
    "implementation_name",
    "implementation_version",
)
_KEYS = frozenset(
    [
        *("version", "hashes", "hash", "markers", "index", "extras", "editable", "subdirectory"),
        *("ref", "path", "file", *_VCS, *_VARIABLES),
    ]
)
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}", re.ASCII)
_ARCHIVES: Final = (".whl", ".zip", ".gz", ".tgz", ".bz2", ".xz")


def read_package(name: str, row: Mapping[str, Any], *, strange: set[str]) -> LockedPackage:
    """One package, of no group yet, its index not yet told; keys not known go to `strange`.

    Raises:
        OddValueError: the name is empty, or something is of a wrong type.
    """
    if not name.strip():
        raise OddValueError("it has no name")
    note_strange(row, _KEYS, "package.", strange)
    source = _read_source(row)
    version = take(row, "version", str, "").strip()
    conditions = [f"{key} {take(row, key, str, '')}" for key in _VARIABLES if row.get(key)]
    marker = join_markers(take(row, "markers", str, "").strip(), *conditions)
    return LockedPackage(
        name=normalise(name),
        # `*` and `>=1`: nothing was pinned.
        version=version.lstrip("=").strip() or None if version.startswith("==") else None,
        source=source,
        resolution_markers=(marker,) if marker else (),
        artifacts=tuple(_read_artifacts(row, source)),
    )


def find_place(package: LockedPackage) -> str:
    """What pins the package: its version, or else where it comes from; empty: nothing does."""
    is_index = package.source.kind is SourceKind.REGISTRY
    return package.version or ("" if is_index else package.source.location)


def read_index(source: Source, row: Mapping[str, Any], index_by_name: Mapping[str, str]) -> Source:
    """The source with the index that the entry names (by its name, or by its URL).

    Raises:
        OddValueError: `index` is no string.
    """
    if source.kind is not SourceKind.REGISTRY:
        return source
    name = take(row, "index", str, "")
    return source._replace(location=index_by_name.get(name, name if "://" in name else ""))


def _read_source(row: Mapping[str, Any]) -> Source:
    subdirectory = take(row, "subdirectory", str, "")
    for kind in _VCS:
        if location := take(row, kind, str, ""):
            reference = take(row, "ref", str, "")
            if kind != "git":
                location = f"{kind}+{location}@{reference}"
                return Source(kind=SourceKind.UNKNOWN, location=location)
            is_commit = bool(_COMMIT.fullmatch(reference))
            return Source(
                kind=SourceKind.GIT,
                location=location,
                commit=reference if is_commit else "",
                reference="" if is_commit or not reference else f"rev={reference}",
                subdirectory=subdirectory,
            )
    location = take(row, "path", str, "") or take(row, "file", str, "")
    if not location:
        return Source(kind=SourceKind.REGISTRY, location="")
    return Source(kind=_kind_of(location, row), location=location, subdirectory=subdirectory)


def _kind_of(location: str, row: Mapping[str, Any]) -> SourceKind:
    if "://" in location and not location.startswith("file:"):
        return SourceKind.URL
    if location.lower().endswith(_ARCHIVES):
        return SourceKind.PATH
    is_editable = take(row, "editable", bool, default=False)
    return SourceKind.EDITABLE if is_editable else SourceKind.DIRECTORY


def _read_artifacts(row: Mapping[str, Any], source: Source) -> list[Artifact]:
    """The files by their hashes alone, as the format has them; an archive's one by its place."""
    hashes = sorted({*take_texts(row, "hashes"), *take_texts(row, "hash")})
    is_archive = source.kind in {SourceKind.URL, SourceKind.PATH}
    place = source.location if is_archive else ""
    if is_archive and not hashes:
        return [make_artifact(place)]
    return [make_artifact(place, digest=digest) for digest in hashes]
