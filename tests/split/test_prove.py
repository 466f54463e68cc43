"""Each step is proven good before it is committed; the first bad one ends the series."""

from __future__ import annotations

import json
from pathlib import Path

from tests.split.lab import AFTER, NEWER_PYTHON, RECORD, SplitLab
from tests.split.test_split import THREE, stage_three

OLD_WICK = "python -c 'import wick, sys; sys.exit(wick.VERSION != \"1.0\")'"
OLD_TORCH = "python -c 'import torch, sys; sys.exit(torch.VERSION != \"1.0\")'"


def test_steps_that_are_all_good_become_commits(lab: SplitLab) -> None:
    base = stage_three(lab)
    told = lab.run_json("--command", "python -c 'import torch, wick'")
    assert told["outcome"] == "done"
    assert [step["verdict"] for step in told["steps"]] == ["good"] * 3
    assert lab.subjects(f"{base}..") == THREE
    assert lab.repo.git("worktree", "list", "--porcelain").count("worktree ") == 1


def test_a_bad_step_stops_and_the_rest_stays_staged(lab: SplitLab) -> None:
    base = stage_three(lab)
    staged = {name: lab.show(f":{name}") for name in ("uv.lock", "pyproject.toml")}
    done = lab.run("--command", OLD_WICK)
    assert done.code == 1
    assert lab.subjects(f"{base}..") == THREE[:2]
    assert lab.repo.git("status", "--porcelain") == "M  pyproject.toml\nM  uv.lock"
    assert {name: lab.show(f":{name}") for name in staged} == staged
    assert "The step of packages is bad." in done.out
    assert "the rest of the change is staged as it was" in done.out


def test_the_record_of_the_last_good_step_is_the_one_that_stands(lab: SplitLab) -> None:
    stage_three(lab)
    lab.run("--command", OLD_WICK)
    record = json.loads((lab.repo.path / RECORD).read_text())
    assert record["lockfile"]["blob"] == lab.repo.git("rev-parse", "HEAD:uv.lock")


def test_after_a_stop_the_rest_is_one_layer_and_can_be_committed(lab: SplitLab) -> None:
    stage_three(lab)
    lab.run("--command", OLD_WICK)
    assert "Only one layer moves: packages." in lab.run().out


def test_a_first_step_that_is_bad_changes_nothing(lab: SplitLab) -> None:
    stage_three(lab)
    before = lab.repo.state()
    done = lab.run("--command", "false")
    assert done.code == 1
    assert lab.repo.state() == before
    assert "Nothing was committed" in done.out


def test_a_bad_step_of_a_commit_leaves_the_rest_staged(lab: SplitLab) -> None:
    base = stage_three(lab)
    lab.repo.git("commit", "--quiet", "-m", "all")
    done = lab.run("HEAD", "--command", OLD_TORCH)
    assert done.code == 1
    assert lab.subjects(f"{base}..") == THREE[:1]
    assert lab.repo.git("status", "--porcelain") == "M  pyproject.toml\nM  uv.lock"


def test_the_logs_of_the_bad_step_are_kept(lab: SplitLab) -> None:
    stage_three(lab)
    told = lab.run_json("--command", "echo it is broken; exit 1")
    (step,) = [step for step in told["steps"] if step["verdict"] == "bad"]
    assert (Path(step["log"]) / "smoke.log").read_text() == "it is broken\n"


def test_no_session_is_left_for_bisect_to_find(lab: SplitLab) -> None:
    stage_three(lab)
    lab.run("--sync")
    assert list((lab.repo.path / ".git/envtrack/sessions").iterdir()) == []


def test_a_step_that_can_not_be_installed_is_not_committed(lab: SplitLab) -> None:
    base = stage_three(lab)
    (lab.index / "wick-2.0-py3-none-any.whl").write_bytes(b"no wheel")
    done = lab.run("--sync")
    assert done.code in {2, 3, 4}
    assert lab.subjects(f"{base}..") in ([], THREE[:2])


def test_the_configured_smoke_test_is_the_one_of_the_flag(lab: SplitLab) -> None:
    lab.repo.write(".envtrack/config.yaml", "schema: 1\nsmoke:\n  command: 'false'\n")
    base = lab.repo.commit("configuration")
    lab.stage(*AFTER, python=NEWER_PYTHON)
    assert lab.run("--smoke").code == 1
    assert lab.subjects(f"{base}..") == []
