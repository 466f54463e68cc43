"""Under which markers, extras and groups a lock says that a package is installed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple, TypeAlias

from envtrack.compare.index import Memory
from envtrack.lockfiles.markers import Comparison, Either, Every, MarkerError, Node, parse_marker
from envtrack.model.lock import Dependency, Lock, LockedPackage

_What: TypeAlias = tuple[str, tuple[str, ...]]
_ALWAYS = ""
_NEVER = "never"


class Ask(NamedTuple):
    """One edge that leads to a package, as far as another lock can say it too.

    Attributes:
        asker: who asks, with the extra or group in which: ``lab``, ``lab[gpu]``, ``lab:dev``.
        extras: which extras of the package are asked for.
        marker: where, in normal form; empty: everywhere.
    """

    asker: str
    extras: tuple[str, ...]
    marker: str

    @property
    def what(self) -> _What:
        """What is asked, wherever it is."""
        return self.asker, self.extras

    def __str__(self) -> str:
        wanted = f" wants [{','.join(self.extras)}]" if self.extras else ""
        return self.asker + wanted + (f" if {self.marker}" if self.marker else "")


class Common(NamedTuple):
    """What two locks both take for granted.

    Attributes:
        impossible: comparisons that can't hold together.
        pythons: specifiers of the Pythons that both are for: that they are for others is a change
            of its own, and moves the markers of many packages.
    """

    impossible: frozenset[frozenset[str]]
    pythons: tuple[str, ...]

    @classmethod
    def of(cls, before: Lock, after: Lock) -> Common:
        """What these two share."""
        texts = {before.requires_python, after.requires_python} - {""}
        return cls(find_impossible(before) & find_impossible(after), tuple(sorted(texts)))

    def have_one_meaning(self, before: frozenset[str], after: frozenset[str]) -> bool:
        """Whether some markers hold just where the others do; an empty set: everywhere."""
        if before == after:
            return True
        from envtrack.compare.marker_meaning import mean_the_same

        everywhere = frozenset({_ALWAYS})
        return mean_the_same(
            before or everywhere, after or everywhere, self.impossible, self.pythons
        )

    def find_difference(
        self, before: frozenset[Ask], after: frozenset[Ask]
    ) -> tuple[frozenset[Ask], frozenset[Ask]]:
        """Who asks on one side only; what comes to the same on both is left out."""
        from envtrack.compare.marker_meaning import mean_the_same

        touched = {ask.what for ask in before ^ after}
        old, new = (_find_markers(asks, touched) for asks in (before, after))
        nothing = frozenset[str]()
        differs = {
            what
            for what in touched
            if not mean_the_same(
                old.get(what, nothing), new.get(what, nothing), self.impossible, self.pythons
            )
        }
        gone, come = (
            frozenset(ask for ask in side if ask.what in differs)
            for side in (before - after, after - before)
        )
        return gone, come


def _find_markers(asks: Iterable[Ask], wanted: Collection[_What]) -> dict[_What, frozenset[str]]:
    """Where each of these things is asked for."""
    found: dict[_What, frozenset[str]] = {}
    for ask in asks:
        what = ask.what
        if what in wanted:
            found[what] = found.get(what, frozenset()) | {ask.marker}
    return found


def find_asks(lock: Lock, packages: Iterable[LockedPackage]) -> frozenset[tuple[str, Ask]]:
    """Who of these packages of a lock asks for what: names, each with how it is asked for."""
    impossible = find_impossible(lock)
    memory = _memory_of(impossible)
    return frozenset[tuple[str, Ask]]().union(*map(memory, packages))


@lru_cache(maxsize=4)
def _memory_of(impossible: frozenset[frozenset[str]]) -> Memory[frozenset[tuple[str, Ask]]]:
    return Memory(lambda package: frozenset(_find_asks(package, impossible)))


def _find_asks(
    package: LockedPackage, impossible: frozenset[frozenset[str]]
) -> Iterator[tuple[str, Ask]]:
    for asker, edge in _edges(package):
        marker = normalise_marker(edge.marker, impossible)
        # An edge that can never hold is as good as none.
        if marker != _NEVER:
            yield _share(edge.name, asker, tuple(sorted(edge.extras)), marker)


@lru_cache(maxsize=50_000)
def _share(name: str, asker: str, extras: tuple[str, ...], marker: str) -> tuple[str, Ask]:
    """One value for what both sides say: sets of them are compared faster."""
    return name, Ask(asker, extras, marker)


def find_forks(lock: Lock, package: LockedPackage) -> frozenset[str]:
    """The forks of a package of a lock in normal form."""
    impossible = find_impossible(lock)
    forks = {normalise_marker(marker, impossible) for marker in package.resolution_markers}
    return frozenset(forks - {_NEVER})


def tell_difference(gone: Iterable[Ask], come: Iterable[Ask]) -> str:
    """Who asks no more, and who asks now, in one line."""
    left = "; ".join(sorted(map(str, gone))) or "nobody else"
    right = "; ".join(sorted(map(str, come))) or "nobody else"
    return f"{left} → {right}"


def _edges(package: LockedPackage) -> Iterator[tuple[str, Dependency]]:
    for edge in package.dependencies:
        yield package.name, edge
    for extra, edges in package.optional_dependencies.items():
        for edge in edges:
            yield f"{package.name}[{extra}]", edge
    for group, edges in package.groups.items():
        for edge in edges:
            yield f"{package.name}:{group}", edge


def find_impossible(lock: Lock) -> frozenset[frozenset[str]]:
    """Comparisons that can't hold together: extras and groups that exclude each other."""
    return _pair_conflicts(lock.conflicts) if lock.conflicts else frozenset()


