"""Every way to make a commit: what it holds, and what it leaves in the index and the tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked
from tests.situations.after import FITS, OTHER, files, first, settled, version
from tests.support.repo import RepoBuilder


def answer(hooked: Hooked, said: str, *command: str) -> None:
    """A git command that asks questions."""
    subprocess.run(
        ["git", *command],
        cwd=hooked.repo.path,
        input=said,
        text=True,
        capture_output=True,
        check=True,
    )


def stage_other(hooked: Hooked) -> None:
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")


def test_a_commit_of_a_lockfile_holds_its_record(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    assert hooked.changed() == [RECORD, "uv.lock"]
    assert files(hooked) == version(2)
    assert hooked.record()["machine"] == "testbed"
    settled(hooked)


def test_the_first_commit_of_a_repository_holds_a_record(repo: RepoBuilder, tmp_path: Path) -> None:
    hooked = Hooked.create(repo, tmp_path)
    hooked.lock_commit("version = 1\n")
    assert files(hooked) == {RECORD: FITS, "uv.lock": "version = 1\n"}
    settled(hooked)


def test_the_very_first_commit_can_be_one_of_a_path(repo: RepoBuilder, tmp_path: Path) -> None:
    hooked = Hooked.create(repo, tmp_path)
    hooked.lock("version = 1\n")
    stage_other(hooked)
    hooked.commit("uv.lock")
    assert files(hooked) == {RECORD: FITS, "uv.lock": "version = 1\n"}
    settled(hooked, status="A  other")


def test_a_commit_on_an_orphan_branch_holds_a_record(hooked: Hooked) -> None:
    hooked.repo.git("checkout", "-q", "--orphan", "new")
    hooked.commit()
    assert files(hooked) == first()
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    settled(hooked, on="new")


def test_an_emptied_orphan_branch_starts_with_a_record_of_its_own(hooked: Hooked) -> None:
    hooked.repo.git("switch", "-q", "--orphan", "new")
    hooked.lock_commit("version = 9\n")
    assert files(hooked) == {RECORD: FITS, "uv.lock": "version = 9\n"}
    settled(hooked, on="new")


def test_a_commit_on_a_detached_head_holds_its_record(hooked: Hooked) -> None:
    hooked.repo.git("checkout", "-q", "--detach")
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit("uv.lock")
    assert files(hooked) == version(3)
    settled(hooked, on="")


@pytest.mark.parametrize("arguments", [["--all"], ["--include", "uv.lock"]])
def test_commit_all_and_include_record_the_lockfile_that_is_committed(
    hooked: Hooked, arguments: list[str]
) -> None:
    stage_other(hooked)
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit(*arguments)
    assert files(hooked) == version(2, other="words\n")
    settled(hooked)


def test_commit_patch_records_the_part_that_is_committed(hooked: Hooked) -> None:
    gap = "#\n" * 20
    hooked.lock_commit(f"a = 1\n{gap}b = 1\n")
    hooked.repo.write("uv.lock", f"a = 2\n{gap}b = 2\n")
    answer(hooked, "y\nn\n", "commit", "--patch", "-m", "half")
    assert files(hooked) == first(**{"uv.lock": f"a = 2\n{gap}b = 1\n"})
    settled(hooked, status=" M uv.lock")


def test_a_part_staged_with_add_patch_is_recorded_as_it_is_staged(hooked: Hooked) -> None:
    gap = "#\n" * 20
    hooked.lock_commit(f"a = 1\n{gap}b = 1\n")
    hooked.repo.write("uv.lock", f"a = 2\n{gap}b = 2\n")
    answer(hooked, "n\ny\n", "add", "--patch")
    hooked.commit()
    assert files(hooked) == first(**{"uv.lock": f"a = 1\n{gap}b = 2\n"})
    settled(hooked, status=" M uv.lock")


def test_a_lockfile_that_changed_again_after_it_was_staged_is_recorded_as_staged(
    hooked: Hooked,
) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit()
    assert files(hooked) == version(2)
    settled(hooked, status=" M uv.lock")


@pytest.mark.parametrize("arguments", [["uv.lock"], ["--only", "uv.lock"], ["--", "*.lock"]])
def test_commit_path_leaves_other_staged_files_staged(hooked: Hooked, arguments: list[str]) -> None:
    stage_other(hooked)
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit(*arguments)
    assert files(hooked) == version(2)
    settled(hooked, status="A  other")


def test_the_commit_after_commit_path_does_not_revert_the_record(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    stage_other(hooked)
    hooked.commit()
    assert hooked.changed() == ["other"]
    assert files(hooked) == version(2, other="words\n")
    settled(hooked)


def test_commit_path_of_another_file_leaves_a_staged_lockfile_staged(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.write("README", "more\n")
    hooked.commit("README")
    assert files(hooked) == first(README="more\n")
    settled(hooked, status="M  uv.lock")
    hooked.commit()
    assert files(hooked) == version(2, README="more\n")
    settled(hooked)


def test_commit_path_that_adds_the_first_record_leaves_a_clean_status(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    hooked = Hooked.create(repo, tmp_path)
    stage_other(hooked)
    hooked.commit()
    hooked.repo.write("uv.lock", "version = 1\n")
    hooked.repo.git("add", "--intent-to-add", "uv.lock")
    hooked.commit("uv.lock")
    assert files(hooked) == {RECORD: FITS, "other": "words\n", "uv.lock": "version = 1\n"}
    settled(hooked)


def test_a_lockfile_that_is_only_announced_is_recorded_when_it_is_committed(
    hooked: Hooked,
) -> None:
    hooked.repo.write("sub/uv.lock", "version = 1\n")
    hooked.repo.git("add", "--intent-to-add", "sub/uv.lock")
    stage_other(hooked)
    hooked.commit()
    assert files(hooked) == first(other="words\n")
    settled(hooked, status=" A sub/uv.lock")
    hooked.commit("--all")
    record = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert files(hooked) == first(
        **{"other": "words\n", "sub/uv.lock": "version = 1\n", record: FITS}
    )
    settled(hooked)


def test_commit_path_from_a_subfolder_works_the_same(hooked: Hooked) -> None:
    hooked.repo.write("sub/x", "x")
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.at(hooked.repo.path / "sub").commit("../uv.lock")
    assert files(hooked) == version(2)
    settled(hooked, status="?? sub/")


def test_an_unrelated_staged_change_of_a_record_survives_commit_path(hooked: Hooked) -> None:
    mine = hooked.repo.git("show", f"HEAD:{RECORD}").replace('"testbed"', '"by-hand"') + "\n"
    hooked.repo.write(RECORD, mine)
    hooked.repo.git("add", RECORD)
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    assert files(hooked) == version(2)
    assert hooked.record("")["machine"] == "by-hand"
    assert (hooked.repo.path / RECORD).read_text() == mine
    settled(hooked, status=f"M  {RECORD}")


def test_an_empty_commit_changes_no_record(hooked: Hooked) -> None:
    hooked.commit("--allow-empty")
    assert hooked.changed() == [""]
    assert files(hooked) == first()
    settled(hooked)


def test_a_dry_run_changes_nothing(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "--dry-run")
    assert files(hooked) == first()
    assert hooked.starts() == []
    settled(hooked, status="M  uv.lock")


def test_a_commit_that_skips_hooks_is_not_recorded_here(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.commit("--no-verify")
    assert files(hooked) == version(2, **{RECORD: OTHER})
    settled(hooked)
    hooked.lock_commit("version = 3\n")
    assert files(hooked) == version(3)
    settled(hooked)


def test_our_own_commits_do_not_trigger_us(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "-qm", "ours", env={"ENVTRACK_HOOK": "off"})
    assert files(hooked) == version(2, **{RECORD: OTHER})
    assert hooked.starts() == []
    settled(hooked)


def test_the_hooks_make_no_commit_and_amend_none(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    assert hooked.starts() == ["pre-commit", "post-commit"]
    assert hooked.repo.git("reflog", "--format=%gs").split("\n") == [
        "commit: change",
        "commit (initial): change",
    ]


def test_a_bot_with_another_machine_name_leaves_our_record_alone(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "-qm", "bot", env={"ENVTRACK_MACHINE": "bot"})
    other = ".envtrack/snapshots/bot/uv.lock.json"
    assert hooked.changed() == [other, "uv.lock"]
    assert files(hooked) == version(2, **{RECORD: OTHER, other: FITS})
    settled(hooked)
