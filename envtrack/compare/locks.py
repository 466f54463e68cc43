"""What differs between two locks, package by package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from envtrack.compare.origins import find_origins
from envtrack.compare.package_change import (
    change_between,
    compare_pair,
    join_details,
    shown_version,
    tell_fork,
)
from envtrack.compare.pairing import Pair, find_place, pair_packages
from envtrack.compare.selectors import find_asks, find_forks, tell_difference
from envtrack.model.comparison import Change, ChangeKind, Origin, sort_changes
from envtrack.model.layer import Layer
from envtrack.model.lock import Knowledge, Lock, LockedPackage, Selection

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
        pairs = pair_packages(
            (package for package in old if package.name in touched),
            (package for package in new if package.name in touched),
        )
        changes = _compare_packages(pairs)
        return changes | _compare_selectors(before, after, pairs, frozenset(changes))
    # Another format says other things of the same packages: only versions can be compared, and
    # the project itself is in some formats and not in others.
    own = {package.name for lock in (before, after) for package in lock.roots}
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
    if before.conflicts != after.conflicts:
        return frozenset(package.name for lock in (before, after) for package in lock.packages)
    sides = [{id(package) for package in lock.packages} for lock in (before, after)]
    shared = sides[0] & sides[1]
    return frozenset(
        package.name
        for lock in (before, after)
        for package in lock.packages
        if id(package) not in shared
    )


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
        else replace(change, detail=join_details(change.detail, f"for {', '.join(where)}"))
        for change, where in places.items()
    ]


def compare_requires_python(before: Lock, after: Lock) -> Change | None:
    """The change of the Pythons that two locks are for; another spelling of the same is none."""
    old, new = before.requires_python, after.requires_python
    if old == new or _specifiers(old) == _specifiers(new):
        return None
    if before.format != after.format and not (old and new):
        return None  # one of the two formats does not say it
    return Change(
        layer=Layer.PYTHON,
        name="requires-python",
        kind=ChangeKind.CHANGED,
        before=old or None,
        after=new or None,
        origin=Origin.ROOT,
    )


def _specifiers(text: str) -> frozenset[object]:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return frozenset(SpecifierSet(text))
    except InvalidSpecifier:
        return frozenset({text})


def _with_origins(
    changes: Mapping[str, list[Change]], before: Lock | None, after: Lock | None
) -> Iterator[Change]:
    # A package of which only the selectors changed is still there to lead to others.
    moved = frozenset(name for name, rows in changes.items() if any(map(_is_move, rows)))
    origins = find_origins(before, after, moved)
    projects = {p.name for lock in (before, after) if lock for p in lock.roots}
    for name, rows in changes.items():
        for row in rows:
            told = replace(row, origin=origins.of(name, by_itself=row.kind in _BY_ITSELF))
            yield _as_own(told) if name in projects else told


def _is_move(row: Change) -> bool:
    return row.kind is not ChangeKind.SELECTOR or row.before != row.after


def _as_own(row: Change) -> Change:
    """A change of the project itself, or of a member."""
    own = "own version" if row.kind in _OF_VERSION else ""
    return replace(row, layer=Layer.PACKAGES, detail=join_details(own, row.detail))


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
    return replace(row, kind=ChangeKind.SELECTOR, detail=join_details(detail, row.detail))


def _holds(lock: Lock | None, name: str, version: str | None) -> bool:
    packages: Iterable[LockedPackage] = () if lock is None else lock.packages
    return any(p.name == name and shown_version(p) == version for p in packages)


def _compare_selectors(
    before: Lock, after: Lock, pairs: Mapping[str, list[Pair]], moved: frozenset[str]
) -> dict[str, list[Change]]:
    """Packages that stayed, but of which the locks say otherwise when to install them."""
    locks = before, after
    projects = {package.name for package in (*before.roots, *after.roots)}
    kept = [row for rows in pairs.values() for row in rows]
    before = replace(before, packages=tuple(old for old, _ in kept if old is not None))
    after = replace(after, packages=tuple(new for _, new in kept if new is not None))
    # What no lock touched asks for the same in both.
    asking = (set(pairs) - moved) | (projects & set(pairs))
    known = before.knows & after.knows
    old_asks, new_asks = find_asks(before, asking), find_asks(after, asking)
    old_forks, new_forks = find_forks(before, pairs), find_forks(after, pairs)
    found: dict[str, list[Change]] = {}
    for name in (pairs.keys() | old_asks.keys() | new_asks.keys()) - moved:
        asked, asks = old_asks.get(name, frozenset()), new_asks.get(name, frozenset())
        if asked == asks and name not in pairs:
            continue
        rows = pairs[name] if name in pairs else _pair_named(name, *locks)
        stayed = [(old, new) for old, new in rows if old is not None and new is not None]
        if not stayed:
            continue
        if asked != asks:
            # Said once, whatever number of versions the name has.
            told = [(*stayed[0], join_details(tell_difference(asked, asks)))]
        else:
            told = [
                (old, new, join_details("fork", f"{tell_fork(old)} → {tell_fork(new)}"))
                for old, new in stayed
                if Knowledge.MARKERS in known and old_forks.get(id(old)) != new_forks.get(id(new))
            ] or (_tell_groups(stayed) if Knowledge.GROUPS in known else [])
        if told:
            found[name] = [
                change_between(old, new, ChangeKind.SELECTOR, detail) for old, new, detail in told
            ]
    return found


def _pair_named(name: str, before: Lock, after: Lock) -> list[Pair]:
    """A package that is the same on both sides, though it is asked for otherwise."""
    old, new = ([p for p in lock.packages if p.name == name] for lock in (before, after))
    return pair_packages(old, new).get(name, [])


def _tell_groups(
    stayed: list[tuple[LockedPackage, LockedPackage]],
) -> list[tuple[LockedPackage, LockedPackage, str]]:
    """The first that is in other groups now; where that is so on some platforms only, with them."""
    moved = [(old, new) for old, new in stayed if set(old.belongs_to) != set(new.belongs_to)]
    if not moved:
        return []
    old, new = moved[0]
    places = dict.fromkeys(place for _, there in moved for place in there.platforms)
    where = f"for {', '.join(places)}" if places and len(moved) < len(stayed) else ""
    return [(old, new, join_details(f"{_say_groups(old)} → {_say_groups(new)}", where))]


def _say_groups(package: LockedPackage) -> str:
    return f"in {', '.join(sorted(package.belongs_to))}" if package.belongs_to else "in no group"
