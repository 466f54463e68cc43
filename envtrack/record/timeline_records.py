"""What the records of one machine say of a history: those in commits, and those in notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envtrack.compare.snapshots import compare_snapshots
from envtrack.errors import SnapshotProblem
from envtrack.git.file_history import FileChange, find_blobs, read_blobs
from envtrack.model.comparison import Change
from envtrack.model.oid import Oid
from envtrack.model.paths import snapshot_path
from envtrack.model.snapshot import Snapshot, parse_snapshot
from envtrack.record.noted import find_last

if TYPE_CHECKING:
    from envtrack.git.repository import Repository

    Notes = Mapping[Oid, tuple[dict[str, Any], ...]]


def compare_recorded(
    repository: Repository,
    changes: Sequence[FileChange],
    notes: Notes,
    *,
    lockfile: str,
    machine: str,
) -> Iterator[tuple[Oid, tuple[Change, ...]]]:
    """What moved below the lockfile, by commit; of packages the lockfile has said it.

    A record in a note stands between that of its commit's tree, taken before it, and the next one
    that was committed.

    Args:
        repository: where.
        changes: what commits did to the machine's record, newest first.
        notes: what is said of commits, newest first.
        lockfile: its path from the top level.
        machine: whose records count.
    """
    noted = _find_noted(repository, notes, lockfile, machine)
    path = snapshot_path(machine, lockfile)
    bases = find_blobs(repository, [(commit, path) for commit in noted])
    blobs = {blob for change in changes for blob in (change.before, change.after) if blob}
    records = {
        oid: record
        for oid, content in read_blobs(repository, sorted({*blobs, *bases.values()}))
        if (record := _parse_record(content))
    }
    # By the record that its commit's tree holds, the last one that was noted after it.
    latest: dict[Oid | None, Snapshot] = {}
    for commit, record in reversed(noted.items()):
        base = bases.get((commit, path))
        held = records.get(base) if base else None
        if held is not None and held.lockfile == record.lockfile:
            continue  # the commit has one of its own
        yield from _compare(commit, latest.get(base, held), record)
        latest[base] = record
    for change in changes:
        before = records.get(change.before) if change.before else None
        after = records.get(change.after) if change.after else None
        yield from _compare(change.commit.oid, latest.get(change.before, before), after)


def _compare(
    commit: Oid, before: Snapshot | None, after: Snapshot | None
) -> Iterator[tuple[Oid, tuple[Change, ...]]]:
    """What moved; a machine's first record moves nothing."""
    if before is None or after is None:
        return
    told = tuple(change for change in compare_snapshots(before, after) if change.is_fact)
    if told:
        yield commit, told


def _find_noted(
    repository: Repository, notes: Notes, lockfile: str, machine: str
) -> dict[Oid, Snapshot]:
    """The machine's records in notes, those of the state of the lockfile that a commit has."""
    blobs = find_blobs(repository, [(commit, lockfile) for commit in notes])
    found = {}
    for commit, entries in notes.items():
        blob = blobs.get((commit, lockfile))
        record = blob and find_last(entries, machine=machine, lockfile=lockfile, blob=blob)
        if record:
            found[commit] = record
    return found


def _parse_record(content: bytes | None) -> Snapshot | None:
    if content is None:
        return None
    try:
        return parse_snapshot(content.decode("utf-8", "backslashreplace"), where="record")
    except SnapshotProblem:
        return None
