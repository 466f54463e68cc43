"""The last commit is replaced by its parts."""

from __future__ import annotations

from tests.split.lab import AFTER, NEWER_PYTHON, RECORD, SplitLab
from tests.split.test_split import THREE

MESSAGE = "Weekly upgrade\n\nAll at once.\n\nEnv-Reason: the new cards\nReviewed-by: Bo"


def commit_three(lab: SplitLab) -> str:
    """Commits a change over three layers, as somebody else; gives the commit before it."""
    base = lab.repo.head()
    lab.stage(*AFTER, python=NEWER_PYTHON)
    who = {
        "GIT_AUTHOR_NAME": "Bø Writer",
        "GIT_AUTHOR_EMAIL": "bo@example.org",
        "GIT_AUTHOR_DATE": "2025-03-04T05:06:07+02:00",
    }
    lab.repo.git("commit", "--quiet", "-m", MESSAGE, env=who)
    return base


def test_the_last_commit_becomes_a_commit_a_layer(lab: SplitLab) -> None:
    base = commit_three(lab)
    assert lab.run("HEAD").code == 0
    assert lab.subjects(f"{base}..") == THREE
    assert list(lab.accepted(f"{base}..")) == [True] * 3
    assert lab.repo.git("status", "--porcelain") == ""


def test_the_last_tree_is_that_of_the_commit_but_for_the_record(lab: SplitLab) -> None:
    commit_three(lab)
    kept = lab.run_json("HEAD")["kept_as"]
    assert lab.repo.git("diff", "--name-only", kept, "HEAD") == RECORD


def test_with_a_record_of_its_own_the_last_tree_is_that_of_the_commit(lab: SplitLab) -> None:
    commit_three(lab)
    lab.run("HEAD")
    lab.repo.git("reset", "--soft", "HEAD~3")
    base = lab.repo.head()
    lab.repo.git("commit", "--quiet", "-m", "all of it, with its record")
    tree = lab.repo.git("rev-parse", "HEAD^{tree}")
    index = lab.repo.state()["index"]
    lab.run("HEAD")
    assert lab.subjects(f"{base}..") == THREE
    assert lab.repo.git("rev-parse", "HEAD^{tree}") == tree
    assert lab.repo.state()["index"] == index


def test_author_date_and_reason_go_with_every_part(lab: SplitLab) -> None:
    base = commit_three(lab)
    short = lab.repo.head()[:10]
    lab.run("HEAD")
    form = "--format=%an <%ae> %aI|%(trailers:key=Env-Reason,valueonly,separator=%x2C)"
    assert (
        lab.repo.git("log", form, f"{base}..").splitlines()
        == ["Bø Writer <bo@example.org> 2025-03-04T05:06:07+02:00|the new cards"] * 3
    )
    assert lab.repo.git("log", "-1", "--format=%b", "HEAD~1").splitlines()[0] == (
        f"Part 2 of 3 of {short} (Weekly upgrade), made by `envtrack split`."
    )


def test_other_files_of_the_commit_come_with_its_last_part(lab: SplitLab) -> None:
    base = lab.repo.head()
    lab.stage(*AFTER, python=NEWER_PYTHON)
    lab.repo.write("code.py", "print()\n")
    lab.repo.commit("upgrade and code")
    lab.run("HEAD")
    assert [("code.py" in lab.changed(commit)) for commit in lab.commits(f"{base}..")] == [
        False,
        False,
        True,
    ]


def test_one_soft_reset_brings_the_commit_back(lab: SplitLab) -> None:
    commit_three(lab)
    original = lab.repo.head()
    kept = lab.run_json("HEAD")["kept_as"]
    lab.repo.git("reset", "--soft", kept)
    assert lab.repo.head() == original
    assert lab.repo.git("log", "-1", "--format=%an") == "Bø Writer"


def test_a_detached_head_moves_alone(lab: SplitLab) -> None:
    base = commit_three(lab)
    lab.repo.git("checkout", "--quiet", "--detach")
    branch = lab.repo.git("rev-parse", "main")
    lab.run("HEAD")
    assert lab.subjects(f"{base}..HEAD") == THREE
    assert lab.repo.git("rev-parse", "main") == branch


def test_the_reflog_says_who_moved_the_branch(lab: SplitLab) -> None:
    commit_three(lab)
    short = lab.repo.head()[:10]
    lab.run("HEAD")
    assert lab.repo.git("reflog", "-1", "--format=%gs", "main") == (
        f"envtrack split: {short} as 3 commits"
    )
