"""What is asked of a lock, or of one of its packages, again and again, found once.

A history is compared state by state: each lock is the newer side once and the older side once, and
two states share nearly all of their packages (`envtrack.lockfiles.uv_chunks`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final, Generic, TypeVar

from envtrack.model.lock import Lock, LockedPackage
from envtrack.model.names import normalise

_Found = TypeVar("_Found")
_MOST_PACKAGES: Final = 20_000
_MOST_LOCKS: Final = 4
_NAME = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


class Memory(Generic[_Found]):
    """What a function finds in a package, remembered by the package's identity."""

    def __init__(self, find: Callable[[LockedPackage], _Found]) -> None:
        self._find = find
        self._known: dict[int, tuple[LockedPackage, _Found]] = {}

    def __call__(self, package: LockedPackage) -> _Found:
        """What is found in a package."""
        known = self._known.get(id(package))
        # The entry keeps its package alive, so that no other can come to stand in its place.
        if known is None:
            if len(self._known) > _MOST_PACKAGES:
                self._known.clear()
            known = self._known[id(package)] = package, self._find(package)
        return known[1]


class LockIndex:
    """Answers about one lock."""

    def __init__(self, lock: Lock) -> None:
        self.lock = lock

    @cached_property
    def names(self) -> dict[int, str]:
        """The packages' names by their `id`."""
        return {id(package): package.name for package in self.lock.packages}

    @cached_property
    def by_name(self) -> dict[str, list[LockedPackage]]:
        """The packages by name, in the lock's order."""
        found: dict[str, list[LockedPackage]] = {}
        for package in self.lock.packages:
            found.setdefault(package.name, []).append(package)
        return found

    def select(self, names: frozenset[str]) -> list[LockedPackage]:
        """The packages of these names, in the lock's order."""
        return [package for package in self.lock.packages if package.name in names]

    def find_edges(self, name: str) -> frozenset[str]:
        """The names that the packages of a name lead to."""
        some = self.by_name.get(name, ())
        if len(some) == 1:
            return _edge_names(some[0])
        return frozenset[str]().union(*map(_edge_names, some))

    @cached_property
    def roots(self) -> tuple[LockedPackage, ...]:
        """The project and the members."""
        return self.lock.roots

    @cached_property
    def projects(self) -> frozenset[str]:
        """The names of the roots."""
        return frozenset(package.name for package in self.roots)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The names of the roots, and of everything that they or the lock's manifest ask for."""
        return self.projects | {name for name, _ in find_names(self._requirements())}

    @cached_property
    def keeps_requirements(self) -> bool:
        """Whether it says what it was asked with."""
        return bool(
            self.lock.manifest_requirements
            or self.lock.manifest_groups
            or any(root.requirements is not None or root.group_requirements for root in self.roots)
        )

    @cached_property
    def limits(self) -> dict[str, frozenset[str]]:
        """What constraints, overrides and excludes say of each name."""
        found: dict[str, set[str]] = {}
        lock = self.lock
        for name, text in find_names((*lock.constraints, *lock.overrides, *lock.excludes)):
            found.setdefault(name, set()).add(text)
        return {name: frozenset(texts) for name, texts in found.items()}

    def _requirements(self) -> Iterator[str]:
        for package in self.roots:
            yield from package.requirements or ()
            for texts in package.group_requirements.values():
                yield from texts
        yield from self.lock.manifest_requirements
        for texts in self.lock.manifest_groups.values():
            yield from texts


def _find_edge_names(package: LockedPackage) -> frozenset[str]:
    optional = (*package.optional_dependencies.values(), *package.groups.values())
    return frozenset(edge.name for edges in (package.dependencies, *optional) for edge in edges)


_edge_names = Memory(_find_edge_names)
_recent: deque[LockIndex] = deque(maxlen=_MOST_LOCKS)


def index_lock(lock: Lock) -> LockIndex:
    """The index of a lock; the last few locks' are kept."""
    for index in _recent:
        if index.lock is lock:
            return index
    index = LockIndex(lock)
    _recent.append(index)
    return index


def find_names(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(name, text) of requirements; what names nothing is left out."""
    for text in texts:
        if name := _find_name(text):
            yield name, text


@lru_cache(maxsize=20_000)
def _find_name(text: str) -> str:
    found = _NAME.match(text)
    return normalise(found[1]) if found else ""
