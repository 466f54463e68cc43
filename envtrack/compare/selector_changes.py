"""Packages that stayed, but of which the locks say otherwise when to install them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from envtrack.compare.index import LockIndex, index_lock
from envtrack.compare.package_change import change_between, join_details, tell_fork
from envtrack.compare.pairing import Pair, pair_packages
from envtrack.model.comparison import Change, ChangeKind
from envtrack.model.lock import Knowledge, Lock, LockedPackage

if TYPE_CHECKING:
    from envtrack.compare.selectors import Ask

_Asks: TypeAlias = "dict[str, frozenset[Ask]]"


def compare_selectors(
    before: Lock, after: Lock, pairs: Mapping[str, list[Pair]], moved: frozenset[str]
) -> dict[str, list[Change]]:
    """The changes of markers, extras and groups, by the name of the package that is selected.

    Args:
        before: the older lock.
        after: the newer one, of the same format.
        pairs: the packages that are not the very same in both.
        moved: the names of those that changed otherwise; what they ask for is news of their own.
    """
    sides = index_lock(before), index_lock(after)
    # What no lock touched asks for the same in both.
    # And what a member asked for that came or went is no news of its own.
    asking = (pairs.keys() - moved) | (sides[0].projects & sides[1].projects & pairs.keys())
    if before.conflicts == after.conflicts:
        asking = {name for name in asking if not all(map(_asks_alike, pairs[name]))}
    gone, come = _compare_asks(sides, frozenset(asking))
    known = before.knows & after.knows
    found: dict[str, list[Change]] = {}
    for name in (pairs.keys() | gone.keys() | come.keys()) - moved:
        stayed = list(_find_stayed(name, pairs, sides))
        if not stayed:
            continue
        if name in gone or name in come:
            # Said once, whatever number of versions the name has.
            from envtrack.compare.selectors import tell_difference

            difference = tell_difference(gone.get(name, ()), come.get(name, ()))
            told = [(*stayed[0], join_details(difference))]
        else:
            told = list(_tell_forks(before, after, stayed) if Knowledge.MARKERS in known else ())
            if not told and Knowledge.GROUPS in known:
                told = list(_tell_groups(stayed))
        if told:
            found[name] = [
                change_between(one, other, ChangeKind.SELECTOR, detail)
                for one, other, detail in told
            ]
    return found


def _asks_alike(pair: Pair) -> bool:
    """Whether both packages of a pair say letter by letter the same of what they need."""
    old, new = pair
    return (
        old is not None
        and new is not None
        and old.dependencies == new.dependencies
        and old.optional_dependencies == new.optional_dependencies
        and old.groups == new.groups
    )


def _compare_asks(
    sides: tuple[LockIndex, LockIndex], asking: frozenset[str]
) -> tuple[_Asks, _Asks]:
    """Who asks for what on the older side only, and on the newer one only."""
    if not asking:
        return {}, {}
    # Not imported where only versions moved: markers need a parser.
    from envtrack.compare.selectors import Common, find_asks

    old, new = (find_asks(side.lock, side.select(asking)) for side in sides)
    names = {name for name, _ in old ^ new}
    befores, afters = _by_name(old, names), _by_name(new, names)
    common = Common.of(sides[0].lock, sides[1].lock)
    gone: _Asks = {}
    come: _Asks = {}
    for name in names:
        left, right = common.find_difference(
            frozenset(befores.get(name, ())), frozenset(afters.get(name, ()))
        )
        if left or right:
            gone[name], come[name] = left, right
    return gone, come


def _by_name(asks: frozenset[tuple[str, Ask]], names: set[str]) -> dict[str, list[Ask]]:
    found: dict[str, list[Ask]] = {}
    for name, ask in asks:
        if name in names:
            found.setdefault(name, []).append(ask)
    return found


def _find_stayed(
    name: str, pairs: Mapping[str, list[Pair]], sides: tuple[LockIndex, LockIndex]
) -> Iterator[tuple[LockedPackage, LockedPackage]]:
    """The packages of a name that are on both sides; the very same may be asked for otherwise."""
    rows = pairs.get(name)
    if rows is None:
        rows = pair_packages(*(side.by_name.get(name, ()) for side in sides)).get(name, [])
    for old, new in rows:
        if old is not None and new is not None:
            yield old, new


def _tell_forks(
    before: Lock, after: Lock, stayed: list[tuple[LockedPackage, LockedPackage]]
) -> Iterator[tuple[LockedPackage, LockedPackage, str]]:
    for old, new in stayed:
        if old.resolution_markers == new.resolution_markers and before.conflicts == after.conflicts:
            continue
        from envtrack.compare.selectors import Common, find_forks

        forks = find_forks(before, old), find_forks(after, new)
        if not Common.of(before, after).have_one_meaning(*forks):
            yield old, new, join_details("fork", f"{tell_fork(old)} → {tell_fork(new)}")


def _tell_groups(
    stayed: list[tuple[LockedPackage, LockedPackage]],
) -> Iterator[tuple[LockedPackage, LockedPackage, str]]:
    """The first that is in other groups now; where that is so on some platforms only, with them."""
    moved = [(old, new) for old, new in stayed if set(old.belongs_to) != set(new.belongs_to)]
    if moved:
        old, new = moved[0]
        places = dict.fromkeys(place for _, there in moved for place in there.platforms)
        where = f"for {', '.join(places)}" if places and len(moved) < len(stayed) else ""
        yield old, new, join_details(f"{_say_groups(old)} → {_say_groups(new)}", where)


def _say_groups(package: LockedPackage) -> str:
    return f"in {', '.join(sorted(package.belongs_to))}" if package.belongs_to else "in no group"
