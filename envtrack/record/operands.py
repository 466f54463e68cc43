"""What may be compared: revisions, snapshot files, lockfiles, and this machine now."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.compare.records import Part, Record
from envtrack.errors import UsageProblem
from envtrack.git.environ import without_git
from envtrack.git.staged import find_working_blob
from envtrack.model.snapshot import LockfileRef
from envtrack.record.file_operands import (
    FILE_ENDINGS,
    NOW,
    is_file_operand,
    read_beside,
    read_file_operand,
)
from envtrack.record.lock_bytes import parse_lock_bytes
from envtrack.record.revisions import find_last_record, read_revision

if TYPE_CHECKING:
    from envtrack.model.lock import Lock
    from envtrack.model.snapshot import Snapshot
    from envtrack.record.bench import Bench

# Somebody waits for it, and no commit does: a server of eight GPUs may need seconds to wake them.
_LIMIT_S = 12.0


def take_now(bench: Bench, *, deep: bool = False) -> Snapshot:
    """This machine now, beside the lockfile of the working tree if there is one.

    Args:
        bench: where.
        deep: whether frameworks may be started and asked.
    """
    # Two revisions or files are compared without a look at the machine.
    from envtrack.collect.take import take_snapshot
    from envtrack.collect.this_machine import this_machine

    blob = find_working_blob(bench.repository, bench.lockfile)
    limit_s = None if deep else _LIMIT_S
    machine = this_machine(
        without_git(bench.environ),
        bench.lockfile_folder,
        salt=bench.salt,
        deep=deep,
        limit_s=limit_s,
    )
    return take_snapshot(
        machine,
        name=bench.here,
        lockfile=None if blob is None else LockfileRef(path=bench.lockfile, blob=blob),
        now=datetime.now(UTC),
        limit_s=limit_s,
    )


def read_now(bench: Bench) -> Record:
    """This machine now with the lockfile of the working tree, as something to be compared.

    Raises:
        LockfileProblem: the lockfile can't be read.
    """
    file = bench.repository.root / bench.lockfile
    lock: Lock | Part = Part.MISSING
    if file.is_file():
        lock = parse_lock_bytes(file.read_bytes(), bench.lockfile, include=read_beside(file.parent))
    name = f"{NOW} ({bench.here})"
    notes = []
    if bench.find_environment() is None:
        notes.append(f"{name}: no environment beside {bench.lockfile}: nothing installed is seen")
    return Record(name=name, lock=lock, snapshot=take_now(bench), notes=tuple(notes))


def read_operand(text: str, bench: Bench, folder: Path) -> Record:
    """An operand as something to be compared.

    Args:
        text: ``now``, a file, a revision, or ``REVISION@MACHINE``.
        bench: where.
        folder: where relative paths start.

    Raises:
        UsageProblem: it is none of these.
        LockfileProblem: a lockfile can't be read.
        SnapshotProblem: a record can't be read.
    """
    if text == NOW:
        return read_now(bench)
    if is_file_operand(text, folder):
        return read_file_operand(text, folder)
    if bench.repository.find_commit(text) is not None:
        return _read_revision(bench, text)
    revision, _, machine = text.rpartition("@")
    # `HEAD@{1}` is git's own; if git does not know it, nobody does.
    if revision and machine and "{" not in machine and bench.repository.find_commit(revision):
        return read_revision(
            bench.repository, revision, lockfile=bench.lockfile, machine=machine, name=text
        )
    if ".." in text.strip("./"):
        ends = " ".join(end for end in text.replace("...", "..").split("..") if end)
        raise UsageProblem(
            f"`{text}` is a range, and two ends are compared", hint=f"`envtrack diff {ends}`"
        )
    if text.endswith(FILE_ENDINGS):
        raise UsageProblem(f"{text}: there is no such file, and it names no commit")
    return _read_revision(bench, text)


def read_last(bench: Bench) -> Record:
    """The last recorded state: HEAD's, else that of the newest commit that has one.

    Where nothing is recorded at all it is HEAD with its lockfile alone.

    Raises:
        UsageProblem: there is no commit yet.
    """
    head = bench.repository.find_commit("HEAD")
    if head is None:
        raise UsageProblem(
            "there is no commit yet to compare with", hint="commit the lockfile first"
        )
    last = find_last_record(bench.repository, head, lockfile=bench.lockfile, machine=bench.machine)
    if last is None or last == head:
        return _read_revision(bench, "HEAD")
    found = _read_revision(bench, last.hex)
    note = f"HEAD ({head.short}): not recorded here for {bench.machine}; {last.short} is the last"
    return found._replace(notes=(note, *found.notes))


def _read_revision(bench: Bench, revision: str) -> Record:
    return read_revision(bench.repository, revision, lockfile=bench.lockfile, machine=bench.machine)
