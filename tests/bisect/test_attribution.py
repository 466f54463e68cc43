"""Code or environment: the crossings of a guilty commit, and searches that hold one of the two."""

from __future__ import annotations

from pathlib import Path

import pytest

from envtrack.culprit.crossings import attribute
from envtrack.culprit.said import Said
from envtrack.model.answer import Outcome
from envtrack.model.attribution import Attribution
from envtrack.model.verdict import Verdict
from envtrack.probe.plan import Hold
from tests.bisect.conftest import Make
from tests.support.history import Script, lock_text, project_text
from tests.support.simulated import Step, World, simulate

G, B, U, D = Verdict.GOOD, Verdict.BAD, Verdict.UNTESTABLE, Verdict.DIFFERENT


@pytest.mark.parametrize(
    ("environment_alone", "code_alone", "expected"),
    [
        (B, G, Attribution.ENVIRONMENT),
        (G, B, Attribution.CODE),
        (B, B, Attribution.EITHER),
        (G, G, Attribution.BOTH),
        (U, B, Attribution.UNKNOWN),
        (G, D, Attribution.UNKNOWN),
    ],
)
def test_two_crossings_say_which_half_it_is(
    tmp_path: Path, environment_alone: Verdict, code_alone: Verdict, expected: Attribution
) -> None:
    steps = [Step("old 1", "a"), Step("old 2", "b"), Step("new 1", "c"), Step("new 2", "c")]
    world = World(
        {
            steps[2]: B,
            steps[3]: B,
            Step("new 1", "b"): environment_alone,
            Step("old 2", "c"): code_alone,
        }
    )
    with simulate(tmp_path, steps, world) as lab:
        found = lab.search()
        assert found.first_bad == lab.commits[2]
        assert found.crossed is not None
        assert found.crossed.attribution is expected
        assert found.crossed.environment_alone.verdict is environment_alone
        assert found.crossed.code_alone.verdict is code_alone
        # Both sides of the answer were tried themselves.
        seen = {one.commit: one.judgement for one in lab.rig.list_seen()}
        direct = [judgement.verdict for at in (1, 2) if (judgement := seen[lab.commits[at]])]
        assert direct == [G, B]
        # Once more costs nothing, and the crossings are not taken for commits.
        tried = lab.rig.tried.total()
        assert lab.search() == found
        assert lab.rig.tried.total() == tried


def test_every_answer_of_two_trials_has_a_meaning() -> None:
    for environment in Said:
        for code in Said:
            said = attribute(environment_alone=environment, code_alone=code)
            assert (said is Attribution.UNKNOWN) == (Said.UNRESOLVED in (environment, code))


def test_a_commit_that_leaves_the_code_alone_is_not_crossed(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1")
    locked = {"uv.lock": lock_text("2.0"), "pyproject.toml": project_text("2.0")}
    bench = make(script.add("guilty", files=locked).add("last", "2.1"))
    answer = bench.find("good", "last", "--commit-only")
    assert bench.culprit(answer) == "guilty"
    assert answer["crossings"] is None


def mixed() -> Script:
    """Code that breaks by itself, and an environment that does, in one commit."""
    script = Script().add("good", "1.0", code=0).add("a", "1.1")
    return script.add("guilty", "1.2", code=1).add("b", "1.3").add("last", code=1)


def test_real_crossings_install_one_commit_and_run_the_other(make: Make) -> None:
    bench = make(mixed())
    answer = bench.find("good", "last")
    assert bench.culprit(answer) == "guilty"
    assert answer["crossings"]["attribution"] == "code"
    assert answer["crossings"]["environment_alone"]["verdict"] == "good"
    assert answer["crossings"]["code_alone"]["verdict"] == "bad"
    assert answer["isolation"] is None
    assert answer["machine"]
    shown = bench.run("good", "last", "--trust-ends")
    assert "It is the code: it breaks in the old environment, too" in shown.out
    assert f"this holds for the machine {answer['machine']}" in shown.out


def test_a_guilty_environment_is_told_from_the_code_beside_it(make: Make) -> None:
    script = Script().add("good", "1.0").add("a", "1.1").add("guilty", "2.0", code=0)
    bench = make(script.add("last", "2.1"))
    answer = bench.find("good", "last", "--commit-only")
    assert bench.culprit(answer) == "guilty"
    assert answer["crossings"]["attribution"] == "environment"


def two_faults() -> Script:
    """The code breaks first, then the environment as well."""
    script = Script().add("good", "1.0").add("a", "1.1").add("by-code", code=1)
    return script.add("b", "1.2", code=1).add("by-env", "2.0", code=0).add("last", "2.1")


def test_with_the_code_held_environments_alone_are_searched(make: Make) -> None:
    bench = make(two_faults())
    answer = bench.find_all("good", "last", "--hold", "code")
    assert bench.culprit(answer) == "by-env"
    assert any("environments alone" in note for note in answer["notes"])
    assert answer["crossings"] is None


def test_with_the_environment_held_code_alone_is_searched(make: Make) -> None:
    script = Script().add("good", "1.0").add("env", "2.0").add("code", code=3).add("back", "1.1")
    bench = make(script.add("c", code=3).add("last", "1.2"))
    answer = bench.find_all("good", "last", "--hold", "env")
    assert bench.culprit(answer) == "code"
    assert any("code alone" in note for note in answer["notes"])


def test_a_held_half_that_fails_by_itself_is_said_with_the_other_search(make: Make) -> None:
    bench = make(Script().add("good", "1.0").add("a", "1.1").add("b", code=1).add("last", "1.2"))
    answer = bench.find_all("good", "last", "--hold", "code")
    assert answer["outcome"] == "good-end-fails"
    assert any("--hold env" in hint for hint in answer["hints"])


def test_ends_that_install_the_same_mean_code_and_the_search_for_it_is_offered(
    make: Make,
) -> None:
    script = Script().add("good", "1.0").add("up", "2.0", code=1).add("down", "1.0")
    bench = make(script.add("last", code=1))
    answer = bench.find("good", "last")
    assert any("both ends install the same" in note for note in answer["notes"])
    assert any("--hold env" in hint for hint in answer["hints"])


def test_a_history_that_turns_twice_is_said_with_the_evidence(tmp_path: Path) -> None:
    steps = [Step(f"env {number}", "") for number in range(8)]
    bad = {steps[number]: B for number in (2, 3, 6, 7)}
    with simulate(tmp_path, steps, World(bad)) as lab:
        for place in (2, 5):
            lab.rig.probe(lab.commits[place])
        found = lab.search()
        assert found.outcome is Outcome.FOUND
        assert found.first_bad in (lab.commits[2], lab.commits[6])
        assert found.turned_back == (lab.commits[2], lab.commits[5])


@pytest.mark.parametrize("hold", list(Hold))
def test_the_script_of_such_a_search_leaves_a_tree_of_the_users_alone(
    make: Make, hold: Hold
) -> None:
    bench = make(mixed())
    bench.find("good", "last", "--hold", hold.value)
    repo = bench.history.repo
    (script,) = (repo.path / ".git/envtrack/sessions").glob("*/probe.sh")
    before = repo.state()
    done = repo.run([str(script)], check=False)
    assert done.returncode == 128
    assert "own worktree only" in done.stderr
    assert repo.state() == before
