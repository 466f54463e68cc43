from __future__ import annotations

import re

import pytest

from envtrack.triage.phrases import Phrase, PhraseFault
from envtrack.triage.text import LONGEST, tidy
from tests.triage.corpus import shipped


def find(phrase: str, line: str) -> dict[str, str] | None:
    text = tidy(line)
    return Phrase(phrase).find(text, text.lower())


@pytest.mark.parametrize(
    ("phrase", "line", "values"),
    [
        (
            "{library}: cannot open",
            "ImportError: libGL.so.1: cannot open it",
            {"library": "libGL.so.1"},
        ),
        (
            "could not select … with capabilities",
            'Could  not select driver "" with Capabilities',
            {},
        ),
        ("<couldn't|could not> open it", "it couldn’t open it", {}),
        (
            "version 'GLIBC_{version}' not found",
            "version `GLIBC_2.34' not found",
            {"version": "2.34"},
        ),
        ("^Killed$", "Killed", {}),
    ],
)
def test_a_phrase_finds_what_it_says(phrase: str, line: str, values: dict[str, str]) -> None:
    assert find(phrase, line) == values


@pytest.mark.parametrize(
    ("phrase", "line"),
    [
        ("exit code 137", "exit code 1375"),
        ("^Killed$", "Killed 3 workers"),
        ("disk is full", "the disk isfull"),
        ("first words … last words", "last words, then first words"),
    ],
)
def test_a_phrase_finds_nothing_else(phrase: str, line: str) -> None:
    assert find(phrase, line) is None


@pytest.mark.parametrize("text", ["abc", "{a}", "… {a} xy", "{a} and more {a}"])
def test_a_phrase_that_could_match_anything_is_refused(text: str) -> None:
    with pytest.raises(PhraseFault):
        Phrase(text)


def test_nothing_in_a_phrase_can_repeat_without_bound() -> None:
    """What bounds the time on any line; `benchmarks/triage_phrases.py` measures it."""
    for phrase in (phrase for rule in shipped().rules for phrase in rule.says):
        escaped = re.sub(r"\\.", "x", phrase._pattern.pattern)
        plain = re.sub(r"\[[^\]]*\]", "x", escaped)
        # A plus after a brace makes a bounded repeat possessive.
        assert not re.search(r"\*|(?<!\})\+|\{\d*,\}", plain), phrase.text


def test_the_longest_line_is_bounded() -> None:
    assert LONGEST <= 16 * 1024
