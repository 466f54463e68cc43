from __future__ import annotations

import os

from envtrack.git.repository import Repository, open_repository
from envtrack.git.working_tree import is_committed, list_named
from tests.support.repo import RepoBuilder


def opened(repo: RepoBuilder) -> Repository:
    return open_repository(repo.path, dict(os.environ))


def test_tracked_files_of_a_name_are_listed_in_every_folder(repo: RepoBuilder) -> None:
    for path in ("uv.lock", "a/uv.lock", "a b/é/uv.lock", "not-uv.lock", "a/uv.lock.txt"):
        repo.write(path, "x")
    repo.commit("one")
    repo.write("new/uv.lock", "x")
    repo.write(".gitignore", "skipped/\n")
    repo.write("skipped/uv.lock", "x")
    tracked = ("a b/é/uv.lock", "a/uv.lock", "uv.lock")
    assert list_named(opened(repo), ["uv.lock"]) == tracked
    everything = list_named(opened(repo), ["uv.lock"], with_untracked=True)
    assert everything == (*tracked[:2], "new/uv.lock", tracked[2])


def test_a_file_is_committed_if_git_would_make_the_same_of_it(repo: RepoBuilder) -> None:
    repo.write(".gitattributes", "*.txt text eol=crlf\n")
    repo.write("a.txt", "one\r\n")
    assert not is_committed(opened(repo), "a.txt")
    repo.commit("one")
    assert is_committed(opened(repo), "a.txt")
    repo.write("a.txt", "two\r\n")
    assert not is_committed(opened(repo), "a.txt")
    assert not is_committed(opened(repo), "none.txt")
