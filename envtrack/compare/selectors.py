"""Under which markers, extras and groups a lock says that a package is installed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from envtrack.lockfiles.markers import Comparison, Either, Every, MarkerError, Node, parse_marker
from envtrack.model.lock import Dependency, Lock, LockedPackage

_ALWAYS = ""
_NEVER = "never"


@dataclass(frozen=True, slots=True, order=True)
class Ask:
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
    def what(self) -> tuple[str, tuple[str, ...]]:
        """What is asked, wherever it is."""
        return self.asker, self.extras

    def __str__(self) -> str:
        wanted = f" wants [{','.join(self.extras)}]" if self.extras else ""
        return self.asker + wanted + (f" if {self.marker}" if self.marker else "")


@dataclass(frozen=True, slots=True)
class Common:
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

    def have_one_meaning(self, before: frozenset[str] | None, after: frozenset[str] | None) -> bool:
        """Whether some markers hold just where the others do; an empty set: everywhere."""
        if before == after:
            return True
        from envtrack.compare.marker_meaning import mean_the_same

        everywhere = frozenset({_ALWAYS})
        return mean_the_same(
            before or everywhere, after or everywhere, self.impossible, self.pythons
        )

    def drop_same(
        self, before: frozenset[Ask] | None, after: frozenset[Ask] | None
    ) -> tuple[frozenset[Ask], frozenset[Ask]]:
        """The asks of both sides without those that come to the same."""
        old, new = before or frozenset(), after or frozenset()
        if old == new:
            return frozenset(), frozenset()
        from envtrack.compare.marker_meaning import mean_the_same

        differs = {
            what
            for what in {ask.what for ask in old ^ new}
            if not mean_the_same(
                _markers(old, what), _markers(new, what), self.impossible, self.pythons
            )
        }
        old, new = (frozenset(a for a in side if a.what in differs) for side in (old, new))
        return old, new


def _markers(asks: frozenset[Ask], what: tuple[str, tuple[str, ...]]) -> frozenset[str]:
    return frozenset(ask.marker for ask in asks if ask.what == what)


def find_asks(lock: Lock, steady: Collection[str]) -> dict[str, frozenset[Ask]]:
    """Who asks for each package, by name.

    Args:
        lock: the lock.
        steady: the names whose edges count: those of a package that moved are news of its own.
    """
    impossible = find_impossible(lock)
    found: dict[str, set[Ask]] = {}
    for package in lock.packages:
        if package.name not in steady:
            continue
        for asker, edge in _edges(package):
            marker = normalise_marker(edge.marker, impossible)
            # An edge that can never hold is as good as none.
            if marker != _NEVER:
                ask = Ask(asker, tuple(sorted(edge.extras)), marker)
                found.setdefault(edge.name, set()).add(ask)
    return {name: frozenset(asks) for name, asks in found.items()}


def find_forks(lock: Lock, names: Collection[str]) -> dict[int, frozenset[str]]:
    """The forks of the packages of these names in normal form, by the package's `id`."""
    impossible = find_impossible(lock)
    return {
        id(package): frozenset(
            normalise_marker(marker, impossible) for marker in package.resolution_markers
        )
        - {_NEVER}
        for package in lock.packages
        if package.name in names
    }


def tell_difference(before: frozenset[Ask], after: frozenset[Ask]) -> str:
    """What is said differently, in one line."""
    gone = "; ".join(str(ask) for ask in sorted(before - after)) or "nobody else"
    come = "; ".join(str(ask) for ask in sorted(after - before)) or "nobody else"
    return f"{gone} → {come}"


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
    """Comparisons that can't hold together: extras and groups that exclude each other.

    uv adds clauses about them to markers that have nothing to do with them, and leaves them out
    again, by version and by what else is in the project.
    """
    pairs: set[frozenset[str]] = set()
    for conflict in lock.conflicts:
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
