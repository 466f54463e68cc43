"""Each row of bad input gets one clear line and the right exit code, and nothing is left behind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.bisect.one_line import build_branches, expect_line
from tests.support.history import SMOKE, History
from tests.support.repo import RepoBuilder


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> History:
    return build_branches(tmp_path_factory.mktemp("bad-input") / "repo")


def test_outside_a_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = RepoBuilder(tmp_path)
    hint = expect_line(capsys, folder, 2, "not inside a git repository", "HEAD~1", "--smoke", SMOKE)
    assert "git init" in hint
    gone = RepoBuilder(tmp_path / "gone")
    expect_line(capsys, gone, 2, "gone: there is no such folder", "HEAD~1", "--smoke", SMOKE)


def test_a_bare_repository(
    shared: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = RepoBuilder(tmp_path / "bare")
    subprocess.run(["git", "clone", "-q", "--bare", shared.repo.path, bare.path], check=True)
    hint = expect_line(capsys, bare, 2, "bare repository", "HEAD~1", "--smoke", SMOKE)
    assert "git worktree add" in hint


def test_no_lockfile(repo: RepoBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write("f", "")
    repo.commit("one")
    repo.commit("two")
    expect_line(capsys, repo, 2, "no lockfile in this repository", "HEAD~1", "--smoke", SMOKE)


def test_a_repository_without_commits(
    repo: RepoBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("uv.lock", "")
    expect_line(capsys, repo, 2, "`HEAD~1` names no commit", "HEAD~1", "--smoke", SMOKE)


@pytest.mark.parametrize(
    "revision", ["no-such", "HEAD~99", " ", "main..HEAD", "--", "-x", "HEAD:uv.lock"]
)
def test_a_revision_that_names_no_commit(
    shared: History, capsys: pytest.CaptureFixture[str], revision: str
) -> None:
    said = f"`{revision}` names no commit"
    for ends in ((revision, "HEAD"), ("HEAD~1", revision)):
        assert "git log" in expect_line(capsys, shared.repo, 2, said, "--smoke", SMOKE, "--", *ends)


def test_ends_that_are_one_commit(shared: History, capsys: pytest.CaptureFixture[str]) -> None:
    expect_line(capsys, shared.repo, 2, "are the same commit", "main", "HEAD", "--smoke", SMOKE)


def test_ends_the_wrong_way_round(shared: History, capsys: pytest.CaptureFixture[str]) -> None:
    hint = expect_line(
        capsys,
        shared.repo,
        2,
        "`HEAD` (good) comes after",
        "HEAD",
        shared["good"],
        "--smoke",
        SMOKE,
    )
    assert f"envtrack bisect {shared['good']} HEAD" in hint


def test_a_good_end_on_another_branch(shared: History, capsys: pytest.CaptureFixture[str]) -> None:
    said = f"`{shared['other']}` (good) is not an ancestor of `HEAD` (bad)"
    hint = expect_line(capsys, shared.repo, 2, said, shared["other"], "--smoke", SMOKE)
    assert f"envtrack bisect {shared['root'][:10]} HEAD" in hint
    said = "is not an ancestor"
    hint = expect_line(capsys, shared.repo, 2, said, shared["stranger"], "--smoke", SMOKE)
    assert "no common history" in hint


def test_a_lockfile_that_was_born_in_between(
    shared: History, capsys: pytest.CaptureFixture[str]
) -> None:
    hint = expect_line(
        capsys,
        shared.repo,
        2,
        "uv.lock: there is no such lockfile at",
        shared["root"],
        "--smoke",
        SMOKE,
    )
    assert shared["good"][:10] in hint


def test_a_lockfile_that_is_nowhere(shared: History, capsys: pytest.CaptureFixture[str]) -> None:
    expect_line(
        capsys,
        shared.repo,
        2,
        "no such lockfile",
        shared["good"],
        "--smoke",
        SMOKE,
        "-l",
        "x/uv.lock",
    )


def test_a_shallow_clone(
    shared: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clone = RepoBuilder(tmp_path / "clone")
    url = f"file://{shared.repo.path}"
    subprocess.run(["git", "clone", "-q", "--depth", "2", url, str(clone.path)], check=True)
    hint = expect_line(capsys, clone, 2, "names no commit", shared["good"], "--smoke", SMOKE)
    assert "git fetch --unshallow" in hint
    # Both ends are there, and what lies between them is not.
    clone.git("fetch", "-q", "--depth", "1", "origin", shared["good"])
    hint = expect_line(capsys, clone, 2, "not an ancestor", shared["good"], "--smoke", SMOKE)
    assert "git fetch --unshallow" in hint


def test_no_smoke_test(shared: History, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ((), ("--smoke", "  ")):
        hint = expect_line(capsys, shared.repo, 2, "no smoke test", shared["good"], *more)
        assert "--smoke" in hint


def test_no_good_end_and_none_recorded(shared: History, capsys: pytest.CaptureFixture[str]) -> None:
    expect_line(capsys, shared.repo, 2, "has a recorded good verdict", "--smoke", SMOKE)


def test_smoke_from_a_revision_that_has_it_not(
    shared: History, capsys: pytest.CaptureFixture[str]
) -> None:
    expect_line(
        capsys, shared.repo, 2, "none of the smoke test's files (python, smoke.py)",
        shared["good"], "--smoke", "python smoke.py", "--smoke-from", "main",
    )  # fmt: skip


@pytest.mark.parametrize("value", ["soon", "-3s", "0", ""])
def test_a_timeout_that_is_none(
    shared: History, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    expect_line(
        capsys, shared.repo, 2, "--timeout", shared["good"], "--smoke", SMOKE, f"--timeout={value}"
    )


def test_a_session_that_is_not_there(shared: History, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("resume", "status", "log", "show", "script"):
        expect_line(capsys, shared.repo, 2, "there is no session `nope`", command, "nope")


def test_a_plan_that_is_broken_or_newer(
    shared: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = RepoBuilder(tmp_path / "repo")
    subprocess.run(["cp", "-a", str(shared.repo.path), str(repo.path)], check=True)
    plan = repo.path / ".git/envtrack/sessions/20990101T000000-abcd/plan.json"
    plan.parent.mkdir(parents=True)
    for text, said in (
        ("{", "not a session's plan"),
        ("[]", "not a session's plan"),
        ('{"schema": 99}', "written by a newer envtrack"),
    ):
        plan.write_text(text)
        expect_line(capsys, repo, 2, said, "resume", "2099")
