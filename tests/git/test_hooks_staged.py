"""What the next commit will hold, as git says it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envtrack.errors import CommandFailed
from envtrack.git.repository import Repository, open_repository
from envtrack.git.staged import (
    RECORDS,
    Entry,
    find_content,
    find_working_blob,
    list_parents,
    list_staged,
    lockfile_pathspecs,
    read_entries,
    read_head_entries,
    stage_blobs,
    store_blob,
)
from tests.record.hooked import write_script
from tests.support.repo import RepoBuilder

ALL = lockfile_pathspecs(())


def open_repo(repo: RepoBuilder) -> Repository:
    return open_repository(repo.path, dict(os.environ))


def staged(repo: RepoBuilder, *pathspecs: str) -> dict[str, tuple[str | None, str | None]]:
    """Path → content before and after."""
    opened = open_repo(repo)

    def text(entry: Entry | None) -> str | None:
        return None if entry is None else (find_content(opened, entry.blob.hex) or b"").decode()

    found = list_staged(opened, pathspecs or ALL)
    return {each.path: (text(each.before), text(each.after)) for each in found}


def test_additions_changes_and_deletions_are_told_with_their_contents(repo: RepoBuilder) -> None:
    repo.write("uv.lock", "1")
    repo.write("a/uv.lock", "a")
    repo.commit("first")
    repo.write("uv.lock", "2")
    repo.write("b/uv.lock", "b")
    repo.write("other", "x")
    repo.git("rm", "-q", "a/uv.lock")
    repo.git("add", "--all")
    assert staged(repo) == {
        "a/uv.lock": ("a", None),
        "b/uv.lock": (None, "b"),
        "uv.lock": ("1", "2"),
    }


def test_everything_is_an_addition_on_an_unborn_branch(repo: RepoBuilder) -> None:
    repo.write("uv.lock", "1")
    repo.git("add", "uv.lock")
    assert staged(repo) == {"uv.lock": (None, "1")}


def test_a_rename_is_a_deletion_and_an_addition(repo: RepoBuilder) -> None:
    repo.write("uv.lock", "a lockfile\n" * 20)
    repo.commit("first")
    (repo.path / "sub").mkdir()
    repo.git("mv", "uv.lock", "sub/uv.lock")
    assert {path: (old is None, new is None) for path, (old, new) in staged(repo).items()} == {
        "sub/uv.lock": (True, False),
        "uv.lock": (False, True),
    }


def test_what_is_only_in_the_working_tree_or_only_announced_is_not_staged(
    repo: RepoBuilder,
) -> None:
    repo.write("uv.lock", "1")
    repo.commit("first")
    repo.write("uv.lock", "2")
    repo.write("new/uv.lock", "1")
    repo.git("add", "--intent-to-add", "new/uv.lock")
    assert staged(repo) == {}


@pytest.mark.parametrize(
    "arguments", [["--all"], ["uv.lock"], ["--include", "uv.lock"], ["--amend", "--all"]]
)
def test_inside_a_hook_it_is_what_the_commit_will_hold(
    repo: RepoBuilder, tmp_path: Path, arguments: list[str]
) -> None:
    repo.write("uv.lock", "old")
    repo.commit("first")
    write_script(
        repo.path / ".git/hooks/pre-commit",
        f"#!/bin/sh\nenv | grep ^GIT_INDEX_FILE= >'{tmp_path}/env'\n"
        f"cp \"$GIT_INDEX_FILE\" '{tmp_path}/index'\n",
    )
    repo.write("uv.lock", "new")
    repo.git("commit", "-qm", "change", *arguments)
    repo.git("reset", "-q", "--soft", "HEAD@{1}")
    name = (tmp_path / "env").read_text().strip().partition("=")[2]
    assert name != ".git/index"
    opened = open_repository(repo.path, {**os.environ, "GIT_INDEX_FILE": f"{tmp_path}/index"})
    (each,) = list_staged(opened, ALL)
    assert each.after is not None
    assert find_content(opened, each.after.blob.hex) == b"new"


def test_configured_lockfiles_are_meant_literally(repo: RepoBuilder) -> None:
    for name in ("a*/uv.lock", "ab/uv.lock", "requirements.txt"):
        repo.write(name, "1")
    repo.git("add", "--all")
    assert set(staged(repo, *lockfile_pathspecs(["a*/uv.lock", "requirements.txt"]))) == {
        "a*/uv.lock",
        "requirements.txt",
    }


def test_symbolic_links_and_submodules_are_no_files(repo: RepoBuilder, tmp_path: Path) -> None:
    other = RepoBuilder.create(tmp_path / "other")
    other.commit("first")
    (repo.path / "uv.lock").symlink_to("elsewhere")
    repo.git("submodule", "--quiet", "add", str(other.path), "sub/uv.lock")
    repo.git("add", "--all")
    assert [each.after and each.after.is_file for each in list_staged(open_repo(repo), ALL)] == [
        False,
        False,
    ]


def test_blobs_are_staged_and_taken_away_whatever_is_ignored(repo: RepoBuilder) -> None:
    repo.write(".gitignore", "*\n")
    opened = open_repo(repo)
    names = [".envtrack/snapshots/m/a.json", os.fsdecode(b".envtrack/snapshots/m/\xff\n.json")]
    blobs = {name: store_blob(opened, name.encode("utf-8", "surrogateescape")) for name in names}
    stage_blobs(opened, blobs)
    assert {path: entry.blob for path, entry in read_entries(opened, RECORDS).items()} == blobs
    stage_blobs(opened, dict.fromkeys(names))
    assert read_entries(opened, RECORDS) == {}


def test_staging_into_a_locked_index_is_an_error(repo: RepoBuilder) -> None:
    opened = open_repo(repo)
    blob = store_blob(opened, b"x")
    repo.write(".git/index.lock", "")
    with pytest.raises(CommandFailed):
        stage_blobs(opened, {"a": blob})


def test_the_tree_of_head_is_read_by_exact_paths(repo: RepoBuilder) -> None:
    assert read_head_entries(open_repo(repo), "a") == {}
    repo.write("a", "1")
    repo.write("b", "2")
    repo.commit("first")
    assert list(read_head_entries(open_repo(repo), "a", "missing")) == ["a"]


def test_parents_are_listed_and_a_missing_commit_has_none_to_list(repo: RepoBuilder) -> None:
    opened = open_repo(repo)
    assert list_parents(opened, "HEAD") is None
    repo.commit("first")
    assert list_parents(opened, "HEAD") == ()
    first = repo.head()
    repo.commit("second")
    assert [parent.hex for parent in list_parents(opened, "HEAD") or ()] == [first]


def test_the_working_blob_is_the_one_that_git_would_make(repo: RepoBuilder) -> None:
    repo.git("config", "core.autocrlf", "input")
    repo.write("a", "1\r\n")
    repo.git("add", "a")
    opened = open_repo(repo)
    assert find_working_blob(opened, "a") == read_entries(opened, "a")["a"].blob
    assert find_working_blob(opened, "missing") is None
