"""What a probe says, and the language in which git bisect hears it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from envtrack.model.oid import Oid


class Verdict(StrEnum):
    """The answer of one probe."""

    GOOD = "good"
    BAD = "bad"
    DIFFERENT = "different"
    """It fails, but not with the failure that is hunted; searched like untestable."""
    UNTESTABLE = "untestable"
    """This commit can't be judged: git's *skip*."""
    ABORTED = "aborted"
    """The rig itself failed; nothing may be concluded about the commit."""

    @property
    def bisect_code(self) -> int:
        """The exit code that says this to ``git bisect run``.

        0 good; 1 bad; 125 skip; 128 stops the search (git-bisect(1): any code of 128 or more
        aborts). 126 and 127 are never used: git reads them as bad.
        """
        match self:
            case Verdict.GOOD:
                return 0
            case Verdict.BAD:
                return 1
            case Verdict.DIFFERENT | Verdict.UNTESTABLE:
                return 125
            case Verdict.ABORTED:
                return 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict with its reason.

    Attributes:
        verdict: the answer.
        stage: where it was decided: ``checkout``, ``sync``, ``environment`` or ``smoke``.
        reason: one line for people.
        kind: a stable word for the reason (``lock-stale``, ``network``, ``exit``, ``signal``…).
        exit_code: the exit code that decided it; negative for a signal; ``None`` without a process.
    """

    verdict: Verdict
    stage: str
    reason: str
    kind: str
    exit_code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One finished or running probe.

    Attributes:
        id: rising with time.
        commit: which commit.
        key: hash of all that decides; empty where it could not be told.
        started_at: seconds since 1970.
        seconds: how long it took.
        judgement: ``None`` while it runs.
        same_as: the commit whose verdict this is; ``None`` if it was tried itself.
        log: the folder with its logs; empty if it was not tried itself.
    """

    id: int
    commit: Oid
    key: str
    started_at: float
    seconds: float
    judgement: Judgement | None
    same_as: Oid | None
    log: str
