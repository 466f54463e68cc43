"""The files of a package, as most formats name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envtrack.lockfiles.tables import OddValueError, take
from envtrack.model.lock import Artifact


def make_artifact(
    location: str, *, digest: str = "", size: int | None = None, name: str = ""
) -> Artifact:
    """A file by its URL, path or bare name; one whose name ends in `.whl` is a wheel.

    Args:
        location: where it is.
        digest: `sha256:…`.
        size: bytes.
        name: its file name, where the location does not end in it.
    """
    filename = name or find_filename(location)
    is_wheel = filename.lower().endswith(".whl")
    return Artifact(filename=filename, location=location, hash=digest, size=size, is_wheel=is_wheel)


def find_filename(location: str) -> str:
    """The last part of a URL or path, percent-decoded."""
    path = location.partition("#")[0].partition("?")[0]
    name = path.rstrip("/").rpartition("/")[2]
    if "%" not in name:
        return name
    from urllib.parse import unquote

    return unquote(name)


def sort_artifacts(artifacts: Iterable[Artifact]) -> tuple[Artifact, ...]:
    """Source distributions first, else as they were."""
    return tuple(sorted(artifacts, key=lambda artifact: artifact.is_wheel))


def read_file_rows(rows: Iterable[Any], keys: tuple[str, ...] = ("url", "file")) -> list[Artifact]:
    """The `{file = "…", hash = "…"}` rows of poetry.lock and pdm.lock.

    Raises:
        OddValueError: a row is no table, or names no file.
    """
    found = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise OddValueError("`files` holds something that is not a table")
        location = next((take(row, key, str, "") for key in keys if row.get(key)), "")
        if not location:
            raise OddValueError("a file has no name")
        found.append(make_artifact(location, digest=take(row, "hash", str, "")))
    return found


def pick_hash(hashes: Mapping[str, Any]) -> str:
    """The strongest hash of a table by algorithm, as `sha256:…`; empty without any."""
    for name in ("sha256", "sha512", "sha384", "sha224", "sha1", "md5"):
        if isinstance(value := hashes.get(name), str) and value:
            return f"{name}:{value}"
    return ""
