"""Which side of a limit noisy figures lie on."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.probe.metric import find_in_output
from envtrack.probe.metric_limit import (
    Limit,
    Side,
    find_gap_noise,
    find_noise,
    find_side,
    limit_between,
    limit_of,
    parse_threshold,
    read_dotted,
)


@pytest.mark.parametrize(
    ("text", "value", "is_more_bad"),
    [("12", 12, True), ("> 12.5", 12.5, True), ("<.9", 0.9, False), (">10%", 55, True),
     ("<10%", 45, False), ("-1e-3", -0.001, True)],
)  # fmt: skip
def test_thresholds(text: str, value: float, is_more_bad: bool) -> None:  # noqa: FBT001
    threshold = parse_threshold(text)
    assert threshold is not None
    limit = limit_of(threshold, 50.0)
    assert limit.value == pytest.approx(value)
    assert limit.is_more_bad is is_more_bad


@pytest.mark.parametrize("text", ["", ">", "%", "=12", "12ms", "nan", "1 2"])
def test_what_is_no_threshold(text: str) -> None:
    assert parse_threshold(text) is None


def test_without_noise_the_limit_alone_decides() -> None:
    assert find_side([2.0], Limit(1.0, is_more_bad=True), ()) is Side.BAD
    assert find_side([2.0, 2.0], Limit(2.0, is_more_bad=True), ()) is Side.GOOD
    assert find_side([2.0], Limit(3.0, is_more_bad=False), ()) is Side.BAD


def test_noise_is_drawn_from_runs_of_one_environment_and_not_from_their_difference() -> None:
    assert find_noise([[1.0, 1.0], [9.0, 9.0]], runs=2) == 0
    assert find_noise([[1.0], [9.0]], runs=1) == 0
    # Two groups of two, each 1 apart: s² = (0.5 + 0.5) / 2, t(2) = 9.925.
    assert find_noise([[1, 2], [5, 6]], runs=1) == pytest.approx(9.925 * 0.5**0.5)


def test_a_difference_that_chance_alone_makes_is_seldom_taken_for_one() -> None:
    dice = random.Random(7)
    taken = 0
    for _ in range(2000):
        one, other = ([dice.gauss(10, 1) for _ in range(3)] for _ in range(2))
        gap = abs(sum(one) - sum(other)) / 3
        taken += gap > find_gap_noise(one, other)
    assert taken <= 40


def test_near_the_limit_nothing_is_said() -> None:
    known = [[10.0, 10.2, 9.8], [12.0, 12.3, 11.8]]
    limit = limit_between(10.0, 12.0)
    assert find_side([11.0, 11.2, 10.9], limit, known) is Side.UNCLEAR
    assert find_side([10.1, 10.0, 9.9], limit, known) is Side.GOOD
    assert find_side([12.1, 12.0, 11.9], limit, known) is Side.BAD


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8), st.floats(-1e6, 1e6))
def test_no_figures_are_good_and_bad_at_once(values: list[float], at: float) -> None:
    sides = [find_side(values, Limit(at, is_more), ()) for is_more in (True, False)]
    assert sides != [Side.BAD, Side.BAD]


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("loss: 0.5\nloss: 0.25\n", 0.25),
        ("step 3 loss=1e-3, lr=2", 0.001),
        ('{"eval": {"loss": 2}}\n{"loss": 3, "n": 1}\nbye', 3),
        ('"loss" : -4', -4),
        ("val_loss: 7", None),
        ("loss: 5ms", None),
        ("loss: ", None),
        ("loss: NaN", "nan"),
        ("[" * 99999 + "\n{" * 3, None),
    ],
)
def test_a_figure_in_an_output(output: str, value: float | str | None) -> None:
    found = find_in_output(output, "loss")
    assert str(found) == "nan" if value == "nan" else found == value


def test_a_figure_in_a_document() -> None:
    document = {"a.b": {"c": 1}, "a": {"b": {"d": 2}}, "t": True, "s": "3"}
    assert read_dotted(document, "a.b.c") == 1
    assert read_dotted(document, "a.b.d") == 2
    assert [read_dotted(document, name) for name in ("t", "s", "a.b", "x", "")] == [None] * 5
