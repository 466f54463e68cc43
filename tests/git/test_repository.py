"""Where a repository is, whatever its folder is called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from envtrack.errors import EnvtrackError, ToolMissing, UsageProblem
from envtrack.git.repository import open_repository

_NAMES = ("plain", "with a space", "with\na line feed", "ends in a line feed\n", "\udcff no UTF-8")


def _make(folder: Path, *options: str) -> Path:
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", *options], cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("name", _NAMES)
def test_a_working_tree_is_found_from_a_folder_in_it(tmp_path: Path, name: str) -> None:
    folder = _make(tmp_path / name)
    inner = folder / "in" / "it"
    inner.mkdir(parents=True)
    found = open_repository(inner, dict(os.environ))
    assert (found.root, found.git_dir, found.common_dir) == (
        folder,
        folder / ".git",
        folder / ".git",
    )
    assert not found.is_bare


@pytest.mark.parametrize("name", _NAMES)
def test_a_bare_repository_is_its_own_root(tmp_path: Path, name: str) -> None:
    folder = _make(tmp_path / name, "--bare")
    found = open_repository(folder, dict(os.environ))
    assert (found.root, found.git_dir, found.common_dir) == (folder, folder, folder)
    assert found.is_bare


@pytest.mark.parametrize("name", ["plain", "with\na line feed"])
def test_a_second_working_tree_shares_the_first_ones_folder(tmp_path: Path, name: str) -> None:
    folder = _make(tmp_path / "first")
    author = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for line in (
        (*author, "commit", "--quiet", "--allow-empty", "--message", "one"),
        ("worktree", "add", "--quiet", "-b", "other", str(tmp_path / name)),
    ):
        subprocess.run(["git", *line], cwd=folder, check=True)
    found = open_repository(tmp_path / name, dict(os.environ))
    assert found.root == tmp_path / name
    assert found.common_dir == folder / ".git"
    assert found.git_dir.parent == folder / ".git" / "worktrees"


def test_a_git_that_says_an_unknown_option_back_is_too_old(tmp_path: Path) -> None:
    folder = _make(tmp_path / "repo")
    real = shutil.which("git")
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    # What 2.30 does with an option of rev-parse that it does not know.
    old.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo git version 2.30.9; exit; }\n'
        f'shift; echo "$1"; shift; exec "{real}" rev-parse "$@"\n'
    )
    old.chmod(0o755)
    environ = {**os.environ, "PATH": f"{old.parent}{os.pathsep}{os.environ['PATH']}"}
    with pytest.raises(ToolMissing, match=r"git version 2\.30\.9 is too old"):
        open_repository(folder, environ)


@pytest.mark.parametrize("place", ["outside", "missing"])
def test_where_there_is_none_it_is_said(tmp_path: Path, place: str) -> None:
    if place == "outside":
        (tmp_path / place).mkdir()
    with pytest.raises(UsageProblem):
        open_repository(tmp_path / place, dict(os.environ))


def test_inside_the_git_folder_there_is_no_working_tree(tmp_path: Path) -> None:
    folder = _make(tmp_path / "repo")
    with pytest.raises(EnvtrackError, match="work tree"):
        open_repository(folder / ".git", dict(os.environ))
