"""Whether a package moved because it was asked for, or because another one did."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from envtrack.compare.index import LockIndex, find_names, index_lock
from envtrack.model.comparison import Origin
from envtrack.model.lock import Knowledge, Lock

_NOWHERE = re.compile(r";\s*sys_platform\s*==\s*(['\"])never\1\s*$")


class Origins(NamedTuple):
    """Answers for one pair of locks.

    Attributes:
        is_known: whether either lock keeps what it was asked with.
        asked: names in the requirements of the roots, on either side.
        retold: names of which constraints, overrides or excludes say something else now.
        has_graph: whether the locks say which package needs which.
        free: names that can be reached from a root without passing through a package that moved.
        needed_by: of each name the packages that moved and lead to it.
    """

    is_known: bool
    asked: frozenset[str]
    retold: frozenset[str]
    has_graph: bool
    free: frozenset[str]
    needed_by: Mapping[str, tuple[str, ...]]

    def of(self, name: str, *, by_itself: bool) -> Origin:
        """Why the package of this name changed.

        `FORCED` if every way from a root to it leads through another package that moved. One that
        moved although nothing above it did (`uv lock --upgrade`) is a root of its own.

        Args:
            name: normalised.
            by_itself: whether a change of this kind can come without being asked for by name: a
                package gets another version so, but is never added or removed so.
        """
        if not self.is_known:
            return Origin.NOT_KNOWN
        if name in self.asked or name in self.retold:
            return Origin.ROOT
        if not self.has_graph:
            return Origin.NOT_KNOWN
        return Origin.ROOT if by_itself and name in self.free else Origin.FORCED


def find_origins(before: Lock | None, after: Lock | None, moved: frozenset[str]) -> Origins:
    """What can be said of why packages moved.

    Args:
        before: the older lock, if there is one.
        after: the newer one.
        moved: the names of all packages that differ.
    """
    sides = [index_lock(lock) for lock in (before, after) if lock is not None]
    old, new = ({} if lock is None else index_lock(lock).limits for lock in (before, after))
    asked = frozenset[str]().union(*(side.asked for side in sides))
    return Origins(
        is_known=any(side.keeps_requirements for side in sides),
        asked=asked,
        retold=frozenset(
            name for name in {*old, *new} if not _ask_for_the_same(old.get(name), new.get(name))
        ),
        has_graph=all(Knowledge.GRAPH in side.lock.knows for side in sides),
        # Whoever is asked for by name needs no way from a root.
        free=frozenset() if moved <= asked else _reach_unmoved(sides, moved, asked),
        needed_by={} if moved <= asked else _find_leaders(sides, moved),
    )


def _find_leaders(
    sides: Collection[LockIndex], moved: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Which of the packages that moved lead to which others of them."""
    found: dict[str, set[str]] = {}
    for name in moved.difference(*(side.projects for side in sides)):
        for side in sides:
            for needed in side.find_edges(name) & moved:
                if needed != name:
                    found.setdefault(needed, set()).add(name)
    return {name: tuple(sorted(leaders)) for name, leaders in found.items()}


def find_overridden(lock: Lock | None) -> frozenset[str]:
    """What an override keeps out of every environment: ``torch ; sys_platform == 'never'``.

    The way to say in a uv.lock that a container image brings the package.
    """
    overrides = () if lock is None else lock.overrides
    return frozenset(name for name, text in find_names(overrides) if _NOWHERE.search(text))


def _ask_for_the_same(before: frozenset[str] | None, after: frozenset[str] | None) -> bool:
    if before == after:
        return True
    from envtrack.compare.specifiers import find_requirement_meaning

    old, new = (frozenset(map(find_requirement_meaning, texts or ())) for texts in (before, after))
    return old == new


def _reach_unmoved(
    sides: Collection[LockIndex], moved: frozenset[str], asked: Iterable[str]
) -> frozenset[str]:
    """What the edges of roots and of packages that stayed lead to."""
    roots = frozenset[str]().union(*(side.projects for side in sides))
    reached: set[str] = set()
    passed: set[str] = set()
    waiting = {*roots, *asked}
    while waiting:
        name = waiting.pop()
        passed.add(name)
        if name in moved and name not in roots:
            continue
        for edges in {side.find_edges(name) for side in sides}:
            reached |= edges
            waiting |= edges - passed
    return frozenset(reached)
