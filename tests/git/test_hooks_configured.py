"""Hooks by git's configuration, where git has that (2.54 and newer)."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from envtrack.git.hook_files import is_ours
from envtrack.git.hooks import HOOKS, HookAction
from envtrack.git.hooks_config import get_configured_path, knows_configured_hooks, list_configured
from envtrack.git.hooks_install import put_hooks, take_hooks
from envtrack.git.hooks_status import HookState, read_hooks_status, try_commits
from envtrack.git.repository import Repository, open_repository
from tests.record.hooked import Hooked, make_python, write_script
from tests.support.repo import RepoBuilder

VERSION = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout
NUMBERS = tuple(map(int, re.findall(r"\d+", VERSION)[:2]))
newer = pytest.mark.skipif(NUMBERS < (2, 54), reason=f"git 2.54 is needed, this is {VERSION}")
older = pytest.mark.skipif(NUMBERS >= (2, 54), reason="a git that knows no configured hooks")


def open_repo(hooked: Hooked) -> Repository:
    return open_repository(hooked.repo.path, dict(os.environ))


def install(hooked: Hooked, **options: bool) -> list[HookAction]:
    changes = put_hooks(open_repo(hooked), interpreter=str(hooked.python), **options)
    return [change.action for change in changes]


@pytest.fixture
def fresh(repo: RepoBuilder, tmp_path: Path) -> Hooked:
    """A repository without hooks."""
    mark = tmp_path / "mark"
    return Hooked(repo=repo, python=make_python(tmp_path / "python", mark), mark=mark)


def files(hooked: Hooked) -> list[str]:
    folder = hooked.repo.path / ".git/hooks"
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".sample")


@older
def test_an_older_git_gets_files(fresh: Hooked) -> None:
    assert not knows_configured_hooks(open_repo(fresh))
    assert install(fresh) == [HookAction.INSTALLED] * len(HOOKS)
    assert files(fresh) == sorted(HOOKS)
    assert list_configured(open_repo(fresh)) == ()


@older
def test_configured_hooks_that_this_git_does_not_know_are_said_and_replaced(fresh: Hooked) -> None:
    fresh.repo.git("config", "hook.envtrack-pre-commit.event", "pre-commit")
    fresh.repo.git("config", "hook.envtrack-pre-commit.command", "somewhere")
    status = read_hooks_status(open_repo(fresh))[0]
    assert status.state is HookState.SHADOWED
    assert status.remark.startswith("by this git, which does not know hooks of its configuration")
    install(fresh)
    assert list_configured(open_repo(fresh)) == ()
    assert read_hooks_status(open_repo(fresh))[0].state is HookState.INSTALLED


@newer
def test_a_newer_git_gets_configuration_and_no_file(fresh: Hooked) -> None:
    assert install(fresh) == [HookAction.INSTALLED] * len(HOOKS)
    assert install(fresh) == [HookAction.UNCHANGED] * len(HOOKS)
    assert files(fresh) == []
    assert {hook.event for hook in list_configured(open_repo(fresh))} == set(HOOKS)
    fresh.lock_commit("version = 1\n")
    assert fresh.belongs()
    assert fresh.starts() == ["pre-commit"]


@newer
def test_the_record_of_a_path_is_squared_and_no_python_is_started_without_a_lockfile(
    fresh: Hooked,
) -> None:
    install(fresh)
    fresh.lock_commit("version = 1\n")
    fresh.repo.write("uv.lock", "version = 2\n")
    fresh.commit("uv.lock")
    assert fresh.belongs()
    assert fresh.status() == ""
    fresh.mark.unlink()
    fresh.commit("--allow-empty")
    assert fresh.starts() == []


@newer
@pytest.mark.parametrize("setting", [None, ".husky", "outside"])
def test_hooks_of_others_stay_what_they_are_wherever_they_are(
    fresh: Hooked, tmp_path: Path, setting: str | None
) -> None:
    folder = fresh.repo.path / ".git/hooks" if setting is None else tmp_path / "outside"
    if setting == ".husky":
        folder = fresh.repo.path / ".husky"
    if setting is not None:
        fresh.repo.git("config", "core.hooksPath", str(folder) if setting == "outside" else setting)
    hook = write_script(folder / "pre-commit", f"#!/bin/sh\necho ran >>'{tmp_path}/ran'\n")
    before = hook.read_bytes()
    install(fresh)
    fresh.lock_commit("version = 1\n")
    assert fresh.belongs()
    assert (tmp_path / "ran").read_text() == "ran\n"
    take_hooks(open_repo(fresh))
    assert hook.read_bytes() == before
    assert "envtrack" not in (fresh.repo.path / ".git/config").read_text()
    assert not any((fresh.repo.path / ".git/envtrack/hooks").iterdir())


@newer
def test_never_both_by_files_and_by_configuration(fresh: Hooked) -> None:
    hook = write_script(fresh.repo.path / ".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n")
    install(fresh, by_files=True, with_push=True)
    assert is_ours(hook)
    install(fresh)
    assert files(fresh) == ["pre-commit"]
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"
    assert "pre-push" in {each.event for each in list_configured(open_repo(fresh))}
    fresh.lock_commit("version = 1\n")
    assert fresh.starts() == ["pre-commit"]
    install(fresh, by_files=True)
    assert list_configured(open_repo(fresh)) == ()
    fresh.lock_commit("version = 2\n")
    assert fresh.starts() == ["pre-commit"] * 2


@newer
def test_notes_go_along_when_a_commit_is_amended(fresh: Hooked) -> None:
    install(fresh)
    fresh.lock_commit("version = 1\n")
    fresh.repo.git("notes", "--ref=envtrack", "add", "-m", "tried by hand")
    fresh.commit("--amend")
    assert fresh.repo.git("notes", "--ref=envtrack", "show") == "tried by hand"


@newer
def test_a_linked_worktree_has_them_too(fresh: Hooked, tmp_path: Path) -> None:
    install(fresh)
    fresh.lock_commit("version = 1\n")
    fresh.repo.git("worktree", "add", "-q", str(tmp_path / "side"))
    side = fresh.at(tmp_path / "side")
    side.lock_commit("version = 2\n")
    assert side.belongs()


@newer
def test_status_says_how_they_stand_and_tries_them_without_those_of_others(
    fresh: Hooked, tmp_path: Path
) -> None:
    install(fresh)
    fresh.repo.git("config", "hook.lint.event", "pre-commit")
    fresh.repo.git("config", "hook.lint.command", f"touch '{tmp_path}/ran'")
    hooks = read_hooks_status(open_repo(fresh))
    assert {hook.state for hook in hooks} == {HookState.INSTALLED}
    assert hooks[0].remark == "by git's configuration, hook.envtrack-pre-commit"
    assert [trial.works for trial in try_commits(open_repo(fresh), hooks)] == [True, True]
    assert not (tmp_path / "ran").exists()
    fresh.repo.git("config", "hook.envtrack-pre-commit.enabled", "false")
    status = read_hooks_status(open_repo(fresh))[0]
    assert status.state is HookState.SHADOWED
    assert "hook.envtrack-pre-commit.enabled = false" in status.remark
    install(fresh)
    get_configured_path(open_repo(fresh), "pre-commit").unlink()
    assert read_hooks_status(open_repo(fresh))[0].state is HookState.BROKEN
