"""The choice of the next commit where many can't be judged."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, log2

from hypothesis import given
from hypothesis import strategies as st

from envtrack.culprit.blocks import choose_next


def bisect(count: int, guilty: int, unjudged: set[int]) -> tuple[int, int, list[int]]:
    """A linear search: the last good and the first bad position, and what was tried."""
    low, high, tried = -1, count - 1, list[int]()
    while True:
        skipped = {at - low - 1 for at in tried if low < at < high and at in unjudged}
        place = choose_next(range(1, high - low + 1), skipped)
        if place is None:
            return low, high, tried
        at = low + 1 + place
        assert low < at < high
        assert at not in tried
        tried.append(at)
        if at not in unjudged:
            low, high = (low, at) if at >= guilty else (at, high)


@given(st.data())
def test_the_culprit_is_always_between_what_it_comes_to(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 200))
    guilty = data.draw(st.integers(0, count - 1))
    unjudged = data.draw(st.sets(st.integers(0, count - 1)))
    low, high, _ = bisect(count, guilty, unjudged)
    assert low < guilty <= high


@given(st.integers(1, 500), st.data())
def test_without_any_it_halves(count: int, data: st.DataObject) -> None:
    guilty = data.draw(st.integers(0, count - 1))
    low, high, tried = bisect(count, guilty, set())
    assert (low, high) == (guilty - 1, guilty)
    assert len(tried) <= ceil(log2(count)) + (count & (count - 1) != 0)


@given(st.integers(2, 400), st.data())
def test_both_edges_of_one_run_are_found_at_the_cost_of_two_searches(
    count: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, count - 2))
    last = data.draw(st.integers(first, count - 2))
    guilty = data.draw(st.integers(0, count - 1))
    low, high, tried = bisect(count, guilty, set(range(first, last + 1)))
    if first <= guilty <= last + 1:
        assert (low, high) == (first - 1, last + 1)
    else:
        assert (low, high) == (guilty - 1, guilty)
    assert len(tried) <= 3 * ceil(log2(count)) + 8


def test_inside_a_run_samples_are_tried_and_a_short_one_is_tried_whole() -> None:
    assert sorted(bisect(4, 2, {0, 1, 2})[2]) == [0, 1, 2]
    _, _, tried = bisect(100, 50, set(range(99)))
    assert 4 <= len(tried) <= 20
    assert max(after - before for before, after in pairwise(sorted(tried))) <= 26
