"""Ends are tried twice, and a test that says now this and now that is told, not searched with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bisect.conftest import Bench, Make
from tests.bisect.one_line import expect_line
from tests.support.history import SMOKE, Script


def short_history() -> Script:
    return Script().add("good", "1.0").add("a", "1.1").add("guilty", "2.0").add("last", "2.1")


def flaky(folder: Path, answers: str) -> str:
    """A smoke test whose n-th run on this machine ends as the n-th digit says, then as SMOKE."""
    count = folder / "count"
    return (
        f"n=$(cat {count} 2>/dev/null || echo 1); echo $((n + 1)) >{count};"
        f' code=$(echo {answers} | cut -c$n); [ -z "$code" ] || [ "$code" = x ] || exit "$code";'
        f" {SMOKE}"
    )


def log_names(bench: Bench, answer: dict[str, str]) -> list[str]:
    logs = Path(answer["folder"]) / "logs"
    return sorted(path.name for path in logs.glob("*/smoke*.log"))


def test_each_end_is_tried_twice(make: Make) -> None:
    bench = make(short_history())
    answer = bench.find_all("good", "last")
    assert bench.culprit(answer) == "guilty"
    assert answer["effort"]["end_probes"] == 4


def test_a_bad_end_that_passes_twice_is_not_reproduced(make: Make) -> None:
    bench = make(short_history())
    answer = bench.find_all("good", "a")
    assert answer["outcome"] == "bad-end-passes"
    assert answer["message"].startswith("not reproduced: the bad end")
    assert answer["effort"]["end_probes"] == 4


def test_a_good_end_that_fails_twice_ends_it(make: Make) -> None:
    bench = make(short_history())
    answer = bench.find_all("guilty", "last")
    assert answer["outcome"] == "good-end-fails"
    assert answer["effort"]["probes"] == 2


# The order of the runs: good, bad, bad, good; a good end that fails is tried again at once.
@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("x0", "bad"),
        ("xx0", "bad"),
        ("xxx1", "good"),
        ("1", "good"),
    ],
)
def test_an_end_that_passes_and_fails_is_flaky(
    make: Make, tmp_path: Path, answers: str, said: str
) -> None:
    bench = make(short_history())
    answer = bench.find_all("good", "last", smoke=flaky(tmp_path, answers))
    assert answer["outcome"] == "flaky"
    end = bench.history["last" if said == "bad" else "good"][:10]
    assert f"the {said} end {end} passed in 1 of 2 runs" in answer["message"]
    assert len(answer["ends"]) == 4
    assert "--repeat" in answer["hints"][0]


def test_a_bad_end_that_fails_in_two_ways_asks_which_is_meant(make: Make, tmp_path: Path) -> None:
    bench = make(short_history())
    kill = "n=$(cat N 2>/dev/null || echo 1); echo $((n + 1)) >N; [ $n != 3 ] || kill -9 $$; "
    answer = bench.find_all("good", "last", smoke=kill.replace("N", str(tmp_path / "n")) + SMOKE)
    assert answer["outcome"] == "end-untestable"
    assert "it fails otherwise" in answer["message"]
    assert "--any-failure" in answer["hints"][0]


def test_several_runs_decide_one_verdict(make: Make, tmp_path: Path) -> None:
    bench = make(short_history())
    # Of the good end's first three runs one fails: two of three decide.
    answer = bench.find_all("good", "last", "--repeat", "3", smoke=flaky(tmp_path, "x1xx"))
    assert bench.culprit(answer) == "guilty"
    names = log_names(bench, answer)
    # Each of the six probes and two crossings took two runs, but the first three.
    assert names.count("smoke.log") == 8
    assert names.count("smoke-1.log") == 8
    assert names.count("smoke-2.log") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--repeat", "0"), "--repeat: 0 runs say nothing"),
        (("--repeat", "3", "--quorum", "4"), "--quorum: 4 of 3 runs can't fail"),
        (("--quorum", "0"), "--quorum: 0 of 1 runs can't fail"),
    ],
)
def test_impossible_numbers_of_runs_are_refused(
    make: Make, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    bench = make(short_history())
    ends = (bench.history["good"], bench.history["last"])
    expect_line(capsys, bench.history.repo, 2, said, *ends, "--smoke", SMOKE, *options)
