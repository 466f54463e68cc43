"""Records as notes: where a lockfile's commit was made without its record, history stays as it is.

A note's line is ``{"schema", "kind": "snapshot", "machine", "lockfile": {"path", "blob"},
"snapshot": <the record>}``; it stands on the commit that brought that state of the lockfile.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envtrack.errors import SnapshotProblem
from envtrack.git.notes import append_notes, list_noted, read_notes, render_entry
from envtrack.model.oid import Oid
from envtrack.model.snapshot import parse_snapshot, render_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envtrack.git.repository import Repository
    from envtrack.model.snapshot import Snapshot

SCHEMA = 1
KIND = "snapshot"


def note_snapshot(repository: Repository, commit: Oid, snapshot: Snapshot) -> bool:
    """Adds a record to what is said of a commit, unless just that is the last thing said of it.

    Args:
        repository: where.
        commit: the one that brought the lockfile that the record names.
        snapshot: the record; it has to name a lockfile.

    Returns:
        Whether it was added.

    Raises:
        RigFailed: the notes can't be written.
    """
    ref = snapshot.lockfile
    if ref is None:
        raise ValueError("a record without a lockfile belongs to no commit")
    known = find_last(
        read_notes(repository, commit), machine=snapshot.machine, lockfile=ref.path, blob=ref.blob
    )
    if known is not None and snapshot.with_time_of(known) is known:
        return False
    entry = {
        "schema": SCHEMA,
        "kind": KIND,
        "machine": snapshot.machine,
        "lockfile": {"path": ref.path, "blob": ref.blob.hex},
        "snapshot": json.loads(render_snapshot(snapshot)),
    }
    append_notes(repository, {commit: (render_entry(entry),)})
    return True


def find_noted(
    repository: Repository, commit: Oid, *, lockfile: str, machine: str
) -> Snapshot | None:
    """The record of a machine that a note holds of the lockfile that a commit has.

    It is looked for on the commit, and on the one that brought that state of the lockfile.
    """
    for blob, entries in _read_about(repository, commit, lockfile):
        found = find_last(entries, machine=machine, lockfile=lockfile, blob=blob)
        if found is not None:
            return found
    return None


def list_noted_machines(repository: Repository, commit: Oid, lockfile: str) -> tuple[str, ...]:
    """The machines of which a note holds a record of the lockfile that a commit has, sorted."""
    names = {
        str(entry["machine"])
        for blob, entries in _read_about(repository, commit, lockfile)
        for entry in entries
        if _is_record(entry) and names_lockfile(entry, lockfile, blob)
    }
    return tuple(sorted(names))


def find_last(
    entries: tuple[Mapping[str, Any], ...], *, machine: str, lockfile: str, blob: Oid
) -> Snapshot | None:
    """The last record of a machine among the lines of a note that names this state of a lockfile.

    What can't be read is none: it may be of a newer envtrack.
    """
    for entry in reversed(entries):
        is_meant = _is_record(entry) and entry["machine"] == machine
        if is_meant and names_lockfile(entry, lockfile, blob):
            try:
                return parse_snapshot(json.dumps(entry.get("snapshot")), where="note")
            except SnapshotProblem:
                continue
    return None


def names_lockfile(entry: Mapping[str, Any], lockfile: str, blob: Oid) -> bool:
    """Whether a line of a note speaks of this state of a lockfile."""
    return bool(entry.get("lockfile") == {"path": lockfile, "blob": blob.hex})


def find_origin(repository: Repository, commit: Oid, lockfile: str) -> Oid | None:
    """The commit up to this one that brought the state of the lockfile that it has."""
    done = repository.git(
        "rev-list", "--max-count=1", commit.hex, "--", f":(top,literal){lockfile}", check=False
    )
    return Oid(done.line) if done.code == 0 and done.line else None


def _is_record(entry: Mapping[str, Any]) -> bool:
    is_ours = entry.get("kind") == KIND and entry.get("schema") == SCHEMA
    return is_ours and isinstance(entry.get("machine"), str)


def _read_about(
    repository: Repository, commit: Oid, lockfile: str
) -> Iterator[tuple[Oid, tuple[dict[str, Any], ...]]]:
    """The blob of a commit's lockfile, with what may be said of it."""
    noted = list_noted(repository)
    blob = repository.find_blob(commit, lockfile) if noted else None
    if blob is None:
        return
    if commit in noted:
        yield blob, read_notes(repository, commit)
    origin = find_origin(repository, commit, lockfile)
    if origin is not None and origin != commit and origin in noted:
        yield blob, read_notes(repository, origin)
