from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.culprit.line import Edge, find_edge
from envtrack.culprit.releases import order_releases
from envtrack.culprit.said import Said


def run(count: int, judge: Callable[[int], Said]) -> tuple[Edge, list[int]]:
    """The edge on a line of `count` positions between the ends, and what was asked for."""
    asked = []
    search = find_edge(0, count + 1)
    try:
        at = next(search)
        while True:
            asked.append(at)
            at = search.send(judge(at))
    except StopIteration as ended:
        return ended.value, asked


@pytest.mark.parametrize("first", range(1, 65))
def test_the_first_bad_one_is_found_by_halving(first: int) -> None:
    edge, asked = run(63, lambda at: Said.FAILS if at >= first else Said.PASSES)
    assert edge == Edge(first - 1, first)
    assert len(asked) <= math.ceil(math.log2(64))


def test_nothing_between_the_ends_is_no_question() -> None:
    assert run(0, lambda _: Said.FAILS) == (Edge(0, 1), [])


@given(st.integers(0, 60), st.sets(st.integers(1, 60)), st.data())
def test_the_turn_is_never_outside_of_what_is_told(
    count: int, unjudged: set[int], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, count + 1))

    def judge(at: int) -> Said:
        if at in unjudged:
            return Said.UNRESOLVED
        return Said.FAILS if at >= first else Said.PASSES

    edge, asked = run(count, judge)
    assert edge.low < first <= edge.high
    assert set(range(edge.low + 1, edge.high)) <= unjudged
    assert len(asked) == len(set(asked))


KNOWN = {
    text: text == "2.1.1"
    for text in ("1.9", "2.0", "2.1.0rc1", "2.1.0", "2.1.1", "2.2.0+cu126", "2.2.0", "nonsense")
}


@pytest.mark.parametrize(
    ("good", "bad", "order"),
    [
        ("1.9", "2.2.0", "1.9 2.0 2.1.0 2.2.0"),
        ("2.2.0", "1.9", "2.2.0 2.1.0 2.0 1.9"),
        ("2.0", "2.1.0", "2.0 2.1.0"),
        ("2.0rc1", "2.2.0", "2.0rc1 2.0 2.1.0rc1 2.1.0 2.2.0"),
        ("1.9", "2.5+cu126", "1.9 2.0 2.1.0 2.2.0 2.2.0+cu126 2.5+cu126"),
        ("abc", "2.0", "abc 2.0"),
    ],
)
def test_releases_between_two_are_ordered(good: str, bad: str, order: str) -> None:
    assert " ".join(order_releases(KNOWN, good, bad)) == order
