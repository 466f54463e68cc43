"""Whether a package moved because it was asked for, or because another one did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from envtrack.model.comparison import Origin
from envtrack.model.lock import Dependency, Knowledge, Lock, LockedPackage
from envtrack.model.names import normalise

_MOST_KNOWN = 20_000
_NOWHERE = re.compile(r";\s*sys_platform\s*==\s*(['\"])never\1\s*$")
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


@dataclass(frozen=True, slots=True)
class Origins:
    """Answers for one pair of locks.

    Attributes:
        is_known: whether either lock keeps what it was asked with.
        asked: names in the requirements of the roots, on either side.
        retold: names of which constraints, overrides or excludes say something else now.
        has_graph: whether the locks say which package needs which.
        free: names that can be reached from a root without passing through a package that moved.
    """

    is_known: bool
    asked: frozenset[str]
    retold: frozenset[str]
    has_graph: bool
    free: frozenset[str]

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
    locks = [lock for lock in (before, after) if lock is not None]
    told = [_limits(lock) for lock in (before, after)]
    asked: set[str] = set()
    for lock in locks:
        asked.update(package.name for package in lock.roots)
        asked.update(name for name, _ in _requirements(lock))
    return Origins(
        is_known=any(_keeps_requirements(lock) for lock in locks),
        asked=frozenset(asked),
        retold=frozenset(
            name
            for name in {*told[0], *told[1]}
            if not _ask_for_the_same(told[0].get(name), told[1].get(name))
        ),
        has_graph=all(Knowledge.GRAPH in lock.knows for lock in locks),
        # Whoever is asked for by name needs no way from a root.
        free=frozenset() if moved <= asked else _reach_unmoved(locks, moved, asked),
    )


def _keeps_requirements(lock: Lock) -> bool:
    if lock.manifest_requirements or lock.manifest_groups:
        return True
    return any(
        package.requirements is not None or package.group_requirements for package in lock.roots
    )


def _requirements(lock: Lock) -> Iterator[tuple[str, str]]:
    """(name, text) of everything the roots ask for."""
    for package in lock.roots:
        yield from _named(package.requirements or ())
        for texts in package.group_requirements.values():
            yield from _named(texts)
    yield from _named(lock.manifest_requirements)
    for texts in lock.manifest_groups.values():
        yield from _named(texts)


def _limits(lock: Lock | None) -> dict[str, frozenset[str]]:
    """What constraints, overrides and excludes say of each name."""
    found: dict[str, set[str]] = {}
    if lock is not None:
        for name, text in _named((*lock.constraints, *lock.overrides, *lock.excludes)):
            found.setdefault(name, set()).add(text)
    return {name: frozenset(texts) for name, texts in found.items()}


def find_overridden(lock: Lock | None) -> frozenset[str]:
    """What an override keeps out of every environment: ``torch ; sys_platform == 'never'``.

    The way to say in a uv.lock that a container image brings the package.
    """
    overrides = () if lock is None else lock.overrides
    return frozenset(name for name, text in _named(overrides) if _NOWHERE.search(text))


def _ask_for_the_same(before: frozenset[str] | None, after: frozenset[str] | None) -> bool:
    if before == after:
        return True
    from envtrack.compare.specifiers import find_requirement_meaning

    old, new = (frozenset(map(find_requirement_meaning, texts or ())) for texts in (before, after))
    return old == new


def _named(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        if found := _NAME.match(text):
            yield normalise(found[1]), text


def _reach_unmoved(
    locks: Iterable[Lock], moved: frozenset[str], asked: Iterable[str]
) -> frozenset[str]:
    """What the edges of roots and of packages that stayed lead to."""
    edges: dict[str, set[str]] = {}
    roots: set[str] = set()
    seen: set[int] = set()
    for lock in locks:
        roots.update(package.name for package in lock.roots)
        for package in lock.packages:
            # Two states of a file share most of their packages.
            if id(package) not in seen:
                seen.add(id(package))
                edges.setdefault(package.name, set()).update(_edge_names(package))
    reached: set[str] = set()
    waiting = [*roots, *asked]
    while waiting:
        name = waiting.pop()
        if name in moved and name not in roots:
            continue
        fresh = edges.pop(name, set()) - reached
        reached |= fresh
        waiting += fresh
    return frozenset(reached)


_known_edges: dict[int, tuple[LockedPackage, frozenset[str]]] = {}


def _edge_names(package: LockedPackage) -> frozenset[str]:
    """What a package leads to; said once of a package that many states of a lock share."""
    known = _known_edges.get(id(package))
    # Another package can come to stand where one was forgotten: the entry keeps its own alive.
    if known is None or known[0] is not package:
        if len(_known_edges) > _MOST_KNOWN:
            _known_edges.clear()
        known = package, frozenset(edge.name for edge in _edges(package))
        _known_edges[id(package)] = known
    return known[1]


def _edges(package: LockedPackage) -> Iterator[Dependency]:
    yield from package.dependencies
    for some in (*package.optional_dependencies.values(), *package.groups.values()):
        yield from some
