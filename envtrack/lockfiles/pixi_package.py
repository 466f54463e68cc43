"""One package of a pixi.lock of version 4 or newer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from envtrack.lockfiles.artifacts import make_artifact, pick_hash
from envtrack.lockfiles.conda_lock import as_conda
from envtrack.lockfiles.conda_names import split_conda_filename, split_conda_url
from envtrack.lockfiles.requirement_edges import read_conda_edges, read_pypi_edges
from envtrack.lockfiles.requirement_places import is_archive, split_archive
from envtrack.lockfiles.tables import take, take_texts
from envtrack.model.lock import LockedPackage, Source, SourceKind
from envtrack.model.names import normalise

KEYS: Final = ("conda", "conda_source", "pypi")

# `name[hash] @ place`
_BUILT = re.compile(r"(?P<name>[^\s\[]+)(?:\[[^\]]*\])? @ (?P<place>\S.*)")
_QUERY = re.compile(r"[?&](subdirectory|rev|tag|branch)=([^&#]*)")


def read_package(key: str, address: str, row: Mapping[str, Any]) -> LockedPackage:
    """A package, of no platform and environment yet.

    Args:
        key: one of `KEYS`.
        address: what stands at that key.
        row: of `packages`.

    Raises:
        OddValueError: something is of a wrong type.
    """
    if key == "pypi":
        return _read_pypi(address, row)
    built = _BUILT.fullmatch(address) if key == "conda_source" else None
    place = built["place"] if built else address
    parts = split_conda_filename(split_conda_url(place)[2])
    told = (built["name"], "") if built else (place, "")
    name = take(row, "name", str, "") or (parts or told)[0]
    version = take(row, "version", str, "") or (parts or told)[1]
    package = LockedPackage(
        name=name.lower(),
        version=version or None,
        source=Source(kind=SourceKind.REGISTRY, location=""),
        dependencies=tuple(read_conda_edges(take_texts(row, "depends"))),
    )
    if parts is None:
        # Built from source on the machine itself: there is no file, and no build until then.
        return package._replace(source=_read_tree(place), ecosystem="conda")
    found = as_conda(package, place, pick_hash(row))
    return found._replace(build=found.build or take(row, "build", str, ""))


def _read_tree(place: str) -> Source:
    """A repository, an archive or a folder."""
    if place.startswith("git+"):
        address, _, commit = place.removeprefix("git+").partition("#")
        location, _, query = address.partition("?")
        asked = dict(_QUERY.findall(f"?{query}"))
        kind = next((kind for kind in ("tag", "branch", "rev") if asked.get(kind)), "")
        return Source(
            kind=SourceKind.GIT,
            location=location,
            commit=commit,
            reference=f"{kind}={asked[kind]}" if kind else "",
            subdirectory=asked.get("subdirectory", "").replace("%2F", "/"),
        )
    if "://" in place and not place.startswith("file:"):
        return Source(kind=SourceKind.URL, location=place)
    return Source(kind=SourceKind.DIRECTORY, location=place)


def _read_pypi(address: str, row: Mapping[str, Any]) -> LockedPackage:
    is_file = is_archive(address) and not address.startswith("git+")
    is_remote = "://" in address and not address.startswith("file:")
    told_name, told_version = split_archive(address) if is_file else (address, None)
    if is_file:
        kind = SourceKind.REGISTRY if is_remote else SourceKind.PATH
        source = Source(kind=kind, location="" if is_remote else address)
    else:
        source = _read_tree(address)
    if source.kind is SourceKind.DIRECTORY and row.get("editable") == "true":
        source = source._replace(kind=SourceKind.EDITABLE)
    name = take(row, "name", str, "") or told_name
    digest = pick_hash(row)
    return LockedPackage(
        name=normalise(name) or address,
        version=take(row, "version", str, "") or told_version,
        source=source,
        dependencies=tuple(read_pypi_edges(take_texts(row, "requires_dist"))),
        artifacts=(make_artifact(address, digest=digest),) if is_file else (),
    )
