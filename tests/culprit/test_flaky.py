"""The search with a flaky test: exact probabilities, no wrong certainty, no run too many."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.culprit.flaky import FlakySearch, bar_repeats
from envtrack.culprit.flaky_rates import Counts, Rates

SMALL = st.integers(0, 6)


def run(search: FlakySearch, rates: tuple[float, float], first: int, seed: int) -> int:
    """How many runs it takes to be sure at 99 %."""
    chance = random.Random(seed)
    runs = 0
    while runs < 400 and search.belief.confidence < 0.99 and (at := search.choose()) is not None:
        search.add(at, failed=chance.random() < rates[at >= first])
        runs += 1
    return runs


@settings(max_examples=30, deadline=None)
@given(SMALL, SMALL, SMALL, SMALL)
def test_which_rate_is_higher_agrees_with_numerical_integration(
    bf: int, bp: int, af: int, ap: int
) -> None:
    # With sin² as variable the density of Jeffreys' prior is flat.
    steps = 2000
    below = total = value = 0.0
    for step in range(steps):
        x = math.sin((step + 0.5) * math.pi / 2 / steps) ** 2
        mass = x**bf * (1 - x) ** bp
        value += x**af * (1 - x) ** ap * (below + mass / 2)
        below += mass
        total += x**af * (1 - x) ** ap
    exact = Rates().is_higher(Counts(bf, bp), Counts(af, ap))
    assert exact == pytest.approx(value / below / total, abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=40))
def test_probabilities_are_a_distribution_and_do_not_depend_on_the_order(
    runs: list[tuple[int, bool]],
) -> None:
    one, other = FlakySearch([0, *[1] * 9]), FlakySearch([0, *[1] * 9])
    for at, failed in runs:
        one.add(at, failed=failed)
    for at, failed in reversed(runs):
        other.add(at, failed=failed)
    assert sum(one.belief.positions) + one.belief.unchanged == pytest.approx(1)
    assert one.belief.positions == pytest.approx(other.belief.positions)
    assert one.belief.positions[0] == 0


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60))
def test_a_test_that_is_not_flaky_at_all_is_found_without_many_runs(last: int, first: int) -> None:
    first = min(first, last)
    search = FlakySearch([0, *[1] * last])
    runs = run(search, (0.0, 1.0), first, seed=0)
    assert search.belief.likeliest == first
    assert runs <= 2 * math.ceil(math.log2(last + 1)) + 10


def test_where_nothing_changed_that_is_what_is_said() -> None:
    search = FlakySearch([0, 1, 1, 1], unchanged=0.3)
    for at in (0, 3) * 60:
        search.add(at, failed=search.count(at).runs % 2 == 0)
    assert search.belief.is_unchanged


@pytest.mark.parametrize("rates", [(0.1, 0.9), (0.0, 0.5), (0.3, 0.9)])
def test_it_is_right_as_often_as_it_says(rates: tuple[float, float]) -> None:
    right = 0
    for seed in range(40):
        search, first = FlakySearch([0, *[1] * 30]), random.Random(-seed).randint(1, 30)
        run(search, rates, first, seed)
        right += not search.belief.is_unchanged and search.belief.likeliest == first
    assert right >= 38


def test_what_can_not_be_the_first_is_never_named_and_saves_runs() -> None:
    plain = sparse = 0
    for seed in range(15):
        first = 3 * random.Random(seed).randint(1, 20)
        every = FlakySearch([0, *[1] * 60])
        third = FlakySearch([0, *[float(at % 3 == 0) for at in range(1, 61)]])
        plain += run(every, (0.1, 0.9), first, seed)
        sparse += run(third, (0.1, 0.9), first, seed)
        assert third.belief.likeliest % 3 == 0
    assert sparse < 0.9 * plain


def test_a_closed_position_is_not_tried_and_can_be_the_first() -> None:
    search = FlakySearch([0, 1, 1, 1])
    search.close(1)
    search.close(2)
    run(search, (0.0, 1.0), 2, seed=0)
    assert search.count(1) == search.count(2) == Counts()
    assert search.choose() is None or search.choose() in {0, 3}
    assert all(chance > 0.2 for chance in search.belief.positions[1:])


def test_between_two_of_one_environment_there_is_no_change() -> None:
    keys = ["a", "b", "c", "b", None, None, "d", "d"]
    assert bar_repeats([0.0, *[1.0] * 7], keys) == (0, 1, 0, 0, 1, 1, 1, 0)


def test_without_any_candidate_there_is_nothing_to_search() -> None:
    with pytest.raises(ValueError, match=r"no position"):
        FlakySearch([0.0, 0.0])
