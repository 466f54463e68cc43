"""Small files read so that *absent* and *unknown* stay apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from envtrack.model.fact import Absent, Unknown

if TYPE_CHECKING:
    from pathlib import Path

Missing: TypeAlias = Absent | Unknown

_LIMIT_BYTES = 256 * 1024


def read_text(path: Path, *, limit_bytes: int = _LIMIT_BYTES) -> str | Missing:
    """The beginning of a file; bytes that are no UTF-8 as surrogates, as in file names."""
    try:
        with path.open("rb") as source:
            raw = source.read(limit_bytes)
    except OSError as error:
        return missing_state(error)
    return raw.decode("utf-8-sig", "surrogateescape")


def missing_state(error: OSError) -> Missing:
    """What an error says: nothing is there, or it could not be looked for."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return Absent()
    return Unknown(error_reason(error))


def error_reason(error: OSError) -> str:
    """An error's reason in a few words, without the path that stands in its message."""
    if isinstance(error, PermissionError):
        return "not permitted"
    return (error.strerror or type(error).__name__).lower()


def parse_assignments(text: str) -> dict[str, str]:
    """``KEY=value`` or ``key = value`` lines; comments and lines without ``=`` are passed over."""
    rows = (line.partition("=") for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, equals, value in rows if equals}
