"""The history of a lockfile with what several machines recorded beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from envtrack.model.comparison import Change
from envtrack.model.oid import Commit
from envtrack.model.timeline import Verdicts


class Column(NamedTuple):
    """One commit.

    Attributes:
        commit: which; `authored_at` is the committer's date.
        changes: what its lockfile moved, from the ground up.
        moves: what moved on machines, by their names.
        verdicts: what smoke tests said of it, by machine.
        fault: why the lockfile could not be read there; empty: it could.
        moved_from: the lockfile's earlier path, where it was moved; empty: it was not.
        is_same: whether the lockfile was written and locks the same as before.
        has_lock: whether it changed the lockfile, and not only records.
    """

    commit: Commit
    changes: tuple[Change, ...] = ()
    moves: Mapping[str, tuple[Change, ...]] = {}
    verdicts: tuple[Verdicts, ...] = ()
    fault: str = ""
    moved_from: str = ""
    is_same: bool = False
    has_lock: bool = True

    @property
    def all_changes(self) -> tuple[tuple[str, Change], ...]:
        """Each change with its machine; empty for the lockfile's."""
        moved = [(name, change) for name, some in self.moves.items() for change in some]
        return (*moved, *(("", change) for change in self.changes))


class Lanes(NamedTuple):
    """A lockfile's history on all its machines.

    Attributes:
        lockfile: its path from the top level.
        columns: newest first.
        machines: names of all machines of which there is a record or a verdict, sorted.
        passed_over: how many older commits were left out.
    """

    lockfile: str
    columns: tuple[Column, ...]
    machines: tuple[str, ...]
    passed_over: int = 0


class State(NamedTuple):
    """What one commit holds, as far as two of them are compared on the page.

    Attributes:
        commit: which.
        packages: layer and version (versions, sources) of each package by its name.
        facts: by machine, of records that belong to the commit's lockfile: value by name.
    """

    commit: Commit
    packages: Mapping[str, tuple[str, str]]
    facts: Mapping[str, Mapping[str, str]]
