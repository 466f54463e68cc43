"""What a revision holds: its lockfile, and the records beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.compare.records import Part, Record
from envtrack.git.notes import list_noted
from envtrack.model.oid import Oid
from envtrack.model.paths import SNAPSHOTS, is_snapshot, snapshot_path
from envtrack.model.snapshot import parse_snapshot
from envtrack.record.lock_bytes import make_include, parse_lock_bytes
from envtrack.record.noted import find_noted, list_noted_machines
from envtrack.record.verdicts import find_last_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.git.repository import Repository
    from envtrack.model.lock import Lock
    from envtrack.model.snapshot import Snapshot


def read_revision(
    repository: Repository, revision: str, *, lockfile: str, machine: str, name: str = ""
) -> Record:
    """A revision as something to be compared.

    A record that is missing, or that was taken with another lockfile than the one beside it, is
    the named state *not recorded here*: a note, never an error.

    Args:
        repository: where.
        revision: anything that git takes for a commit.
        lockfile: its path from the top level.
        machine: whose record counts.
        name: how people named it; by default the revision.

    Raises:
        UsageProblem: there is no such commit.
        LockfileProblem: its lockfile can't be read.
        SnapshotProblem: its record can't be read.
    """
    commit = repository.get_commit(revision)
    shown = _name(name or revision, commit)
    lock = read_lock_at(repository, commit, lockfile, name=name or revision)
    snapshot = find_own_snapshot(repository, commit, lockfile=lockfile, machine=machine)
    notes = []
    if snapshot is None:
        others = list_machines(repository, commit, lockfile)
        notes.append(_say_missing(shown, revision, machine, others))
    elif not is_beside(repository, commit, snapshot, lockfile):
        said = f"the record there, of {snapshot.taken_at}, was taken with another {lockfile}"
        notes.append(f"{shown}: not recorded here for {machine}: {said}")
        snapshot = None
    return Record(
        name=shown,
        lock=lock,
        snapshot=snapshot or Part.MISSING,
        notes=tuple(notes),
        verdict=find_last_verdict(repository, machine, lockfile, commit),
    )


def _name(name: str, commit: Oid) -> str:
    is_hexadecimal = len(name) >= len("abcdef0") and commit.hex.startswith(name)
    return commit.short if is_hexadecimal else f"{name} ({commit.short})"


def _say_missing(shown: str, revision: str, machine: str, others: tuple[str, ...]) -> str:
    said = f"{shown}: not recorded here for {machine}"
    if not others:
        return said
    return f"{said}; recorded for {', '.join(others)} ({revision}@{others[0]})"


def read_lock_at(repository: Repository, commit: Oid, lockfile: str, *, name: str) -> Lock | Part:
    """What the lockfile of a commit pins.

    Args:
        repository: where.
        commit: whose.
        lockfile: its path from the top level.
        name: how messages name the commit.

    Raises:
        LockfileProblem: it can't be read; says at which commit.
    """
    content = repository.read_file(commit, lockfile)
    if content is None:
        return Part.MISSING

    include = make_include(lockfile, lambda path: repository.read_file(commit, path))
    return parse_lock_bytes(content, lockfile, name=name, include=include)


def find_own_snapshot(
    repository: Repository, commit: Oid, *, lockfile: str, machine: str
) -> Snapshot | None:
    """The record of a machine that belongs to a commit's lockfile, in the commit or in a note.

    Where there is none: what the commit holds, of another state of the lockfile, if anything.

    Raises:
        SnapshotProblem: the commit's can't be read.
    """
    held = find_snapshot(repository, commit, lockfile=lockfile, machine=machine)
    if held is not None and is_beside(repository, commit, held, lockfile):
        return held
    return find_noted(repository, commit, lockfile=lockfile, machine=machine) or held


def find_snapshot(
    repository: Repository, commit: Oid, *, lockfile: str, machine: str
) -> Snapshot | None:
    """The record of a machine that a commit holds, whichever lockfile it was taken with.

    Raises:
        SnapshotProblem: it can't be read.
    """
    path = snapshot_path(machine, lockfile)
    content = repository.read_file(commit, path)
    if content is None:
        return None
    return parse_snapshot(content.decode("utf-8", "backslashreplace"), where=_at(commit, path))


def _at(commit: Oid, path: str) -> str:
    return f"{commit.short}:{path}"


def is_beside(repository: Repository, commit: Oid, snapshot: Snapshot, lockfile: str) -> bool:
    """Whether a record belongs to the lockfile that the commit holds."""
    ref = snapshot.lockfile
    return ref is None or ref.blob == repository.find_blob(commit, lockfile)


def list_machines(repository: Repository, commit: Oid, lockfile: str) -> tuple[str, ...]:
    """The machines of which a commit, or a note of it, holds a record of this lockfile, sorted."""
    done = repository.git(
        *("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit.hex, "--", f"{SNAPSHOTS}/")
    )
    tail = f"/{lockfile}.json"
    paths = [path for path in done.fields if is_snapshot(path) and path.endswith(tail)]
    names = (path.removeprefix(f"{SNAPSHOTS}/").removesuffix(tail) for path in paths)
    noted = list_noted_machines(repository, commit, lockfile)
    return tuple(sorted({*(name for name in names if "/" not in name), *noted}))


def find_last_record(
    repository: Repository, head: Oid, *, lockfile: str, machine: str
) -> Oid | None:
    """The newest commit up to `head` that has a record of its own lockfile, or ``None``."""
    for commit in (head, *_list_recorders(repository, head, lockfile, machine)):
        snapshot = find_own_snapshot(repository, commit, lockfile=lockfile, machine=machine)
        if snapshot is not None and is_beside(repository, commit, snapshot, lockfile):
            return commit
    return None


def _list_recorders(
    repository: Repository, head: Oid, lockfile: str, machine: str
) -> Iterator[Oid]:
    """The commits that changed a record, or have one in a note; newest first."""

    def walk(*paths: str) -> tuple[Oid, ...]:
        pathspecs = [f":(top,literal){path}" for path in paths]
        done = repository.git("rev-list", "--date-order", head.hex, "--", *pathspecs)
        return tuple(map(Oid, done.text.split()))

    record = snapshot_path(machine, lockfile)
    recorders, noted = walk(record), list_noted(repository)
    if not noted:
        return iter(recorders)
    known = {*recorders, *noted}
    return (commit for commit in walk(record, lockfile) if commit in known)
