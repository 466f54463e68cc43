"""Which of many changes are to blame: every smallest set of them that breaks what worked.

The search asks and is told, so that whoever drives it may take answers from a store, run trials
side by side, or stop: `find_change_sets` is a generator of `Ask`, to which `Said` is sent.

How. The shortest failing prefix of the changes is found by halving; its last change is needed for
the failure and is kept; with it in place the prefix before it is searched again, until what is kept
fails alone: about k·log2(n) trials for k changes among n (QuickXplain, Junker 2004). A mixture that
can't be judged is stepped round; where that leaves a block of changes in doubt, or where leaving
out one of the kept changes fails as well, delta debugging with three outcomes (Zeller and
Hildebrandt 2002) makes it minimal. Then all changes without these are tried: if they fail too, a
further set is to blame, and is searched for in what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Final, NamedTuple, TypeAlias

from envtrack.culprit.line import Edge, find_edge
from envtrack.culprit.said import Said

Taken: TypeAlias = frozenset[int]
NOTHING: Final[Taken] = frozenset()


class Ask(NamedTuple):
    """A trial that is asked for.

    Attributes:
        taken: the changes that are made, by position; all others are not.
        fresh: whatever is known of it already does not count.
    """

    taken: Taken
    fresh: bool = False


class Guilt(NamedTuple):
    """One set of changes that is to blame.

    Attributes:
        changes: by position. Leaving out any one of them does not fail any more, as far as that
            could be judged.
        alone: what a fresh trial of only these said.
        without: what a fresh trial of all changes but these said; where several sets are to blame
            each on its own, of all but the changes of every set.
        is_minimal: each smaller set by one change passes; otherwise some could not be judged.
    """

    changes: Taken
    alone: Said
    without: Said
    is_minimal: bool

    @property
    def is_shown(self) -> bool:
        """Whether it was shown both ways: enough by itself, and needed."""
        return self.alone is Said.FAILS and self.without is Said.PASSES


Search: TypeAlias = Generator[Ask, Said, tuple[Guilt, ...]]
_Step: TypeAlias = Generator[Ask, Said, Said]


def find_change_sets(count: int, *, suspects: Sequence[Taken] = ()) -> Search:
    """Asks for trials until it knows every set that is to blame on its own.

    None of the changes passes and all of them fail, or there is nothing to search: that is for the
    caller to try first.

    Args:
        count: how many changes there are, in an order in which those that belong together stand
            beside each other.
        suspects: sets that are tried first: two trials each, and two more if one is right.

    Returns:
        (By ``StopIteration.value``.) The sets in the order in which they were found.
    """
    trials = _Trials({NOTHING: Said.PASSES, frozenset(range(count)): Said.FAILS})
    found: list[Taken] = []
    left = tuple(range(count))
    while True:
        guilty = yield from _find_one(trials, left, suspects)
        found.append(guilty)
        left = tuple(change for change in left if change not in guilty)
        without = yield from trials.ask(frozenset(left), fresh=True)
        if without is not Said.FAILS or not left:
            break
    shown: list[Guilt] = []
    for guilty in found:
        alone = yield from trials.ask(guilty, fresh=True)
        is_minimal = yield from _is_minimal(trials, guilty)
        shown.append(Guilt(guilty, alone, without, is_minimal))
    return tuple(shown)


def run_search(search: Search, probe: Callable[[Ask], Said]) -> tuple[Guilt, ...]:
    """What a search comes to, each of its questions answered by `probe`, one after the other."""
    try:
        ask = next(search)
        while True:
            ask = search.send(probe(ask))
    except StopIteration as ended:
        found: tuple[Guilt, ...] = ended.value
        return found


class _Trials:
    """What is known; nothing is asked for twice."""

    def __init__(self, known: dict[Taken, Said]) -> None:
        self._known = known

    def ask(self, taken: Taken, *, fresh: bool = False) -> _Step:
        """What is said of a set of changes; a fresh trial has the last word."""
        if fresh or taken not in self._known:
            self._known[taken] = yield Ask(taken, fresh)
        return self._known[taken]


def _find_one(
    trials: _Trials, left: Sequence[int], suspects: Sequence[Taken]
) -> Generator[Ask, Said, Taken]:
    """A minimal failing set among changes that fail together."""
    for suspect in suspects:
        if suspect and suspect <= frozenset(left) and suspect != frozenset(left):
            alone = yield from trials.ask(suspect)
            if alone is Said.FAILS:
                return (yield from _reduce(trials, sorted(suspect)))
    kept, is_exact = yield from _keep_last_of_prefixes(trials, left)
    if is_exact and (yield from _is_needed(trials, frozenset(kept))):
        return frozenset(kept)
    return (yield from _reduce(trials, kept))


def _keep_last_of_prefixes(
    trials: _Trials, left: Sequence[int]
) -> Generator[Ask, Said, tuple[Sequence[int], bool]]:
    """Changes that fail together, each the last of a shortest failing prefix.

    And whether each was told from its neighbours: otherwise some are blocks that were in the way.
    """
    kept: list[int] = []
    is_exact = True
    rest = list(left)
    while rest and (yield from trials.ask(frozenset(kept))) is not Said.FAILS:
        edge = yield from _halve(trials, frozenset(kept), rest)
        kept += rest[edge.low : edge.high]
        rest = rest[: edge.low]
        is_exact = is_exact and edge.is_exact
    return sorted(kept), is_exact


def _halve(trials: _Trials, kept: Taken, rest: Sequence[int]) -> Generator[Ask, Said, Edge]:
    """The lengths of two prefixes: the longer one fails, the shorter is not known to.

    They differ by one, unless all that lie in between can't be judged.
    """
    line = find_edge(0, len(rest))
    try:
        length = next(line)
        while True:
            length = line.send((yield from trials.ask(kept | frozenset(rest[:length]))))
    except StopIteration as ended:
        found: Edge = ended.value
        return found


def _reduce(trials: _Trials, changes: Sequence[int]) -> Generator[Ask, Said, Taken]:
    """A set within these, which fail together, that is minimal by one: ddmin."""
    current = list(changes)
    parts = 2
    while len(current) > 1:
        size = -(-len(current) // parts)
        pieces = [current[at : at + size] for at in range(0, len(current), size)]
        smaller = yield from _find_failing(trials, current, pieces)
        if smaller is not None:
            is_piece = smaller in pieces
            current, parts = smaller, 2 if is_piece else max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(len(current), 2 * parts)
    return frozenset(current)


def _find_failing(
    trials: _Trials, current: Sequence[int], pieces: Sequence[list[int]]
) -> Generator[Ask, Said, list[int] | None]:
    """A piece that fails, or all but a piece; `None` if there is none."""
    for piece in pieces:
        if len(piece) < len(current) and ((yield from trials.ask(frozenset(piece))) is Said.FAILS):
            return piece
    for piece in pieces if len(pieces) > 2 else ():  # noqa: PLR2004 - of two each is the other's rest
        others = [change for change in current if change not in piece]
        if (yield from trials.ask(frozenset(others))) is Said.FAILS:
            return others
    return None


def _is_needed(trials: _Trials, guilty: Taken) -> Generator[Ask, Said, bool]:
    """Whether no set that is smaller by one change fails."""
    for change in sorted(guilty):
        if (yield from trials.ask(guilty - {change})) is Said.FAILS:
            return False
    return True


def _is_minimal(trials: _Trials, guilty: Taken) -> Generator[Ask, Said, bool]:
    """Whether every set that is smaller by one change passes."""
    for change in sorted(guilty):
        if (yield from trials.ask(guilty - {change})) is not Said.PASSES:
            return False
    return True
