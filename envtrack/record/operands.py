"""What may be compared: revisions, snapshot files, lockfiles, and this machine now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.compare.records import Part, Record
from envtrack.errors import UsageProblem
from envtrack.files import read_text
from envtrack.git.environ import without_git
from envtrack.git.staged import find_working_blob
from envtrack.model.snapshot import LockfileRef, parse_snapshot
from envtrack.record.revisions import find_last_record, parse_lock_bytes, read_revision

if TYPE_CHECKING:
    from envtrack.lockfiles.text import Include
    from envtrack.model.lock import Lock
    from envtrack.model.snapshot import Snapshot
    from envtrack.record.bench import Bench

NOW = "now"
# Somebody waits for it, and no commit does: a server of eight GPUs may need seconds to wake them.
_LIMIT_S = 12.0
_FILE_ENDINGS = (".json", ".lock", ".toml", ".txt", ".yml", ".yaml")


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
        lock = parse_lock_bytes(
            file.read_bytes(), bench.lockfile, include=_read_beside(file.parent)
        )
    name = f"{NOW} ({bench.here})"
    notes = []
    if bench.find_environment() is None:
        notes.append(f"{name}: no environment beside {bench.lockfile}: nothing installed is seen")
    return Record(name=name, lock=lock, snapshot=take_now(bench), notes=tuple(notes))


def is_file_operand(text: str, folder: Path) -> bool:
    """Whether an operand means a file: its name ends like one, and it is there."""
    return text.endswith(_FILE_ENDINGS) and (folder / text).is_file()


def read_file_operand(text: str, folder: Path) -> Record:
    """A snapshot file (``.json``) or a lockfile, as something to be compared.

    Raises:
        UsageProblem: it can't be read.
        SnapshotProblem: it is no snapshot.
        LockfileProblem: it is no lockfile.
    """
    path = folder / text
    if text.endswith(".json"):
        return Record(name=text, snapshot=parse_snapshot(read_text(path), where=text))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageProblem(f"{text}: can't be read: {error.strerror}") from error
    return Record(
        name=text, lock=parse_lock_bytes(content, text, include=_read_beside(path.parent))
    )


def _read_beside(folder: Path) -> Include:
    def include(path: str) -> str | None:
        # An absolute path says nothing of the project; what is not text is no list.
        place = folder / path
        if Path(path).is_absolute() or not place.is_file():
            return None
        try:
            return place.read_text("utf-8-sig", "backslashreplace")
        except OSError:
            return None  # noted as not followed

    return include


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
    if text.endswith(_FILE_ENDINGS):
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
    return replace(found, notes=(note, *found.notes))


def _read_revision(bench: Bench, revision: str) -> Record:
    return read_revision(bench.repository, revision, lockfile=bench.lockfile, machine=bench.machine)
