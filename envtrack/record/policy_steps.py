"""What a commit, or the one that is being made, does to each lockfile: for the policy."""

from __future__ import annotations

import posixpath
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from envtrack.compare.layer_rules import assign_layers
from envtrack.compare.locks import compare_locks
from envtrack.compare.snapshots import compare_snapshots
from envtrack.errors import LockfileProblem, SnapshotProblem
from envtrack.git.staged import find_content, lockfile_pathspecs
from envtrack.git.steps import (
    FileStep,
    list_commit_steps,
    list_staged_steps,
    parse_trailers,
    read_details,
)
from envtrack.model.fact import Known
from envtrack.model.paths import snapshot_path
from envtrack.model.snapshot import Snapshot, parse_snapshot
from envtrack.policy.interface import RecordState, Step
from envtrack.record.lock_bytes import make_include, parse_lock_bytes
from envtrack.record.noted import find_noted
from envtrack.record.revisions import list_machines
from envtrack.record.verdicts import GoodVerdicts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from envtrack.git.repository import Repository
    from envtrack.model.comparison import Change
    from envtrack.model.layer import LayerRules
    from envtrack.model.lock import Lock
    from envtrack.model.oid import Oid

_GPU_COUNT = "hardware.gpu.count"
_SHORT = 10


class Case(NamedTuple):
    """What is the same for all steps.

    Attributes:
        repository: where.
        lockfiles: the configured ones; empty: all that are called so.
        machine: this machine's name.
        layer_rules: the project's own word on which packages belong to which layer.
        verdicts: what smoke tests said.
        take_now: looks at this machine; ``None``: it is not looked at.
    """

    repository: Repository
    lockfiles: tuple[str, ...]
    machine: str
    verdicts: GoodVerdicts
    layer_rules: LayerRules = ()
    take_now: Callable[[], Snapshot] | None = None

    @property
    def pathspecs(self) -> tuple[str, ...]:
        """The lockfiles, for git."""
        return lockfile_pathspecs(self.lockfiles)


def read_staged_steps(
    case: Case, *, at: datetime, message: str | None, base: str = "HEAD"
) -> Iterator[Step]:
    """What the next commit does.

    Args:
        case: where.
        at: now.
        message: its message, as far as there is one.
        base: what it is made on; ``HEAD^`` where ``HEAD`` is amended.
    """
    repository = case.repository
    trailers = None if message is None else parse_trailers(repository, message)
    for file in list_staged_steps(repository, case.pathspecs, base=base):
        place = _Place(case, file, before=base, after="")
        record = snapshot_path(case.machine, file.path)
        old, new = place.read_snapshot(base, record), place.read_snapshot("", record)
        state = place.judge_record([new] if new is not None else [])
        if state is not RecordState.BELONGS and case.take_now is not None and old is not None:
            new = case.take_now()
        yield place.make_step("staged", at, trailers)._replace(
            facts=_compare(old, new), record=state, has_gpu=_has_gpu(new or old)
        )


def read_commit_steps(case: Case, commit: Oid) -> Iterator[Step]:
    """What a commit does; nothing if it touches no lockfile."""
    repository = case.repository
    details = read_details(repository, commit)
    files = list_commit_steps(repository, details, case.pathspecs)
    if not files:
        return
    trailers = parse_trailers(repository, details.message)
    at = datetime.fromisoformat(details.committed_at)
    parent = f"{commit.hex}^"
    for file in files:
        place = _Place(case, file, before=parent, after=commit.hex)
        machines = list_machines(repository, commit, file.path)
        pairs = [
            (place.read_snapshot(parent, record), place.read_snapshot(commit.hex, record))
            for record in (snapshot_path(machine, file.path) for machine in machines)
        ]
        records = [new for _, new in pairs if new is not None]
        if not any(map(place.belongs, records)):
            noted = (
                find_noted(repository, commit, lockfile=file.path, machine=each)
                for each in machines
            )
            records += [record for record in noted if record is not None]
        own = next((one for one in records if place.belongs(one)), None)
        step = place.make_step(commit.short, at, trailers)._replace(
            machine=own.machine if own else "",
            facts=tuple(change for old, new in pairs for change in _compare(old, new)),
            record=place.judge_record(records),
            has_gpu=_has_gpu(own),
            is_committed=True,
        )
        good_at = case.verdicts.find_last_good(file.path, file.after) if file.after else None
        yield step._replace(good_at=good_at)


class _Place:
    """One lockfile of one step."""

    def __init__(self, case: Case, file: FileStep, *, before: str, after: str) -> None:
        self._case = case
        self._file = file
        self._names = before, after

    def make_step(
        self, name: str, at: datetime, trailers: tuple[tuple[str, str], ...] | None
    ) -> Step:
        try:
            before = self._read_lock(self._file.before, self._file.old_path, self._names[0])
        except LockfileProblem:
            before = None  # what puts it right is not to blame
        after, unreadable = None, ""
        try:
            after = self._read_lock(self._file.after, self._file.path, self._names[1])
        except LockfileProblem as problem:
            unreadable = problem.message
        return Step(
            name=name,
            lockfile=self._file.path,
            at=at,
            before=before,
            after=after,
            changes=()
            if unreadable
            else assign_layers(compare_locks(before, after), self._case.layer_rules),
            machine=self._case.machine,
            trailers=trailers,
            unreadable=unreadable,
            read_beside=self._read_beside,
        )

    def _read_beside(self, path: str) -> tuple[str | None, str | None]:
        """A file of the lockfile's folder before and after."""
        folders = (posixpath.dirname(one) for one in (self._file.old_path, self._file.path))
        contents = (
            find_content(self._case.repository, f"{name}:{posixpath.join(folder, path)}")
            for name, folder in zip(self._names, folders, strict=True)
        )
        before, after = (None if c is None else c.decode("utf-8", "replace") for c in contents)
        return before, after

    def _read_lock(self, blob: Oid | None, path: str, name: str) -> Lock | None:
        if blob is None:
            return None
        repository = self._case.repository

        def read(inside: str) -> bytes | None:
            return find_content(repository, f"{name}:{inside}")

        content = repository.read_blob(blob)
        return parse_lock_bytes(
            content, path, name=self._shown(name), include=make_include(path, read)
        )

    def _shown(self, name: str) -> str:
        """How a message names the state; nothing for what is staged."""
        commit, up, _ = name.partition("^")
        return f"{commit[:_SHORT]}{up}" if self._names[1] else ""

    def read_snapshot(self, name: str, path: str) -> Snapshot | None:
        content = find_content(self._case.repository, f"{name}:{path}")
        if content is None:
            return None
        try:
            return parse_snapshot(content.decode("utf-8", "backslashreplace"), where=path)
        except SnapshotProblem:
            return None

    def judge_record(self, records: list[Snapshot]) -> RecordState:
        if any(map(self.belongs, records)):
            return RecordState.BELONGS
        return RecordState.STALE if records else RecordState.MISSING

    def belongs(self, record: Snapshot) -> bool:
        ref = record.lockfile
        return ref is not None and ref.blob == self._file.after


def _compare(before: Snapshot | None, after: Snapshot | None) -> tuple[Change, ...]:
    """What else moved on the machine; its first record moves nothing."""
    if before is None or after is None:
        return ()
    return tuple(change for change in compare_snapshots(before, after) if change.is_fact)


def _has_gpu(record: Snapshot | None) -> bool | None:
    state = None if record is None else record.facts.get(_GPU_COUNT)
    if not isinstance(state, Known):
        return None
    return str(state.value) not in {"", "0"}
