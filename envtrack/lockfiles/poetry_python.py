"""poetry's constraints on Pythons (`^3.8`, `~2.7 || >=3.5,<4.0`) as PEP 440 and PEP 508 have them.

A constraint is read as the ranges of Pythons that it allows; a Python has three numbers.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

Python: TypeAlias = tuple[int, int, int]
Ranges: TypeAlias = tuple[tuple[Python, Python], ...]
"""Half-open, in order, apart from each other."""

_FIRST: Final[Python] = (0, 0, 0)
_END: Final[Python] = (9999, 0, 0)
_EVERY: Final[Ranges] = ((_FIRST, _END),)
_PART = re.compile(
    r"\s*(?P<op>\^|~=|~|===?|!=|<=|>=|<|>|)\s*v?(?P<version>\d{1,3}(?:\.\d{1,3}){0,2})(?P<any>\.\*)?"
    r"\s*(?:,|(?=[\s^~=!<>\d])|$)",
    re.ASCII,
)
_ONE_PLAIN = r"\s*(?:~=|===?|!=|<=|>=|<|>)\s*\d+(?:\.\d+)*(?:\.\*)?\s*"
_PLAIN = re.compile(rf"{_ONE_PLAIN}(?:,{_ONE_PLAIN})*", re.ASCII)
# No real one comes near; what is longer is left as it is.
_LONGEST: Final = 400
_LAST_PYTHON_2: Final = 7
_NEVER: Final = 'python_full_version < "0"'


def make_specifiers(text: str) -> str:
    """The constraint as a PEP 440 specifier set; what can't be read comes back as it was.

    Of a union, the Pythons in its gaps are excluded one by one, as far as there are any.
    """
    text = text.strip()
    if text in {"", "*"}:
        return ""
    ranges = parse_constraint(text)
    if not ranges or _PLAIN.fullmatch(text):
        return text
    low, high = ranges[0][0], ranges[-1][1]
    parts = [f">={_say(low)}"] * (low != _FIRST) + [f"<{_say(high)}"] * (high != _END)
    for (_, end), (start, _) in pairwise(ranges):
        parts += _exclude(end, start)
    return ",".join(parts)


def make_marker(text: str, *, among: str = "*") -> str:
    """The constraint as a PEP 508 marker; empty if it always holds, or can't be read.

    Args:
        text: the constraint.
        among: another one that holds anyway; what it implies is not said again.
    """
    ranges, others = parse_constraint(text), parse_constraint(among)
    if ranges is None or (others and _is_within(others, ranges)):
        return ""
    if not ranges:
        return _NEVER
    return " or ".join(
        " and ".join(
            [f'python_full_version >= "{_say(low)}"'] * (low != _FIRST)
            + [f'python_full_version < "{_say(high)}"'] * (high != _END)
        )
        for low, high in ranges
    )


@lru_cache(maxsize=1000)
def parse_constraint(text: str) -> Ranges | None:
    """The Pythons that a constraint allows; `None` if it can't be read."""
    if len(text) > _LONGEST:
        return None
    allowed: list[tuple[Python, Python]] = []
    for alternative in re.split(r"\|\|?", text):
        ranges = _parse_every(alternative)
        if ranges is None:
            return None
        allowed += ranges
    return _merge(allowed)


def _parse_every(text: str) -> Ranges | None:
    """The Pythons that all parts of a constraint allow; `None` if it can't be read."""
    text = text.strip()
    if not text:
        return None
    if text == "*":
        return _EVERY
    ranges, position = _EVERY, 0
    while position < len(text):
        found = _PART.match(text, position)
        if found is None:
            return None
        position = found.end()
        numbers = tuple(int(number) for number in found["version"].split("."))
        ranges = _intersect(ranges, _read_part(found["op"], numbers, is_any=bool(found["any"])))
    return ranges


def _read_part(operator: str, numbers: tuple[int, ...], *, is_any: bool) -> Ranges:
    start = _pad(numbers)
    # The end of all that begins with the numbers.
    after = _pad((*numbers[:-1], numbers[-1] + 1))
    if not is_any:
        after = (start[0], start[1], start[2] + 1)
    if operator == "!=":
        return _merge([(_FIRST, start), (after, _END)])
    bounds = {
        ">=": (start, _END),
        ">": (after, _END),
        "<": (_FIRST, start),
        "<=": (_FIRST, after),
        "^": (start, _pad((numbers[0] + 1,)) if numbers[0] else after),
        "~": (start, _pad((numbers[0], numbers[1] + 1) if len(numbers) > 1 else (numbers[0] + 1,))),
        "~=": (start, _pad((*numbers[:-2], numbers[-2] + 1)) if len(numbers) > 1 else after),
    }
    return _merge([bounds.get(operator, (start, after))])


def _pad(numbers: tuple[int, ...]) -> Python:
    return (*numbers, 0, 0)[0], (*numbers, 0, 0)[1], (*numbers, 0, 0)[2]


def _merge(ranges: list[tuple[Python, Python]]) -> Ranges:
    merged: list[tuple[Python, Python]] = []
    for low, high in sorted(ranges):
        if low >= high:
            continue
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)


def _intersect(some: Ranges, others: Ranges) -> Ranges:
    return _merge([(max(a, c), min(b, d)) for a, b in some for c, d in others])


def _is_within(inner: Ranges, outer: Ranges) -> bool:
    return _intersect(inner, outer) == inner


def _say(python: Python) -> str:
    return ".".join(map(str, python if python[2] else python[:2]))


def _exclude(end: Python, start: Python) -> list[str]:
    """The Pythons from `end` up to `start`, each as an exclusion."""
    if end[:2] == start[:2]:
        return [f"!={end[0]}.{end[1]}.{patch}" for patch in range(end[2], start[2])]
    # Patch versions have no end: a gap that begins among them begins at the next minor version.
    first = end[1] + bool(end[2])
    if end[0] == start[0]:
        minors = [(end[0], minor) for minor in range(first, start[1])]
    else:
        olds = range(first, _LAST_PYTHON_2 + 1) if end[0] == 2 else ()  # noqa: PLR2004
        minors = [(end[0], minor) for minor in olds]
        minors += [(start[0], minor) for minor in range(start[1])]
    parts = [f"!={major}.{minor}.*" for major, minor in minors]
    return parts + [f"!={start[0]}.{start[1]}.{patch}" for patch in range(start[2])]
