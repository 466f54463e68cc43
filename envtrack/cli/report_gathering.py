"""What of a repository goes into its report, and how much of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.cli.context import Place
from envtrack.errors import EnvtrackError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envtrack.git.repository import Repository
    from envtrack.model.finding import Diagnosis
    from envtrack.model.fleet import Fleet, Machine
    from envtrack.model.judged import JudgedHistory
    from envtrack.model.lanes import Lanes
    from envtrack.model.oid import Commit, Oid
    from envtrack.model.story import Story

# So many of the newest commits can be compared on the page, and as many others that are told of.
_NEWEST_STATES = 30
# So many changes are judged: each costs some ten git processes.
_JUDGED = 8
_DIAGNOSED = 12


def choose_states(lanes: Lanes, stories: Sequence[Story]) -> tuple[Commit, ...]:
    """The commits that can be compared on the page, newest first.

    The newest ones, the oldest, and those of which a search, a verdict or a record speaks.
    """
    told = {story.good for story in stories} | {story.bad for story in stories}
    for story in stories:
        culprit = (story.answer or {}).get("culprit") or {}
        told |= {
            one.observation.commit
            for one in story.probes
            if one.observation.commit.hex == culprit.get("commit")
        }
    columns = [column for column in lanes.columns if column.has_lock or column.moves]
    others = [
        column
        for column in columns[_NEWEST_STATES:]
        if column.commit.oid in told or column.verdicts or column.moves
    ]
    chosen = [*columns[:_NEWEST_STATES], *others[:_NEWEST_STATES], *columns[-1:]]
    return tuple(dict.fromkeys(column.commit for column in chosen))


def judge_policy(
    repository: Repository, head: Oid, lanes: Lanes
) -> tuple[JudgedHistory | None, tuple[str, ...]]:
    """What the policy says of the newest commits, or a note of why that can't be said."""
    from envtrack.record.judged_history import judge_history

    commits = [column.commit.oid for column in lanes.columns if column.has_lock]
    try:
        return judge_history(repository, head, commits, newest=_JUDGED), ()
    except EnvtrackError as error:
        return None, (f"policy: {error.message}",)


def diagnose_all(fleet: Fleet, place: Place) -> tuple[tuple[Diagnosis, ...], tuple[str, ...]]:
    """What the doctor says of the machines' newest records, and notes of what it can't."""
    told, notes = [], []
    for machine in fleet.machines[:_DIAGNOSED]:
        try:
            told.append(_diagnose(machine, fleet, place))
        except EnvtrackError as error:
            notes.append(f"doctor: {machine.name}: {error.message}")
    if len(fleet.machines) > _DIAGNOSED:
        rest = len(fleet.machines) - _DIAGNOSED
        notes.append(f"doctor: {rest} more machines: `envtrack doctor REV@MACHINE` judges them")
    return tuple(told), tuple(notes)


def _diagnose(machine: Machine, fleet: Fleet, place: Place) -> Diagnosis:
    from envtrack.cli.doctor_inputs import Subject, read_subject, read_tables
    from envtrack.compat.facts import read_stack
    from envtrack.compat.judge import judge_stack
    from envtrack.model.finding import Purpose

    if machine.commit is None:
        subject = Subject(
            name=f"{machine.name} at {machine.snapshot.taken_at}",
            snapshot=machine.snapshot,
            notes=("its lockfile is none of this history: no locked wheel is judged",),
        )
    else:
        commit = fleet.head if machine.behind == 0 else machine.commit
        subject = read_subject(f"{commit.hex}@{machine.name}", place)
    stack = read_stack(subject.snapshot, lock=subject.lock, locked=subject.locked)
    name = f"{machine.name} at {machine.snapshot.taken_at}"
    return judge_stack(
        stack, read_tables(), subject=name, purposes=tuple(Purpose), notes=subject.notes
    )
