"""Where git's own folder is: elsewhere, split off, bare, or named by an inherited variable."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked, install
from tests.situations.after import OTHER, files, settled, version
from tests.situations.test_trees import link
from tests.support.repo import RepoBuilder


def split_off(hooked: Hooked, folder: Path) -> list[str]:
    """Moves the git folder away; what git has to be told to find it."""
    (hooked.repo.path / ".git").rename(folder)
    return [f"--git-dir={folder}", f"--work-tree={hooked.repo.path}"]


@pytest.mark.parametrize("is_bare", [False, True])
def test_a_git_folder_elsewhere_is_no_hindrance(
    hooked: Hooked, tmp_path: Path, *, is_bare: bool
) -> None:
    split = split_off(hooked, tmp_path / "elsewhere.git")
    if is_bare:  # the way in which people keep their home folder's settings
        hooked.repo.git(*split, "config", "core.bare", "true")
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.repo.git(*split, "commit", "-q", "--all", "-m", "change")
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.repo.git(*split, "commit", "-q", "-m", "change", "uv.lock")
    assert hooked.repo.git(*split, "show", "--format=", "--name-only").split() == [
        RECORD,
        "uv.lock",
    ]
    assert hooked.repo.git(*split, "status", "--porcelain") == ""
    hooked.repo.git(*split, "fsck", "--strict")


def test_inherited_git_variables_are_the_ones_that_count(
    hooked: Hooked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = RepoBuilder.create(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(hooked.repo.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(hooked.repo.path))
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.at(other.path).commit("--all")
    assert files(hooked) == version(2)
    settled(hooked)
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_WORK_TREE")
    assert other.git("status", "--porcelain") == ""


def test_an_inherited_index_is_the_one_that_is_recorded(
    hooked: Hooked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    hooked.repo.git("read-tree", "HEAD")
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    settled(hooked)
    monkeypatch.delenv("GIT_INDEX_FILE")
    # git's own index knows nothing of the commit, neither of the lockfile nor of the record.
    assert hooked.status() == f"MM {RECORD}\nMM uv.lock"
    hooked.repo.git("reset", "-q")
    settled(hooked)


def test_a_separate_git_folder_is_no_hindrance(hooked: Hooked, tmp_path: Path) -> None:
    hooked.repo.git("init", "-q", f"--separate-git-dir={tmp_path / 'apart'}")
    assert (hooked.repo.path / ".git").is_file()
    for number, arguments in ((2, ["--all"]), (3, ["uv.lock"])):
        hooked.repo.write("uv.lock", f"version = {number}\n")
        hooked.commit(*arguments)
        assert files(hooked) == version(number)
        settled(hooked)


def test_a_worktree_that_the_configuration_names_is_no_hindrance(
    hooked: Hooked, tmp_path: Path
) -> None:
    split_off(hooked, tmp_path / "apart.git")
    inside = hooked.at(tmp_path / "apart.git")
    inside.repo.git("config", "core.worktree", str(hooked.repo.path))
    for number, arguments in ((2, ["--all"]), (3, ["--", f"{hooked.repo.path}/uv.lock"])):
        hooked.repo.write("uv.lock", f"version = {number}\n")
        inside.commit(*arguments)
        assert files(inside) == version(number)
        assert inside.status() == ""


def test_settings_of_one_worktree_are_no_hindrance(hooked: Hooked, tmp_path: Path) -> None:
    hooked.repo.git("config", "extensions.worktreeConfig", "true")
    side = link(hooked, tmp_path / "side")
    side.repo.git("config", "--worktree", "core.hooksPath", "/dev/null")
    side.lock_commit("version = 2\n")
    assert files(side) == version(2, **{RECORD: OTHER})
    hooked.lock_commit("version = 3\n")
    assert files(hooked) == version(3)
    settled(side, on="side")
    settled(hooked)


def test_a_bare_repository_is_left_alone(hooked: Hooked, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "-q", "--bare", hooked.repo.path, bare], check=True)
    install(RepoBuilder(bare), hooked.python)
    before = sorted(os.walk(bare))
    for name in ("pre-commit", "post-commit"):
        hook = bare / "hooks" / name
        done = subprocess.run([hook], cwd=bare, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert sorted(os.walk(bare)) == before


def test_a_push_to_a_bare_repository_that_has_the_hooks_goes_through(
    hooked: Hooked, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "-q", "--bare", hooked.repo.path, bare], check=True)
    install(RepoBuilder(bare), hooked.python)
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("push", "-q", str(bare), "main")
    assert RepoBuilder(bare).head() == hooked.repo.head()
    RepoBuilder(bare).git("fsck", "--strict")
    settled(hooked)
