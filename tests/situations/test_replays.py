"""Commits that git makes again elsewhere: rebase, cherry-pick, revert, am."""

from __future__ import annotations

import pytest

from tests.record.hooked import RECORD, Hooked
from tests.situations.after import BROKEN, OTHER, files, first, settled, version
from tests.situations.test_merges import OTHER_FILE, branch, commit_other

RECORD_FILE = {RECORD: OTHER}


def diverge(hooked: Hooked) -> None:
    """`side` holds two recorded commits (2, 3), `main` one of another file; `side` is out."""
    branch(hooked, "side", "version = 2\n")
    commit_other(hooked)
    hooked.repo.git("checkout", "-q", "side")
    hooked.lock_commit("version = 3\n")


def collide(hooked: Hooked) -> None:
    """A rebase of `side` (2) onto `main` (3) that stops at the lockfile."""
    branch(hooked, "side", "version = 2\n")
    hooked.lock_commit("version = 3\n")
    hooked.repo.git("checkout", "-q", "side")
    assert hooked.repo.run(["git", "rebase", "-q", "main"], check=False).returncode == 1


def go_on(hooked: Hooked, command: str = "rebase") -> None:
    hooked.repo.git(command, "--continue", env={"GIT_EDITOR": "true"})


def edit_todo(script: str) -> dict[str, str]:
    return {"GIT_SEQUENCE_EDITOR": f"sed -i '{script}'", "GIT_EDITOR": "true"}


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_a_rebase_keeps_the_record_of_each_commit(hooked: Hooked, backend: str) -> None:
    diverge(hooked)
    hooked.repo.git("rebase", "-q", backend, "main")
    assert files(hooked) == version(3, **OTHER_FILE)
    assert files(hooked, "HEAD~1") == version(2, **OTHER_FILE)
    settled(hooked, on="side")


def test_an_interactive_rebase_that_rewords_keeps_the_records(hooked: Hooked) -> None:
    diverge(hooked)
    hooked.repo.git("rebase", "-q", "-i", "main", env=edit_todo("s/^pick/reword/"))
    assert files(hooked) == version(3, **OTHER_FILE)
    assert files(hooked, "HEAD~1") == version(2, **OTHER_FILE)
    settled(hooked, on="side")


@pytest.mark.parametrize("word", ["squash", "fixup"])
def test_an_interactive_rebase_that_squashes_keeps_the_last_record(
    hooked: Hooked, word: str
) -> None:
    diverge(hooked)
    hooked.repo.git("rebase", "-q", "-i", "main", env=edit_todo(f"2s/^pick/{word}/"))
    assert files(hooked) == version(3, **OTHER_FILE)
    assert hooked.repo.git("rev-list", "--count", "main..") == "1"
    settled(hooked, on="side")


def test_a_lockfile_amended_in_the_middle_of_a_rebase_is_not_recorded_here(
    hooked: Hooked,
) -> None:
    diverge(hooked)
    hooked.repo.git("rebase", "-q", "-i", "main", env=edit_todo("2s/^pick/edit/"))
    hooked.lock("version = 9\n")
    hooked.commit("--amend")
    go_on(hooked)
    assert files(hooked) == version(9, **OTHER_FILE, **RECORD_FILE)
    settled(hooked, on="side")
    hooked.lock_commit("version = 10\n")
    assert files(hooked) == version(10, **OTHER_FILE)
    settled(hooked, on="side")


def test_a_commit_split_in_a_rebase_breaks_nothing(hooked: Hooked) -> None:
    diverge(hooked)
    hooked.repo.git("rebase", "-q", "-i", "main", env=edit_todo("2s/^pick/edit/"))
    hooked.repo.git("reset", "-q", "HEAD~1")
    hooked.repo.git("add", "uv.lock")
    hooked.commit()
    hooked.repo.git("add", "--all")
    hooked.commit()
    go_on(hooked)
    assert files(hooked) == version(3, **OTHER_FILE)
    assert files(hooked, "HEAD~1") == version(3, **OTHER_FILE, **RECORD_FILE)
    settled(hooked, on="side")


def test_a_command_that_a_rebase_executes_may_commit(hooked: Hooked) -> None:
    diverge(hooked)
    script = (
        "echo x >>README && git commit -qam exec && echo y >>uv.lock && git commit -q uv.lock -m y"
    )
    hooked.repo.git("rebase", "-q", "--exec", script, "HEAD~1")
    assert files(hooked) == version(
        3, **RECORD_FILE, **{"README": "words\nx\n", "uv.lock": "version = 3\ny\n"}
    )
    settled(hooked, on="side")


