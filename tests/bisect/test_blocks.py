"""Runs of commits that can't be judged: few probes, an honest answer, a log that can be replayed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from envtrack.model.answer import Outcome
from envtrack.model.verdict import Verdict
from tests.bisect.conftest import Make
from tests.support.history import Script, lock_text, project_text
from tests.support.simulated import Lab, Step, World, simulate

G, B, U, D = Verdict.GOOD, Verdict.BAD, Verdict.UNTESTABLE, Verdict.DIFFERENT


def line(count: int, guilty: int, unjudged: range, verdict: Verdict) -> tuple[list[Step], World]:
    """A history in which every commit has an environment of its own."""
    steps = [Step(env=f"env {number}", code="") for number in range(count)]
    verdicts = dict.fromkeys(steps[guilty:], B) | dict.fromkeys(
        steps[unjudged.start : unjudged.stop], verdict
    )
    return steps, World(verdicts)


def replay(lab: Lab) -> str:
    """What git says to the session's log, from the start, in the session's worktree."""
    log = lab.rig.files.folder / "copy.log"
    log.write_text(lab.read_log())
    lab.rig.tree.git("bisect", "reset")
    done = lab.rig.tree.git("--no-literal-pathspecs", "bisect", "replay", str(log), check=False)
    return done.text + done.error_text


@pytest.mark.parametrize("verdict", [U, D])
def test_the_session_chooses_after_the_third_skip_and_git_can_replay_it(
    tmp_path: Path, verdict: Verdict
) -> None:
    steps, world = line(129, 124, range(20, 121), verdict)
    with simulate(tmp_path, steps, world) as lab:
        found = lab.search()
        assert (found.outcome, found.first_bad) == (Outcome.FOUND, lab.commits[124])
        assert lab.rig.tried.total() <= 16
        # The ends twice, all others once.
        again = {step for step, number in lab.rig.tried.items() if number > 1}
        assert again == {steps[0], steps[-1]}
        assert f"{lab.commits[124].hex} is the first bad commit" in replay(lab)


def test_a_culprit_inside_a_run_is_one_of_it_and_of_no_more(tmp_path: Path) -> None:
    steps, world = line(129, 65, range(30, 101), U)
    with simulate(tmp_path, steps, world) as lab:
        found = lab.search()
        assert found.outcome is Outcome.SEVERAL
        assert found.possible == lab.commits[30:102]
        assert lab.rig.tried.total() <= 28  # both ends are two of them
        log = lab.read_log()
        assert len(re.findall("^git bisect (good|bad|skip) ", log, re.MULTILINE)) > 10
        assert "is the first bad commit" not in replay(lab)


def test_an_environment_that_cant_be_installed_is_tried_once_for_all_its_commits(
    tmp_path: Path,
) -> None:
    # Every commit touches the code, every second one the lockfile, which goes back and forth
    # between two that can't be installed.
    steps = [Step("good 1", "0"), Step("good 2", "0")]
    steps += [Step(f"broken {number // 2 % 2}", str(number)) for number in range(500)]
    steps += [Step("bad 1", "1"), Step("bad 2", "1")]
    broken = dict.fromkeys(steps[2:502], U)
    with simulate(tmp_path, steps, World(broken | {steps[-2]: B, steps[-1]: B})) as lab:
        found = lab.search()
        assert found.outcome is Outcome.SEVERAL
        assert found.possible == lab.commits[2:503]
        assert sum(step in broken for step in lab.rig.tried) == 2
        assert lab.rig.tried.total() <= 2 + 2 + 4
        known = {seen.commit: seen for seen in lab.rig.list_seen()}
        assert sum(seen.same_as is not None for seen in known.values()) == 498


def test_a_stale_lockfile_is_installed_once_however_many_commits_stand_on_it(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1").add("guilty", code=1)
    stale = project_text("1.2").replace('">=3.11"', '">=3.10"')
    script.add("stale", "1.2", files={"pyproject.toml": stale}, code=1)
    for number in range(6):
        script.add(f"code-{number}", code=1)
    # The same files again, after others.
    script.add("repaired", "1.3", code=1).add("again", "1.2", files={"pyproject.toml": stale})
    bench = make(script.add("last", "1.4"))
    answer = bench.find("good", "last")
    assert bench.culprit(answer) == "guilty"
    assert answer["effort"]["untestable"] == 1
    assert answer["effort"]["spared"] >= 1


def test_a_lock_of_another_form_whose_file_is_gone_needs_no_trial(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1")
    gone = {"index/dial-1.2-py3-none-any.whl": None}
    script.add("gone", "1.2", files=gone)
    for number in range(4):
        script.add(f"form-{number}", files={"uv.lock": lock_text("1.2") + "\n" * (number + 1)})
    bench = make(script.add("guilty", "2.0").add("last", "2.1"))
    answer = bench.find("good", "last")
    assert bench.possible(answer) == {"gone", "form-0", "form-1", "form-2", "form-3", "guilty"}
    assert answer["effort"]["untestable"] == 1
    assert {row["kind"] for row in answer["skipped"]} == {"artifact-gone"}


def test_a_log_of_a_search_that_was_taken_over_ends_git_the_same_way(tmp_path: Path) -> None:
    steps, world = line(65, 10, range(20, 61), U)
    with simulate(tmp_path, steps, world) as lab:
        assert lab.search().first_bad == lab.commits[10]
        path = tmp_path / "repo"
        (path / "log").write_text(lab.read_log())
        done = subprocess.run(
            ["git", "bisect", "replay", "log"], cwd=path, capture_output=True, text=True, check=True
        )
        assert f"{lab.commits[10].hex} is the first bad commit" in done.stdout
