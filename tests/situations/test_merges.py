"""Merges of lockfiles: what comes along, what is in conflict, and what is not recorded here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked, install
from tests.situations.after import BROKEN, FITS, OTHER, files, first, settled, version

OTHER_FILE = {"other": "words\n"}


def commit_other(hooked: Hooked) -> None:
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit()


def branch(hooked: Hooked, name: str, text: str, lockfile: str = "uv.lock") -> None:
    """A branch off `main` with one recorded commit of a lockfile; `main` is checked out after."""
    hooked.repo.git("checkout", "-q", "-b", name)
    hooked.lock_commit(text, lockfile)
    hooked.repo.git("checkout", "-q", "main")


def collide(hooked: Hooked) -> None:
    """A merge of `side` (2) into `main` (3) that stops: lockfile and record are in conflict."""
    branch(hooked, "side", "version = 2\n")
    hooked.lock_commit("version = 3\n")
    assert hooked.repo.run(["git", "merge", "-q", "side"], check=False).returncode == 1
    assert hooked.status() == f"UU {RECORD}\nUU uv.lock"


def count_parents(hooked: Hooked) -> int:
    return len(hooked.repo.git("rev-list", "--parents", "-n", "1", "HEAD").split()) - 1


def test_a_clean_merge_brings_the_record_along(hooked: Hooked) -> None:
    branch(hooked, "side", "version = 2\n")
    commit_other(hooked)
    hooked.repo.git("merge", "-q", "--no-edit", "side")
    assert files(hooked) == version(2, **OTHER_FILE)
    assert count_parents(hooked) == 2
    settled(hooked)


def test_a_fast_forward_brings_the_record_along(hooked: Hooked) -> None:
    branch(hooked, "side", "version = 2\n")
    hooked.repo.git("merge", "-q", "side")
    assert files(hooked) == version(2)
    assert hooked.repo.head() == hooked.repo.git("rev-parse", "side")
    settled(hooked)


@pytest.mark.parametrize("how", ["--ff-only", "--no-ff", "--rebase"])
def test_a_pull_brings_the_record_along(hooked: Hooked, tmp_path: Path, how: str) -> None:
    subprocess.run(["git", "clone", "-q", hooked.repo.path, tmp_path / "clone"], check=True)
    clone = hooked.at(tmp_path / "clone")
    install(clone.repo, hooked.python)
    hooked.lock_commit("version = 2\n")
    clone.repo.git("pull", "-q", "--no-edit", how)
    assert files(clone) == version(2)
    settled(clone)


def test_a_merge_of_a_lockfile_without_a_record_is_not_recorded_here(hooked: Hooked) -> None:
    hooked.repo.git("checkout", "-q", "-b", "side")
    hooked.lock("version = 2\n")
    hooked.commit("--no-verify")
    hooked.repo.git("checkout", "-q", "main")
    commit_other(hooked)
    hooked.repo.git("merge", "-q", "--no-edit", "side")
    assert files(hooked) == version(2, **OTHER_FILE, **{RECORD: OTHER})
    settled(hooked)


def test_an_octopus_brings_all_records_along(hooked: Hooked) -> None:
    branch(hooked, "one", "version = 1\n", "a/uv.lock")
    branch(hooked, "two", "version = 2\n", "b/uv.lock")
    commit_other(hooked)
    hooked.repo.git("merge", "-q", "--no-edit", "one", "two")
    assert count_parents(hooked) == 3
    assert files(hooked) == first(
        **OTHER_FILE,
        **{
            "a/uv.lock": "version = 1\n",
            "b/uv.lock": "version = 2\n",
            ".envtrack/snapshots/testbed/a/uv.lock.json": FITS,
            ".envtrack/snapshots/testbed/b/uv.lock.json": FITS,
        },
    )
    settled(hooked)


@pytest.mark.parametrize(("side", "number"), [("--ours", 3), ("--theirs", 2)])
@pytest.mark.parametrize("end", [["commit", "--no-edit"], ["merge", "--continue"]])
def test_a_conflict_that_is_settled_for_one_side_has_the_record_of_that_side(
    hooked: Hooked, side: str, number: int, end: list[str]
) -> None:
    collide(hooked)
    hooked.repo.git("checkout", side, "--", ".")
    hooked.repo.git("add", "--all")
    hooked.repo.git(*end, env={"GIT_EDITOR": "true"})
    assert files(hooked) == version(number)
    assert count_parents(hooked) == 2
    settled(hooked)


@pytest.mark.parametrize("arguments", [[], ["--all"], ["--include", "uv.lock", RECORD]])
def test_a_conflict_that_is_locked_anew_is_not_recorded_here_until_the_next_lockfile(
    hooked: Hooked, arguments: list[str]
) -> None:
    collide(hooked)
    hooked.repo.write("uv.lock", "version = 4\n")
    if not arguments:
        hooked.repo.git("add", "--all")
    hooked.commit(*arguments)
    found = files(hooked)
    assert found.pop(RECORD) in {OTHER, BROKEN}
    assert found == {"README": "words\n", "uv.lock": "version = 4\n"}
    settled(hooked)
    hooked.lock_commit("version = 5\n")
    assert files(hooked) == version(5)
    settled(hooked)


def test_lockfiles_that_git_merges_by_itself_collide_in_their_record_alone(
    hooked: Hooked,
) -> None:
    gap = "#\n" * 20
    hooked.lock_commit(f"a = 1\n{gap}b = 1\n")
    branch(hooked, "side", f"a = 2\n{gap}b = 1\n")
    hooked.lock_commit(f"a = 1\n{gap}b = 2\n")
    assert hooked.repo.run(["git", "merge", "-q", "side"], check=False).returncode == 1
    assert hooked.status() == f"UU {RECORD}\nM  uv.lock"
    hooked.repo.git("checkout", "--ours", RECORD)
    hooked.repo.git("add", RECORD)
    hooked.repo.git("commit", "-q", "--no-edit")
    assert files(hooked) == first(**{"uv.lock": f"a = 2\n{gap}b = 2\n", RECORD: OTHER})
    settled(hooked)


def test_a_merge_that_is_aborted_leaves_things_as_they_were(hooked: Hooked) -> None:
    collide(hooked)
    hooked.repo.git("merge", "--abort")
    assert files(hooked) == version(3)
    settled(hooked)
    hooked.lock_commit("version = 4\n")
    assert files(hooked) == version(4)
    settled(hooked)


def test_a_merge_that_waits_for_its_commit_brings_the_record_along(hooked: Hooked) -> None:
    branch(hooked, "side", "version = 2\n")
    commit_other(hooked)
    hooked.repo.git("merge", "-q", "--no-commit", "--no-ff", "side")
    hooked.commit()
    assert files(hooked) == version(2, **OTHER_FILE)
    assert count_parents(hooked) == 2
    settled(hooked)


def test_a_squashed_merge_is_a_commit_with_a_record_of_its_own(hooked: Hooked) -> None:
    branch(hooked, "side", "version = 2\n")
    commit_other(hooked)
    hooked.repo.git("merge", "-q", "--squash", "side")
    hooked.lock("version = 4\n")
    hooked.commit()
    assert files(hooked) == version(4, **OTHER_FILE)
    assert count_parents(hooked) == 1
    settled(hooked)


def test_a_merge_of_a_branch_that_removed_the_lockfile_takes_the_record_along(
    hooked: Hooked,
) -> None:
    hooked.repo.git("checkout", "-q", "-b", "side")
    hooked.repo.git("rm", "-q", "uv.lock")
    hooked.commit()
    hooked.repo.git("checkout", "-q", "main")
    commit_other(hooked)
    hooked.repo.git("merge", "-q", "--no-edit", "side")
    assert files(hooked) == {"README": "words\n", **OTHER_FILE}
    settled(hooked)


def test_a_commit_after_a_merge_squares_nothing_of_the_merge(hooked: Hooked) -> None:
    branch(hooked, "side", "version = 2\n")
    commit_other(hooked)
    hooked.repo.git("merge", "-q", "--no-edit", "side")
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit("uv.lock")
    assert files(hooked) == version(3, **OTHER_FILE)
    settled(hooked)


def test_two_machines_that_recorded_the_same_lockfile_do_not_collide(hooked: Hooked) -> None:
    record = ".envtrack/snapshots/bench/uv.lock.json"
    hooked.repo.git("checkout", "-q", "-b", "side")
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "-qm", "bench", env={"ENVTRACK_MACHINE": "bench"})
    hooked.repo.git("checkout", "-q", "main")
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("merge", "-q", "--no-edit", "side")
    assert files(hooked) == version(2, **{record: FITS})
    settled(hooked)
