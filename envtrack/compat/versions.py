"""Versions of drivers, toolkits, compilers and libraries: numbers, never strings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import total_ordering

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


@total_ordering
@dataclass(frozen=True, slots=True)
class Numbers:
    """Dotted numbers: 12.10 is newer than 12.4, and 12.4 is 12.4.0.

    Attributes:
        parts: the numbers, without zeros at the end.
        text: as it was written; two spellings of one version are equal.
    """

    parts: tuple[int, ...]
    text: str = field(compare=False)

    def __lt__(self, other: Numbers) -> bool:
        return self.parts < other.parts

    def __str__(self) -> str:
        return self.text

    @property
    def major(self) -> int:
        """The first number."""
        return self.parts[0] if self.parts else 0

    @property
    def minor(self) -> int:
        """The second number, 0 where there is none."""
        return self.parts[1] if len(self.parts) > 1 else 0

    @property
    def series(self) -> Numbers:
        """The first two numbers."""
        return numbers(f"{self.major}.{self.minor}")


def parse_numbers(text: str) -> Numbers | None:
    """The dotted numbers with which a text begins, or ``None``: ``13.2.0-4ubuntu3`` is 13.2.0."""
    # A number of five thousand digits is no version, and int() refuses it.
    found = _NUMBERS.match(text.strip()[:100])
    if found is None:
        return None
    parts = [int(part) for part in found[0].split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return Numbers(tuple(parts), found[0])


def numbers(text: str) -> Numbers:
    """The same for a text that is known to begin with numbers.

    Raises:
        ValueError: it does not.
    """
    found = parse_numbers(text)
    if found is None:
        raise ValueError(f"no version: {text!r}")
    return found
