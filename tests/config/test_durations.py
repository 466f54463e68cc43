from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.config.durations import parse_duration, render_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90.0),
        ("10m", 600.0),
        ("1h", 3600.0),
        ("1h30m", 5400.0),
        ("1h 30m", 5400.0),
        ("90", 90.0),
        ("0.5", 0.5),
        ("500ms", 0.5),
        (" 2 H ", 7200.0),
        ("30d", 2592000.0),
    ],
)
def test_spans_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "0", "0s", "-1", "10x", "m", "1h30", "ten", "31d", "1e3", "nan", "inf", "9" * 40, "1:30"],
)
def test_what_is_no_span_is_none(text: str) -> None:
    assert parse_duration(text) is None


@given(st.integers(min_value=1, max_value=30 * 86400))
def test_a_rendered_span_reads_as_itself(seconds: int) -> None:
    assert parse_duration(render_duration(seconds)) == seconds


@given(st.text(max_size=30))
def test_no_text_breaks_it(text: str) -> None:
    found = parse_duration(text)
    assert found is None or 0 < found <= 30 * 86400
