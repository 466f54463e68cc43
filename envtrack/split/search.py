"""Finds the series: which parts of a change can be locked alone, and which can't be parted.

Each state is tried with uv itself. It is taken only if every package in it is either as it was
before or as it is at the end, if what the step is for has come to its end, and if nothing else that
was asked for moved along.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import NamedTuple

from envtrack.compare.index import index_lock
from envtrack.lockfiles.uv import parse
from envtrack.model.comparison import Change
from envtrack.model.lock import Lock, SourceKind
from envtrack.model.names import normalise
from envtrack.policy.interface import join_names
from envtrack.split.preferences import compose_preferences
from envtrack.split.project import edit_file, find_asked
from envtrack.split.state import Case, Locked, Locks, Piece, State
from envtrack.split.units import Unit, is_root

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# Each round takes at least one more name along.
_MOST_ROUNDS = 20


class _Trial(NamedTuple):
    """How a state turned out.

    Attributes:
        state: it, if it may be a step.
        lock: the same, read.
        along: units that moved, or would, though nobody wanted them to.
        followers: other names that took a version of neither side, and may yet take the right one.
        late: units that did not come to their end, though nothing was said against it.
        why: what stands against it, or made others come along.
    """

    state: State | None = None
    lock: Lock | None = None
    along: tuple[Unit, ...] = ()
    followers: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()
    why: str = ""


class _Attempt(NamedTuple):
    """Units that were tried together, and how that ended."""

    units: tuple[Unit, ...]
    trial: _Trial
    joined: tuple[str, ...]


def find_pieces(case: Case, locks: Locks) -> tuple[Piece, ...]:
    """The series, lowest layer first; its last state is the one after, byte for byte.

    Raises:
        LockfileProblem: one of the lockfiles can't be read.
        RigFailed: the network, the disk or uv itself failed.
    """
    search = _Search(case, locks)
    pieces: list[Piece] = []
    while (piece := search.take_next()) is not None:
        pieces.append(piece)
    return tuple(pieces)


class _Search:
    def __init__(self, case: Case, locks: Locks) -> None:
        self._case = case
        self._judging = case.judging
        self._locks = locks
        self._end = parse(case.after.text, path=case.lockfile)
        self._state = case.before
        self._lock = parse(case.before.text, path=case.lockfile)
        self._pending = self._judging.list_units(self._lock, self._end)
        self._changed = self._name_moved(self._lock, self._end)
        self._done: tuple[Unit, ...] = ()
        self._restated = self._group_restated()
        # What uv is told beside the packages: with the first step, if that can be.
        self._settings: tuple[bool, ...] = (True, False) if case.has_other_settings() else (False,)
        self._is_over = False

    def _group_restated(self) -> dict[str, str]:
        """The layer of each name that is only asked for in another way, and does not move."""
        asked = frozenset[str]().union(*starmap(find_asked, self._case.list_projects()))
        rows = self._judging.compare(self._lock, self._end)
        names = asked - {unit.name for unit in self._pending}
        return {row.name: self._judging.name_group(row) for row in rows if row.name in names}

    def _name_moved(self, before: Lock, after: Lock) -> frozenset[str]:
        return frozenset(change.name for change in self._judging.list_moved(before, after))

    def take_next(self) -> Piece | None:
        """The next step; `None` after the last one."""
        if self._is_over:
            return None
        attempt = self._find_next()
        state, lock = attempt.trial.state, attempt.trial.lock
        left: tuple[Unit, ...] = ()
        if lock is not None:
            ahead = self._name_moved(lock, self._end)
            left = tuple(u for u in self._pending if u not in attempt.units and u.name in ahead)
        if state is None or lock is None or not left:
            # Whatever else differs belongs to the last one.
            self._is_over = True
            state, lock = self._case.after, self._end
        moved = self._judging.list_moved(self._lock, lock)
        piece = Piece(
            state=state,
            changes=self._judging.compare(self._lock, lock),
            groups=self._judging.list_groups(moved),
            joined=attempt.joined,
        )
        self._state, self._lock, self._pending = state, lock, left
        self._done += attempt.units
        return piece

    def _find_next(self) -> _Attempt:
        """The lowest units that uv locks without the others; all that are left if it can't."""
        failed: list[_Attempt] = []
        for units in self._list_choices():
            attempt = self._try(units)
            if attempt.trial.state is not None or self._is_all(attempt.units):
                return attempt
            failed.append(attempt)
        attempt = failed[0]
        while attempt.trial.state is None and not self._is_all(attempt.units):
            more = self._find_partners(attempt)
            said = _say_joined(more, attempt.units, attempt.trial.why)
            tried = self._try((*attempt.units, *more))
            attempt = tried._replace(joined=(*attempt.joined, said, *tried.joined))
        return attempt

    def _list_choices(self) -> list[tuple[Unit, ...]]:
        lowest = [unit for unit in self._pending if unit.group == self._pending[0].group]
        return [(unit,) for unit in lowest] if self._case.is_each else [tuple(lowest)]

    def _is_all(self, units: Sequence[Unit]) -> bool:
        return set(units) >= set(self._pending)

    def _find_partners(self, attempt: _Attempt) -> tuple[Unit, ...]:
        """Whom uv named; else those that come next."""
        others = [unit for unit in self._pending if unit not in attempt.units]
        words = {normalise(word) for word in _WORD.findall(attempt.trial.why)}
        named = tuple(unit for unit in others if unit.name in words)
        if named or self._case.is_each:
            return named or (others[0],)
        return tuple(unit for unit in others if unit.group == others[0].group)

    def _try(self, units: tuple[Unit, ...]) -> _Attempt:
        """Tries units together, and with them what uv can't leave behind."""
        joined: list[str] = []
        followers: frozenset[str] = frozenset()
        trial = _Trial()
        for _ in range(_MOST_ROUNDS):
            if self._is_all(units):
                break
            trial = self._try_settings(units, followers)
            if trial.along:
                joined.append(_say_joined(trial.along, units, trial.why))
                units += trial.along
            new = trial.followers - followers
            followers |= new
            if trial.state is not None or not (trial.along or new):
                break
        if self._is_all(units):
            trial = _Trial()
        return _Attempt(units, trial, tuple(joined))

    def _try_settings(self, units: Sequence[Unit], followers: frozenset[str]) -> _Trial:
        trial = _Trial()
        for with_settings in self._settings:
            trial = self._try_once(units, followers, with_settings=with_settings)
            if trial.state is not None:
                self._settings = (True,) if with_settings else self._settings
                break
        return trial

    def _try_once(
        self, units: Sequence[Unit], followers: frozenset[str], *, with_settings: bool
    ) -> _Trial:
        projects = self._edit(units, with_settings=with_settings)
        if projects is None:
            return _Trial(why="its pyproject.toml can't be edited so")
        names = frozenset[str]().union(followers, *(unit.names for unit in units))
        text = compose_preferences(self._state.text, self._case.after.text, names)
        wanted = State(text, projects)
        trial = self._ask(wanted, units)
        if pins := self._list_pins(trial.late):
            # A preference is only that: uv may rather keep the old version than say why.
            trial = self._ask(wanted, units, pins)
        return trial

    def _ask(self, wanted: State, units: Sequence[Unit], pins: tuple[str, ...] = ()) -> _Trial:
        trial = _Trial()
        for offline in (True, False):
            locked = self._locks(wanted, pins=pins, offline=offline)
            if locked is not None:
                trial = self._judge(locked, units, wanted.projects)
            if trial.state is not None:
                break
        return trial

    def _list_pins(self, names: frozenset[str]) -> tuple[str, ...]:
        """The end's versions of those that have just one there, from an index."""
        found = index_lock(self._end).by_name
        rows = [(name, found.get(name, [])) for name in sorted(names)]
        return tuple(
            f"{name}=={some[0].version}"
            for name, some in rows
            if len(some) == 1 and some[0].version and some[0].source.kind is SourceKind.REGISTRY
        )

    def _edit(self, units: Sequence[Unit], *, with_settings: bool) -> Mapping[str, str] | None:
        done = (*self._done, *units)
        waiting = {unit.group for unit in self._pending if unit not in units}
        groups = {unit.group for unit in done} - waiting
        restated = {name for name, group in self._restated.items() if group in groups}
        taken = frozenset(restated.union(*(unit.names for unit in done)))
        after = self._case.after.projects
        try:
            return {
                path: edit_file(path, text, after[path], taken, with_settings=with_settings)
                for path, text in self._case.before.projects.items()
            }
        except ValueError:
            return None

    def _judge(self, locked: Locked, units: Sequence[Unit], projects: Mapping[str, str]) -> _Trial:
        if not locked.text:
            return _Trial(why=locked.said)
        lock = parse(locked.text, path=self._case.lockfile)
        moved = self._judging.list_moved(self._lock, lock)
        names = {change.name for change in moved}
        ahead = self._name_moved(lock, self._end)
        asked = {change.name for change in moved if is_root(change)}
        others = [unit for unit in self._pending if unit not in units]
        strays = names & ahead
        if strays - self._changed:
            shown = _say_versions(moved, strays - self._changed)
            return _Trial(why=f"uv would take {shown}, which the change does not")
        along = tuple(
            unit for unit in others if unit.name in (strays | asked) and unit.name in names
        )
        if strays:
            why = f"uv would take {_say_versions(moved, strays)}, as neither lockfile has it"
            return _Trial(
                along=along, followers=frozenset(strays - {u.name for u in along}), why=why
            )
        if late := {unit.name for unit in units} & ahead:
            why = f"uv leaves {join_names(sorted(late))} where it was"
            return _Trial(late=frozenset(late), why=why)
        expected = {unit.group for unit in (*units, *along)}
        if not expected.issuperset(self._judging.list_groups(moved)):
            return _Trial(why=f"uv moves {join_names(sorted(asked))} together")
        return _Trial(
            state=State(locked.text, projects),
            lock=lock,
            along=along,
            why="uv moves them together",
        )


def _say_versions(moved: Sequence[Change], names: frozenset[str] | set[str]) -> str:
    return join_names(
        sorted(f"{one.name} {one.after or '(removed)'}" for one in moved if one.name in names)
    )


def _say_joined(more: Sequence[Unit], units: Sequence[Unit], why: str) -> str:
    names = [[unit.name for unit in some] for some in (more, units)]
    return f"{join_names(names[0])} can't be parted from {join_names(names[1])}: {why}"
