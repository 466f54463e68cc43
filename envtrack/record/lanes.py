"""Reads the history of a lockfile with the records of all machines beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from envtrack.git.file_history import list_file_changes, list_order
from envtrack.git.notes import read_lines, read_note_texts
from envtrack.model.lanes import Column, Lanes
from envtrack.model.oid import Commit, Oid
from envtrack.model.paths import snapshot_path
from envtrack.record.fleet import list_recorded
from envtrack.record.noted import KIND
from envtrack.record.timeline import read_timeline
from envtrack.record.timeline_records import compare_recorded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from envtrack.git.repository import Repository
    from envtrack.model.comparison import Change
    from envtrack.record.timeline import Scope

# No machine can be called so: the lockfile's own history is read without anybody's records.
_NOBODY = "\x01"


def read_lanes(repository: Repository, scope: Scope, head: Oid, *, most: int) -> Lanes:
    """The history of a lockfile and of every machine's records beside it.

    Args:
        repository: where.
        scope: which history; its machine does not count.
        head: its newest commit.
        most: so many commits, the newest ones, are told.
    """
    timeline = read_timeline(repository, replace(scope, machine=_NOBODY))
    columns = {
        entry.commit.oid: Column(
            commit=entry.commit,
            changes=entry.changes,
            verdicts=entry.verdicts,
            fault=entry.fault,
            moved_from=entry.moved_from,
            is_same=entry.is_same,
        )
        for entry in timeline.entries
    }
    notes = _read_notes(repository, columns)
    machines = _list_machines(repository, scope, head, notes)
    for machine in machines:
        for commit, changes in _read_moves(repository, scope, machine, notes):
            known = columns.get(commit.oid) or Column(commit=commit, has_lock=False)
            columns[commit.oid] = known._replace(moves={**known.moves, machine: changes})
    said = {one.machine for column in columns.values() for one in column.verdicts}
    told = _sort(repository, scope, columns, machines)
    return Lanes(
        lockfile=scope.lockfile,
        columns=tuple(told[:most]),
        machines=tuple(sorted({*machines, *said})),
        passed_over=max(len(told) - most, 0),
    )


def _read_notes(
    repository: Repository, commits: Iterable[Oid]
) -> dict[Oid, tuple[dict[str, Any], ...]]:
    texts = read_note_texts(repository, commits)
    return {
        commit: tuple(entry for _, entry in read_lines(text) if entry)
        for commit, text in texts.items()
    }


def _list_machines(
    repository: Repository,
    scope: Scope,
    head: Oid,
    notes: Mapping[Oid, tuple[dict[str, Any], ...]],
) -> tuple[str, ...]:
    """Those with a record in the newest commit, in one that went, or in a note."""
    noted = {
        str(entry["machine"])
        for entries in notes.values()
        for entry in entries
        if entry.get("kind") == KIND and isinstance(entry.get("machine"), str)
    }
    return tuple(sorted({*list_recorded(repository, head, scope.lockfile), *noted}))


def _read_moves(
    repository: Repository,
    scope: Scope,
    machine: str,
    notes: Mapping[Oid, tuple[dict[str, Any], ...]],
) -> Iterable[tuple[Commit, tuple[Change, ...]]]:
    record = snapshot_path(machine, scope.lockfile)
    moves = list_file_changes(repository, record, scope.revisions, options=scope.options)
    commits = {move.commit.oid: move.commit for move in moves}
    told = compare_recorded(repository, moves, notes, lockfile=scope.lockfile, machine=machine)
    for oid, changes in told:
        yield commits.get(oid) or repository.read_commit(oid), changes


def _sort(
    repository: Repository,
    scope: Scope,
    columns: Mapping[Oid, Column],
    machines: Iterable[str],
) -> list[Column]:
    """As git tells them; what it finds only over a rename is older than all that."""
    paths = (scope.lockfile, *(snapshot_path(machine, scope.lockfile) for machine in machines))
    order = list_order(repository, paths, scope.revisions, scope.options)
    ranks = {oid: rank for rank, oid in enumerate(dict.fromkeys((*order, *columns)))}
    return [columns[oid] for oid in sorted(columns, key=ranks.__getitem__)]
