"""JSON text → an object, and the lines of its keys; every fault says its line."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.text import clean_text, line_of

_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MARK = re.compile(rf"({_STRING})|([{{}}\[\]:])", re.DOTALL)
_CONSTANT = re.compile(rf"{_STRING}|(-?(?:NaN|Infinity))", re.DOTALL)
# Python reads numbers of up to 4,300 digits.
_LONG_NUMBER = re.compile(rf"{_STRING}|((?<![0-9])[0-9]{{4000,}})", re.DOTALL)
_HALF_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
# No lockfile nests a tenth as deep; Python gives up at about ten times of it.
_DEEP: Final = 100


class _NoNumberError(ValueError):
    """`NaN` and its like: Python reads them, JSON does not have them."""


def load_json(text: str, *, path: str) -> dict[str, Any]:
    """The object of `text`; a byte order mark and CRLF are fine.

    Of a name that stands twice in one object the last counts, as for the tools that read it.

    Raises:
        LockfileProblem: empty, an unresolved merge, not JSON (`NaN` is none), nested too deeply, a
            number or character that can't be one, or not an object.
    """
    text = clean_text(text, path=path)
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise LockfileProblem(path, error.lineno, reason) from error
    except RecursionError as error:
        raise LockfileProblem(path, _find_deep_line(text), "nested too deeply") from error
    except _NoNumberError as error:
        reason = f"not JSON: {error} is no number"
        raise LockfileProblem(path, _find_bare(_CONSTANT, text), reason) from error
    except ValueError as error:
        reason = "a number of thousands of digits"
        raise LockfileProblem(path, _find_bare(_LONG_NUMBER, text), reason) from error
    if not isinstance(document, dict):
        raise LockfileProblem(path, 1, "not a JSON object")
    if r"\u" in text:
        _refuse_half_characters(document, text, path)
    return document


def find_key_lines(text: str, depth: int = 2) -> dict[tuple[str, ...], int]:
    """The one-based line of each key of the objects of a JSON text, by the keys that lead there.

    Args:
        text: what `load_json` has read.
        depth: how many levels of objects; keys further in have no entry.
    """
    lines: dict[tuple[str, ...], int] = {}
    above: list[str] = []
    level, line, position = 0, 1, 0
    last: re.Match[str] | None = None
    for found in _MARK.finditer(text):
        string, mark = found.groups()
        if string:
            last = found
        elif mark in "{[":
            level += 1
        elif mark in "}]":
            level -= 1
        elif last is not None and level <= depth:
            line += text.count("\n", position, last.start())
            position = last.start()
            above[level - 1 :] = [_decode(last[0])]
            lines[tuple(above)] = line
    return lines


def _decode(string: str) -> str:
    return str(json.loads(string)) if "\\" in string else string[1:-1]


def _refuse_constant(name: str) -> NoReturn:
    raise _NoNumberError(name)


def _find_bare(pattern: re.Pattern[str], text: str) -> int | None:
    """The line of the first match outside strings; the text is JSON up to there."""
    place = next((found.start(1) for found in pattern.finditer(text) if found[1]), None)
    return None if place is None else line_of(text, place)


def _find_deep_line(text: str) -> int | None:
    level = 0
    for found in _MARK.finditer(text):
        level += (found[0] in "{[") - (found[0] in "}]")
        if level > _DEEP:
            return line_of(text, found.start())
    return None


def _refuse_half_characters(document: dict[str, Any], text: str, path: str) -> None:
    # Half of a surrogate pair can't be printed nor stored; no lockfile means one.
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        found = _HALF_CHARACTER.search(text)
        line = None if found is None else line_of(text, found.start())
        raise LockfileProblem(path, line, "half of a character") from error
    except RecursionError as error:
        raise LockfileProblem(path, _find_deep_line(text), "nested too deeply") from error
