"""`envtrack hooks install|uninstall|status`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envtrack.cli.commands import find_command
from envtrack.cli.quick import read_quickly
from envtrack.errors import UsageProblem
from envtrack.git.hooks import HOOKS
from tests.record.hooked import SOURCE, Hooked, write_script
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
    assert call("install", "--files") == 0
    assert capsys.readouterr().out.count("installed: ") == len(HOOKS)
    assert call("status") == 0
    said = capsys.readouterr().out
    assert "tried by a commit in a throw-away repository: works\n" in said
    assert "tried as a graphical client has it, PATH=/usr/bin:/bin: works\n" in said
    repo.write("uv.lock", "version = 1\n")
    repo.commit("with the interpreter that installed it")
    assert Hooked(repo=repo, python=Path(), mark=Path()).belongs()
    assert call("uninstall") == 0
    assert call("uninstall") == 0
    assert call("status") == 1


def test_the_json_of_status_says_where_git_looks(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    repo.git("config", "core.hooksPath", ".husky")
    where = ("--directory", str(repo.path))
    assert call("install", "--files", *where) == 0
    capsys.readouterr()
    assert call("status", "--format", "json", *where) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["schema"] == 1
    assert said["folder"] == str(repo.path / ".husky")
    assert said["core.hooksPath"] == ".husky"
    assert said["outside"] is False
    assert [trial["works"] for trial in said["trials"]] == [True, True]
    assert [hook["state"] for hook in said["hooks"]] == ["installed"] * len(HOOKS)


def test_a_shared_folder_is_refused_and_written_by_force(
    repo: RepoBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    repo.git("config", "--global", "core.hooksPath", str(tmp_path / "shared"))
    where = ("--directory", str(repo.path))
    with pytest.raises(UsageProblem, match="outside this repository"):
        call("install", "--files", *where)
    assert call("install", "--files", "--force", *where) == 0
    assert call("status", *where) == 0


def test_outside_a_repository_there_is_nothing_to_install(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="not inside a git repository"):
        call("install", "--files", "--directory", str(tmp_path))


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


def test_the_hook_of_a_push_is_installed_for_whoever_asks_and_stays(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.path)
    hook = repo.path / ".git/hooks/pre-push"
    assert call("install", "--files") == 0
    assert not hook.exists()
    assert call("install", "--files", "--pre-push") == 0
    shim = hook.read_bytes()
    hook.write_bytes(shim + b"# older\n")
    assert call("install", "--files") == 0
    assert hook.read_bytes() == shim
    assert call("uninstall") == 0
    assert not hook.exists()


def test_lefthooks_own_way_to_be_kept_from_it_is_said(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.path)
    hook = write_script(repo.path / ".git/hooks/pre-commit", "#!/bin/sh\ncall_lefthook run\n")
    assert call("install", "--files") == 0
    assert "`no_auto_install: true`" in capsys.readouterr().out
    # A newer hook of the same tool takes the place of the one from before.
    write_script(hook, "#!/bin/sh\n# newer\ncall_lefthook run\n")
    assert call("install", "--files") == 0
    assert "# newer" in hook.with_name("pre-commit.envtrack-legacy").read_text()
