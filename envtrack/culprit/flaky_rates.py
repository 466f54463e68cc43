"""How well runs that passed and failed fit to two unknown rates, of which the later is higher."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

_A: Final = 0.5
"""Both parameters of the Beta distribution that each rate has beforehand (Jeffreys' prior)."""
_TINY: Final = 1e-15


class Counts(NamedTuple):
    """Runs that failed with the hunted failure, and that passed."""

    failed: int = 0
    passed: int = 0

    @property
    def runs(self) -> int:
        """All of them."""
        return self.failed + self.passed

    def add(self, *, failed: bool) -> Counts:
        """With one more."""
        return Counts(self.failed + failed, self.passed + (not failed))

    def __add__(self, other: object) -> Counts:
        """Both together."""
        if not isinstance(other, Counts):
            return NotImplemented
        return Counts(self.failed + other.failed, self.passed + other.passed)

    def __sub__(self, other: Counts) -> Counts:
        """Without the other."""
        return Counts(self.failed - other.failed, self.passed - other.passed)


class Fit(NamedTuple):
    """How well runs fit to one case.

    Attributes:
        log: the logarithm of their probability in it.
        earlier: how probable it is then that the next run on the earlier side fails.
        later: likewise on the later side.
    """

    log: float
    earlier: float
    later: float


class Rates:
    """Fits, remembering what was worked out before."""

    def __init__(self) -> None:
        self._fits: dict[tuple[Counts, Counts], Fit] = {}
        self._higher: dict[tuple[int, int, int, int], float] = {(0, 0, 0, 0): 0.5}

    def fit_one(self, counts: Counts) -> Fit:
        """The fit of one rate for all runs."""
        mean = (_A + counts.failed) / (2 * _A + counts.runs)
        return Fit(_log_chance(counts), mean, mean)

    def fit(self, before: Counts, after: Counts) -> Fit:
        """The fit of two rates, of which that of `after` is the higher one."""
        known = self._fits.get((before, after))
        if known is None:
            higher = self.is_higher(before, after)
            known = Fit(
                _log_chance(before) + _log_chance(after) + math.log(2 * higher),
                self._next(before, self.is_higher(before.add(failed=True), after) / higher),
                self._next(after, self.is_higher(before, after.add(failed=True)) / higher),
            )
            self._fits[before, after] = known
        return known

    def _next(self, counts: Counts, factor: float) -> float:
        """How probable a further failure is; `factor`: what the condition makes of it."""
        return min(1 - _TINY, factor * (_A + counts.failed) / (2 * _A + counts.runs))

    def is_higher(self, before: Counts, after: Counts) -> float:
        """How probable it is that the rate of `after` is higher than that of `before`.

        From the next smaller numbers, one run after the other: with X and Y independent and Beta
        distributed with a, b and c, d, P(X > Y) grows by h/a with a + 1 and by h/d with d + 1, and
        falls by h/b with b + 1 and by h/c with c + 1, for h = B(a + c, b + d) / B(a, b) / B(c, d)
        (integration by parts).
        """
        missing = []
        at = (*after, *before)
        while at not in self._higher:
            smaller = self._smaller(at)
            missing.append((at, smaller))
            at = smaller
        for at, smaller in reversed(missing):
            value = self._higher[smaller] + _step(smaller, at)
            self._higher[at] = min(1.0, max(_TINY, value))
        return self._higher[(*after, *before)]

    def _smaller(self, at: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """The same with one run less: one that is known, or else of the most frequent kind."""
        a, b, c, d = at
        fewer = ((a - 1, b, c, d), (a, b - 1, c, d), (a, b, c - 1, d), (a, b, c, d - 1))
        known = (one for one in fewer if one in self._higher)
        return next(known, fewer[max(range(4), key=at.__getitem__)])


def _step(smaller: tuple[int, int, int, int], larger: tuple[int, int, int, int]) -> float:
    which = next(
        n for n, (one, other) in enumerate(zip(smaller, larger, strict=True)) if one != other
    )
    a, b, c, d = (number + _A for number in smaller)
    h = math.exp(_log_beta(a + c, b + d) - _log_beta(a, b) - _log_beta(c, d))
    return (h / a, -h / b, -h / c, h / d)[which]


def _log_chance(counts: Counts) -> float:
    """The logarithm of the probability of these runs, in their order, at one unknown rate."""
    return _log_beta(_A + counts.failed, _A + counts.passed) - _log_beta(_A, _A)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
