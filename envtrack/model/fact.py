"""One value in a layer: known, absent, or unknown with a reason; never confused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

FactValue: TypeAlias = str | int | bool


@dataclass(frozen=True, slots=True)
class Known:
    """It was looked for and found."""

    value: FactValue


@dataclass(frozen=True, slots=True)
class Absent:
    """It was looked for and is not there: itself information."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It could not be looked for.

    Attributes:
        reason: why, in a few words: ``timed out``, ``not permitted``.
    """

    reason: str


FactState: TypeAlias = Known | Absent | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A dotted name whose first part is the layer (``kernel.release``), and its state."""

    name: str
    state: FactState
