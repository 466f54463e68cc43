"""A Python, as far as choosing packages for it goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python that uv would use.

    Attributes:
        path: its executable.
        markers: its PEP 508 marker environment.
    """

    path: str
    markers: Mapping[str, str]
