"""Several runs for one verdict: no more than are needed, and each kind of run counted right."""

from __future__ import annotations

import pytest

from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.repeated import judge_repeated

KINDS = {
    "g": Verdict.GOOD,
    "b": Verdict.BAD,
    "d": Verdict.DIFFERENT,
    "u": Verdict.UNTESTABLE,
    "a": Verdict.ABORTED,
}


@pytest.mark.parametrize(
    ("runs", "quorum", "verdict", "needed"),
    [
        ("b", 1, "b", 1),
        ("gggg", 1, "g", 4),
        ("gggb", 1, "b", 4),
        ("bggg", 1, "b", 1),
        ("bbg", 2, "b", 2),
        ("gbg", 2, "g", 3),
        ("ggb", 2, "g", 2),
        ("bbb", 3, "b", 3),
        ("bgb", 3, "g", 2),
        ("dbb", 2, "b", 3),
        ("dgb", 2, "d", 3),
        ("ddd", 2, "d", 3),
        ("gub", 2, "u", 2),
        ("bab", 2, "a", 2),
    ],
)
def test_runs_until_it_is_decided(runs: str, quorum: int, verdict: str, needed: int) -> None:
    seen = []

    def run(number: int) -> Judgement:
        seen.append(number)
        said = KINDS[runs[number]]
        return Judgement(verdict=said, stage="smoke", reason="it ended", kind="exit")

    judged = judge_repeated(run, repeat=len(runs), quorum=quorum)
    assert judged.verdict is KINDS[verdict]
    assert seen == list(range(needed))
    if needed > 1 and verdict in "gbd":
        assert f"({runs[:needed].count(verdict)} of {needed} runs)" in judged.reason
