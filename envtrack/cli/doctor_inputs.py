"""What the doctor looks at: a snapshot with what its lockfile installs there, and the tables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from envtrack.cli.context import Place, open_context
from envtrack.config.reader import ConfigProblem
from envtrack.errors import LockfileProblem, UsageProblem
from envtrack.model.lock import Lock, LockedPackage
from envtrack.model.selection import Selection
from envtrack.model.snapshot import Snapshot

if TYPE_CHECKING:
    from envtrack.compare.records import Record
    from envtrack.compat.tables import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is judged.

    Attributes:
        name: how the report calls it.
        snapshot: the machine.
        lock: its lockfile, if there is one.
        locked: what of the lockfile is installed on that machine; ``None`` without one.
        notes: what is to be said of it.
    """

    name: str
    snapshot: Snapshot
    lock: Lock | None = None
    locked: tuple[LockedPackage, ...] | None = None
    notes: tuple[str, ...] = field(default=())


def read_tables() -> "Tables":
    """The tables that come with envtrack.

    Raises:
        RigFailed: the installation is incomplete.
    """
    from envtrack.compat.table_reading import FILES, parse_tables

    return parse_tables({name: _read_document(name) for name in FILES})


def _read_document(name: str) -> Mapping[str, Any]:
    import yaml

    from envtrack.resources import find_resource

    text = find_resource(f"compat/{name}.yaml").read_text(encoding="utf-8")
    # Eight times faster where PyYAML was built with libyaml, as its wheels are.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document: Mapping[str, Any] = yaml.load(text, loader)  # noqa: S506 - both are safe loaders
    return document


def read_subject(what: str, place: Place) -> Subject:
    """The stack that is meant.

    Args:
        what: ``now``, a snapshot file, a revision, or ``REVISION@MACHINE``.
        place: where.

    Raises:
        UsageProblem: it is none of these, or nothing is recorded there.
        SnapshotProblem: the record can't be read.
        LockfileProblem: the lockfile can't be read.
    """
    from envtrack.record.file_operands import NOW, is_file_operand, read_file_operand
    from envtrack.record.operands import read_operand, take_now

    if is_file_operand(what, place.folder):
        # A snapshot file alone needs no repository.
        return _make_subject(read_file_operand(what, place.folder), Selection())
    try:
        context = open_context(place)
    except ConfigProblem:
        raise
    except UsageProblem:
        # This machine can be judged anywhere; for a record, or a lockfile, a repository is needed.
        if what != NOW or place.lockfile is not None:
            raise
        return _read_bare(place)
    try:
        record = read_operand(what, context.bench, context.folder)
    except LockfileProblem as error:
        # Of a format that is not read yet, or in the middle of a merge: the machine is still there.
        if what != NOW:
            raise
        return _describe(take_now(context.bench), note=error.message)
    return _make_subject(record, context.settings.selection)


def _make_subject(record: "Record", selection: Selection) -> Subject:
    snapshot = record.snapshot
    if not isinstance(snapshot, Snapshot):
        raise UsageProblem(
            record.notes[-1] if record.notes else f"{record.name}: there is no machine in it",
            hint="`envtrack snapshot --save` records this machine; `envtrack doctor` judges it now",
        )
    notes = [note for note in record.notes if "nothing installed is seen" not in note]
    lock = record.lock if isinstance(record.lock, Lock) else None
    if lock is None:
        notes.append("no lockfile was read: no locked wheel is judged")
        return Subject(name=_say_name(record, snapshot), snapshot=snapshot, notes=tuple(notes))
    locked, more = _select(lock, selection, snapshot)
    if locked is None:
        lock = None
    return Subject(
        name=_say_name(record, snapshot),
        snapshot=snapshot,
        lock=lock,
        locked=locked,
        notes=(*notes, *more),
    )


def _say_name(record: "Record", snapshot: Snapshot) -> str:
    return f"{record.name}: {snapshot.machine} at {snapshot.taken_at}"


def _select(
    lock: Lock, selection: Selection, snapshot: Snapshot
) -> tuple[tuple[LockedPackage, ...] | None, tuple[str, ...]]:
    from envtrack.compat.facts import find_marker_environment
    from envtrack.lockfiles.select import explain_selection

    environment = find_marker_environment(snapshot)
    if "sys_platform" not in environment:
        # Without it every package for Windows and macOS would count as one for this machine.
        return None, ("the record does not say its system: no locked wheel is judged",)
    chosen = explain_selection(lock, selection, environment)
    # Of markers that can't be decided a machine without a Python has hundreds.
    undecided = [note for note in chosen.notes if "can't be decided" in note]
    notes = [note for note in chosen.notes if note not in undecided]
    if undecided:
        many = "1 marker" if len(undecided) == 1 else f"{len(undecided)} markers"
        notes.append(f"{many} of the lockfile can't be decided here, and count as holding")
    return chosen.packages, tuple(notes)


def _read_bare(place: Place) -> Subject:
    """This machine, with the environment beside or above the folder, outside of any repository."""
    from envtrack.collect.machine_name import find_machine_name
    from envtrack.collect.take import take_snapshot
    from envtrack.collect.this_machine import this_machine
    from envtrack.git.environ import without_git

    environ = dict(os.environ)
    snapshot = take_snapshot(
        this_machine(without_git(environ), place.folder),
        name=find_machine_name(environ, configured=None, salt=""),
        lockfile=None,
        now=datetime.now(UTC),
    )
    return _describe(snapshot, note="no lockfile was read")


def _describe(snapshot: Snapshot, *, note: str) -> Subject:
    """This machine without a lockfile, and why it has none."""
    return Subject(
        name=f"now: {snapshot.machine} at {snapshot.taken_at}",
        snapshot=snapshot,
        notes=(f"{note}: no locked wheel is judged",),
    )
