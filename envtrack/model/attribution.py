"""Which half of a guilty commit is to blame: what it installs, or its code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from envtrack.model.verdict import Judgement


class Attribution(StrEnum):
    """What breaks it."""

    ENVIRONMENT = "environment"
    """The new environment breaks the old code; the new code works in the old environment."""
    CODE = "code"
    """The other way round."""
    EITHER = "either"
    """Each of them breaks it, without the other."""
    BOTH = "both"
    """Only both together: each of them works with the other's predecessor."""
    UNKNOWN = "unknown"
    """That could not be told: a crossing can't be judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed:
    """The two crossings of a guilty commit with its predecessor.

    Attributes:
        attribution: what they come to.
        environment_alone: what was said of the old code in the new environment.
        code_alone: what was said of the new code in the old environment.
        logs: the folders with the logs of the two, in this order; empty where there was no trial.
    """

    attribution: Attribution
    environment_alone: Judgement
    code_alone: Judgement
    logs: tuple[str, str] = ("", "")
