#!/usr/bin/env python3
"""How the time of each shipped phrase grows with a line that nearly fits it.

    python benchmarks/triage_phrases.py

For every phrase whose look at 8,000 signs takes over 0.1 ms: the time for a line of 16,000 signs
over that for 4,000, both made of the phrase's own pieces in the wrong order. A straight line is 4,
a square 16; prints the ten steepest. Needs no network.
"""

from __future__ import annotations

import sys
import time
from typing import Final

from envtrack.cli.triage_reading import read_book
from envtrack.triage.phrases import Phrase
from envtrack.triage.text import tidy

_WORTH_A_LOOK_S: Final = 1e-4


def measure(phrase: Phrase, size: int, *, times: int) -> float:
    """Seconds, the least of some tries."""
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


def main() -> None:
    """Measures and prints."""
    rows = []
    for phrase in (phrase for rule in read_book(None).rules for phrase in rule.says):
        if measure(phrase, 8000, times=1) >= _WORTH_A_LOOK_S:
            ratio = measure(phrase, 16000, times=5) / max(measure(phrase, 4000, times=5), 1e-6)
            rows.append((ratio, phrase.text))
    sys.stdout.write(f"{len(rows)} phrases take over {_WORTH_A_LOOK_S * 1000:g} ms\n")
    for ratio, text in sorted(rows, reverse=True)[:10]:
        sys.stdout.write(f"{ratio:6.1f}  {text}\n")


if __name__ == "__main__":
    main()
