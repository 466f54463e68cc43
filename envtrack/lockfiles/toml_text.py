"""Python's TOML reader, with a bound where it has none, and the lines of what is beyond bounds."""

from __future__ import annotations

import re
from typing import Any, Final

from envtrack.lockfiles.text import line_of

# Strings and comments; a string that is not closed ends with its line.
_TEXT: Final = (
    r'"""[\s\S]*?(?:"""|\Z)' + r"|'''[\s\S]*?(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+"?' + r"|'[^'\n]*+'?|#[^\n]*+"
)
# `a.b.c`: the reader takes time that grows with the square of the parts. No lockfile has ten.
_MOST_PARTS: Final = 20
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
# Python reads decimal numbers of up to 4,300 digits, others of any length, and can't write those.
_BEYOND = re.compile(
    rf"(?P<key>(?<![\w-])(?:{_PART}\.[ \t]*+){{{_MOST_PARTS}}})"
    rf"|(?P<number>(?<!\w)0[xob][0-9a-fA-F_]{{1000}})|{_TEXT}"
)
_MARK = re.compile(rf"{_TEXT}|([\[\]{{}}]|(?<![0-9_])[0-9_]{{4000,}})")
# No lockfile nests a tenth as deep; Python gives up at some hundreds.
_DEEP: Final = 100


class BeyondBoundsError(ValueError):
    """Something that is longer than in any lockfile.

    Attributes:
        position: where in the text it begins.
    """

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.position = position


def parse_toml(text: str) -> dict[str, Any]:
    """The document of `text`, at most 100 levels deep.

    Raises:
        TOMLDecodeError: it is not TOML.
        ValueError: a number or a key is longer than any lockfile's.
        RecursionError: it is nested too deep.
    """
    # Most files are read without it: see `envtrack.lockfiles.plain_toml`.
    import tomllib

    for found in _BEYOND.finditer(text):
        if found["key"]:
            raise BeyondBoundsError("a key of too many parts", found.start())
        if found["number"]:
            raise BeyondBoundsError("a number of too many digits", found.start())
    document = tomllib.loads(text)
    level: list[Any] = [document]
    for _ in range(_DEEP):
        parts = (node.values() if isinstance(node, dict) else node for node in level)
        level = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
        if not level:
            return document
    raise RecursionError


def find_excess_line(text: str) -> int | None:
    """The line where a text is nested too deep, or has a number of thousands of digits."""
    depth = 0
    for found in _MARK.finditer(text):
        mark = found[1] or ""
        depth += (mark in {"[", "{"}) - (mark in {"]", "}"})
        if depth > _DEEP or mark[:1].isdigit():
            return line_of(text, found.start())
    return None
