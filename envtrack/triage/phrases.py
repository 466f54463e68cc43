"""Phrases by which a message is known: plain words with gaps, in place of regular expressions.

``{library}: cannot open shared object file`` matches any library's name and keeps it;
``could not select device driver … with capabilities`` has a gap; ``<couldn't|could not> open``
takes either; ``^`` and ``$`` are the line's ends. Blanks match any run of blanks; capitals and
kinds of quotes make no difference.

Nothing that a phrase can say takes long on any line: gaps and names are bounded, so is the line,
and a line that lacks one of the phrase's plain pieces is never tried.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, NamedTuple

_PARTS: Final = re.compile(
    r"(?P<gap> ?… ?)|\{(?P<name>[a-z][a-z_]*)\}|<(?P<either>[^<>]*\|[^<>]*)>"
)
_GAP: Final = r"[^\n]{0,300}?"
_VALUE: Final = r"[\w./\\+@~:\[\]=<>!*%-]{1,300}"
_LEAST: Final = 4


class PhraseFault(ValueError):
    """A phrase that can't be used; says why."""


class _Part(NamedTuple):
    """One part: its pattern, its words where it is plain, and its choices where it has some."""

    pattern: str
    words: str = ""
    either: tuple[str, ...] = ()


class Phrase:
    """One phrase, as a rule's file writes it.

    Raises:
        PhraseFault: nothing in it is plain text of four characters, or a name is used twice.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._at_start, self._at_end = text.startswith("^"), text.endswith("$")
        self._parts = _parse(text.removeprefix("^").removesuffix("$"))
        names = [match["name"] for match in _PARTS.finditer(text) if match["name"]]
        if len(set(names)) != len(names):
            raise PhraseFault("a name in braces stands twice")
        self.literals = tuple(part.words for part in self._parts if part.words.strip())
        self.anchor = max((_anchor(part) for part in self._parts), key=_least, default=())
        if _least(self.anchor) < _LEAST:
            raise PhraseFault(f"`{text}`: no piece of plain text of at least four characters")
        self.says = sum(map(len, self.literals))
        self.starts_plain = bool(self._parts[0].words)
        self.ends_plain = bool(self._parts[-1].words)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        body = _join(self._parts)
        first, last = self._parts[0].words, self._parts[-1].words
        start = r"(?<![A-Za-z0-9_])" if first[:1].isalnum() else ""
        end = r"(?![A-Za-z0-9_])" if last[-1:].isalnum() else ""
        start, end = "^" if self._at_start else start, "$" if self._at_end else end
        return re.compile(f"{start}{body}{end}", re.IGNORECASE)

    def find(self, text: str, lowered: str) -> dict[str, str] | None:
        """What stands in the braces, if a line holds the phrase.

        Args:
            text: the line, tidied.
            lowered: the same in small letters.
        """
        if not all(piece in lowered for piece in self.literals):
            return None
        found = self._pattern.search(text)
        if found is None:
            return None
        return {name: (value or "").strip(".:[]<>=") for name, value in found.groupdict().items()}


def _parse(text: str) -> list[_Part]:
    parts: list[_Part] = []
    at = 0
    for match in _PARTS.finditer(text):
        parts += _plain(text[at : match.start()])
        at = match.end()
        if match["gap"]:
            parts.append(_Part(_GAP))
        elif match["name"]:
            parts.append(_Part(f"(?P<{match['name']}>{_VALUE})"))
        else:
            words = tuple(word.lower() for word in match["either"].split("|"))
            parts.append(_Part(f"(?:{'|'.join(map(re.escape, words))})", either=words))
    parts += _plain(text[at:])
    return parts


def _plain(text: str) -> list[_Part]:
    words = " ".join(text.replace("\u00a0", " ").split(" ")).lower()
    if not words:
        return []
    return [_Part(re.escape(words), words)]


def _join(parts: list[_Part]) -> str:
    """The parts as one pattern; a gap and the words behind it are never tried twice."""
    body = ""
    left = list(reversed(parts))
    while left:
        part = left.pop()
        if part.pattern == _GAP and left and left[-1].words:
            body += f"(?>{part.pattern}{left.pop().pattern})"
        else:
            body += part.pattern
    return body


def _anchor(part: _Part) -> tuple[str, ...]:
    """The words of which one must stand in a line that matches."""
    return part.either or ((part.words,) if part.words else ())


def _least(words: tuple[str, ...]) -> int:
    return min((len(word.strip()) for word in words), default=0)
