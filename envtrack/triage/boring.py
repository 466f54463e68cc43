"""Lines of which no word can be part of any message: most lines of most logs."""

from __future__ import annotations

import re
from typing import Final

from envtrack.triage.rules import RuleBook

_ERROR_WORDS: Final = frozenset(
    {
        b"fatal", b"failed", b"failure", b"fail", b"traceback", b"panic", b"abort", b"aborted",
        b"killed", b"cannot", b"unable", b"invalid", b"denied", b"refused", b"handling", b"direct",
        b"terminate", b"warning", b"conflict", b"rank", b"caught", b"ignored", b"solution",
    }
)  # fmt: skip
_ERROR_PIECES: Final = (b"error", b"exception", b"interrupt", b"can't", b"could not", b"couldn't")
_LETTERS: Final = re.compile(rb"[a-z]{4,}")
_SAME_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MOST_BORING: Final = 20_000
_LONGEST_BORING: Final = 300


class BoringLines:
    """Knows them by the words that rules, and errors of any kind, are made of."""

    def __init__(self, book: RuleBook) -> None:
        self._words = book.trigger_words | _ERROR_WORDS
        self._pieces = (*book.trigger_pieces, *_ERROR_PIECES)
        self._known: set[bytes] = set()

    def has(self, raw: bytes) -> bool:
        """Whether nothing in a line can be part of any message.

        Lines that differ in digits alone are looked at once.
        """
        key = raw.translate(_SAME_DIGITS) if len(raw) <= _LONGEST_BORING else b""
        if key and key in self._known:
            return True
        lowered = raw.lower()
        if not self._words.isdisjoint(_LETTERS.findall(lowered)):
            return False
        if any(piece in lowered for piece in self._pieces):
            return False
        if key and len(self._known) < _MOST_BORING:
            self._known.add(key)
        return True
