"""Makes the timeline of a lockfile: what moved in which commit, and what was said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from envtrack.compare.layer_rules import assign_layers
from envtrack.compare.locks import compare_locks
from envtrack.forked import map_parts
from envtrack.git.file_history import (
    FileChange,
    list_file_changes,
    list_order,
    measure_blobs,
)
from envtrack.git.notes import read_all_notes
from envtrack.model.comparison import Change, sort_changes
from envtrack.model.layer import LayerRules
from envtrack.model.oid import Oid
from envtrack.model.paths import snapshot_path
from envtrack.model.timeline import Entry, Timeline, Verdicts
from envtrack.record.lock_states import LockStates
from envtrack.record.timeline_memory import TimelineMemory, name_step
from envtrack.record.timeline_records import compare_recorded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envtrack.git.repository import Repository

# So many bytes of lockfiles take longer to read than a process takes to start.
_WORTH_A_PROCESS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What of a history is told.

    Attributes:
        lockfile: its path from the top level.
        machine: whose records count.
        revisions: for ``git log``.
        options: further ones of ``git log``.
        layer_rules: the project's own word on which packages belong to which layer.
    """

    lockfile: str
    machine: str
    revisions: tuple[str, ...] = ("HEAD",)
    options: tuple[str, ...] = ()
    layer_rules: LayerRules = ()


def read_timeline(
    repository: Repository, scope: Scope, *, wanted: Callable[[Change], bool] | None = None
) -> Timeline:
    """The timeline of a lockfile and of one machine's records beside it.

    Args:
        repository: where.
        scope: which history.
        wanted: which changes count; commits without one are left out. ``None``: all.
    """
    entries = {entry.commit.oid: entry for entry in _read_lock_entries(repository, scope)}
    record = snapshot_path(scope.machine, scope.lockfile)
    moves = list_file_changes(repository, record, scope.revisions, options=scope.options)
    commits = {move.commit.oid: move.commit for move in moves}
    notes = dict(read_all_notes(repository, dict.fromkeys((*entries, *commits))))
    recorded = compare_recorded(
        repository, moves, notes, lockfile=scope.lockfile, machine=scope.machine
    )
    for oid, changes in recorded:
        known = entries.get(oid) or Entry(commit=commits[oid])
        entries[oid] = replace(known, changes=sort_changes((*known.changes, *changes)))
    told = [
        replace(entry, verdicts=_count_verdicts(notes[oid], scope.lockfile))
        if (oid := entry.commit.oid) in notes
        else entry
        for entry in _sort(repository, scope, entries)
    ]
    if wanted is None:
        return Timeline(lockfile=scope.lockfile, machine=scope.machine, entries=tuple(told))
    kept = [
        replace(entry, changes=some)
        for entry in told
        if (some := tuple(filter(wanted, entry.changes)))
    ]
    return Timeline(
        lockfile=scope.lockfile,
        machine=scope.machine,
        entries=tuple(kept),
        passed_over=len(told) - len(kept),
    )


def _sort(repository: Repository, scope: Scope, entries: Mapping[Oid, Entry]) -> list[Entry]:
    """As git tells them; what it finds only over a rename is older than all that."""
    paths = scope.lockfile, snapshot_path(scope.machine, scope.lockfile)
    order = list_order(repository, paths, scope.revisions, scope.options)
    ranks = {oid: rank for rank, oid in enumerate(dict.fromkeys((*order, *entries)))}
    return sorted(entries.values(), key=lambda entry: ranks[entry.commit.oid])


def _read_lock_entries(repository: Repository, scope: Scope) -> list[Entry]:
    """Newest first; only what nobody looked at before is read."""
    changes = list_file_changes(repository, scope.lockfile, scope.revisions, options=scope.options)
    memory = TimelineMemory(repository.common_dir)
    known = memory.read(changes)
    told: dict[Oid, tuple[Change, ...] | str] = {
        change.commit.oid: known[name] for change in changes if (name := name_step(change)) in known
    }
    unknown = [change for change in changes if change.commit.oid not in told]
    fresh = _compare_all(repository, unknown)
    memory.write(
        {
            name: one
            for change, one in zip(unknown, fresh, strict=True)
            if (name := name_step(change)) and not isinstance(one, str)
        }
    )
    told.update((change.commit.oid, one) for change, one in zip(unknown, fresh, strict=True))
    return [_make_entry(change, told[change.commit.oid], scope) for change in changes]


def _compare_all(
    repository: Repository, changes: Sequence[FileChange]
) -> list[tuple[Change, ...] | str]:
    """What moved in each, or why that can't be said; in the order given, which is newest first.

    Read from the oldest on, so that few locks are in memory together.
    """

    def compare(part: Sequence[FileChange]) -> list[tuple[Change, ...] | str]:
        states = LockStates(repository, part)
        return [_compare(change, states) for change in part]

    sizes = measure_blobs(repository, [change.after for change in changes if change.after])
    weights = [sizes.get(change.after, 0) if change.after else 0 for change in changes]
    return map_parts(compare, changes[::-1], weights=weights[::-1], least=_WORTH_A_PROCESS)[::-1]


def _compare(change: FileChange, states: LockStates) -> tuple[Change, ...] | str:
    before, after = states.read(change)
    if isinstance(after, str):
        return after
    return before if isinstance(before, str) else compare_locks(before, after)


def _make_entry(change: FileChange, told: tuple[Change, ...] | str, scope: Scope) -> Entry:
    moved = change.old_path if change.old_path != change.path else ""
    if isinstance(told, str):
        return Entry(commit=change.commit, fault=told, moved_from=moved)
    changes = assign_layers(told, scope.layer_rules) if scope.layer_rules else told
    is_same = change.before is not None and change.after is not None and not changes
    return Entry(commit=change.commit, changes=changes, moved_from=moved, is_same=is_same)


def _count_verdicts(notes: Iterable[Mapping[str, Any]], lockfile: str) -> tuple[Verdicts, ...]:
    by_machine: dict[str, list[str]] = {}
    for note in notes:
        ref = note.get("lockfile")
        is_here = isinstance(ref, dict) and ref.get("path") == lockfile
        if note.get("kind") == "verdict" and is_here:
            machine, verdict = str(note.get("machine", "")), str(note.get("verdict", ""))
            by_machine.setdefault(machine, []).append(verdict)
    return tuple(
        Verdicts(machine=machine, last=said[-1], count=len(said))
        for machine, said in sorted(by_machine.items())
    )
