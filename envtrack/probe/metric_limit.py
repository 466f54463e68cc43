"""On which side of a limit a figure lies that no two runs say alike: pure arithmetic.

How far two runs of one environment differ from each other is the noise. What differs by less than
it is no difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate
from math import sqrt
from statistics import fmean
from typing import Final, NamedTuple

# Student's t, two-sided 99 %, for 1, 2, 3… degrees of freedom.
_STUDENT: Final = (
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
    3.106, 3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845,
    2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
)  # fmt: skip
_STUDENT_LIMIT: Final = 2.576
_THRESHOLD = re.compile(
    r"\s*(?P<sign>[<>]?)\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<of>%?)\s*"
)

Group = Sequence[float]
"""What several runs of one environment said."""


class Side(StrEnum):
    """Where a figure lies."""

    GOOD = "good"
    BAD = "bad"
    UNCLEAR = "unclear"


class Threshold(NamedTuple):
    """What the user calls too much.

    Attributes:
        number: the limit, or how many percent from the good end.
        is_more_bad: whether what lies above is bad.
        is_relative: whether `number` is percent.
    """

    number: float
    is_more_bad: bool
    is_relative: bool


class Limit(NamedTuple):
    """The line between good and bad.

    Attributes:
        value: where it is.
        is_more_bad: whether what lies above is bad.
    """

    value: float
    is_more_bad: bool


def parse_threshold(text: str) -> Threshold | None:
    """What ``--threshold`` says; ``None`` if it can't be understood. Without a sign more is bad."""
    found = _THRESHOLD.fullmatch(text)
    if found is None:
        return None
    return Threshold(float(found["number"]), found["sign"] != "<", bool(found["of"]))


def limit_of(threshold: Threshold, good: float = 0.0) -> Limit:
    """The limit that a threshold means.

    Args:
        threshold: what was asked for.
        good: the figure at the good end, for a relative one.
    """
    if not threshold.is_relative:
        return Limit(threshold.number, threshold.is_more_bad)
    share = abs(good) * threshold.number / 100
    return Limit(good + (share if threshold.is_more_bad else -share), threshold.is_more_bad)


def limit_between(good: float, bad: float) -> Limit:
    """Halfway between a good and a bad figure."""
    return Limit((good + bad) / 2, bad > good)


def find_noise(groups: Sequence[Group], *, runs: float) -> float:
    """How far the mean of so many runs may lie from the true one, at 99 %.

    Args:
        groups: runs of one environment each: how they differ among themselves is the noise.
        runs: how many runs the mean is of. For the difference of two means ``1/(1/n + 1/m)``.

    Returns:
        0 where no group has two runs: then nothing is known of the noise.
    """
    freedom = sum(len(group) - 1 for group in groups if group)
    if not freedom:
        return 0.0
    squares = sum((value - fmean(group)) ** 2 for group in groups if group for value in group)
    factor = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _STUDENT_LIMIT
    return factor * sqrt(squares / freedom) / sqrt(runs)


def find_gap_noise(good: Group, bad: Group) -> float:
    """By how much the means of two groups may differ although nothing changed, at 99 %."""
    return find_noise((good, bad), runs=1 / (1 / len(good) + 1 / len(bad)))


def find_side(values: Group, limit: Limit, known: Sequence[Group]) -> Side:
    """On which side of a limit some runs lie.

    Args:
        values: what they said; at least one.
        limit: the limit.
        known: runs of other environments, which tell the noise too.
    """
    beyond = fmean(values) - limit.value
    if not limit.is_more_bad:
        beyond = -beyond
    noise = find_noise((*known, values), runs=len(values))
    if abs(beyond) <= noise and noise:
        return Side.UNCLEAR
    return Side.BAD if beyond > 0 else Side.GOOD


def read_dotted(document: object, name: str) -> float | None:
    """A number in a JSON document, by its name or by the names on the way to it (``eval.loss``)."""
    if not isinstance(document, dict):
        return None
    for first, rest in _cuts(name):
        if first not in document:
            continue
        inner = document[first]
        if not rest and isinstance(inner, int | float) and not isinstance(inner, bool):
            return float(inner)
        found = read_dotted(inner, rest) if rest else None
        if found is not None:
            return found
    return None


def _cuts(name: str) -> list[tuple[str, str]]:
    """A dotted name cut at each of its dots: a key may hold dots itself."""
    parts = name.split(".")
    heads = accumulate(parts, lambda a, b: f"{a}.{b}")
    return [(head, ".".join(parts[at:])) for at, head in enumerate(heads, start=1)][::-1]
