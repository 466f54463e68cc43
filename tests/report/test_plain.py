from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.report.plain import show_json, show_markdown, show_plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 中", "plain é 中"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x9b31m", "\\x9b31m"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("b\udcffd", "b\\xffd"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_does_not_show_as_itself_is_written_out(text: str, shown: str) -> None:
    assert show_plain(text) == shown


@given(st.text(alphabet=st.characters()))
def test_nothing_of_a_terminals_language_is_left(text: str) -> None:
    shown = show_plain(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)
    shown.encode("utf-8")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_json_says_the_same_and_holds_no_controls(text: str) -> None:
    shown = show_json(json.dumps({"k": text}, ensure_ascii=False))
    assert json.loads(shown) == {"k": text}
    assert not any(127 <= ord(c) < 160 for c in shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\\\\\|b"),
        ("LD_LIBRARY_PATH", "LD_LIBRARY_PATH"),
        ("_x_", "\\_x\\_"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("`x` *y* [z](u)", "\\`x\\` \\*y\\* \\[z\\](u)"),
        ("a\nb", "a\\\\nb"),
    ],
)
def test_markdown_renders_as_the_text(text: str, shown: str) -> None:
    # A written-out control shows with its backslash, so that backslash is escaped too.
    assert show_markdown(text) == shown
