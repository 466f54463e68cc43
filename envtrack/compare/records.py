"""Two records side by side: packages from their locks, facts from their snapshots."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from envtrack.model.comparison import Comparison, sort_changes
from envtrack.model.redact import redact_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envtrack.model.comparison import Change
    from envtrack.model.layer import Layer, LayerRules
    from envtrack.model.lock import Lock
    from envtrack.model.selection import Selection
    from envtrack.model.snapshot import Snapshot
    from envtrack.model.verdict import Verdict

# So many installed packages that do not fit their lock are named; what follows is counted.
_NAMED = 4
# What an environment is seeded with; no lock has to know of it.
SEEDS = frozenset({"pip", "setuptools", "wheel"})


class Part(Enum):
    """Why a record has no lock, or no snapshot."""

    MISSING = auto()
    """It could have one, and has none."""
    NOT_MEANT = auto()
    """It is of a kind that never has one: a lockfile has no snapshot."""


class Record(NamedTuple):
    """What is to be compared with another.

    Attributes:
        name: how people named it.
        lock: what its lockfile pins, or why there is none.
        snapshot: its machine, or why there is none.
        notes: what is to be said of it, a line each.
        verdict: what the smoke test last said of it; ``None``: nothing.
    """

    name: str
    lock: Lock | Part = Part.NOT_MEANT
    snapshot: Snapshot | Part = Part.NOT_MEANT
    notes: tuple[str, ...] = ()
    verdict: Verdict | None = None


def compare_records(
    before: Record,
    after: Record,
    *,
    layer: Layer | None = None,
    selection: Selection | None = None,
    environment: Mapping[str, str] | None = None,
    layer_rules: LayerRules = (),
) -> Comparison:
    """All that differs between two records, and in the notes what could not be compared.

    Packages are compared by the two locks, which know what was asked for; by what is installed
    where one side has no lock. A lockfile that is missing on one side counts as empty.

    Args:
        before: the older one.
        after: the newer one.
        layer: only this one's changes; ``None``: all.
        selection: what of the locks is installed; ``None``: they are compared whole.
        environment: PEP 508 variables of the machine on which it is.
        layer_rules: the project's own word on which packages belong to which layer.
    """
    by_locks = Part.NOT_MEANT not in (before.lock, after.lock)
    changes: list[Change] = []
    notes = [*before.notes, *after.notes, *_list_notes(before, after, by_locks=by_locks)]
    if by_locks:
        # Markers and versions are slow to import, and a snapshot needs none of it.
        from envtrack.compare.locks import compare_locks

        changes += compare_locks(
            _find_lock(before), _find_lock(after), selection=selection, environment=environment
        )
    if not isinstance(before.snapshot, Part) and not isinstance(after.snapshot, Part):
        from envtrack.compare.snapshots import (
            compare_notes,
            compare_snapshots,
            leave_out_repeats,
        )

        seen = compare_snapshots(before.snapshot, after.snapshot)
        changes += [change for change in seen if not by_locks or change.is_fact]
        notes += compare_notes(before.snapshot, after.snapshot)
        changes = list(leave_out_repeats(changes))
    if layer_rules:
        from envtrack.compare.layer_rules import assign_layers

        changes = list(assign_layers(changes, layer_rules))
    told = sort_changes(change for change in changes if layer is None or change.layer is layer)
    machines = _find_two_machines(before, after)
    return Comparison(
        before=before.name,
        after=after.name,
        changes=tuple(change for change in told if not (machines and change.is_fact)),
        notes=tuple(dict.fromkeys(notes)),
        apart=tuple(change for change in told if machines and change.is_fact),
        machines=machines,
    )


def _find_two_machines(before: Record, after: Record) -> tuple[str, ...]:
    """The names of the machines, if the records are of two."""
    if isinstance(before.snapshot, Part) or isinstance(after.snapshot, Part):
        return ()
    names = before.snapshot.machine, after.snapshot.machine
    return () if names[0] == names[1] else names


def list_misfits(record: Record) -> tuple[str, ...]:
    """The installed packages that the lock does not know, or knows in another version.

    One that is locked but not installed is no misfit: whether it has to be depends on the
    selection and the platform.
    """
    lock, snapshot = record.lock, record.snapshot
    if isinstance(lock, Part) or isinstance(snapshot, Part):
        return ()
    locked: dict[str, set[str]] = {}
    for entry in lock.packages:
        locked.setdefault(entry.name, set()).add(entry.version or "")
    found = []
    for name, package in sorted(snapshot.installed.items()):
        versions = locked.get(name)
        if versions is None:
            # A list that is not uv's may leave out the project itself, and what else is there.
            if name not in SEEDS and not lock.is_flat:
                found.append(f"{name} {package.version} (not locked)")
        elif "" not in versions and _normal(package.version) not in {_normal(v) for v in versions}:
            found.append(f"{name} {package.version} (locked: {', '.join(sorted(versions))})")
    return tuple(found)


def say_misfits(name: str, misfits: tuple[str, ...]) -> str:
    """One line that says what is installed other than locked."""
    named = ", ".join(misfits[:_NAMED])
    more = f" and {len(misfits) - _NAMED} more" if len(misfits) > _NAMED else ""
    return f"{name}: installed is not what is locked: {named}{more}"


def _normal(version: str) -> str:
    from packaging.utils import canonicalize_version

    try:
        return str(canonicalize_version(version, strip_trailing_zero=False))
    except ValueError:  # none, or one of thousands of digits
        return version


def _find_lock(record: Record) -> Lock | None:
    return None if isinstance(record.lock, Part) else record.lock


def _say_unread(record: Record) -> Iterator[str]:
    """What of a lockfile is not pinned, or was passed over."""
    if isinstance(record.lock, Part):
        return
    for note in record.lock.notes:
        yield f"{record.name}: {note}"
    unpinned = record.lock.unpinned
    if unpinned:
        named = ", ".join(map(redact_url, unpinned[:_NAMED]))
        more = f" and {len(unpinned) - _NAMED} more" if len(unpinned) > _NAMED else ""
        yield f"{record.name}: not pinned, and not compared: {named}{more}"


def _list_notes(before: Record, after: Record, *, by_locks: bool) -> Iterator[str]:
    snapshots = (before.snapshot, after.snapshot)
    if any(isinstance(snapshot, Part) for snapshot in snapshots):
        if snapshots != (Part.NOT_MEANT, Part.NOT_MEANT):
            yield "only packages are compared: facts need a snapshot on both sides"
        if not by_locks:
            yield "packages are not compared: that needs two lockfiles or two snapshots"
    locks = [record.lock for record in (before, after) if not isinstance(record.lock, Part)]
    if locks and not any(lock.packages for lock in locks):
        # A file that `uv lock` left behind beside the lockfile of another tool says the same.
        yield f"{locks[-1].path} pins no package; if another is meant, `--lockfile` names it"
    for record in (before, after):
        yield from _say_unread(record)
        if record.lock is Part.MISSING:
            yield f"{record.name}: there is no lockfile; it is compared as empty"
        misfits = list_misfits(record)
        if misfits:
            yield say_misfits(record.name, misfits)
