"""What every lockfile's text goes through before its own parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from envtrack.errors import LockfileProblem

Include: TypeAlias = Callable[[str], str | None]
"""Text of a file that a lockfile names, by its path from the lockfile's folder; `None`: no such."""

_CONFLICT = re.compile(r"^<<<<<<<(?:[ \t\r]|$)", re.MULTILINE)


def clean_text(text: str, *, path: str) -> str:
    """The text without a byte order mark.

    Raises:
        LockfileProblem: it is empty, or an unresolved merge.
    """
    text = text.removeprefix("\ufeff")
    if not text or text.isspace():
        raise LockfileProblem(path, None, "the file is empty")
    # First, because a parser's own words for this are of no help to anyone.
    if "<<<<<<<" in text and (conflict := _CONFLICT.search(text)):
        raise LockfileProblem(
            path,
            line_of(text, conflict.start()),
            "conflict markers: two versions were merged without being resolved",
            hint="resolve the merge, then lock again",
        )
    return text


def line_of(text: str, position: int) -> int:
    """The one-based line of a position."""
    return text.count("\n", 0, position) + 1
