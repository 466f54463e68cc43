"""Requirements by where they lie: repositories, archives and folders instead of names."""

from __future__ import annotations

import re
from typing import Final

from envtrack.lockfiles.artifacts import find_filename, make_artifact
from envtrack.lockfiles.requirement_text import LogicalLine
from envtrack.model.lock import LockedPackage, Source, SourceKind
from envtrack.model.names import normalise

_VCS = re.compile(
    r"(?:(?P<vcs>git|hg|svn|bzr)\+)(?P<url>[^@#]+(?:@[^/#@]+/[^@#]*)?)(?:@(?P<ref>[^#]+))?"
)
_COMMIT = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_ARCHIVES: Final = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")
_FREEZE = re.compile(
    r"# Editable (?:install|Git install).*\((?P<name>[^()=@ ]+)(?:==(?P<version>[^()]+))?\)"
)
_EXTRAS = re.compile(r"\[[^\]]*\]$")
_MARKER = re.compile(r"\s+;\s*|;\s+")
_FRAGMENT = re.compile(r"[#&](egg|subdirectory|sha256|sha512|md5)=([^&]+)")


def is_archive(address: str) -> bool:
    """Whether an address or a path is that of one file that can be installed."""
    return address.partition("#")[0].partition("?")[0].lower().endswith(_ARCHIVES)


def is_path(text: str) -> bool:
    """Whether a requirement is a path or an archive, rather than a name."""
    first = text.partition(" ")[0].partition(";")[0].partition("[")[0]
    return first.startswith((".", "/", "~", "file:")) or first.lower().endswith(_ARCHIVES)


def read_place(line: LogicalLine, value: str, *, is_editable: bool) -> LockedPackage | None:
    """A package by where it lies: a repository, an archive or a folder; `None`: not pinned."""
    place, marker = _cut_marker(value)
    address = place.partition("#")[0]
    if vcs := _VCS.match(place):
        found = _read_repository(vcs, place)
    elif is_archive(address):
        found = _read_archive(address, place, line)
    else:
        found = _read_folder(address, place, line, is_editable=is_editable)
    if found is None:
        return None
    return found._replace(resolution_markers=(marker,) if marker else (), line=line.number)


def _read_repository(vcs: re.Match[str], place: str) -> LockedPackage | None:
    if not _COMMIT.fullmatch(vcs["ref"] or ""):
        return None
    fragment = dict(_FRAGMENT.findall(place))
    name = fragment.get("egg", "") or find_filename(vcs["url"]).removesuffix(".git")
    return LockedPackage(
        name=normalise(name.partition("[")[0]) or vcs["url"],
        version=None,
        source=Source(
            kind=SourceKind.GIT if vcs["vcs"] == "git" else SourceKind.UNKNOWN,
            location=vcs["url"],
            commit=vcs["ref"],
            subdirectory=fragment.get("subdirectory", ""),
        ),
    )


def _read_archive(address: str, place: str, line: LogicalLine) -> LockedPackage:
    fragment = dict(_FRAGMENT.findall(place))
    told = (f"{kind}:{fragment[kind]}" for kind in ("sha256", "sha512", "md5") if kind in fragment)
    name, version = split_archive(address)
    is_path = "://" not in address or address.startswith("file:")
    return LockedPackage(
        name=normalise(name) or address,
        version=version,
        source=Source(
            kind=SourceKind.PATH if is_path else SourceKind.URL,
            location=address,
            subdirectory=fragment.get("subdirectory", ""),
        ),
        artifacts=tuple(
            make_artifact(address, digest=digest) for digest in line.hashes or (next(told, ""),)
        ),
    )


def _read_folder(
    address: str, place: str, line: LogicalLine, *, is_editable: bool
) -> LockedPackage:
    """Its name as `pip freeze` notes it above the line, or else that of the folder."""
    folder = _EXTRAS.sub("", address)
    noted = _FREEZE.match(line.before)
    egg = dict(_FRAGMENT.findall(place)).get("egg", "")
    name = egg or (noted["name"] if noted else "") or find_filename(folder) or folder
    return LockedPackage(
        name=normalise(name.partition("[")[0]) or name,
        version=noted["version"] if noted else None,
        source=Source(
            kind=SourceKind.EDITABLE if is_editable else SourceKind.DIRECTORY,
            location=folder.removeprefix("file://"),
        ),
    )


def _cut_marker(value: str) -> tuple[str, str]:
    found = _MARKER.search(value)
    if found is None:
        return value.strip(), ""
    return value[: found.start()].strip(), value[found.end() :].strip()


def split_archive(address: str) -> tuple[str, str | None]:
    """Name and version as an archive's file name says them."""
    filename = find_filename(address)
    stem = next(
        (filename[: -len(end)] for end in _ARCHIVES if filename.lower().endswith(end)), filename
    )
    if filename.endswith(".whl"):
        parts = stem.split("-")
        return parts[0], parts[1] if len(parts) > 1 else None
    name, dash, version = stem.rpartition("-")
    return (name, version) if dash and version[:1].isdigit() else (stem, None)
