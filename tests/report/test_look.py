from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.report.look import Block, Line, Look, Row, render_blocks, wrap


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 5, [""]),
        ("one two", 7, ["one two"]),
        ("one two", 6, ["one", "two"]),
        ("one  two three", 9, ["one  two", "three"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("a abcdefgh b", 3, ["a", "abc", "def", "gh", "b"]),
        ("版本 版本", 5, ["版本", "版本"]),
        ("版本", 3, ["版", "本"]),
        ("e\u0301e\u0301e\u0301", 3, ["e\u0301e\u0301e\u0301"]),
        ("ab", 0, ["a", "b"]),
    ],
)
def test_text_is_broken_between_words_and_within_long_ones(
    text: str, width: int, lines: list[str]
) -> None:
    assert wrap(text, width) == lines


@given(st.text(alphabet="ab →版\u0301", max_size=60), st.integers(2, 20))
def test_nothing_but_blanks_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(sum(2 if c == "版" else c != "\u0301" for c in line) <= width for line in lines)


def test_rows_share_columns_and_long_values_go_on_below() -> None:
    blocks: list[Block] = [
        Line("title", "bold"),
        Row((("name", ""), ("1", ""))),
        Line(""),
        Row((("longer", "dim"), ("word " * 20, "red"))),
    ]
    assert render_blocks(blocks, Look(width=80)) == (
        f"title\n  name    1\n\n  longer  {'word ' * 13}word\n          {'word ' * 5}word\n"
    )


def test_colours_end_with_their_text() -> None:
    shown = render_blocks(
        [Line("title", "bold green", 2), Row((("a", "dim"), ("b", "")))], Look(is_coloured=True)
    )
    assert shown == "  \x1b[1;32mtitle\x1b[0m\n  \x1b[2ma\x1b[0m  b\n"


@pytest.mark.parametrize(
    "text", ["i\u0307" * 50_000, "a" + " " * 100_000, "\u0307" * 100_000, "界" * 50_000]
)
def test_a_value_of_a_hundred_thousand_characters_takes_no_time(text: str) -> None:
    start = time.process_time()
    shown = render_blocks([Row((("a", ""), (text, ""), ("b", "")))], Look())
    assert time.process_time() - start < 2
    assert shown.startswith("  a")


def test_a_combining_mark_stays_with_its_letter_and_a_wide_letter_takes_two_columns() -> None:
    assert wrap("e\u0301" * 5, 2) == ["e\u0301e\u0301", "e\u0301e\u0301", "e\u0301"]
    assert wrap("界界界", 5) == ["界界", "界"]
    assert wrap("界界", 1) == ["界", "界"]
    assert wrap("ab   cd   ", 4) == ["ab", "cd"]
