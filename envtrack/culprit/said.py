"""What a trial says to a search."""

from __future__ import annotations

from enum import Enum


class Said(Enum):
    """The answer of one trial."""

    FAILS = "fails"
    """With the failure that is hunted."""
    PASSES = "passes"
    UNRESOLVED = "unresolved"
    """It can't be judged: it does not fit together, or fails in another way."""
