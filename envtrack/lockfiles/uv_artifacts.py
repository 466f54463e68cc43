"""The files of a package in uv.lock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envtrack.lockfiles.artifacts import find_filename
from envtrack.lockfiles.tables import OddValueError, take, take_tables
from envtrack.model.lock import Artifact, Source

_KEYS = frozenset(["url", "path", "filename", "hash", "size", "upload-time", "upload_time", "zstd"])


def parse_artifacts(
    table: Mapping[str, Any], source: Source, strange: set[str]
) -> tuple[Artifact, ...]:
    """The sdist, then the wheels of a package's table.

    A file with odd content is left out and said in `strange`: the package is still pinned.

    Raises:
        OddValueError: `wheels` is no array of tables, or `sdist` no table.
    """
    found = []
    sdist: dict[str, Any] = take(table, "sdist", dict, {})
    if sdist:
        # `sdist = { hash }` alone: the source is the file.
        found.append(_read(sdist, source.location, "package.sdist", strange, is_wheel=False))
    for wheel in take_tables(table, "wheels"):
        found.append(_read(wheel, "", "package.wheels", strange, is_wheel=True))  # noqa: PERF401 - reads well
    return tuple(artifact for artifact in found if artifact is not None)


def _read(
    row: Mapping[str, Any], otherwise: str, where: str, strange: set[str], *, is_wheel: bool
) -> Artifact | None:
    if not _KEYS.issuperset(row):
        strange.update(f"{where}.{key}" for key in row if key not in _KEYS)
    try:
        location = _read_location(row, otherwise)
        digest = take(row, "hash", str, "")
    except OddValueError as error:
        strange.add(f"{where}: {error}")
        return None
    size = row.get("size")
    return Artifact(
        filename=find_filename(location),
        location=location,
        hash=digest,
        size=size if isinstance(size, int) else None,
        is_wheel=is_wheel,
        uploaded_at=_read_time(row),
    )


def _read_time(row: Mapping[str, Any]) -> str:
    # Early files of revision 2 have the underscore.
    said = row.get("upload-time", row.get("upload_time", ""))
    return said if isinstance(said, str) else ""


def _read_location(row: Mapping[str, Any], otherwise: str) -> str:
    for key in ("url", "path", "filename"):
        if key in row:
            return take(row, key, str, "")
    if not otherwise:
        raise OddValueError("no `url`, `path` or `filename`")
    return otherwise
