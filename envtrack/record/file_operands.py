"""Files that are compared as they are: snapshots and lockfiles, with no repository around them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from envtrack.compare.records import Record
from envtrack.errors import UsageProblem
from envtrack.record.lock_bytes import parse_lock_bytes

if TYPE_CHECKING:
    from envtrack.lockfiles.text import Include

NOW: Final = "now"
FILE_ENDINGS: Final = (".json", ".lock", ".toml", ".txt", ".yml", ".yaml")


def is_file_operand(text: str, folder: Path) -> bool:
    """Whether an operand means a file: its name ends like one, and it is there."""
    return text.endswith(FILE_ENDINGS) and (folder / text).is_file()


def read_file_operand(text: str, folder: Path) -> Record:
    """A snapshot file (``.json``) or a lockfile, as something to be compared.

    Raises:
        UsageProblem: it can't be read.
        SnapshotProblem: it is no snapshot.
        LockfileProblem: it is no lockfile.
    """
    path = folder / text
    if text.endswith(".json"):
        # Two lockfiles are compared without what a snapshot needs.
        from envtrack.files import read_text
        from envtrack.model.snapshot import parse_snapshot

        return Record(name=text, snapshot=parse_snapshot(read_text(path), where=text))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageProblem(f"{text}: can't be read: {error.strerror}") from error
    return Record(name=text, lock=parse_lock_bytes(content, text, include=read_beside(path.parent)))


def read_beside(folder: Path) -> Include:
    """Reads files by their path from a lockfile's folder; one that is not there is `None`."""

    def include(path: str) -> str | None:
        # An absolute path says nothing of the project; what is not text is no list.
        place = folder / path
        if Path(path).is_absolute() or not place.is_file():
            return None
        try:
            return place.read_text("utf-8-sig", "backslashreplace")
        except OSError:
            return None  # noted as not followed

    return include
