"""What a bisect session has to say in the end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from envtrack.model.attribution import Crossed
from envtrack.model.comparison import Comparison
from envtrack.model.isolation import Isolation
from envtrack.model.oid import Commit
from envtrack.model.verdict import Judgement


class Outcome(StrEnum):
    """How a search ended."""

    FOUND = "found"
    """One commit, and its predecessor is good."""
    SEVERAL = "several"
    """One of several commits: the others could not be tested."""
    GOOD_END_FAILS = "good-end-fails"
    BAD_END_PASSES = "bad-end-passes"
    END_UNTESTABLE = "end-untestable"
    FLAKY = "flaky"
    """An end passes and fails, and no search for such a test was asked for."""

    @property
    def exit_code(self) -> int:
        """0 for one commit, 3 for anything less."""
        return 0 if self is Outcome.FOUND else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A commit and what was said of it.

    Attributes:
        commit: the commit.
        judgement: the verdict and its reason; ``None`` if it was never tried.
        log: the folder with its logs; empty if it was not tried itself.
    """

    commit: Commit
    judgement: Judgement | None
    log: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What the search cost.

    Attributes:
        candidates: commits among which the culprit was sought.
        probes: trials that really ran, both ends included.
        end_probes: how many of them were ends.
        untestable: how many of them could not be judged.
        spared: verdicts that another commit with the same environment and code had already.
        seconds: from first to last, over all runs of the session.
    """

    candidates: int
    probes: int
    end_probes: int
    untestable: int
    spared: int
    seconds: float

    @property
    def least(self) -> int:
        """Probes that a search by halves needs: ceil(log2(candidates))."""
        return math.ceil(math.log2(self.candidates)) if self.candidates > 1 else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The end of a session.

    Attributes:
        session: its id.
        outcome: how it ended.
        message: one sentence.
        lockfile: the lockfile's path.
        smoke: the smoke test.
        culprit: the first bad commit, for `FOUND`.
        predecessor: its good parent, with which it is compared.
        possible: the commits of which one is the first bad one, for `SEVERAL`.
        ends: what was seen at the ends, for the outcomes that are about them.
        skipped: commits of the search that could not be tested.
        comparison: what the culprit changed in the environment.
        last_lines: what the smoke test printed last at the culprit (or at the end that is told).
        effort: what it cost.
        folder: the session's folder.
        hints: what to do next, a line each; commands where there are any.
        notes: what the reader must know about how far to trust this.
        machine: the name of the machine that probed: for it the answer holds.
        crossed: which half of the culprit it is, where it changes code and environment.
        isolation: which of the packages that the culprit moved is to blame, if that was tried.
    """

    session: str
    outcome: Outcome
    message: str
    lockfile: str
    smoke: str
    effort: Effort
    folder: str
    culprit: Judged | None = None
    predecessor: Commit | None = None
    possible: tuple[Judged, ...] = ()
    ends: tuple[Judged, ...] = ()
    skipped: tuple[Judged, ...] = ()
    comparison: Comparison | None = None
    last_lines: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    machine: str = ""
    crossed: Crossed | None = None
    isolation: Isolation | None = None
