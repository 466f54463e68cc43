"""Where along a line of candidates something turns: releases of a package, or lengths of a prefix.

What can't be judged comes in runs (a release that needs what is not there, and all after it until
that changes), so it is stepped round by doubling steps from the middle.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple

from envtrack.culprit.said import Said


class Edge(NamedTuple):
    """Where a line turns.

    Attributes:
        low: the last position that passes, as far as could be judged.
        high: the first that fails. Between the two none could be judged.
    """

    low: int
    high: int

    @property
    def is_exact(self) -> bool:
        """Whether nothing is left between them."""
        return self.high - self.low == 1


def find_edge(low: int, high: int) -> Generator[int, Said, Edge]:
    """Asks for positions until it knows where the line turns.

    Args:
        low: a position that passes.
        high: a later one that fails.

    Returns:
        (By ``StopIteration.value``.) The edge: after about log2(high - low) questions, and more
        where some can't be judged; never one twice.
    """
    known: dict[int, Said] = {}
    while high - low > 1:
        for at in _from_the_middle(low, high):
            if at not in known:
                known[at] = yield at
            if known[at] is not Said.UNRESOLVED:
                low, high = (low, at) if known[at] is Said.FAILS else (at, high)
                break
        else:
            break
    return Edge(low, high)


def _from_the_middle(low: int, high: int) -> Iterator[int]:
    """Every position between two, the middle first, then by doubling steps, then all others."""
    centre = (low + high) // 2
    told = set()
    reach = 0
    while centre - reach > low or centre + reach < high:
        for at in (centre + reach, centre - reach):
            if low < at < high and at not in told:
                told.add(at)
                yield at
        reach = 2 * reach or 1
    yield from (at for at in range(low + 1, high) if at not in told)
