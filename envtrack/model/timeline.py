"""What became of an environment, commit by commit."""

from __future__ import annotations

from dataclasses import dataclass

from envtrack.model.comparison import Change, Comparison
from envtrack.model.oid import Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What smoke tests said of one commit on one machine.

    Attributes:
        machine: which.
        last: the last verdict.
        count: how many there are.
    """

    machine: str
    last: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One commit that changed the lockfile or the machine's record.

    Attributes:
        commit: which; `authored_at` is the committer's date.
        changes: what moved, from the ground up; what the lock and the record say together.
        fault: why the lockfile could not be read there; empty: it could.
        moved_from: the lockfile's earlier path, where it was moved; empty: it was not.
        is_same: whether the lockfile was written and what it locks is the same as before.
        verdicts: of this very lockfile, by machine.
    """

    commit: Commit
    changes: tuple[Change, ...] = ()
    fault: str = ""
    moved_from: str = ""
    is_same: bool = False
    verdicts: tuple[Verdicts, ...] = ()

    @property
    def comparison(self) -> Comparison:
        """Its changes as a comparison with the commit before."""
        return Comparison(before="", after=self.commit.oid.short, changes=self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The history of one lockfile on one machine.

    Attributes:
        lockfile: its path.
        machine: whose records are told.
        entries: newest first.
        passed_over: how many commits an option left out.
    """

    lockfile: str
    machine: str
    entries: tuple[Entry, ...]
    passed_over: int = 0
