"""A commit that is made anew: the record follows the lockfile, there and back."""

from __future__ import annotations

import json

import pytest

from tests.record.hooked import RECORD, Hooked
from tests.situations.after import FITS, files, first, settled, version


def count(hooked: Hooked) -> int:
    return int(hooked.repo.git("rev-list", "--count", "HEAD"))


@pytest.mark.parametrize("arguments", [[], ["--all"], ["uv.lock"], ["--include", "uv.lock"]])
def test_an_amend_that_changes_the_lockfile_changes_the_record(
    hooked: Hooked, arguments: list[str]
) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.write("uv.lock", "version = 3\n")
    if not arguments:
        hooked.repo.git("add", "uv.lock")
    hooked.commit("--amend", *arguments)
    assert files(hooked) == version(3)
    assert count(hooked) == 2
    settled(hooked)


def test_an_amend_of_the_very_first_commit_changes_the_record(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("--amend", "uv.lock")
    assert files(hooked) == version(2)
    assert count(hooked) == 1
    settled(hooked)


def test_an_amend_that_drops_the_lockfile_change_drops_the_record_change(hooked: Hooked) -> None:
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("checkout", "HEAD~1", "--", "uv.lock")
    hooked.commit("--amend")
    assert hooked.changed() == ["other"]
    assert files(hooked) == first(other="words\n")
    settled(hooked)


def test_an_amend_that_takes_a_new_lockfile_out_again_takes_its_record_along(
    hooked: Hooked,
) -> None:
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.lock_commit("version = 1\n", "sub/uv.lock")
    hooked.repo.git("rm", "-q", "sub/uv.lock")
    hooked.commit("--amend")
    assert hooked.changed() == ["other"]
    assert files(hooked) == first(other="words\n")
    settled(hooked)


def test_an_amend_of_the_message_changes_no_record(hooked: Hooked) -> None:
    before = hooked.repo.git("rev-parse", "HEAD^{tree}")
    hooked.commit("--amend")
    assert hooked.repo.git("rev-parse", "HEAD^{tree}") == before
    settled(hooked)


def test_an_amend_of_another_file_leaves_the_record_alone(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    before = hooked.repo.git("rev-parse", f"HEAD:{RECORD}")
    hooked.repo.write("README", "more\n")
    hooked.commit("--amend", "--all")
    assert hooked.repo.git("rev-parse", f"HEAD:{RECORD}") == before
    assert files(hooked) == version(2, README="more\n")
    settled(hooked)


def test_an_amend_gives_a_commit_that_skipped_hooks_its_record(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.commit("--no-verify")
    hooked.lock("version = 3\n")
    hooked.commit("--amend")
    assert files(hooked) == version(3)
    settled(hooked)


@pytest.mark.parametrize("kind", ["--fixup=HEAD", "--squash=HEAD", "--fixup=amend:HEAD"])
def test_a_fixup_commit_holds_its_record_and_autosquash_keeps_it(hooked: Hooked, kind: str) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.lock("version = 3\n")
    hooked.repo.git("commit", "-q", kind, env={"GIT_EDITOR": "true"})
    assert files(hooked) == version(3)
    editors = {"GIT_SEQUENCE_EDITOR": "true", "GIT_EDITOR": "true"}
    hooked.repo.git("rebase", "-q", "--interactive", "--autosquash", "HEAD~2", env=editors)
    assert files(hooked) == version(3)
    assert count(hooked) == 2
    settled(hooked)


def test_a_soft_reset_is_committed_again_with_its_record(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("reset", "-q", "--soft", "HEAD~1")
    hooked.commit()
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_mixed_reset_leaves_a_record_that_the_next_commit_takes_up(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("reset", "-q", "HEAD~1")
    hooked.lock("version = 3\n")
    hooked.commit()
    assert files(hooked) == version(3)
    settled(hooked)


def test_several_commits_squashed_by_a_soft_reset_have_one_record(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.lock_commit("version = 3\n")
    hooked.lock_commit("version = 1\n", "sub/uv.lock")
    hooked.repo.git("reset", "-q", "--soft", "HEAD~3")
    hooked.commit()
    record = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert files(hooked) == version(3, **{"sub/uv.lock": "version = 1\n", record: FITS})
    settled(hooked)


def test_the_time_of_a_record_is_kept_when_nothing_else_moved(hooked: Hooked) -> None:
    hooked.repo.write(RECORD, json.dumps(hooked.record() | {"taken_at": "2020-01-01T00:00:00Z"}))
    hooked.repo.git("add", RECORD)
    hooked.repo.git("commit", "-qm", "older", env={"ENVTRACK_HOOK": "off"})
    hooked.repo.git("update-index", "--chmod=+x", "uv.lock")
    hooked.repo.git("config", "core.fileMode", "false")
    hooked.commit()
    assert hooked.starts() == ["pre-commit"]
    assert hooked.record()["taken_at"] == "2020-01-01T00:00:00Z"
    assert files(hooked) == first()
    settled(hooked)
