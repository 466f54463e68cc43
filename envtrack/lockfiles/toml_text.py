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
_MOST_PARTS: Final = 100
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"((?<![\w-])(?:{_PART}\.[ \t]*+){{{_MOST_PARTS}}})|{_TEXT}")
# Python reads numbers of up to 4,300 digits.
_MARK = re.compile(rf"{_TEXT}|([\[\]{{}}]|(?<![0-9])[0-9]{{4000,}})")
# No lockfile nests a tenth as deep; Python gives up at some hundreds.
_DEEP: Final = 100


class TooLongKeyError(ValueError):
    """A dotted key of more parts than any lockfile has.

    Attributes:
        position: where in the text it begins.
    """

    def __init__(self, position: int) -> None:
        super().__init__("a key of too many parts")
        self.position = position


def parse_toml(text: str) -> dict[str, Any]:
    """The document of `text`.

    Raises:
        TOMLDecodeError: it is not TOML.
        ValueError: a number or a key is longer than any lockfile's.
        RecursionError: it is nested too deep.
    """
    # Most files are read without it: see `envtrack.lockfiles.plain_toml`.
    import tomllib

    for found in _LONG_KEY.finditer(text):
        if found[1]:
            raise TooLongKeyError(found.start())
    return tomllib.loads(text)


def find_excess_line(text: str) -> int | None:
    """The line where a text is nested too deep, or has a number of thousands of digits."""
    depth = 0
    for found in _MARK.finditer(text):
        mark = found[1] or ""
        depth += (mark in {"[", "{"}) - (mark in {"]", "}"})
        if depth > _DEEP or mark[:1].isdigit():
            return line_of(text, found.start())
    return None
