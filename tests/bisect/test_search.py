"""Whole searches through the command line: the answer is right, or says how far it goes."""

from __future__ import annotations

import json

import pytest

from tests.bisect.conftest import Make
from tests.support.history import SMOKE, History, Script, lock_text, project_text, run_cli


def test_a_code_commit_between_two_locks_is_named_and_the_lock_is_innocent(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1").add("c1", code=0).add("guilty", code=1)
    bench = make(script.add("c2", code=1).add("b", "1.2").add("c", "1.3").add("last", code=1))
    answer = bench.find("good", "last")
    assert bench.culprit(answer) == "guilty"
    assert "the lockfile is innocent" in answer["notes"][0]
    assert answer["comparison"]["changes"] == []


def test_a_code_commit_after_all_locks_is_named(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1").add("b", "1.2").add("c1", code=0)
    bench = make(script.add("guilty", code=1).add("c2", code=1).add("last", code=1))
    answer = bench.find("good", "last")
    assert bench.culprit(answer) == "guilty"


def test_with_no_lock_commit_between_the_ends_the_code_is_searched(make: Make) -> None:
    script = Script().add("a", "1.0").add("good", code=0).add("c1", code=0).add("guilty", code=1)
    bench = make(script.add("c2", code=1).add("last", code=1))
    answer = bench.find("good", "last")
    assert bench.culprit(answer) == "guilty"
    assert answer["effort"]["candidates"] == 4


def test_two_neighbouring_ends_cost_two_probes_each_and_the_crossings(
    make: Make,
) -> None:
    bench = make(Script().add("good", "1.0").add("guilty", "2.0"))
    answer = bench.find_all("good", "guilty")
    assert bench.culprit(answer) == "guilty"
    assert answer["effort"]["probes"] == 6
    assert answer["predecessor"]["commit"] == bench.history["good"]
    assert bench.culprit(bench.find("good", "guilty")) == "guilty"


BOTH = "test ! -e one -o ! -e two"


def test_a_merge_that_brings_together_what_does_not_fit_is_named(make: Make) -> None:
    script = Script().add("good", "1.0").add("base", code=0)
    script.add("side-1", "1.1", files={"one": ""}, parents=("base",)).add("side-2", "1.2")
    script.add("main-1", files={"two": "", "n": "1"}, parents=("base",)).add("main-2", code=0)
    merged = {"one": "", "uv.lock": lock_text("1.2"), "pyproject.toml": project_text("1.2")}
    script.add("merge", files={**merged, "n": "2"}, parents=("main-2", "side-2"))
    bench = make(script.add("last", "1.3"))
    # These are no files of the smoke test, which would be put into every tree.
    answer = bench.find("good", "last", "--smoke-from", "each", smoke=BOTH)
    assert bench.culprit(answer) == "merge"


def test_a_commit_of_a_merged_branch_is_named_even_if_that_was_begun_before_good(
    make: Make,
) -> None:
    script = Script().add("root", "1.0").add("good", "1.1").add("main-1", code=0)
    script.add("side-1", "1.2", parents=("root",)).add("guilty", "2.0").add("side-3", "2.1")
    merged = {"uv.lock": lock_text("2.1"), "pyproject.toml": project_text("2.1"), "n": "2"}
    script.add("merge", files=merged, parents=("main-1", "side-3"))
    bench = make(script.add("last", "2.2"))
    assert bench.culprit(bench.find("good", "last")) == "guilty"


def test_a_branch_that_lacks_a_repair_is_no_wrong_answer(make: Make) -> None:
    # Begun from a bad commit before the good end: git takes what lies there for good.
    script = Script().add("bad-root", "2.0").add("good", "1.1").add("main-1", "1.2")
    script.add("side-1", "2.1", parents=("bad-root",)).add("side-2", code=0)
    merged = {"uv.lock": lock_text("2.1"), "pyproject.toml": project_text("2.1"), "n": "2"}
    script.add("merge", files=merged, parents=("main-1", "side-2"))
    bench = make(script.add("last", "2.2"))
    answer = bench.find("good", "last")
    if answer["outcome"] == "found":
        assert bench.culprit(answer) in {"merge", "side-1"}
    else:
        assert {"side-1"} <= bench.possible(answer)


def test_skipped_commits_beside_the_culprit_are_all_named(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1").add("c1", code=0)
    script.add("skip-1", "3.0").add("c2", code=0).add("skip-2", "3.1").add("c3", code=0)
    bench = make(script.add("guilty", "2.0").add("last", "2.1"))
    answer = bench.find("good", "last")
    assert bench.possible(answer) == {"skip-1", "c2", "skip-2", "c3", "guilty"}
    assert "one of 5" in answer["message"]
    named = bench.history.names(row["commit"] for row in answer["skipped"])
    assert {"skip-1", "skip-2"} <= named


def test_a_code_commit_below_skipped_ones_is_still_found(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1").add("guilty", code=1)
    script.add("c2", code=1).add("skip-1", "3.0").add("skip-2", "3.1")
    bench = make(script.add("b", "1.2").add("last", "1.3"))
    assert bench.culprit(bench.find("good", "last")) == "guilty"


def test_skipped_commits_away_from_the_culprit_do_not_weaken_the_answer(make: Make) -> None:
    script = Script().add("good", "1.0").add("skip-1", "3.0").add("a", "1.1").add("b", "1.2")
    bench = make(script.add("guilty", "2.0").add("skip-2", "3.1").add("last", "2.1"))
    answer = bench.find("good", "last")
    assert bench.culprit(answer) == "guilty"


def stale_history() -> Script:
    script = Script()
    for name, locked in (("good", "1.0"), ("a", "1.1"), ("guilty", "2.0"), ("last", "2.1")):
        # The project's own version moved, and nobody locked again.
        wrong = project_text(locked).replace('">=3.11"', '">=3.10"')
        script.add(name, locked, files={"pyproject.toml": wrong})
    return script


def test_stale_at_both_ends_is_said_once_with_the_way_out(make: Make) -> None:
    bench = make(stale_history())
    ended = bench.run("good", "last")
    assert ended.code == 3
    assert ended.out.startswith("the lockfile is stale at both ends")
    assert ended.out.count("stale at both ends") == 1
    assert "`--stale frozen`" in ended.out
    before = bench.history.repo.state()
    for way in ("frozen", "relock"):
        assert bench.culprit(bench.find("good", "last", "--stale", way)) == "guilty"
    assert bench.history.repo.state() == before


def test_the_smoke_test_comes_from_where_it_is_said(make: Make) -> None:
    """It was born late, is gone again, and says something else in the working tree."""
    check = f"{SMOKE}\n"
    script = Script().add("good", "1.0").add("a", "1.1").add("born", files={"check.sh": check})
    script.add("guilty", "2.0").add("gone", files={"check.sh": None}).add("last", "2.1")
    bench = make(script)
    smoke, commit = "sh ./check.sh", bench.history["guilty"]
    answer = bench.find("good", "last", "--smoke-from", commit, smoke=smoke)
    assert bench.culprit(answer) == "guilty"
    # Where every commit has its own, it is not there at the good end.
    ended = bench.run("good", "last", "--smoke-from", "each", smoke=smoke)
    assert ended.code in (3, 4)
    assert "first bad commit" not in ended.out


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> History:
    script = Script().add("bad-0", "2.9").add("good", "1.0").add("c1", code=0).add("a", "1.1")
    script.add("guilty", "2.0").add("b", "2.1").add("last", "2.2")
    return script.build(tmp_path_factory.mktemp("plain") / "repo")


def test_a_good_end_that_fails_ends_it(plain: History, capsys: pytest.CaptureFixture[str]) -> None:
    ended = run_cli(capsys, plain.repo, plain["bad-0"], "--smoke", SMOKE)
    assert ended.code == 3
    assert ended.out.startswith(
        f"the good end {plain['bad-0'][:10]} fails too: the smoke test ended with 1"
    )
    assert "2 probes" in ended.out


def test_a_bad_end_that_passes_ends_at_once(
    plain: History, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run_cli(capsys, plain.repo, plain["good"], plain["a"], "--smoke", SMOKE)
    assert ended.code == 3
    assert ended.out.startswith(f"not reproduced: the bad end {plain['a'][:10]} passes")


def test_trusted_ends_are_not_probed(plain: History, capsys: pytest.CaptureFixture[str]) -> None:
    ended = run_cli(
        capsys, plain.repo, plain["good"], "--smoke", SMOKE, "--trust-ends", "--format", "json"
    )
    answer = json.loads(ended.out)
    assert plain.names([answer["culprit"]["commit"]]) == {"guilty"}
    assert answer["effort"]["end_probes"] == 0


def test_commits_that_change_nothing_that_counts_cost_nothing(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1")
    for number in range(3):
        form = lock_text("1.1") + "\n" * (number + 1)
        script.add(f"form-{number}", files={"uv.lock": form})
        path = ".envtrack/snapshots/testbed/uv.lock.json"
        script.add(f"record-{number}", files={path: f"{number}\n"})
    bench = make(
        script.add("guilty", "2.0").add("form-3", files={"uv.lock": lock_text("2.0") + "\n"})
    )
    answer = bench.find_all("good", "form-3")
    assert bench.culprit(answer) == "guilty"
    # Good and bad, each twice, the one environment between them, and the two crossings.
    assert answer["effort"]["probes"] == 7
    assert answer["effort"]["spared"] >= 2


def test_a_history_that_goes_back_and_forth_gets_one_of_its_turns(make: Make) -> None:
    script = Script().add("good", "1.0").add("up-1", "2.0").add("down-1", "1.1").add("up-2", "2.1")
    bench = make(script.add("down-2", "1.2").add("up-3", "2.2").add("last", code=0))
    assert bench.culprit(bench.find("good", "last")) in {"up-1", "up-2", "up-3"}
