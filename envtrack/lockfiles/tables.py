"""TOML text → tables, and typed reading of them; every fault says its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.text import clean_text, line_of
from envtrack.lockfiles.toml_text import BeyondBoundsError, find_excess_line, parse_toml
from envtrack.model.lock import LockedPackage

T = TypeVar("T")

_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*(?:packages?|distribution)[ \t]*\]\]", re.MULTILINE)
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_TYPE_NAMES = {
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "an array",
    dict: "a table",
}


class OddValueError(Exception):
    """A value of a type that the format does not have there; its reader knows the line."""


def load_toml(text: str, *, path: str) -> dict[str, Any]:
    """The document of `text`; a byte order mark and CRLF are fine.

    Raises:
        LockfileProblem: empty, an unresolved merge, or not TOML.
    """
    from tomllib import TOMLDecodeError

    text = clean_text(text, path=path)
    try:
        return parse_toml(text)
    except TOMLDecodeError as error:
        raise _not_toml(text, path, error) from error
    except BeyondBoundsError as error:
        raise LockfileProblem(path, line_of(text, error.position), str(error)) from error
    except (RecursionError, ValueError) as error:
        # Python bounds its own work: nesting, and numbers of thousands of digits.
        reason = "not TOML that can be read: too deep or too long"
        raise LockfileProblem(path, find_excess_line(text), reason) from error


def _not_toml(text: str, path: str, error: ValueError) -> LockfileProblem:
    message = str(error)
    place = _AT_LINE.search(message)
    # Without a place it is the end of the document: a file that was cut off.
    line = int(place[1]) if place else text.rstrip("\n").count("\n") + 1
    reason = _AT_LINE.sub("", message).replace(" (at end of document)", " at the end of the file")
    return LockfileProblem(path, line, f"not TOML: {reason[:1].lower()}{reason[1:]}")


def read_packages(
    tables: Sequence[Mapping[str, Any]],
    text: str,
    path: str,
    read: Callable[[Mapping[str, Any], int], LockedPackage],
) -> Iterator[LockedPackage]:
    """Each `[[package]]` table as `read` reads it, given its line (0: not known).

    Raises:
        LockfileProblem: `read` raised an `OddValueError`; says the package and its line.
    """
    for table, line in zip(tables, _header_lines(text, len(tables)), strict=True):
        try:
            yield read(table, line)
        except OddValueError as error:
            name = table.get("name")
            who = f"package `{name}`" if isinstance(name, str) and name else "a package"
            raise LockfileProblem(path, line or None, f"{who}: {error}") from error


def _header_lines(text: str, count: int) -> list[int]:
    """The line of each package's header; zeros if the text does not show as many as were read."""
    lines = []
    line, position = 1, 0
    for header in _HEADER.finditer(text):
        line += text.count("\n", position, header.start())
        position = header.start()
        lines.append(line)
    return lines if len(lines) == count else [0] * count


def find_key_line(text: str, message: str, *, section: str = "") -> int | None:
    """The line of the key that a message about the head of the file quotes first.

    A key that is missing has no line: packages have keys of the same names. Otherwise one that
    begins its line is meant, or else one within a line.

    Args:
        text: of the file.
        message: what is wrong.
        section: the table in which the key is looked for first, with those below it: packages can
            have keys of the same name.
    """
    quoted = re.search(r"`([^`]+)`", message)
    if quoted is None or "is missing" in message:
        return None
    start = None
    if section:
        start = re.search(rf"^[ \t]*\[[ \t]*{re.escape(section)}\b", text, re.MULTILINE)
    key = rf"[\"']?{re.escape(quoted[1])}\b"
    for position in dict.fromkeys((start.start() if start else 0, 0)):
        for before in (r"^[ \t]*(?:\[{1,2}[ \t]*|- )?", r"(?<![\w-])"):
            if found := re.compile(before + key, re.MULTILINE).search(text, position):
                return line_of(text, found.end())
    return None


def take(
    table: Mapping[str, Any], key: str, kind: type[T], default: T, *, alias: str | None = None
) -> T:
    """The value of `key` (or of its older name), which must be of `kind`; `default` without one.

    Raises:
        OddValueError: it is of another type.
    """
    value = table.get(key)
    if value is None and alias is not None:
        key, value = alias, table.get(alias)
    if value is None:
        return default
    # bool is an int to Python, and nowhere a number to a lockfile.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise OddValueError(f"`{key}` is {type_name(value)}, not {_TYPE_NAMES.get(kind, kind)}")
    return value


def take_text(table: Mapping[str, Any], key: str) -> str:
    """The non-empty string at `key`.

    Raises:
        OddValueError: it is missing, empty, or no string.
    """
    value = take(table, key, str, "")
    if not value:
        raise OddValueError(f"`{key}` is missing")
    return value


def take_texts(table: Mapping[str, Any], key: str, *, alias: str | None = None) -> tuple[str, ...]:
    """The strings at `key`; a single string counts as one; empty without the key.

    Raises:
        OddValueError: something in it is no string.
    """
    value = table.get(key)
    if value is None and alias is not None:
        key, value = alias, table.get(alias)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise OddValueError(f"`{key}` is not an array of strings")
    return tuple(value)


def take_tables(
    table: Mapping[str, Any], key: str, *, alias: str | None = None
) -> tuple[dict[str, Any], ...]:
    """The tables of the array at `key`; empty without the key.

    Raises:
        OddValueError: something in it is no table.
    """
    if alias is not None and table.get(key) is None:
        key = alias
    value: list[Any] = take(table, key, list, [])
    for item in value:
        if not isinstance(item, dict):
            raise OddValueError(f"`{key}` holds {type_name(item)}, not a table")
    return tuple(value)


def type_name(value: object) -> str:
    """What a TOML value is, in words."""
    return _TYPE_NAMES.get(type(value), "a date or time")