@pytest.mark.parametrize(("choice", "number"), [("--ours", 3), ("--theirs", 2)])
def test_a_conflict_in_a_rebase_that_is_settled_for_one_side_has_its_record(
    hooked: Hooked, choice: str, number: int
) -> None:
    collide(hooked)
    hooked.repo.git("checkout", choice, "--", ".")
    hooked.repo.git("add", "--all")
    go_on(hooked)
    assert files(hooked) == version(number)
    settled(hooked, on="side")


def test_a_conflict_in_a_rebase_that_is_locked_anew_is_not_recorded_here(hooked: Hooked) -> None:
    collide(hooked)
    hooked.lock("version = 4\n")
    hooked.repo.git("add", "--all")
    go_on(hooked)
    found = files(hooked)
    assert found.pop(RECORD) in {OTHER, BROKEN}
    assert found == {"README": "words\n", "uv.lock": "version = 4\n"}
    settled(hooked, on="side")
    hooked.lock_commit("version = 5\n")
    assert files(hooked) == version(5)
    settled(hooked, on="side")


@pytest.mark.parametrize("word", ["--abort", "--skip"])
def test_a_rebase_that_is_given_up_leaves_a_whole_branch(hooked: Hooked, word: str) -> None:
    collide(hooked)
    hooked.repo.git("rebase", word)
    assert files(hooked) == version(2 if word == "--abort" else 3)
    settled(hooked, on="side")


def test_a_rebase_with_autostash_gives_an_uncommitted_lockfile_back(hooked: Hooked) -> None:
    diverge(hooked)
    hooked.repo.write("uv.lock", "version = 4\n")
    hooked.repo.git("rebase", "-q", "--autostash", "main")
    assert files(hooked) == version(3, **OTHER_FILE)
    settled(hooked, status=" M uv.lock", on="side")
    hooked.commit("--all")
    assert files(hooked) == version(4, **OTHER_FILE)
    settled(hooked, on="side")


def test_a_cherry_pick_carries_the_record(hooked: Hooked) -> None:
    diverge(hooked)
    hooked.repo.git("checkout", "-q", "main")
    hooked.repo.git("cherry-pick", "side~1", "side")
    assert files(hooked) == version(3, **OTHER_FILE)
    assert files(hooked, "HEAD~1") == version(2, **OTHER_FILE)
    settled(hooked)


def test_a_cherry_pick_without_commit_is_recorded_when_it_is_committed(hooked: Hooked) -> None:
    branch(hooked, "side", "version = 2\n")
    hooked.repo.git("cherry-pick", "--no-commit", "side")
    hooked.lock("version = 4\n")
    hooked.commit()
    assert files(hooked) == version(4)
    settled(hooked)


def test_a_cherry_pick_of_a_commit_without_a_record_is_not_recorded_here(hooked: Hooked) -> None:
    hooked.repo.git("checkout", "-q", "-b", "side")
    hooked.lock("version = 2\n")
    hooked.commit("--no-verify")
    hooked.repo.git("checkout", "-q", "main")
    hooked.repo.git("cherry-pick", "side")
    assert files(hooked) == version(2, **RECORD_FILE)
    settled(hooked)


@pytest.mark.parametrize("end", [["commit", "--no-edit"], ["cherry-pick", "--continue"]])
def test_a_cherry_pick_in_conflict_is_concluded(hooked: Hooked, end: list[str]) -> None:
    branch(hooked, "side", "version = 2\n")
    hooked.lock_commit("version = 3\n")
    assert hooked.repo.run(["git", "cherry-pick", "side"], check=False).returncode == 1
    hooked.repo.git("checkout", "--theirs", "--", ".")
    hooked.repo.git("add", "--all")
    hooked.repo.git(*end, env={"GIT_EDITOR": "true"})
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_revert_goes_back_to_the_record_of_before(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("revert", "--no-edit", "HEAD")
    assert files(hooked) == first()
    settled(hooked)


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_a_revert_without_commit_goes_back_too(hooked: Hooked, *, is_forgotten: bool) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("revert", "--no-commit", "HEAD")
    if is_forgotten:
        (hooked.repo.path / ".git/REVERT_HEAD").unlink(missing_ok=True)
    hooked.commit()
    assert files(hooked) == first()
    settled(hooked)


@pytest.mark.parametrize("arguments", [[], ["--3way"]])
def test_a_mailed_patch_carries_the_record(hooked: Hooked, arguments: list[str]) -> None:
    branch(hooked, "side", "version = 2\n")
    patch = hooked.repo.git("format-patch", "--stdout", "-1", "side")
    hooked.repo.write("../p.patch", patch + "\n")
    commit_other(hooked)
    hooked.repo.git("am", "-q", *arguments, "../p.patch")
    assert files(hooked) == version(2, **OTHER_FILE)
    settled(hooked)
