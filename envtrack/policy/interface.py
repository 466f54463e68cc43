"""What is judged, and what a rule says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from envtrack.model.comparison import Change, ChangeKind, Origin

if TYPE_CHECKING:
    from envtrack.model.lock import Lock, LockedPackage

REASON = "env-reason"
SECURITY = "env-security"
OVERRIDE = "env-override"
COMMAND = "env-command"

ReadBeside: TypeAlias = Callable[[str], tuple[str | None, str | None]]
"""The text of a file beside the lockfile before and after; ``None``: there is none."""


def _find_nothing(_: str) -> tuple[str | None, str | None]:
    return None, None


class RecordState(StrEnum):
    """What is known of the machine's record beside the lockfile."""

    BELONGS = "belongs"
    """It was taken with this very lockfile."""
    STALE = "stale"
    """It was taken with another one."""
    MISSING = "missing"
    """There is none."""


class Step(NamedTuple):
    """What one commit does to one lockfile.

    Attributes:
        name: how people name it: ``staged``, or the commit's short name.
        lockfile: its path from the top level.
        at: when it is made, with a time zone.
        before: the lock before; ``None``: there was none.
        after: the lock after; ``None``: there is none any more.
        changes: what differs between them.
        facts: what else moved on the machine since its last record.
        machine: whose record is meant.
        record: whether it has one.
        has_gpu: whether the machine has a GPU; ``None``: nobody knows.
        trailers: key in lower case and value of each trailer; ``None``: there is no message yet.
        is_committed: whether there is a commit already.
        good_at: when a smoke test last called exactly this environment good; ``None``: never.
        unreadable: why the lockfile can't be read, with its line; empty: it can.
        read_beside: reads a file of the lockfile's folder, by its path from there.
    """

    name: str
    lockfile: str
    at: datetime
    before: Lock | None
    after: Lock | None
    changes: tuple[Change, ...] = ()
    facts: tuple[Change, ...] = ()
    machine: str = ""
    record: RecordState = RecordState.BELONGS
    has_gpu: bool | None = None
    trailers: tuple[tuple[str, str], ...] | None = None
    is_committed: bool = False
    good_at: datetime | None = None
    unreadable: str = ""
    read_beside: ReadBeside = _find_nothing

    def find_trailers(self, key: str) -> tuple[str, ...]:
        """The values of a trailer, by its key in lower case."""
        return tuple(value for name, value in self.trailers or () if name == key)

    def list_moved(self, *, with_forced: bool = False) -> tuple[Change, ...]:
        """The packages that moved, and the Pythons that the lock is for.

        The project's own version is no change of the environment, and a marker no move. A lockfile
        that comes, or goes, or held nothing, moves nothing.
        """
        if not (self.before and self.before.packages and self.after and self.after.packages):
            return ()
        own = {package.name for lock in (self.before, self.after) for package in lock.roots}
        return tuple(
            change
            for change in self.changes
            if change.name not in own
            and change.kind is not ChangeKind.SELECTOR
            and (with_forced or change.origin is not Origin.FORCED)
        )

    def list_new(self) -> Iterator[LockedPackage]:
        """The packages that were not there before in this version, from this source."""
        known = set() if self.before is None else {_key(p) for p in self.before.packages}
        for package in () if self.after is None else self.after.packages:
            if _key(package) not in known:
                yield package


def _key(package: LockedPackage) -> tuple[object, ...]:
    return package.name, package.version, package.source.key


class Fault(NamedTuple):
    """What a rule found.

    Attributes:
        found: what there is, in one line.
        ways_out: what to do, each a command or a sentence.
        names: the packages or facts that it is about.
    """

    found: str
    ways_out: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


JudgesStep: TypeAlias = Callable[[Step, Any], Iterator[Fault]]
"""A rule: a step and the rule's own options."""


def say_change(change: Change) -> str:
    """``numpy 2.1.3 → 2.2.0``."""
    return f"{change.name} {change.before or '–'} → {change.after or '–'}"


def join_names(names: list[str], most: int = 5) -> str:
    """A few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
