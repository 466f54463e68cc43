"""Which commit to try next where many can't be judged.

What can't be judged comes in runs: a lockfile that can't be installed stays until the next one. A
search that jumps about in such a run learns nothing. So a commit is worth the more the better it
halves what is left, and the less the nearer it lies to the run, measured by how far the run is
known to reach: the steps away from it double until it is bracketed, and its edges are then found by
halving. Inside a run little is to be hoped for: of that only samples are tried.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

_PARTS: Final = 4
"""Of a run whose edges are known no longer stretch than one of so many parts stays untried."""


def choose_next(reach: Sequence[int], unjudged: Collection[int]) -> int | None:
    """The position of the commit to try next.

    Args:
        reach: for each commit that can be the first bad one, parents before children, how many of
            them it contains, itself included. The last one is known to be bad and contains all.
        unjudged: positions of those that could not be judged.

    Returns:
        ``None`` where nothing is left that is worth a trial: all were tried, or what was not lies
        scattered among what could not be judged.
    """
    last = len(reach) - 1
    if not unjudged:
        outside = list(range(last))
        first, end = last, last
    else:
        # All between two of them counts as one run: had one been judged, it would not be left.
        first, end = min(unjudged), max(unjudged)
        outside = [at for at in range(last) if not first <= at <= end]
    if not outside:
        return _choose_inside(sorted(unjudged))
    worth = {
        at: _bits(reach[at] / len(reach)) * _hope(at, first, end, is_run=bool(unjudged))
        for at in outside
    }
    # Of equals the middle one, then the first: the same choice every time.
    return max(outside, key=lambda at: (worth[at], -abs(2 * at - last), -at))


def _hope(at: int, first: int, end: int, *, is_run: bool) -> float:
    """The chance that a commit can be judged, as far as its distance from the run tells."""
    if not is_run:
        return 1.0
    distance = first - at if at < first else at - end
    return distance / (distance + (end - first + 1))


def _bits(share: float) -> float:
    """What a verdict tells that divides the rest in these shares."""
    if not 0 < share < 1:
        return 0.0
    return -share * math.log2(share) - (1 - share) * math.log2(1 - share)


def _choose_inside(unjudged: Sequence[int]) -> int | None:
    """The middle of the longest stretch between two of them; ``None`` if all are short."""
    if len(unjudged) < 2:  # noqa: PLR2004 - a stretch has two ends
        return None
    whole = unjudged[-1] - unjudged[0] + 1
    stretches = pairwise(unjudged)
    length, start = max((after - before - 1, -before) for before, after in stretches)
    if length * _PARTS <= whole:
        return None
    return -start + (length + 1) // 2
