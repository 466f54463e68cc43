from __future__ import annotations

import os
from pathlib import Path

from envtrack.git.repository import open_repository
from envtrack.model.oid import Oid
from envtrack.record.states import read_states
from tests.support.repo import RepoBuilder

LOCK = """\
version = 1
requires-python = ">=3.11"

[[package]]
name = "numpy"
version = "1.26.0"
source = { registry = "https://registry.example/simple" }

[[package]]
name = "numpy"
version = "2.1.0"
source = { registry = "https://registry.example/simple" }

[[package]]
name = "torch"
version = "2.6.0"
source = { git = "https://git.example/torch?rev=main#0123456789012345678901234567890123456789" }
"""


def read(path: Path, *oids: str) -> list[dict[str, tuple[str, str]]]:
    repository = open_repository(path, dict(os.environ))
    commits = [repository.read_commit(Oid(oid)) for oid in oids]
    states = read_states(repository, commits, lockfile="uv.lock", machines=())
    return [dict(state.packages) for state in states]


def test_two_versions_of_one_name_are_one_text_and_a_git_source_its_commit(
    repo: RepoBuilder,
) -> None:
    repo.write("uv.lock", LOCK)
    repo.commit("one")
    (packages,) = read(repo.path, repo.git("rev-parse", "HEAD"))
    assert packages == {
        "numpy": ("packages", "1.26.0, 2.1.0"),
        "torch": ("framework", "2.6.0 (git 0123456789)"),
    }


def test_a_commit_without_a_lockfile_or_with_a_broken_one_is_left_out(repo: RepoBuilder) -> None:
    repo.write("notes.txt", "")
    repo.commit("none")
    none = repo.git("rev-parse", "HEAD")
    repo.write("uv.lock", "<<<<<<< ours\n")
    repo.commit("torn")
    assert read(repo.path, none, repo.git("rev-parse", "HEAD")) == []
