"""Whether two sets of markers hold in the same environments, however they are written.

uv splits a resolution again where another package needs it, merges it again, and leaves clauses out
that follow from others: most markers that differ between two states of a lockfile mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import prod
from typing import Final, NamedTuple

from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

from envtrack.lockfiles.markers import Comparison, Every, MarkerError, Node, parse_marker

# More environments than this are not tried: the texts are compared instead.
_MOST_ENVIRONMENTS: Final = 1 << 16
_PYTHON: Final = "python"
_PYTHONS: Final = frozenset({"python_version", "python_full_version"})
_SETS: Final = frozenset({"extra", "extras", "dependency_groups"})
_EQUAL: Final = frozenset({"==", "!="})
_WITHIN: Final = frozenset({"in", "not in"})
# Stands for every value that no marker names.
_ANY_OTHER: Final = "\0"


class _UndecidedError(Exception):
    """A comparison whose values can't be listed."""


class _Atom(NamedTuple):
    """One comparison.

    Attributes:
        variable: what it asks for.
        values: those of the variable that the comparison tells apart.
        holds: its answer for a value.
    """

    variable: str
    values: frozenset[str]
    holds: Callable[[str], bool]


@lru_cache(maxsize=20_000)
def mean_the_same(
    before: frozenset[str],
    after: frozenset[str],
    impossible: frozenset[frozenset[str]] = frozenset(),
    pythons: tuple[str, ...] = (),
) -> bool:
    """Whether one of `before` holds just where one of `after` does.

    Every combination of the values that the markers can tell apart is tried; pre-releases of
    Python are not among them.

    Args:
        before: markers; an empty one always holds, `never` never does, and none is as good.
        after: the same of the other side.
        impossible: pairs of comparisons that can't hold together.
        pythons: specifiers of the Pythons that are meant; empty: all.

    Returns:
        Also false where that can't be decided, or only by too much work.
    """
    if before == after:
        return True
    try:
        nodes = [_parse(before), _parse(after)]
        asked = [each for side in nodes for node in side for each in _comparisons(node)]
        space = _Space(asked, pythons)
    except (MarkerError, _UndecidedError):
        return False
    allowed = space.allow(impossible)
    old, new = (
        space.find_any(texts, side) & allowed
        for texts, side in zip((before, after), nodes, strict=True)
    )
    return old == new


def _parse(texts: frozenset[str]) -> list[Node]:
    return [parse_marker(text) for text in texts if text and text != "never"]


def _comparisons(node: Node) -> Iterator[Comparison]:
    if isinstance(node, Comparison):
        yield node
        return
    for part in node.parts:
        yield from _comparisons(part)


class _Space:
    """All environments that some comparisons tell apart; a set of them is the bits of a number."""

    def __init__(self, comparisons: list[Comparison], pythons: tuple[str, ...]) -> None:
        atoms = {comparison: _read(comparison) for comparison in comparisons}
        values: dict[str, set[str]] = {}
        for atom in atoms.values():
            values.setdefault(atom.variable, set()).update(atom.values)
        if _PYTHON in values:
            values[_PYTHON] = _find_meant(values[_PYTHON], pythons)
        size = prod(map(len, values.values()))
        if not 0 < size <= _MOST_ENVIRONMENTS:
            raise _UndecidedError
        self._all = (1 << size) - 1
        self._places: dict[str, tuple[int, list[str]]] = {}
        width = 1
        for variable, some in values.items():
            self._places[variable] = width, sorted(some)
            width *= len(some)
        self._bits = {each: self._find_bits(a.variable, a.holds) for each, a in atoms.items()}

    def find_any(self, texts: frozenset[str], nodes: list[Node]) -> int:
        """Where one of the markers holds."""
        if "" in texts:
            return self._all
        found = 0
        for node in nodes:
            found |= self._find(node)
        return found

    def allow(self, impossible: frozenset[frozenset[str]]) -> int:
        """All but where two comparisons hold that exclude each other."""
        allowed = self._all
        for pair in impossible:
            found = [self._find_bits(name, bool) for name in pair if name in self._places]
            if len(found) > 1:
                allowed &= ~(found[0] & found[1])
        return allowed

    def _find(self, node: Node) -> int:
        if isinstance(node, Comparison):
            return self._bits[node]
        is_every = isinstance(node, Every)
        found = self._all if is_every else 0
        for part in node.parts:
            found = found & self._find(part) if is_every else found | self._find(part)
        return found

    def _find_bits(self, variable: str, holds: Callable[[str], bool]) -> int:
        width, values = self._places[variable]
        ones = (1 << width) - 1
        block = sum(ones << (at * width) for at, value in enumerate(values) if holds(value))
        # The same again for every value of the variables that come after.
        return block * (self._all // ((1 << (width * len(values))) - 1))


@lru_cache(maxsize=5_000)
def _read(comparison: Comparison) -> _Atom:
    left, op, right = comparison.left, comparison.op, comparison.right
    is_quoted = left[0] in "'\"", right[0] in "'\""
    if is_quoted == (False, True):
        return _read_plain(left, op, right[1:-1])
    if is_quoted == (True, False) and (op in _EQUAL or (op in _WITHIN and right in _SETS)):
        return _read_plain(right, op, left[1:-1])
    raise _UndecidedError


def _read_plain(variable: str, op: str, text: str) -> _Atom:
    if variable in _SETS:
        # Any number of them hold at once: each is a variable of its own.
        if op not in _EQUAL | _WITHIN:
            raise _UndecidedError
        wanted = op in {"==", "in"}
        name = f"{variable} == '{text}'"
        return _Atom(name, frozenset({"", "yes"}), lambda value: bool(value) is wanted)
    if variable in _PYTHONS:
        return _read_python(variable, op, text)
    if op in _EQUAL:
        return _Atom(
            variable, frozenset({text, _ANY_OTHER}), lambda value: (value == text) is (op == "==")
        )
    raise _UndecidedError


def _read_python(variable: str, op: str, text: str) -> _Atom:
    is_short = variable == "python_version"
    try:
        specifier = Specifier(f"{op}{text}")
        release = _release(text)
    except ValueError as error:  # no version, or one of thousands of digits
        raise _UndecidedError from error

    def holds(value: str) -> bool:
        return specifier.contains(value.rpartition(".")[0] if is_short else value)

    return _Atom(_PYTHON, frozenset(_near(*release)), holds)


def _near(major: int, minor: int, micro: int) -> Iterator[str]:
    """The Pythons among which a comparison with this one can change its answer."""
    yield f"{major}.{minor}.{micro}"
    yield f"{major}.{minor}.{micro + 1}"
    yield f"{major}.{minor + 1}.0"
    yield f"{major + 1}.0.0"
    if micro:
        yield f"{major}.{minor}.{micro - 1}"
    if minor:
        yield f"{major}.{minor - 1}.99"


def _find_meant(values: set[str], pythons: tuple[str, ...]) -> set[str]:
    """The Pythons that are meant, with those at the ends of what is meant."""
    try:
        limits = [SpecifierSet(text) for text in pythons]
        ends = [_release(each.version) for limit in limits for each in limit]
    except ValueError as error:
        raise _UndecidedError from error
    every = values.union(*(_near(*end) for end in ends))
    return {value for value in every if all(limit.contains(value) for limit in limits)}


def _release(version: str) -> tuple[int, int, int]:
    major, minor, micro = (*Version(version.removesuffix(".*")).release, 0, 0)[:3]
    return major, minor, micro
