"""Smoke tests that pass and fail at one commit, and what a search with one came to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from envtrack.model.oid import Commit


class Flaky(StrEnum):
    """What is done about a smoke test that passes and fails at one commit."""

    AUTO = "auto"
    """Search by halves, and by probability from the first contradiction on."""
    OFF = "off"
    """Search by halves; an end that passes and fails ends the search."""
    ALWAYS = "always"
    """Search by probability from the beginning."""


class Stopped(StrEnum):
    """Why a search by probability came to its end."""

    SURE = "sure"
    """The confidence that was asked for is reached."""
    BUDGET = "budget"
    """The probes or seconds that it may take are used up."""
    STUCK = "stuck"
    """No commit that can be tested would tell more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likely:
    """A commit and how probable it is that it is the first bad one.

    Attributes:
        commit: the commit.
        probability: 0 to 1.
        passed: runs that passed there.
        failed: runs that failed there with the hunted failure.
    """

    commit: Commit
    probability: float
    passed: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often the smoke test fails on one side of the likeliest culprit.

    Attributes:
        failed: runs that failed.
        runs: all runs that count.
        low: the lower bound of what is 95 % probable.
        high: the upper bound.
    """

    failed: int
    runs: int
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior:
    """What a search by probability came to.

    Attributes:
        confidence: what was asked for.
        stopped: why it ended.
        because: why it was begun, one line.
        candidates: the likeliest first, those together as probable as was asked for.
        unchanged: how probable it is that no commit changed how often the test fails.
        before: how often it fails before the likeliest culprit.
        after: and from it on.
        runs: runs of the smoke test that count.
    """

    confidence: float
    stopped: Stopped
    because: str
    candidates: tuple[Likely, ...]
    unchanged: float
    before: Rate
    after: Rate
    runs: int
