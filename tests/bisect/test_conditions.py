"""Searches that do not go by the exit code alone: what fixed it, and figures that drift."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bisect.conftest import Make
from tests.bisect.one_line import build_branches, expect_line
from tests.support.history import SMOKE, History, Script, lock_text, project_text


def repaired() -> Script:
    script = Script().add("old", "2.0").add("a", "2.1").add("c1", code=0).add("b", "2.2")
    return script.add("repair", "1.0").add("c", "1.1").add("new", code=0)


def test_invert_finds_what_fixed_it(make: Make) -> None:
    bench = make(repaired())
    answer = bench.find_all("old", "new", "--invert")
    assert bench.culprit(answer) == "repair"
    assert answer["message"] == f"{bench.history['repair'][:10]} fixed it: repair"
    assert "is the first bad" not in json.dumps(answer)
    assert not any("git checkout" in hint or "back" in hint for hint in answer["hints"])


def test_invert_hunts_the_failure_of_the_older_end(make: Make) -> None:
    """A commit that fails otherwise has not been repaired, and says nothing."""
    smoke = "python -c 'import dial, sys; v = dial.VERSION; assert v[0] != \"2\"; open(v[2:])'"
    script = Script().add("old", "2.0").add("a", "2.1", files={"0": "", "1": ""})
    script.add("other", "1.7").add("repair", "1.1").add("new", "1.0")
    bench = make(script)
    answer = bench.find_all("old", "new", "--invert", smoke=smoke)
    assert bench.possible(answer) == {"other", "repair"}
    kinds = {row["verdict"] for row in answer["skipped"]}
    assert kinds == {"different"}


def test_invert_with_ends_that_are_none(make: Make) -> None:
    bench = make(repaired())
    passes = bench.run("repair", "new", "--invert")
    assert (passes.code, passes.out.splitlines()[0]) == (
        3,
        f"the older end {bench.history['repair'][:10]} passes already: there is nothing to be fixed",
    )
    fails = bench.run("old", "b", "--invert")
    assert fails.code == 3
    assert fails.out.startswith(f"not fixed: the newer end {bench.history['b'][:10]} fails as well")


def test_a_branch_from_before_the_fault_has_fixed_nothing(make: Make) -> None:
    script = Script().add("root", "1.0").add("old", "2.0").add("main-1", "2.1")
    script.add("side-1", "1.1", parents=("root",)).add("side-2", "1.2")
    merged = {"uv.lock": lock_text("1.2"), "pyproject.toml": project_text("1.2"), "n": "2"}
    script.add("merge", files=merged, parents=("main-1", "side-2")).add("new", "1.3")
    bench = make(script)
    answer = bench.find_all("old", "new", "--invert")
    if answer["outcome"] == "found":
        assert bench.culprit(answer) == "merge"
    else:
        assert "merge" in bench.possible(answer)


# The release's minor number is how long a step takes; runs differ by some thousandths.
STEP = (
    "python -c 'import dial, os, time; "
    'print("step_ms =", float(dial.VERSION.split(".")[1]) + time.monotonic_ns() % 7 / 1000)\''
)


def slower() -> Script:
    script = Script().add("good", "1.5").add("a", "1.5").add("b", "1.6").add("slow", "1.12")
    return script.add("c", "1.13").add("last", "1.12")


def test_a_slow_down_is_found_by_a_limit_drawn_from_the_ends(make: Make) -> None:
    bench = make(slower())
    answer = bench.find_all("good", "last", "--metric", "step_ms", smoke=STEP)
    assert bench.culprit(answer) == "slow"
    (how,) = (note for note in answer["notes"] if "step_ms" in note)
    assert how.startswith("decided by step_ms: > 8.50")
    assert "(3 runs, ±0.0" in how
    assert "step_ms is 12.0" in answer["culprit"]["reason"]


@pytest.mark.parametrize(
    ("limit", "culprit"),
    [
        (("--threshold", ">10"), "slow"),
        (("--threshold", ">10%"), "b"),
        (("--good-metric", "5", "--bad-metric", "12"), "slow"),
    ],
)
def test_the_limit_may_be_given(make: Make, limit: tuple[str, ...], culprit: str) -> None:
    bench = make(slower())
    more = ("--metric", "step_ms", *limit, "--metric-runs", "2")
    answer = bench.find_all("good", "last", *more, smoke=STEP)
    assert bench.culprit(answer) == culprit


def test_what_fell_is_found_too_and_a_file_may_say_it(make: Make) -> None:
    smoke = (
        'python -c \'import dial, json; json.dump({"eval": {"acc": 1 / float(dial.VERSION[2:])}},'
        ' open("out.json", "w"))\''
    )
    bench = make(slower())
    more = ("--metric", "eval.acc", "--metric-file", "out.json", "--metric-runs", "2")
    answer = bench.find_all("good", "last", *more, smoke=smoke)
    assert bench.culprit(answer) == "slow"
    assert "< 0.141" in answer["notes"][-1]


def test_ends_that_differ_by_noise_only_are_not_searched_between(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three runs of an end say 10, 19 and 13, then 14, 20 and 11: no other figure decides that."""
    figures = tmp_path / "figures"
    figures.write_text("10 19 13 14 20 11")
    monkeypatch.setenv("FIGURES", str(figures))
    noisy = (
        'python -c \'import os, pathlib; path = pathlib.Path(os.environ["FIGURES"]);'
        " first, _, rest = path.read_text().partition(chr(32)); path.write_text(rest);"
        ' print("step_ms:", first)\''
    )
    bench = make(Script().add("good", "1.0").add("a", "1.1").add("last", "1.2"))
    ended = bench.run("good", "last", "--metric", "step_ms", smoke=noisy)
    assert ended.code == 3
    assert ended.out.startswith("not reproduced: the bad end")
    assert "no further apart than noise" in " ".join(ended.out.split())


