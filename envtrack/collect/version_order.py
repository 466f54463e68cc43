"""The order of versions that are no Python package's: of drivers, kernels, toolkits."""

from __future__ import annotations

import re


def version_numbers(text: str) -> tuple[int, ...]:
    """All the numbers in it, to sort by: ``12.10`` comes after ``12.4``."""
    return tuple(int(number) for number in re.findall(r"\d+", text))
