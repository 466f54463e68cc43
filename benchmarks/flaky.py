#!/usr/bin/env python3
"""Accuracy and runs of the search with a flaky smoke test, beside git_bayesect.

    python benchmarks/flaky.py [--histories N] [--peer PYTHON] [--format text|json]

A hundred commits, one of which moves the rate at which the test fails; the same seeds for both.
Runs at the ends are counted: ours tries each end twice first, git_bayesect tries what it likes.
Both stop at 99 %. ``still`` is ours again where a quarter of the commits change nothing and this is
known. The peer is run by ``--peer``, the Python of a virtual environment in which ``git_bayesect``
is installed; where it can't be imported this is said. Needs no network.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Final

from envtrack.culprit.flaky import FlakySearch
from envtrack.process import run

_COMMITS: Final = 100
_CONFIDENCE: Final = 0.99
_MOST_RUNS: Final = 3000
_RATES: Final = (
    (0.0, 1.0), (0.0, 0.5), (0.0, 0.2), (0.1, 1.0), (0.1, 0.9),
    (0.3, 0.9), (0.02, 0.3), (0.3, 0.6), (0.0, 0.05),
)  # fmt: skip
_PEER: Final = """
import json, random, sys
from git_bayesect import Bisector
commits, confidence, most, cases = json.loads(sys.stdin.readline())
for seed, first, before, after in cases:
    chance = random.Random(seed)
    # Its index 0 is the newest commit; the last index is the good end.
    search = Bisector([1.0] * commits + [0.0])
    runs = 0
    while search.distribution.max() < confidence and runs < most:
        at = search.select()
        search.record(at, chance.random() < (after if commits - at >= first else before))
        runs += 1
    print(json.dumps([commits - int(search.distribution.argmax()) == first, runs]), flush=True)
"""

Result = tuple[bool, int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--histories", type=int, default=1000, metavar="N", help="of each rate")
    parser.add_argument(
        "--peer", default=sys.executable, metavar="PYTHON", help="with git_bayesect"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print")
    options = parser.parse_args(arguments)
    question = (options.peer, "-c", "import git_bayesect")
    has_peer = run(question, timeout_s=60, env=os.environ, check=False).code == 0
    if not has_peer:
        sys.stderr.write(f"{options.peer}: git_bayesect is not installed there: left out\n")
    for rates in _RATES:
        row: dict[str, object] = {"rates": rates, "histories": options.histories}
        seeds = range(options.histories)
        row["ours"] = _sum_up([_search(seed, rates, still=0.0) for seed in seeds])
        row["still"] = _sum_up([_search(seed, rates, still=0.25) for seed in seeds])
        if has_peer:
            row["peer"] = _sum_up(_ask_peer(options.peer, seeds, rates))
        _show(row, is_json=options.format == "json")
    return 0


def _search(seed: int, rates: tuple[float, float], *, still: float) -> Result:
    plan, chance = _random(f"plan {seed}"), _random(seed)
    first = plan.randint(1, _COMMITS)
    weights = [0.0, *(float(plan.random() >= still) for _ in range(_COMMITS))]
    weights[first] = 1.0
    search = FlakySearch(weights)
    tell: Callable[[int], bool] = lambda at: chance.random() < rates[at >= first]  # noqa: E731
    for at in (0, 0, _COMMITS, _COMMITS):
        search.add(at, failed=tell(at))
    runs = 4
    while search.belief.confidence < _CONFIDENCE and runs < _MOST_RUNS:
        chosen = search.choose()
        if chosen is None:
            break
        search.add(chosen, failed=tell(chosen))
        runs += 1
    belief = search.belief
    return not belief.is_unchanged and belief.likeliest == first, runs


def _random(seed: str | int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - simulated histories, the same every time


def _ask_peer(python: str, seeds: Sequence[int], rates: tuple[float, float]) -> list[Result]:
    cases = [(seed, _random(f"plan {seed}").randint(1, _COMMITS), *rates) for seed in seeds]
    question = json.dumps([_COMMITS, _CONFIDENCE, _MOST_RUNS, cases]) + "\n"
    done = run((python, "-c", _PEER), timeout_s=7200, env=os.environ, stdin=question.encode())
    return [(bool(right), int(runs)) for right, runs in map(json.loads, done.text.splitlines())]


def _sum_up(results: Sequence[Result]) -> dict[str, float]:
    return {
        "right": round(statistics.mean(right for right, _ in results), 4),
        "runs": round(statistics.mean(runs for _, runs in results), 1),
    }


def _show(row: dict[str, object], *, is_json: bool) -> None:
    text = json.dumps(row) if is_json else "  ".join(f"{k} {v}" for k, v in row.items())
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
