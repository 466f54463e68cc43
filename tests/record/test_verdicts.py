from __future__ import annotations

import os

from envtrack.git.notes import append_note
from envtrack.git.repository import Repository, open_repository
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement, Verdict
from envtrack.record.verdicts import find_newest_good, record_verdict
from tests.support.repo import RepoBuilder


def opened(repo: RepoBuilder) -> Repository:
    return open_repository(repo.path, dict(os.environ))


def commit_lock(repo: RepoBuilder, text: str) -> Oid:
    repo.write("uv.lock", text)
    return Oid(repo.commit(text))


def judge(
    repo: RepoBuilder, verdict: Verdict, machine: str = "box", command: str = "true"
) -> Oid | str:
    judgement = Judgement(verdict=verdict, stage="smoke", reason="why", kind="exit")
    repository = opened(repo)
    return record_verdict(
        repository,
        judgement,
        head=repository.find_commit("HEAD"),
        machine=machine,
        lockfile="uv.lock",
        command=command,
    )


def newest(repo: RepoBuilder, head: Oid, machine: str = "box", command: str = "") -> Oid | None:
    return find_newest_good(opened(repo), machine, "uv.lock", head, command=command)


def test_the_newest_good_ancestor_is_found(repo: RepoBuilder) -> None:
    one = commit_lock(repo, "1")
    assert judge(repo, Verdict.GOOD) == one
    two = commit_lock(repo, "2")
    judge(repo, Verdict.GOOD)
    three = commit_lock(repo, "3")
    judge(repo, Verdict.BAD)
    four = commit_lock(repo, "4")
    assert newest(repo, four) == two
    assert newest(repo, three) == two
    assert newest(repo, one) == one


def test_a_commit_on_another_branch_is_no_ancestor(repo: RepoBuilder) -> None:
    one = commit_lock(repo, "1")
    repo.git("checkout", "-q", "-b", "side")
    commit_lock(repo, "2")
    judge(repo, Verdict.GOOD)
    assert newest(repo, one) is None


def test_the_last_verdict_of_a_commit_counts(repo: RepoBuilder) -> None:
    one = commit_lock(repo, "1")
    judge(repo, Verdict.GOOD)
    judge(repo, Verdict.BAD)
    assert newest(repo, one) is None
    judge(repo, Verdict.GOOD)
    assert newest(repo, one) == one


def test_only_this_machine_and_this_smoke_test_count(repo: RepoBuilder) -> None:
    one = commit_lock(repo, "1")
    judge(repo, Verdict.GOOD, machine="other")
    assert newest(repo, one) is None
    judge(repo, Verdict.GOOD, command="pytest")
    judge(repo, Verdict.BAD, command="train")
    assert newest(repo, one) is None
    assert newest(repo, one, command="pytest") == one


def test_a_verdict_of_a_changed_tree_is_kept_but_not_trusted(repo: RepoBuilder) -> None:
    repo.write("code.py", "1")
    one = commit_lock(repo, "1")
    repo.write("code.py", "2")
    judge(repo, Verdict.GOOD)
    assert newest(repo, one) is None
    repo.git("checkout", "code.py")
    repo.write(".envtrack/config.yaml", "stale: skip\n")
    judge(repo, Verdict.GOOD)
    assert newest(repo, one) == one


def test_what_can_not_be_recorded_says_why(repo: RepoBuilder) -> None:
    assert judge(repo, Verdict.GOOD) == "there is no commit yet"
    commit_lock(repo, "1")
    assert "could not run" in str(judge(repo, Verdict.ABORTED))
    repo.write("uv.lock", "2")
    assert judge(repo, Verdict.GOOD) == "uv.lock is not the one of HEAD; commit it first"


def test_strange_notes_are_passed_over(repo: RepoBuilder) -> None:
    one = commit_lock(repo, "1")
    for entry in (
        {"kind": "verdict"},
        {"kind": "verdict", "schema": 1, "machine": "box", "lockfile": []},
        {"schema": 2},
    ):
        append_note(opened(repo), one, entry)
    assert newest(repo, one) is None
