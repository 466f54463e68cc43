"""Lockfiles that move, go, multiply, turn into something else, or have odd names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked
from tests.situations.after import FITS, OTHER, files, first, settled, version
from tests.support.repo import RepoBuilder

SUB = "sub/uv.lock"
SUB_RECORD = ".envtrack/snapshots/testbed/sub/uv.lock.json"
README = {"README": "words\n"}


@pytest.mark.parametrize("is_told", [True, False])
def test_a_renamed_lockfile_moves_its_record(hooked: Hooked, *, is_told: bool) -> None:
    (hooked.repo.path / "sub").mkdir()
    if is_told:
        hooked.repo.git("mv", "uv.lock", SUB)
    else:
        (hooked.repo.path / "uv.lock").rename(hooked.repo.path / SUB)
        hooked.repo.git("add", "--all")
    hooked.commit()
    assert files(hooked) == README | {SUB: "version = 1\n", SUB_RECORD: FITS}
    settled(hooked)


def test_a_renamed_folder_moves_its_record(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n", SUB)
    hooked.repo.git("mv", "sub", "new")
    hooked.commit()
    record = ".envtrack/snapshots/testbed/new/uv.lock.json"
    assert files(hooked) == first(**{"new/uv.lock": "version = 2\n", record: FITS})
    settled(hooked)


@pytest.mark.parametrize("arguments", [[], ["--all"], ["uv.lock"]])
def test_a_removed_lockfile_takes_the_records_of_all_machines_along(
    hooked: Hooked, arguments: list[str]
) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "-qm", "bot", env={"ENVTRACK_MACHINE": "bot"})
    (hooked.repo.path / "uv.lock").unlink()
    if not arguments:
        hooked.repo.git("add", "--all")
    hooked.commit(*arguments)
    assert files(hooked) == README
    settled(hooked)


def test_a_lockfile_that_git_is_only_to_forget_takes_its_record_along(hooked: Hooked) -> None:
    hooked.repo.git("rm", "-q", "--cached", "uv.lock")
    hooked.commit()
    assert files(hooked) == README
    settled(hooked, status="?? uv.lock")


def test_several_lockfiles_of_one_commit_each_have_a_record(hooked: Hooked) -> None:
    names = ["a/uv.lock", "b/c/poetry.lock", "uv.lock"]
    for name in names:
        hooked.lock(f"name = '{name}'\n", name)
    hooked.commit()
    records = {f".envtrack/snapshots/testbed/{name}.json": FITS for name in names}
    assert files(hooked) == README | records | {name: f"name = '{name}'\n" for name in names}
    settled(hooked)


def test_of_several_lockfiles_only_the_committed_one_is_recorded(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.lock("version = 1\n", SUB)
    hooked.commit(SUB)
    assert files(hooked) == first(**{SUB: "version = 1\n", SUB_RECORD: FITS})
    settled(hooked, status="M  uv.lock")
    hooked.commit()
    assert files(hooked) == version(2, **{SUB: "version = 1\n", SUB_RECORD: FITS})
    settled(hooked)


@pytest.mark.parametrize("target", [SUB, "/dev/null", "nowhere"])
def test_a_lockfile_that_became_a_symbolic_link_has_no_record(hooked: Hooked, target: str) -> None:
    hooked.lock("version = 2\n", SUB)
    (hooked.repo.path / "uv.lock").unlink()
    (hooked.repo.path / "uv.lock").symlink_to(target)
    hooked.repo.git("add", "uv.lock")
    hooked.commit()
    assert files(hooked) == README | {SUB: "version = 2\n", SUB_RECORD: FITS, "uv.lock": target}
    settled(hooked)
    (hooked.repo.path / "uv.lock").unlink()
    hooked.lock_commit("version = 3\n")
    assert files(hooked) == version(3, **{SUB: "version = 2\n", SUB_RECORD: FITS})
    settled(hooked)


def test_a_lockfile_that_became_a_folder_has_no_record(hooked: Hooked) -> None:
    (hooked.repo.path / "uv.lock").unlink()
    hooked.repo.write("uv.lock/x", "x")
    hooked.repo.git("add", "--all")
    hooked.commit()
    assert files(hooked) == README | {"uv.lock/x": "x"}
    settled(hooked)


def test_a_folder_that_became_a_lockfile_has_a_record(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n", "pdm.lock/uv.lock")
    hooked.repo.git("rm", "-rq", "pdm.lock")
    hooked.lock("version = 3\n", "pdm.lock")
    hooked.commit()
    record = ".envtrack/snapshots/testbed/pdm.lock.json"
    assert files(hooked) == first(**{"pdm.lock": "version = 3\n", record: FITS})
    settled(hooked)


def test_a_submodule_named_like_a_lockfile_has_no_record(hooked: Hooked, tmp_path: Path) -> None:
    other = RepoBuilder.create(tmp_path / "other")
    other.commit("first")
    hooked.repo.git("submodule", "--quiet", "add", str(other.path), SUB)
    assert hooked.commit() == ""
    assert hooked.changed() == [".gitmodules", SUB]
    settled(hooked)


def test_a_changed_file_mode_alone_changes_no_record(hooked: Hooked) -> None:
    before = hooked.repo.git("rev-parse", f"HEAD:{RECORD}")
    (hooked.repo.path / "uv.lock").chmod(0o755)
    hooked.repo.git("add", "uv.lock")
    hooked.commit()
    assert hooked.changed() == ["uv.lock"]
    assert hooked.repo.git("rev-parse", f"HEAD:{RECORD}") == before
    settled(hooked)


def test_modes_that_git_does_not_look_at_are_not_recorded(hooked: Hooked) -> None:
    hooked.repo.git("config", "core.fileMode", "false")
    for name in ("uv.lock", RECORD):
        (hooked.repo.path / name).chmod(0o755)
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    modes = hooked.repo.git("ls-tree", "-r", "--format=%(objectmode)", "HEAD").split()
    assert modes == ["100644"] * 3
    settled(hooked)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_lockfile_that_git_is_told_not_to_look_at_is_recorded_as_it_is_staged(
    hooked: Hooked, flag: str
) -> None:
    hooked.repo.git("update-index", flag, "uv.lock")
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("--all", "--allow-empty")
    assert files(hooked) == first()
    settled(hooked)
    hooked.repo.git("update-index", flag.replace("--", "--no-"), "uv.lock")
    hooked.commit("--all")
    assert files(hooked) == version(2)
    settled(hooked)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_record_that_git_is_told_not_to_look_at_is_renewed_all_the_same(
    hooked: Hooked, flag: str
) -> None:
    hooked.repo.git("update-index", flag, RECORD)
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    settled(hooked)


@pytest.mark.parametrize(
    "folder",
    ["with space", "new\nline", "tab\tquote\"'", "ünï", os.fsdecode(b"caf\xe9"), "-dash", "[a]*"],
)
def test_a_lockfile_in_an_oddly_named_folder_has_its_record(hooked: Hooked, folder: str) -> None:
    lockfile = f"{folder}/uv.lock"
    path = f".envtrack/snapshots/testbed/{lockfile}.json"
    hooked.repo.write(lockfile, "version = 1\n")
    hooked.repo.git("add", "--all")
    assert hooked.commit() == ""
    assert hooked.belongs(lockfile=lockfile, path=path)
    settled(hooked)
    hooked.repo.write(lockfile, "version = 2\n")
    assert hooked.commit("--", f":(literal){lockfile}") == ""
    assert hooked.belongs(lockfile=lockfile, path=path)
    settled(hooked)
    hooked.repo.git("rm", "-q", "--", f":(literal){lockfile}")
    hooked.commit()
    assert files(hooked) == first()
    settled(hooked)


def test_an_ignored_lockfile_that_is_added_by_force_is_recorded(hooked: Hooked) -> None:
    hooked.repo.write(".git/info/exclude", "*.lock\n.envtrack\n")
    hooked.repo.write(SUB, "version = 1\n")
    hooked.repo.git("add", "--force", SUB)
    assert hooked.commit() == ""
    assert files(hooked) == first(**{SUB: "version = 1\n", SUB_RECORD: FITS})
    settled(hooked)


def test_an_ignored_folder_of_records_is_recorded_all_the_same(hooked: Hooked) -> None:
    ignored = ".envtrack/\n*.json\n"
    hooked.repo.write(".gitignore", ignored)
    hooked.repo.git("add", ".gitignore")
    hooked.lock("version = 1\n", SUB)
    assert hooked.commit() == ""
    expected = first(**{SUB: "version = 1\n", SUB_RECORD: FITS, ".gitignore": ignored})
    assert files(hooked) == expected
    settled(hooked)
    hooked.repo.write(SUB, "version = 2\n")
    assert hooked.commit(SUB) == ""
    assert files(hooked) == expected | {SUB: "version = 2\n"}
    settled(hooked)


def test_the_lockfile_of_another_tool_that_is_committed_without_hooks_stays_unrecorded(
    hooked: Hooked,
) -> None:
    hooked.lock("version = 1\n", "poetry.lock")
    hooked.commit("--no-verify")
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2, **{"poetry.lock": "version = 1\n"})
    assert OTHER not in files(hooked).values()
    settled(hooked)
