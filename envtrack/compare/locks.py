"""What differs between two locks, package by package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from envtrack.compare.index import index_lock
from envtrack.compare.origins import find_origins, find_overridden
from envtrack.compare.package_change import (
    compare_pair,
    join_details,
    shown_version,
)
from envtrack.compare.pairing import Pair, find_place, pair_packages
from envtrack.compare.selector_changes import compare_selectors
from envtrack.model.comparison import Change, ChangeKind, Origin, sort_changes
from envtrack.model.layer import Layer
from envtrack.model.lock import Lock, LockedPackage

if TYPE_CHECKING:
    from envtrack.model.selection import Selection

_OF_VERSION = frozenset(
    {ChangeKind.UPGRADED, ChangeKind.DOWNGRADED, ChangeKind.VARIANT, ChangeKind.CHANGED}
)
# What can happen to a package though nobody named it and nothing above it moved.
_BY_ITSELF = _OF_VERSION | {ChangeKind.REBUILD, ChangeKind.SOURCE}


def compare_locks(
    before: Lock | None,
    after: Lock | None,
    *,
    environment: Mapping[str, str] | None = None,
    selection: Selection | None = None,
) -> tuple[Change, ...]:
    """What moved from one lock to another; nothing if only the form of the file did.

    Order, revision, upload times, sizes, download hosts and a wheel added to a release are form.

    Args:
        before: the older lock; `None` if there was none.
        after: the newer one; `None` if there is none any more.
        environment: PEP 508 variables. With it, or with `selection`, only what is selected there
            is compared: a marker that changes nothing on that machine is no change.
        selection: extras, groups and members; without it, and with `environment`, the defaults.

    Returns:
        From the ground up, asked-for changes first. All values are redacted.
    """
    if before == after:
        return ()
    python: Change | None = None
    if environment is None and selection is None:
        changes = _compare_whole(before, after)
        if before is not None and after is not None:
            python = compare_requires_python(before, after)
    else:
        from envtrack.model.selection import Selection

        place = selection or Selection(), environment or {}
        old, new = (() if lock is None else _reach(lock, *place) for lock in (before, after))
        found = _compare_packages(pair_packages(old, new))
        changes = {name: _tell_selected(rows, before, after) for name, rows in found.items()}
    told = _with_origins(changes, before, after)
    return sort_changes(told if python is None else (python, *told))


def _reach(
    lock: Lock, selection: Selection, environment: Mapping[str, str]
) -> tuple[LockedPackage, ...]:
    from envtrack.lockfiles.select import explain_selection

    # Projects that are not installed are compared too: their own version is news.
    return explain_selection(lock, selection, environment).reached


def _compare_whole(before: Lock | None, after: Lock | None) -> dict[str, list[Change]]:
    old, new = (() if lock is None else lock.packages for lock in (before, after))
    if before is None or after is None:
        return _compare_packages(pair_packages(old, new))
    if before.format == after.format:
        touched = _find_touched(before, after)
        pairs = pair_packages(*(index_lock(lock).select(touched) for lock in (before, after)))
        changes = _compare_packages(pairs)
        return changes | compare_selectors(before, after, pairs, frozenset(changes))
    # Another format says other things of the same packages: only versions can be compared, and
    # the project itself is in some formats and not in others.
    own = index_lock(before).projects | index_lock(after).projects
    return _compare_packages(
        pair_packages(
            (package for package in old if package.name not in own),
            (package for package in new if package.name not in own),
        )
    )


def _find_touched(before: Lock, after: Lock) -> frozenset[str]:
    """The names of which not every package is the very same in both locks.

    Two states of one file share what is equal (`ChunkReader`): in a long history that is nearly
    all. Where other extras exclude each other, the same markers mean something else.
    """
    old, new = index_lock(before).names, index_lock(after).names
    if before.conflicts != after.conflicts:
        return frozenset((*old.values(), *new.values()))
    return frozenset(old[one] if one in old else new[one] for one in old.keys() ^ new.keys())


def _compare_packages(pairs: Mapping[str, list[Pair]]) -> dict[str, list[Change]]:
    changes: dict[str, list[Change]] = {}
    for name, rows in pairs.items():
        if found := _compare_rows(rows):
            changes[name] = found
    return changes


def _compare_rows(rows: list[Pair]) -> list[Change]:
    """The changes of one name; what is the same on several platforms is one change."""
    by_place: dict[tuple[str, ...], list[Pair]] = {}
    for before, after in rows:
        there = after or before
        place = () if there is None else find_place(there)
        by_place.setdefault(place, []).append((before, after))
    places: dict[Change, list[str]] = {}
    for place, some in by_place.items():
        for pair in some:
            change = compare_pair(pair, some)
            if change is not None:
                places.setdefault(change, []).append(", ".join(place[1:]) or place[0])
    return [
        change
        if len(where) == len(by_place)
        else change._replace(detail=join_details(change.detail, f"for {', '.join(where)}"))
        for change, where in places.items()
    ]


def compare_requires_python(before: Lock, after: Lock) -> Change | None:
    """The change of the Pythons that two locks are for; another spelling of the same is none."""
    old, new = before.requires_python, after.requires_python
    if old == new:
        return None
    from envtrack.compare.specifiers import find_meaning

    if find_meaning(old) == find_meaning(new):
        return None
    if _age(before) != _age(after) and not (old and new):
        return None  # one of the two formats does not say it
    return Change(
        layer=Layer.PYTHON,
        name="requires-python",
        kind=ChangeKind.CHANGED,
        before=old or None,
        after=new or None,
        origin=Origin.ROOT,
    )


def _age(lock: Lock) -> tuple[str, int, int]:
    return lock.format, lock.schema, lock.revision


def _with_origins(
    changes: Mapping[str, list[Change]], before: Lock | None, after: Lock | None
) -> Iterator[Change]:
    # A package of which only the selectors changed is still there to lead to others.
    moved = frozenset(name for name, rows in changes.items() if any(map(_is_move, rows)))
    origins = find_origins(before, after, moved)
    sides = [index_lock(lock) for lock in (before, after) if lock is not None]
    projects = frozenset[str]().union(*(side.projects for side in sides))
    overridden = find_overridden(before) & find_overridden(after)
    for name, rows in changes.items():
        nowhere = "never installed: overridden" if name in overridden else ""
        for row in rows:
            origin = origins.of(name, by_itself=row.kind in _BY_ITSELF)
            leaders = origins.needed_by.get(name, ()) if origin is Origin.FORCED else ()
            told = row._replace(
                origin=origin, detail=join_details(nowhere, row.detail), forced_by=leaders
            )
            yield _as_own(told) if name in projects else told


def _is_move(row: Change) -> bool:
    return row.kind is not ChangeKind.SELECTOR or row.before != row.after


def _as_own(row: Change) -> Change:
    """A change of the project itself, or of a member."""
    own = "own version" if row.kind in _OF_VERSION else ""
    return row._replace(layer=Layer.PACKAGES, detail=join_details(own, row.detail))


def _tell_selected(rows: list[Change], before: Lock | None, after: Lock | None) -> list[Change]:
    """Added and removed on this machine, where the other lock has the very version too."""
    told = []
    for row in rows:
        if row.kind is ChangeKind.ADDED and _holds(before, row.name, row.after):
            told.append(_as_selector(row, "it was locked before, but not selected here"))
        elif row.kind is ChangeKind.REMOVED and _holds(after, row.name, row.before):
            told.append(_as_selector(row, "it is still locked, but not selected here any more"))
        else:
            told.append(row)
    return told


def _as_selector(row: Change, detail: str) -> Change:
    return row._replace(kind=ChangeKind.SELECTOR, detail=join_details(detail, row.detail))


def _holds(lock: Lock | None, name: str, version: str | None) -> bool:
    packages: Iterable[LockedPackage] = () if lock is None else lock.packages
    return any(p.name == name and shown_version(p) == version for p in packages)
