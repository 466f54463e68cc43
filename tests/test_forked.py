"""Work that is split among processes gives what one process gives."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack import forked
from envtrack.forked import map_parts


@pytest.fixture(autouse=True)
def _three_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "_count_processors", lambda: 3)


def tell(part: Sequence[int]) -> list[tuple[int, int]]:
    return [(item, os.getpid()) for item in part]


def test_each_part_has_a_process_and_the_order_stays() -> None:
    told = map_parts(tell, range(30), weights=[1] * 30, least=10)
    assert [item for item, _ in told] == list(range(30))
    processes = list(dict.fromkeys(process for _, process in told))
    assert processes[0] == os.getpid()
    assert len(processes) == 3
    assert [sum(process == one for _, process in told) for one in processes] == [10, 10, 10]


def test_heavy_items_make_small_parts() -> None:
    told = map_parts(tell, range(4), weights=[1, 1, 1, 97], least=10)
    assert [process == os.getpid() for _, process in told] == [True, True, True, True]
    told = map_parts(tell, range(4), weights=[97, 1, 1, 97], least=90)
    assert [process == os.getpid() for _, process in told] == [True, True, False, False]


def test_what_is_little_is_done_here() -> None:
    assert map_parts(tell, [7], weights=[9], least=10) == [(7, os.getpid())]
    assert map_parts(tell, [], weights=[], least=10) == []


@settings(max_examples=25, deadline=None)
@given(weights=st.lists(st.integers(0, 9), max_size=12), least=st.integers(1, 9))
def test_any_weights_give_all_items_once(weights: list[int], least: int) -> None:
    items = range(len(weights))
    told = map_parts(tell, items, weights=weights, least=least)
    assert [item for item, _ in told] == list(items)


def test_a_part_whose_process_is_killed_is_done_again() -> None:
    parent = os.getpid()

    def work(part: Sequence[int]) -> list[tuple[int, int]]:
        if os.getpid() != parent and 29 in part:
            os.kill(os.getpid(), signal.SIGKILL)
        return tell(part)

    told = map_parts(work, range(30), weights=[1] * 30, least=10)
    assert [item for item, _ in told] == list(range(30))
    assert told[-1] == (29, parent)


def test_an_error_is_raised_here() -> None:
    def work(part: Sequence[int]) -> list[int]:
        if 29 in part:
            raise LookupError("29")
        return list(part)

    with pytest.raises(LookupError, match="29"):
        map_parts(work, range(30), weights=[1] * 30, least=10)
