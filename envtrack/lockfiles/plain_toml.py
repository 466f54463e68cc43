"""TOML of the plain kind that uv writes, read by way of JSON; what is not plain is `None`.

Python's TOML reader goes letter by letter; regular expressions and the JSON reader, both written in
C, take an eighth of its time. They may, because uv writes a small part of TOML: basic strings
without escapes, numbers, booleans, arrays, inline tables on one line, and sections. Anything else
(escapes, dates, dotted keys, multi-line strings, repeated names) is left to the TOML reader, which
also knows what to say of it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

# Of what TOML allows in a string, all that needs no second look.
INNER: Final = r'[^"\\\x00-\x1f\x7f]'

_KEY = r"[A-Za-z0-9_-]+"
# Names of more parts are the TOML reader's business, which bounds them.
_SECTION = re.compile(rf"\[(\[)?({_KEY}(?:\.{_KEY}){{0,20}})\](?(1)\])")
_PAIR = re.compile(rf"({_KEY}) = (.+)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# A string, a key, a number, a word, a bracket: nothing else may stand between them but blanks. What
# else there is takes the last place, so that no search runs on over a long text.
_TOKEN = re.compile(
    rf'("{INNER}*")|({_KEY}) = |(?<![\w.+-])((?:0|[1-9][0-9]{{0,15}})(?![\w.+-])|true\b|false\b)'
    r"|(,)|([\[\]{}])|( +|\n)|([\s\S])"
)


# Deeper than any lockfile nests.
_DEEP: Final = 50


class _Unusual(Exception):
    """Something that is not plain."""


def load_plain(text: str) -> dict[str, Any] | None:
    """The document of `text` as `tomllib` would read it; `None` if it is not plain."""
    try:
        return _load(text)
    except (_Unusual, ValueError, RecursionError):
        return None


def _load(text: str) -> dict[str, Any]:
    document: dict[str, Any] = {}
    table = document
    opened = _Opened()
    lines = iter(text.split("\n"))
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            table = _open_section(document, line, opened)
            continue
        found = _PAIR.fullmatch(line)
        if found is None or found[1] in table:
            raise _Unusual
        value = _cut_comment(found[2])
        if value == "[":
            value = _gather(lines)
        table[found[1]] = _read_value(value)
    return document


def _cut_comment(value: str) -> str:
    """What stands before a comment: uv explains one of its values by one."""
    # One that holds a quote may be part of a string.
    at = value.find(" #", max(value.rfind('"'), value.rfind("'")) + 1)
    if at < 0:
        return value
    if _CONTROL.search(value, at):
        raise _Unusual
    return value[:at].rstrip(" ")


class _Opened:
    """The tables and arrays of tables that sections made, by `id`.

    What was written as a value can't be added to by a later section.
    """

    def __init__(self) -> None:
        self.tables: dict[int, dict[str, Any]] = {}
        self.arrays: dict[int, list[dict[str, Any]]] = {}

    def enter(self, above: dict[str, Any], name: str) -> dict[str, Any]:
        """The table of this name within another, which may be new."""
        if name not in above:
            fresh: dict[str, Any] = {}
            above[name] = self.tables[id(fresh)] = fresh
        inner = above[name]
        inner = inner[-1] if id(inner) in self.arrays else inner
        if id(inner) not in self.tables:
            raise _Unusual
        return self.tables[id(inner)]


def _open_section(document: dict[str, Any], line: str, opened: _Opened) -> dict[str, Any]:
    """The table of a `[section]`, or the next one of a `[[section]]`."""
    found = _SECTION.fullmatch(line)
    if found is None:
        raise _Unusual
    table = document
    *above, name = found[2].split(".")
    for part in above:
        table = opened.enter(table, part)
    fresh: dict[str, Any] = {}
    opened.tables[id(fresh)] = fresh
    there = table.get(name)
    if found[1] and there is None:
        table[name] = array = [fresh]
        opened.arrays[id(array)] = array
    elif found[1] and id(there) in opened.arrays:
        opened.arrays[id(there)].append(fresh)
    elif name in table:
        raise _Unusual
    else:
        table[name] = fresh
    return fresh


def _gather(lines: Any) -> str:  # noqa: ANN401 - an iterator of text
    """An array of several lines, up to the bracket that closes it."""
    found = ["["]
    for line in lines:
        found.append(line)
        if line == "]":
            return "\n".join(found)
    raise _Unusual


def _read_value(text: str) -> Any:  # noqa: ANN401 - whatever stands there
    parts: list[str] = []
    depth, level = 0, 0
    for token in _TOKEN.finditer(text):
        string, key, scalar, comma, bracket, _, other = token.groups()
        if other:
            raise _Unusual
        if bracket:
            depth += (bracket == "{") - (bracket == "}")
            level += 1 if bracket in "[{" else -1
            if level > _DEEP:
                raise _Unusual
            if bracket == "]" and parts and parts[-1] == ",":
                parts.pop()  # TOML allows a comma at the end of an array
            parts.append(bracket)
        elif key:
            parts.append(f'"{key}":')
        elif string or scalar or comma:
            parts.append(token[0])
        elif depth and token[0] == "\n":
            raise _Unusual  # an inline table stands on one line
    return json.loads(" ".join(parts), object_pairs_hook=_build_table)


def _build_table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise _Unusual
    return table
