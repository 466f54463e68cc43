"""Comments in a message that git is about to have edited: found, added, taken away. Pure text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# What git chooses from for `core.commentChar = auto`, in this order (builtin/commit.c).
_AUTO: Final = "#;@!$%^&|:"
_SCISSORS: Final = re.compile(r"^(\S+) -{24} >8 -{24}$")
_TRAILER: Final = re.compile(r"^(?:[A-Za-z0-9-]+:\s|\(cherry picked from commit )")
# With these git keeps the comments of a message (git-commit, --cleanup).
_KEEPING: Final = frozenset({"verbatim", "whitespace"})


class _Parts(NamedTuple):
    """A message as git hands it to be edited.

    Attributes:
        body: what is said.
        comments: git's own, and a template's, at the end of the body.
        cut: from the scissors on.
        mark: what comments begin with here.
    """

    body: tuple[str, ...]
    comments: tuple[str, ...]
    cut: tuple[str, ...]
    mark: str


def add_comments(text: str, lines: Sequence[str], *, comment: str, cleanup: str = "") -> str:
    """A message with lines as comments where whoever edits it sees them first.

    They stand before git's own comments, and so before the scissors of ``--verbose``; below the
    scissors where git keeps all that stands above them (``--cleanup=scissors``). Where nothing
    shows that git takes comments away again, the message stays as it is.

    Args:
        text: the file that is going to be edited.
        lines: without a mark.
        comment: ``core.commentChar`` or ``core.commentString``: a mark, or ``auto``.
        cleanup: ``commit.cleanup``; empty where it is not set.
    """
    parts = _split(text, comment)
    ours = [f"{parts.mark} {line}" if line else parts.mark for line in lines]
    if parts.comments and cleanup not in _KEEPING:
        body = list(parts.body)
        while body and not body[-1]:
            body.pop()
        # A trailer is one only together with those that are there; an empty message begins with
        # a line to write on, and one that parts it from the rest.
        is_open = len(body) > 1 and bool(_TRAILER.match(body[-1]))
        gap = [] if is_open else [""] if body else ["", ""]
        return "\n".join([*body, *gap, *ours, parts.mark, *parts.comments, *parts.cut])
    if not parts.comments and parts.cut:
        head = next((at for at, row in enumerate(parts.cut) if row in (parts.mark, "")), 0)
        below = [*parts.cut[:head], parts.mark, *ours, *parts.cut[head:]]
        return "\n".join([*parts.body, *below]) if head else text
    return text


def strip_comments(text: str, comment: str) -> str:
    """What of a message is no comment, down to the scissors."""
    parts = _split(text, comment)
    rows = (*parts.body, *parts.comments)
    return "\n".join(row for row in rows if not row.startswith(parts.mark))


def _split(text: str, comment: str) -> _Parts:
    rows = text.split("\n")
    cut = next((at for at, row in enumerate(rows) if _SCISSORS.match(row)), len(rows))
    mark = _find_mark(rows, cut, comment)
    begin = cut
    for at in range(cut - 1, -1, -1):
        if rows[at].startswith(mark):
            begin = at
        elif rows[at]:
            break
    return _Parts(tuple(rows[:begin]), tuple(rows[begin:cut]), tuple(rows[cut:]), mark)


def _find_mark(rows: Sequence[str], cut: int, comment: str) -> str:
    """With what git really begins comments in this message."""
    found = _SCISSORS.match(rows[cut]) if cut < len(rows) else None
    if found:
        return found[1]
    last = next((row for row in reversed(rows) if row), "")
    if comment == "auto":
        return last[0] if last and last[0] in _AUTO else _AUTO[0]
    # An older git knows no marks of several letters, and goes on with its own.
    return comment if last.startswith(comment) else _AUTO[0]
