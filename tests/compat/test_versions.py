from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from envtrack.compat.tables import parse_tag
from envtrack.compat.versions import numbers, parse_numbers

PARTS = st.lists(st.integers(0, 999), min_size=1, max_size=4)


def test_twelve_ten_is_newer_than_twelve_four() -> None:
    assert numbers("12.10") > numbers("12.4")


def test_zeros_at_the_end_make_no_difference() -> None:
    assert numbers("12.4") == numbers("12.4.0")
    assert hash(numbers("12.4")) == hash(numbers("12.4.0"))
    assert str(numbers("12.4.0")) == "12.4.0"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("13.2.0-23ubuntu4", "13.2.0"),
        ("550.54.15", "550.54.15"),
        ("  12.4 ", "12.4"),
        ("2.6.0+cu126", "2.6.0"),
    ],
)
def test_what_follows_the_numbers_is_left_out(text: str, wanted: str) -> None:
    assert str(parse_numbers(text)) == wanted


@pytest.mark.parametrize("text", ["", "gcc", "v12", "-1", "unknown"])
def test_a_text_that_begins_with_no_number_is_no_version(text: str) -> None:
    assert parse_numbers(text) is None


def test_a_number_of_ten_thousand_digits_does_no_harm() -> None:
    assert parse_numbers("9" * 10_000) is not None


def test_major_minor_and_series() -> None:
    version = numbers("12.4.131")
    assert (version.major, version.minor, str(version.series)) == (12, 4, "12.4")
    assert (numbers("12").major, numbers("12").minor) == (12, 0)


@given(PARTS, PARTS)
def test_the_order_is_that_of_numbers(first: list[int], second: list[int]) -> None:
    a, b = (".".join(map(str, parts)) for parts in (first, second))
    assert (numbers(a) < numbers(b)) == (Version(a) < Version(b))
    assert (numbers(a) == numbers(b)) == (Version(a) == Version(b))


@pytest.mark.parametrize(
    ("tag", "cuda"),
    [("cu126", "12.6"), ("cu118", "11.8"), ("cu1210", "12.10"), ("cu92", "9.2"), ("cu130", "13.0")],
)
def test_the_tag_of_a_build_names_its_cuda(tag: str, cuda: str) -> None:
    assert parse_tag(tag) == numbers(cuda)


@pytest.mark.parametrize("tag", ["cpu", "rocm6.2", "cu", "cu1", "cuda126", "cu12x", "", "cu１２６"])
def test_other_tags_name_none(tag: str) -> None:
    assert parse_tag(tag) is None