@lru_cache(maxsize=100)
def _pair_conflicts(conflicts: tuple[tuple[str, ...], ...]) -> frozenset[frozenset[str]]:
    """Comparisons that can't hold together: extras and groups that exclude each other.

    uv adds clauses about them to markers that have nothing to do with them, and leaves them out
    again, by version and by what else is in the project.
    """
    pairs: set[frozenset[str]] = set()
    for conflict in conflicts:
        encoded = [_encode(item) for item in conflict]
        pairs.update(frozenset(pair) for pair in combinations(encoded, 2))
    return frozenset(pairs)


def _encode(item: str) -> str:
    """The comparison of `package[extra]`, `package:group` or `package`, as markers have it."""
    package, bracket, extra = item.removesuffix("]").partition("[")
    if bracket:
        return f"extra == 'extra-{len(package)}-{package}-{extra}'"
    package, colon, group = item.partition(":")
    if colon:
        return f"extra == 'group-{len(package)}-{package}-{group}'"
    return f"extra == 'project-{len(package)}-{package}'"


@lru_cache(maxsize=50_000)
def normalise_marker(text: str, impossible: frozenset[frozenset[str]]) -> str:
    """One spelling for markers that differ in order, quotes or impossible clauses only.

    Returns:
        Empty if it always holds, `never` if it never does; text that is no marker as it is.
    """
    if not text.strip():
        return _ALWAYS
    try:
        node = _simplify(parse_marker(text), impossible)
    except MarkerError:
        return text
    return _NEVER if node is None else _render(node)


def _simplify(node: Node, impossible: frozenset[frozenset[str]]) -> Node | None:
    """The node without impossible clauses, nesting and repetition; `None` if nothing is left."""
    if isinstance(node, Comparison):
        return node
    simple = [_simplify(part, impossible) for part in node.parts]
    if isinstance(node, Every) and None in simple:
        return None
    parts: dict[str, Node] = {}
    for part in simple:
        if part is not None:
            inner = part.parts if isinstance(part, type(node)) else (part,)
            parts.update((_render(each), each) for each in inner)
    if isinstance(node, Every) and any(pair <= parts.keys() for pair in impossible):
        return None
    ordered = tuple(parts[shown] for shown in sorted(parts))
    if len(ordered) <= 1:
        return ordered[0] if ordered else None
    return type(node)(ordered)


def _render(node: Node) -> str:
    if isinstance(node, Comparison):
        return str(node).replace('"', "'")
    if isinstance(node, Either):
        return " or ".join(map(_render, node.parts))
    # Within `and`, an `or` needs its parentheses.
    shown = (f"({_render(p)})" if isinstance(p, Either) else _render(p) for p in node.parts)
    return " and ".join(shown)
