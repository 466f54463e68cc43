"""What every lockfile format can do, and the formats there are."""

from __future__ import annotations

from typing import Final, Protocol

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.uv import UvLock
from envtrack.model.lock import Lock


class LockFormat(Protocol):
    """One lockfile format."""

    @property
    def name(self) -> str:
        """What `Lock.format` says: the usual file name."""
        ...

    def detects(self, filename: str, text: str) -> bool:
        """Whether the file is of this format, by its name or by how its text begins.

        Either may be empty: then only the other decides.
        """
        ...

    def parse(self, text: str, *, path: str) -> Lock:
        """What the text pins.

        Raises:
            LockfileProblem: it is not of this format, or something in it is wrong.
        """
        ...


# The order decides only between formats that claim one file.
FORMATS: Final[tuple[LockFormat, ...]] = (UvLock(),)


def find_format(filename: str, text: str) -> LockFormat | None:
    """The format that claims the file's name, or else the one that its text looks like."""
    for name, content in ((filename, ""), ("", text)):
        for candidate in FORMATS:
            if candidate.detects(name, content):
                return candidate
    return None


def parse_lock(text: str, *, path: str) -> Lock:
    """What a lockfile of any known format pins.

    Args:
        text: the file's content.
        path: how messages name the file; its last part chooses the format.

    Raises:
        LockfileProblem: no format fits, or the one that fits can't read it.
    """
    filename = path.replace("\\", "/").rpartition("/")[2]
    chosen = find_format(filename, text)
    if chosen is None:
        known = ", ".join(candidate.name for candidate in FORMATS)
        raise LockfileProblem(
            path,
            None,
            "the file is empty" if not text.strip() else "no known lockfile format",
            hint=f"known formats: {known}",
        )
    return chosen.parse(text, path=path)
