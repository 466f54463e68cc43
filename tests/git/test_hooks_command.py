"""`envtrack hooks install|uninstall|status`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envtrack.cli.commands import find_command
from envtrack.cli.quick import read_quickly
from envtrack.errors import UsageProblem
from envtrack.git.hooks import HOOKS
from tests.record.hooked import SOURCE, Hooked
from tests.support.repo import RepoBuilder


def call(*arguments: str) -> int:
    """The exit code; problems come out as they are raised."""
    found = find_command(("hooks", *arguments))
    assert found is not None
    function = found[0].load()
    values = read_quickly(function, found[1])
    assert values is not None
    try:
        function(**values)
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def test_install_status_and_uninstall_say_what_is_so(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.path)
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    assert call("status") == 1
    assert capsys.readouterr().out.count("not installed") == len(HOOKS)
    assert call("install") == 0
    assert capsys.readouterr().out.count("installed: ") == len(HOOKS)
    assert call("status") == 0
    repo.write("uv.lock", "version = 1\n")
    repo.commit("with the interpreter that installed it")
    assert Hooked(repo=repo, python=Path(), mark=Path()).belongs()
    assert call("uninstall") == 0
    assert call("uninstall") == 0
    assert call("status") == 1


def test_the_json_of_status_says_where_git_looks(
    repo: RepoBuilder, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.git("config", "core.hooksPath", ".husky")
    where = ("--directory", str(repo.path))
    assert call("install", *where) == 0
    capsys.readouterr()
    assert call("status", "--format", "json", *where) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["schema"] == 1
    assert said["folder"] == str(repo.path / ".husky")
    assert said["core.hooksPath"] == ".husky"
    assert said["outside"] is False
    assert [hook["state"] for hook in said["hooks"]] == ["installed"] * len(HOOKS)


def test_a_shared_folder_is_refused_and_written_by_force(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.git("config", "--global", "core.hooksPath", str(tmp_path / "shared"))
    where = ("--directory", str(repo.path))
    with pytest.raises(UsageProblem, match="outside this repository"):
        call("install", *where)
    assert call("install", "--force", *where) == 0
    assert call("status", *where) == 0


def test_outside_a_repository_there_is_nothing_to_install(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="not inside a git repository"):
        call("install", "--directory", str(tmp_path))


def test_run_does_what_the_hook_does(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.path)
    repo.write("uv.lock", "version = 1\n")
    repo.git("add", "uv.lock")
    assert call("run", "pre-commit") == 0
    assert call("run", "nonsense") == 0
    assert "no hook of ours" in capsys.readouterr().err
    assert repo.git("diff", "--cached", "--name-only").count("uv.lock") == 2
