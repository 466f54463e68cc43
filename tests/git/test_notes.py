from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from envtrack.errors import CommandFailed
from envtrack.git.notes import NOTES_REF, append_note, read_all_notes, read_notes
from envtrack.git.repository import Repository, open_repository
from envtrack.model.oid import Oid
from tests.support.repo import RepoBuilder


def opened(repo: RepoBuilder) -> Repository:
    return open_repository(repo.path, dict(os.environ))


def test_notes_are_kept_in_the_order_they_were_said(repo: RepoBuilder) -> None:
    commit = Oid(repo.commit("one"))
    for number in range(3):
        append_note(opened(repo), commit, {"n": number, "text": "é\x1b\n"})
    assert [note["n"] for note in read_notes(opened(repo), commit)] == [0, 1, 2]
    assert repo.git("log", "--format=%s", NOTES_REF).split("\n") == ["envtrack: note"] * 3
    assert repo.git("notes", "--ref=envtrack", "show").count("\n") == 2


def test_nothing_said_is_nothing(repo: RepoBuilder) -> None:
    commit = Oid(repo.commit("one"))
    assert read_notes(opened(repo), commit) == ()
    assert list(read_all_notes(opened(repo), [commit])) == []


def test_writers_at_one_time_all_get_their_word_in(repo: RepoBuilder) -> None:
    commit = Oid(repo.commit("one"))
    repository = opened(repo)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: append_note(repository, commit, {"n": n}), range(8)))
    assert sorted(note["n"] for note in read_notes(repository, commit)) == list(range(8))


def test_a_note_of_somebody_elses_is_kept(repo: RepoBuilder) -> None:
    commit = Oid(repo.commit("one"))
    repo.git("notes", "--ref=envtrack", "add", "-m", "words, no JSON\n[1]", commit.hex)
    append_note(opened(repo), commit, {"n": 1})
    assert read_notes(opened(repo), commit) == ({"n": 1},)
    assert "words, no JSON" in repo.git("notes", "--ref=envtrack", "show", commit.hex)


def test_many_notes_are_spread_as_git_spreads_them(repo: RepoBuilder) -> None:
    commits = [Oid(repo.commit(str(n))) for n in range(5)]
    for commit in commits:
        repo.git("notes", "--ref=envtrack", "add", "-m", json.dumps({"by": "git"}), commit.hex)
    append_note(opened(repo), commits[2], {"by": "us"})
    found = dict(read_all_notes(opened(repo), commits))
    assert list(found) == commits
    assert found[commits[2]] == ({"by": "git"}, {"by": "us"})


def test_without_an_identity_envtrack_signs_itself(repo: RepoBuilder) -> None:
    commit = Oid(repo.commit("one"))
    environ = {n: v for n, v in os.environ.items() if n != "GIT_CONFIG_GLOBAL"}
    environ |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.useConfigOnly",
        "GIT_CONFIG_VALUE_0": "true",
    }
    (repo.path.parent / "nothing").mkdir()
    environ["HOME"] = str(repo.path.parent / "nothing")
    append_note(replace(opened(repo), environ=environ), commit, {"n": 1})
    assert repo.git("log", "-1", "--format=%cn", NOTES_REF) == "envtrack"


def test_head_index_and_tree_stay(repo: RepoBuilder) -> None:
    commit = Oid(repo.commit("one"))
    repo.write("loose", "x")
    before = {k: v for k, v in repo.state().items() if k != "refs"}
    append_note(opened(repo), commit, {"n": 1})
    assert {k: v for k, v in repo.state().items() if k != "refs"} == before
    assert not list((repo.path / ".git").glob("fast_import_crash*"))


def test_a_ref_that_can_not_be_written_is_said(repo: RepoBuilder) -> None:
    commit = Oid(repo.commit("one"))
    repo.write(".git/refs/notes/envtrack.lock", "")
    with pytest.raises(CommandFailed):
        append_note(opened(repo), commit, {"n": 1})
