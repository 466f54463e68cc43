"""What comes of the question which of the changes between two lockfiles is to blame."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from envtrack.model.comparison import Change
from envtrack.model.verdict import Judgement, Verdict


class Isolated(StrEnum):
    """How an isolation ended."""

    FOUND = "found"
    """At least one set of changes is to blame, shown both ways by fresh trials."""
    UNCERTAIN = "uncertain"
    """What was found could not be shown both ways, or the search was stopped."""
    SAME = "same"
    """Both lockfiles install the same here: it is something else."""
    OLD_FAILS = "old-fails"
    """With all packages as they were it fails too: the lockfile is innocent, or not alone."""
    NEW_PASSES = "new-passes"
    """With all packages as they are now it passes: not reproduced."""
    END_UNTESTABLE = "end-untestable"

    @property
    def exit_code(self) -> int:
        """0 for a culprit, 3 for anything less."""
        return 0 if self is Isolated.FOUND else 3


class Unit(NamedTuple):
    """Changes that are moved together, since one can't be without the other.

    Attributes:
        names: of the packages, the one that was asked for first.
        changes: what happens to them, in the same order.
    """

    names: tuple[str, ...]
    changes: tuple[Change, ...]


class Trial(NamedTuple):
    """One composed environment that was tried.

    Attributes:
        taken: names of the packages that were as the newer lockfile has them; of those that differ.
        judgement: what was said of it.
        log: the folder with its logs; empty if it was not tried itself.
    """

    taken: tuple[str, ...]
    judgement: Judgement
    log: str


class Turn(NamedTuple):
    """Between which releases of a package it turns.

    Attributes:
        name: the package's.
        last_good: the newest release that works, of those on the way.
        first_bad: the first that does not.
        unjudged: releases between the two, which could not be tried; one of them may be the first.
        trials: what was tried, by version.
        note: why it could not be found, in words; empty otherwise.
    """

    name: str
    last_good: str
    first_bad: str
    unjudged: tuple[str, ...] = ()
    trials: tuple[tuple[str, Judgement], ...] = ()
    note: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether it is known which release is the first bad one."""
        return not self.unjudged and not self.note


class Blame(NamedTuple):
    """Changes that are to blame together; without one of them the others are harmless.

    Attributes:
        units: what they are.
        sufficient: the older lockfile with only these, tried anew.
        necessary: the newer lockfile without these, and without all others that are to blame,
            tried anew. Good: putting these back is enough. Bad: something else breaks it as well.
        is_minimal: each smaller set by one unit passes; otherwise some could not be judged.
        turns: of its packages the release with which it turns, as far as that was tried.
    """

    units: tuple[Unit, ...]
    sufficient: Trial
    necessary: Trial
    is_minimal: bool
    turns: tuple[Turn, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether it was shown both ways."""
        verdicts = self.sufficient.judgement.verdict, self.necessary.judgement.verdict
        return verdicts == (Verdict.BAD, Verdict.GOOD)

    @property
    def names(self) -> tuple[str, ...]:
        """The packages, in the order of the units."""
        return tuple(name for unit in self.units for name in unit.names)


class Isolation(NamedTuple):
    """The end of an isolation.

    Attributes:
        session: its id.
        outcome: how it ended.
        message: one sentence.
        before: how the older lockfile is named.
        after: how the newer one is named.
        code: the commit whose code was tried, abbreviated.
        lockfile: the lockfile's path.
        smoke: the smoke test.
        changed: how many packages differ in what is installed here.
        units: how many groups of them were moved as one.
        blames: who is to blame, each shown on its own.
        ends: the trials of the older and the newer lockfile whole.
        probes: trials that really ran.
        spared: verdicts that another composed lockfile with the same environment had already.
        seconds: of all trials.
        last_lines: what the smoke test printed last with the newer lockfile.
        folder: the session's folder.
        hints: what to do next, a line each.
        notes: what the reader must know about how far to trust this.
    """

    session: str
    outcome: Isolated
    message: str
    before: str
    after: str
    code: str
    lockfile: str
    smoke: str
    folder: str
    changed: int = 0
    units: int = 0
    blames: tuple[Blame, ...] = ()
    ends: tuple[Trial, ...] = ()
    probes: int = 0
    spared: int = 0
    seconds: float = 0.0
    last_lines: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
