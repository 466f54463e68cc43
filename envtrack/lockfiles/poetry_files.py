"""The files of packages, where a poetry.lock keeps them apart from these, in its `[metadata]`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from envtrack.lockfiles.artifacts import make_artifact, read_file_rows, sort_artifacts
from envtrack.lockfiles.tables import OddValueError, take, take_texts
from envtrack.model.lock import Artifact
from envtrack.model.names import normalise

_SUFFIXES: Final = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".zip")
# No version is as long; reading one takes time that grows with its square.
_LONGEST: Final = 100


class FileIndex:
    """The files of each package and version.

    The lists are by name alone; the versions of one package share a list, and the file names tell
    which are whose. The hashes of 2018's files have no file names: there all versions have all.

    Args:
        metadata: the table of the lockfile.
        shared: normalised names of the packages that stand in the file with several versions.

    Raises:
        OddValueError: something in the lists is of a wrong type; says whose.
    """

    def __init__(self, metadata: Mapping[str, Any], shared: Collection[str]) -> None:
        files: dict[str, Any] = take(metadata, "files", dict, {})
        hashes: dict[str, Any] = take(metadata, "hashes", dict, {})
        self._by_name = {normalise(name): _read_rows(files, name) for name in files}
        for name in hashes:
            self._by_name[normalise(name)] = tuple(
                make_artifact("", digest=f"sha256:{digest}") for digest in take_texts(hashes, name)
            )
        self._by_version = {
            name: _split(self._by_name[name]) for name in shared if name in self._by_name
        }

    def find(self, name: str, version: str) -> tuple[Artifact, ...]:
        """The files of a version, source distributions first; of no version's own: the package's.

        Args:
            name: normalised.
            version: as the package's table says it.
        """
        files = self._by_name.get(name, ())
        versions = self._by_version.get(name)
        return files if versions is None else versions.get(_key(version), files)


def _read_rows(files: Mapping[str, Any], name: str) -> tuple[Artifact, ...]:
    try:
        return sort_artifacts(read_file_rows(take(files, name, list, [])))
    except OddValueError as error:
        raise OddValueError(f"the files of `{name}`: {error}") from error


def _split(files: tuple[Artifact, ...]) -> dict[str, tuple[Artifact, ...]]:
    found: dict[str, list[Artifact]] = {}
    for file in files:
        if version := _find_version(file.filename):
            found.setdefault(_key(version), []).append(file)
    return {version: tuple(some) for version, some in found.items()}


def _find_version(filename: str) -> str:
    """The version in the name of a wheel, an egg, or a source distribution; empty if unclear."""
    name = filename.lower()
    if name.endswith((".whl", ".egg")):
        parts = name.split("-")
        return parts[1] if len(parts) > 1 else ""
    suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), "")
    return name.removesuffix(suffix).rpartition("-")[2] if suffix else ""


def _key(version: str) -> str:
    """One spelling for each version."""
    from packaging.version import InvalidVersion, Version

    if len(version) > _LONGEST:
        return version
    try:
        return str(Version(version.replace("_", "+", 1)))
    except InvalidVersion:
        return version.lower()
