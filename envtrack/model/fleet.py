"""The recorded machines of one lockfile, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from envtrack.model.fact import FactState
    from envtrack.model.oid import Oid
    from envtrack.model.snapshot import Snapshot


class Watched(NamedTuple):
    """One fact by which machines are told apart.

    Attributes:
        name: the fact's dotted name.
        state: what the record says; ``None``: nothing.
        is_older: whether another machine has a newer version.
    """

    name: str
    state: FactState | None
    is_older: bool = False


class Machine(NamedTuple):
    """What is known of one machine.

    Attributes:
        snapshot: its newest record of the lockfile.
        is_here: whether it is the one that asks.
        lock: the blob of the lockfile with which the record was taken; ``None``: without one.
        commit: the commit that brought that state of the lockfile; ``None``: none of this history.
        behind: how many changes of the lockfile came after it, up to the revision that is looked
            at; ``None``: that can't be told.
        facts: the watched ones, the same for all machines.
    """

    snapshot: Snapshot
    is_here: bool
    lock: Oid | None
    commit: Oid | None
    behind: int | None
    facts: tuple[Watched, ...] = ()

    @property
    def name(self) -> str:
        """The machine's name."""
        return self.snapshot.machine

    @property
    def is_stale(self) -> bool:
        """Whether its record speaks of another state of the lockfile than the revision has."""
        return self.behind != 0


class Fleet(NamedTuple):
    """All machines that have a record.

    Attributes:
        lockfile: its path from the top level.
        head: the commit that is looked at.
        lock: the blob of the lockfile there; ``None``: it has none.
        machines: sorted by name.
        notes: records that could not be read, a line each.
    """

    lockfile: str
    head: Oid
    lock: Oid | None
    machines: tuple[Machine, ...]
    notes: tuple[str, ...] = ()
