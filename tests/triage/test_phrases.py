from __future__ import annotations

import time

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


_NOTHING_S = 0.02


def _steps(phrase: Phrase, size: int, *, times: int) -> float:
    """The time of one phrase on a line of its own pieces, in the wrong order, without an end."""
    pieces = [*phrase.literals, *phrase.anchor[:1]]
    body = " ".join(reversed(pieces)) + " a/b.c "
    line = tidy(body * (size // len(body) + 1))[:size]
    lowered = line.lower()
    best = 1e9
    for _ in range(times):
        started = time.perf_counter()
        phrase.find(line, lowered)
        best = min(best, time.perf_counter() - started)
    return best


def test_no_phrase_takes_long_on_a_line_that_nearly_fits_it() -> None:
    slow = []
    for phrase in (phrase for rule in shipped().rules for phrase in rule.says):
        if _steps(phrase, 8000, times=1) < _NOTHING_S:
            continue
        # Four times the line, both far longer than a gap: its square would take sixteen times.
        ratio = _steps(phrase, 16000, times=5) / max(_steps(phrase, 4000, times=5), 1e-5)
        if ratio > 12:
            slow.append((phrase.text, ratio))
    assert slow == []


def test_the_longest_line_is_bounded() -> None:
    assert LONGEST <= 16 * 1024
