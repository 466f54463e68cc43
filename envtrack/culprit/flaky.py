"""Where along a line of commits a flaky smoke test began to fail more often.

A test that fails now and then says little with one run. What is looked for is the position from
which on it fails at a higher rate; neither rate is known. Every position has a probability of being
it, and so has the case that nothing changed at all. Each run moves them by Bayes' rule: both rates
have Jeffreys' prior, Beta(1/2, 1/2), under the condition that the later one is higher, and are
integrated out exactly. The next run is where it is expected to tell most (in bits, about which of
these cases is true).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple

from envtrack.culprit.flaky_rates import Counts, Fit, Rates

UNCHANGED: Final = 0.02
"""How probable it is before any run that no candidate changed anything."""
_LEAST_BITS: Final = 1e-4
_LEAST_GAIN: Final = 1e-12


class Belief(NamedTuple):
    """What is probable after some runs.

    Attributes:
        positions: how probable each is to be the first of the later side.
        unchanged: how probable it is that there is none.
    """

    positions: tuple[float, ...]
    unchanged: float

    @property
    def likeliest(self) -> int:
        """The position that is most probably the first."""
        return max(range(len(self.positions)), key=self.positions.__getitem__)

    @property
    def is_unchanged(self) -> bool:
        """Whether it is most probable that there is none."""
        return self.unchanged > self.positions[self.likeliest]

    @property
    def confidence(self) -> float:
        """How probable the most probable case is."""
        return max(self.unchanged, self.positions[self.likeliest])


class _Segment(NamedTuple):
    """Positions between which no run was made: all runs are on the same side of each.

    Attributes:
        start: the first.
        stop: the one after the last.
        fit: how well the runs fit to a change here.
    """

    start: int
    stop: int
    fit: Fit


class FlakySearch:
    """The state of a search: what was seen, what is probable, where to look next.

    Args:
        weights: how likely each position is beforehand to be the first of the later side, in any
            unit; 0: it can't be. Position 0 is the good end.
        unchanged: how probable it is beforehand that there is none.
    """

    def __init__(self, weights: Sequence[float], *, unchanged: float = UNCHANGED) -> None:
        total = sum(weights)
        if total <= 0 or min(weights) < 0:
            raise ValueError("no position can be the first")
        self._prior = tuple((1 - unchanged) * weight / total for weight in weights)
        self._unchanged = unchanged
        self._below = (0.0, *accumulate(self._prior))
        self._counts: dict[int, Counts] = {}
        self._closed: set[int] = set()
        self._rates = Rates()

    def add(self, position: int, *, failed: bool) -> None:
        """Takes one run into account."""
        self._counts[position] = self.count(position).add(failed=failed)
        self.__dict__.pop("_segments", None)
        self.__dict__.pop("belief", None)

    def close(self, position: int) -> None:
        """From now on nothing is tried there; it can be the first all the same."""
        self._closed.add(position)

    def count(self, position: int) -> Counts:
        """The runs at one position."""
        return self._counts.get(position, Counts())

    def count_sides(self, first: int) -> tuple[Counts, Counts]:
        """The runs before a position, and those from it on."""
        before = sum((c for p, c in self._counts.items() if p < first), Counts())
        return before, self._all - before

    @property
    def _all(self) -> Counts:
        return sum(self._counts.values(), Counts())

    @cached_property
    def _segments(self) -> tuple[tuple[_Segment, ...], Fit]:
        """The segments, and the fit of there being no change."""
        everything, before, start = self._all, Counts(), 0
        found = []
        for tried in (*sorted(self._counts), len(self._prior) - 1):
            if tried + 1 > start:
                fit = self._rates.fit(before, everything - before)
                found.append(_Segment(start, tried + 1, fit))
            before, start = before + self.count(tried), max(start, tried + 1)
        return tuple(found), self._rates.fit_one(everything)

    @cached_property
    def belief(self) -> Belief:
        """What is probable now."""
        segments, none = self._segments
        best = max(none.log, *(segment.fit.log for segment in segments))
        raw = []
        for segment in segments:
            scale = math.exp(segment.fit.log - best)
            raw += [scale * prior for prior in self._prior[segment.start : segment.stop]]
        unchanged = self._unchanged * math.exp(none.log - best)
        total = sum(raw) + unchanged
        return Belief(tuple(value / total for value in raw), unchanged / total)

    def choose(self) -> int | None:
        """The position whose next run tells most; ``None`` if no run would tell anything.

        Of several that tell the same the one nearest to the middle of what is probable.
        """
        gains = self._gains()
        if not gains:
            return None
        best = max(gains.values())
        if best < _LEAST_BITS:
            return None
        ties = [at for at, gain in gains.items() if gain >= best - _LEAST_GAIN]
        return ties[len(ties) // 2]

    def _gains(self) -> dict[int, float]:
        """The expected information of a run at each position that is open, in bits."""
        segments, none = self._segments
        belief = self.belief
        # Beginning with all cases on the earlier side, one position after the other goes over.
        share, doubt = belief.unchanged * none.earlier, belief.unchanged * _bits(none.earlier)
        for segment in segments:
            mass = sum(belief.positions[segment.start : segment.stop])
            share += mass * segment.fit.earlier
            doubt += mass * _bits(segment.fit.earlier)
        gains = {}
        for segment in segments:
            rise = segment.fit.later - segment.fit.earlier
            more = _bits(segment.fit.later) - _bits(segment.fit.earlier)
            for at in range(segment.start, segment.stop):
                mass = belief.positions[at]
                share += mass * rise
                doubt += mass * more
                if at not in self._closed:
                    gains[at] = _bits(share) - doubt
        return gains


def _bits(chance: float) -> float:
    """The entropy of something that happens with this chance."""
    if not 0 < chance < 1:
        return 0.0
    return -chance * math.log2(chance) - (1 - chance) * math.log2(1 - chance)


def bar_repeats(weights: Sequence[float], keys: Sequence[Hashable]) -> tuple[float, ...]:
    """The weights, 0 where nothing can have changed.

    Two positions with one key are one environment and one code, which lie on one side: between the
    two there can be no change.

    Args:
        weights: of each position.
        keys: what decides at each; ``None`` where it is not known.
    """
    barred = list(weights)
    last = {key: at for at, key in enumerate(keys) if key is not None}
    reach = 0
    for at, key in enumerate(keys):
        if at <= reach and at:
            barred[at] = 0.0
        reach = max(reach, last.get(key, at) if key is not None else at)
    return tuple(barred)
