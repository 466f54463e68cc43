"""Finds the newest record of every machine, in a commit and in the notes of its history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.compare.snapshots import compare_snapshots
from envtrack.errors import SnapshotProblem
from envtrack.git.file_history import list_file_changes, read_blobs
from envtrack.git.notes import read_lines, read_note_texts
from envtrack.model.comparison import ChangeKind
from envtrack.model.fleet import Fleet, Machine, Watched
from envtrack.model.oid import Oid
from envtrack.model.paths import SNAPSHOTS
from envtrack.model.snapshot import Snapshot, parse_snapshot
from envtrack.record.noted import KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envtrack.git.file_history import FileChange
    from envtrack.git.repository import Repository

# What machines are told apart by, from the ground up.
WATCHED: Final = (
    "hardware.gpu.count",
    "hardware.gpu.0.model",
    "kernel.release",
    "driver.nvidia.version",
    "driver.nvidia.cuda.version",
    "driver.amd.version",
    "os.distribution.name",
    "python.version",
)


class _Place(NamedTuple):
    """Where a state of the lockfile stands in its history."""

    commit: Oid
    behind: int


def read_fleet(repository: Repository, revision: str, *, lockfile: str, here: str) -> Fleet:
    """The machines that have a record of a lockfile at a revision or before it.

    Of several records of one machine the one of the newest state of the lockfile counts.

    Args:
        repository: where.
        revision: the revision up to which it is looked.
        lockfile: its path from the top level.
        here: the name of the machine that asks.

    Raises:
        UsageProblem: there is no such revision.
    """
    head = repository.get_commit(revision)
    changes = list_file_changes(repository, lockfile, (head.hex,))
    places = _find_places(changes)
    notes: list[str] = []
    found: dict[str, Snapshot] = {}
    records = [
        *_read_held(repository, head, lockfile, notes),
        *_read_noted(repository, changes, head, lockfile),
    ]
    for record in records:
        known = found.get(record.machine)
        if known is None or _rank(record, places) < _rank(known, places):
            found[record.machine] = record
    machines = [_describe(found[name], places, here) for name in sorted(found)]
    return Fleet(
        lockfile=lockfile,
        head=head,
        lock=repository.find_blob(head, lockfile),
        machines=tuple(_watch(machines)),
        notes=tuple(notes),
    )


def list_recorded(repository: Repository, head: Oid, lockfile: str) -> dict[str, Oid]:
    """The blobs of the records that a commit holds beside a lockfile, by machine, sorted."""
    done = repository.git(
        *("ls-tree", "-r", "-z", "--full-tree", head.hex, "--", f"{SNAPSHOTS}/"), check=False
    )
    tail = f"/{lockfile}.json"
    found = {}
    for row in done.fields:
        about, _, path = row.partition("\t")
        name = path.removeprefix(f"{SNAPSHOTS}/").removesuffix(tail)
        if path.endswith(tail) and name and "/" not in name:
            found[name] = Oid(about.split(" ")[2])
    return dict(sorted(found.items()))


def _find_places(changes: Iterable[FileChange]) -> dict[Oid, _Place]:
    """Each state of the lockfile where it stood last, by its blob."""
    places: dict[Oid, _Place] = {}
    for behind, change in enumerate(changes):
        if change.after is not None:
            places.setdefault(change.after, _Place(change.commit.oid, behind))
    return places


def _read_held(
    repository: Repository, head: Oid, lockfile: str, notes: list[str]
) -> Iterable[Snapshot]:
    blobs = list_recorded(repository, head, lockfile)
    contents = dict(read_blobs(repository, list(dict.fromkeys(blobs.values()))))
    for name, blob in blobs.items():
        text = (contents[blob] or b"").decode("utf-8", "backslashreplace")
        try:
            record = parse_snapshot(text, where=f"the record of {name}")
        except SnapshotProblem as problem:
            notes.append(problem.message)
            continue
        if record.machine == name:
            yield record
        else:
            notes.append(f"the record of {name} speaks of {record.machine}, and is passed over")


def _read_noted(
    repository: Repository, changes: Iterable[FileChange], head: Oid, lockfile: str
) -> Iterable[Snapshot]:
    """The records in notes on the commits of the lockfile; one of a newer envtrack is none."""
    commits = dict.fromkeys([head, *(change.commit.oid for change in changes)])
    for text in read_note_texts(repository, commits).values():
        for _, entry in read_lines(text):
            ref = entry.get("lockfile")
            if entry.get("kind") != KIND or not isinstance(ref, dict):
                continue
            if ref.get("path") != lockfile:
                continue
            try:
                yield parse_snapshot(json.dumps(entry.get("snapshot")), where="note")
            except SnapshotProblem:
                continue


def _rank(record: Snapshot, places: Mapping[Oid, _Place]) -> tuple[int, tuple[int, ...]]:
    """Smaller is newer."""
    place = places.get(record.lockfile.blob) if record.lockfile else None
    newest_first = tuple(-ord(character) for character in record.taken_at)
    return (len(places) if place is None else place.behind, newest_first)


def _describe(record: Snapshot, places: Mapping[Oid, _Place], here: str) -> Machine:
    lock = record.lockfile.blob if record.lockfile else None
    place = places.get(lock) if lock else None
    return Machine(
        snapshot=record,
        is_here=record.machine == here,
        lock=lock,
        commit=place.commit if place else None,
        behind=place.behind if place else None,
    )


def _watch(machines: list[Machine]) -> Iterable[Machine]:
    """Each with its facts, as far as any of them has one."""
    names = [name for name in WATCHED if any(name in m.snapshot.facts for m in machines)]
    newest = {name: _find_newest(name, machines) for name in names}
    for machine in machines:
        facts = tuple(
            Watched(
                name=name,
                state=machine.snapshot.facts.get(name),
                is_older=_is_newer(name, machine.snapshot, newest[name]),
            )
            for name in names
        )
        yield machine._replace(facts=facts)


def _find_newest(name: str, machines: list[Machine]) -> Snapshot:
    newest = machines[0].snapshot
    for machine in machines[1:]:
        is_first = name not in newest.facts
        if is_first or _is_newer(name, newest, machine.snapshot):
            newest = machine.snapshot
    return newest


def _is_newer(name: str, one: Snapshot, other: Snapshot) -> bool:
    """Whether the other machine has a newer version of something, where that has an order."""
    pair = [
        Snapshot(machine="", taken_at="", facts={name: record.facts[name]})
        for record in (one, other)
        if name in record.facts
    ]
    told = compare_snapshots(*pair) if len(pair) == len((one, other)) else ()
    return any(change.kind is ChangeKind.UPGRADED for change in told)
