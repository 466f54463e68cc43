"""What can't be split is refused, and nothing is changed."""

from __future__ import annotations

import pytest

from tests.cli.lab import Ended
from tests.split.lab import AFTER, SplitLab


def refused(lab: SplitLab, *arguments: str, code: int = 2) -> str:
    """What it says; nothing may have changed."""
    before = lab.repo.state()
    done: Ended = lab.run(*arguments)
    assert (done.code, done.out) == (code, "")
    assert lab.repo.state() == before
    return done.err


def test_nothing_is_staged(lab: SplitLab) -> None:
    assert "uv.lock: no change of it is staged" in refused(lab)


def test_the_lockfile_has_changes_that_are_not_staged(lab: SplitLab) -> None:
    lab.stage(*AFTER)
    lab.lock("torch<2", "wick<3", "flint<3")
    said = refused(lab)
    assert "has changes that are not staged" in said
    assert "`git add" in said


def test_the_lockfile_does_not_fit_its_project(lab: SplitLab) -> None:
    lab.stage(*AFTER)
    text = (lab.repo.path / "pyproject.toml").read_text()
    lab.repo.write("pyproject.toml", text.replace("wick<3", "wick<2"))
    lab.repo.git("add", "pyproject.toml")
    said = refused(lab)
    assert "uv.lock: uv does not take it as it is: The lockfile at `uv.lock` needs" in said


def test_a_branch_without_a_commit(lab: SplitLab) -> None:
    lab.repo.git("checkout", "--quiet", "--orphan", "other")
    assert "this branch has no commit yet" in refused(lab)


def test_a_bare_repository(lab: SplitLab) -> None:
    lab.repo.git("config", "core.bare", "true")
    assert "a bare repository has no working tree" in lab.run().err


@pytest.mark.parametrize("sign", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "BISECT_LOG"])
def test_git_is_in_the_middle_of_something(lab: SplitLab, sign: str) -> None:
    lab.stage(*AFTER)
    (lab.repo.path / ".git" / sign).write_text("")
    assert "git is in the middle of" in refused(lab)


def test_a_lockfile_that_is_new(lab: SplitLab) -> None:
    lab.repo.git("rm", "--quiet", "uv.lock")
    lab.repo.commit("gone")
    lab.stage(*AFTER)
    assert "uv.lock is new" in refused(lab)


def test_another_format_is_refused_by_name(lab: SplitLab) -> None:
    lab.repo.write("poetry.lock", "")
    said = refused(lab, "--lockfile", str(lab.repo.path / "poetry.lock"))
    assert "`split` makes the lockfiles in between with `uv lock`; it can't for poetry.lock" in said


def test_a_commit_that_is_not_the_last(lab: SplitLab) -> None:
    lab.repo.commit("empty")
    assert "is not the last commit" in refused(lab, "HEAD~1")


def test_the_first_commit(lab: SplitLab) -> None:
    assert "is the first commit" in refused(lab, "HEAD")


def test_a_merge(lab: SplitLab) -> None:
    lab.repo.git("checkout", "--quiet", "-b", "side")
    lab.repo.commit("side")
    lab.repo.git("checkout", "--quiet", "main")
    lab.repo.git("merge", "--quiet", "--no-ff", "-m", "join", "side")
    assert "is a merge; it can't be split" in refused(lab, "HEAD")


def test_a_commit_that_is_published(lab: SplitLab) -> None:
    lab.stage(*AFTER)
    lab.repo.commit("two")
    lab.repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert "is published already (origin/main)" in refused(lab, "HEAD")


def test_a_commit_that_leaves_the_lockfile_alone(lab: SplitLab) -> None:
    lab.repo.commit("empty")
    assert "does not change uv.lock" in refused(lab, "HEAD")


def test_what_is_in_conflict(lab: SplitLab) -> None:
    lab.repo.git("checkout", "--quiet", "-b", "side")
    lab.repo.write("code", "1\n")
    lab.repo.commit("side")
    lab.repo.git("checkout", "--quiet", "main")
    lab.repo.write("code", "2\n")
    lab.repo.commit("main")
    lab.repo.git("merge", "side", check=False)
    (lab.repo.path / ".git/MERGE_HEAD").unlink()
    assert "is something in conflict?" in refused(lab)


def test_an_index_that_is_gone_is_the_rigs_failure(lab: SplitLab) -> None:
    lab.stage(*AFTER)
    lab.index.rename(lab.index.with_name("elsewhere"))
    assert "uv could not lock, and nothing was changed" in refused(lab, code=4)


def test_a_branch_that_is_locked_leaves_all_as_it_was(lab: SplitLab) -> None:
    lab.stage(*AFTER)
    lock = lab.repo.path / ".git/refs/heads/main.lock"
    lock.write_text("")
    before = lab.repo.state()
    done = lab.run()
    after = lab.repo.state()
    assert done.code == 4
    assert "is locked: nothing was changed" in done.err
    for name in ("refs", "tree", "worktrees"):
        assert after[name] == before[name]
    assert lab.repo.git("status", "--porcelain") == "M  pyproject.toml\nM  uv.lock"


def test_an_index_that_is_locked_leaves_all_as_it_was(lab: SplitLab) -> None:
    lab.stage(*AFTER)
    (lab.repo.path / ".git/index.lock").write_text("")
    before = lab.repo.state()
    assert lab.run().code == 4
    assert lab.repo.state() == before


def test_nobody_knows_who_commits(lab: SplitLab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.stage(*AFTER)
    lab.repo.git("config", "user.useConfigOnly", "true")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    assert refused(lab, code=4)


def test_a_dry_run_tries_no_step(lab: SplitLab) -> None:
    assert "--dry-run tries no step" in refused(lab, "--dry-run", "--sync")


def test_no_smoke_test_is_configured(lab: SplitLab) -> None:
    assert "no smoke test is configured" in refused(lab, "--smoke")