def test_a_metric_that_is_missing_is_missing_data_and_not_zero(make: Make) -> None:
    """As a zero it would count as very fast, and the next commit that has it would be blamed."""
    smoke = (
        "python -c 'import dial, sys; dial.CODE == 125 and sys.exit(); dial.CODE and sys.exit(1);"
        ' print("step_ms", "=", dial.VERSION.split(".")[1])\''
    )
    script = Script().add("good", "1.5").add("a", "1.6").add("mute", "3.0").add("dead", "2.0")
    bench = make(script.add("slow", "1.12").add("last", "1.13"))
    answer = bench.find_all("good", "last", "--metric", "step_ms", smoke=smoke)
    assert bench.possible(answer) == {"mute", "dead", "slow"}
    kinds = {row["subject"]: (row["verdict"], row["kind"]) for row in answer["skipped"]}
    assert kinds == {"mute": ("untestable", "metric-missing"), "dead": ("different", "exit")}
    silent = bench.run("good", "last", "--metric", "loss", smoke=smoke)
    assert silent.code == 3
    assert "there is no figure `loss` in its output" in silent.out


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> History:
    return build_branches(tmp_path_factory.mktemp("conditions") / "repo")


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("which figure?", ("--threshold", ">1")),
        ("is no limit", ("--metric", "x", "--threshold", "soon")),
        ("--invert does not go with --metric", ("--metric", "x", "--invert")),
        ("is no number", ("--metric", "x", "--good-metric", "nan", "--bad-metric", "1")),
        ("are the same figure", ("--metric", "x", "--good-metric", "1", "--bad-metric", "1")),
        ("not both", ("--metric", "x", "--good-metric", "1", "--threshold", ">1")),
        ("drawn from the ends", ("--metric", "x", "--trust-ends")),
        ("a number from 1", ("--metric", "x", "--metric-runs", "0")),
    ],
)
def test_options_that_say_nothing_to_judge_by(
    shared: History, capsys: pytest.CaptureFixture[str], said: str, options: tuple[str, ...]
) -> None:
    expect_line(capsys, shared.repo, 2, said, shared["good"], "--smoke", SMOKE, *options)
