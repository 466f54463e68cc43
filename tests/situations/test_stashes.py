"""Lockfiles put aside, taken from another revision, carried along: the record is never behind."""

from __future__ import annotations

import pytest

from tests.record.hooked import Hooked
from tests.situations.after import FITS, files, first, settled, version
from tests.situations.test_merges import OTHER_FILE, commit_other


@pytest.mark.parametrize("arguments", [[], ["--index"]])
def test_a_stashed_lockfile_is_recorded_when_it_comes_back(
    hooked: Hooked, arguments: list[str]
) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("stash", "-q")
    settled(hooked)
    hooked.repo.git("stash", "pop", "-q", *arguments)
    hooked.commit("--all")
    assert files(hooked) == version(2)
    settled(hooked)


def test_an_untracked_lockfile_is_stashed_and_recorded_when_it_comes_back(hooked: Hooked) -> None:
    hooked.repo.write("sub/uv.lock", "version = 1\n")
    hooked.repo.git("stash", "-q", "--include-untracked")
    commit_other(hooked)
    hooked.repo.git("stash", "pop", "-q")
    hooked.repo.git("add", "--all")
    hooked.commit()
    record = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert files(hooked) == first(**OTHER_FILE, **{"sub/uv.lock": "version = 1\n", record: FITS})
    settled(hooked)


def test_what_a_stash_keeps_staged_is_recorded_as_it_is_staged(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.repo.git("stash", "-q", "--keep-index")
    hooked.commit()
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_stash_popped_onto_a_newer_record_collides_with_no_record(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.repo.git("stash", "-q")
    hooked.lock_commit("version = 1\n", "sub/uv.lock")
    hooked.repo.git("stash", "pop", "-q")
    hooked.commit("--all")
    record = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert files(hooked) == version(2, **{"sub/uv.lock": "version = 1\n", record: FITS})
    settled(hooked)


def test_a_branch_made_of_a_stash_holds_the_record(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("stash", "-q")
    hooked.repo.git("stash", "branch", "side")
    hooked.commit("--all")
    assert files(hooked) == version(2)
    settled(hooked, on="side")


def test_a_lockfile_carried_to_another_branch_is_recorded_there(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.repo.git("checkout", "-q", "-b", "side")
    hooked.commit("--all")
    assert files(hooked) == version(2)
    hooked.repo.git("checkout", "-q", "main")
    assert files(hooked) == first()
    settled(hooked)


@pytest.mark.parametrize(
    "command", [["checkout", "HEAD~1", "--"], ["restore", "--source=HEAD~1", "-SW", "--"]]
)
@pytest.mark.parametrize("path", ["uv.lock", "."])
def test_a_lockfile_from_an_older_revision_brings_its_record_back(
    hooked: Hooked, command: list[str], path: str
) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git(*command, path)
    hooked.commit()
    assert files(hooked) == first()
    settled(hooked)
