"""What `status` says, and that it is so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envtrack.git.hooks import HOOKS, find_hooks_folder
from envtrack.git.hooks_status import HookState, HookStatus, read_hooks_status
from envtrack.git.repository import open_repository
from tests.record.hooked import Hooked, write_script
from tests.support.repo import RepoBuilder


@pytest.fixture
def installed(repo: RepoBuilder, tmp_path: Path) -> Hooked:
    return Hooked.create(repo, tmp_path)


def read(repo: RepoBuilder) -> tuple[HookStatus, ...]:
    return read_hooks_status(open_repository(repo.path, dict(os.environ)))


def states(repo: RepoBuilder) -> list[HookState]:
    return [each.state for each in read(repo)]


def test_nothing_is_installed_in_a_new_repository(repo: RepoBuilder) -> None:
    assert states(repo) == [HookState.MISSING] * len(HOOKS)


def test_installed_hooks_are_started_to_see_and_do_nothing(installed: Hooked) -> None:
    legacy = write_script(
        installed.repo.path / ".git/hooks/pre-commit.envtrack-legacy", "#!/bin/sh\ntouch ran\n"
    )
    installed.lock("version = 1\n")
    before = installed.repo.state()
    status = read(installed.repo)
    assert [each.state for each in status] == [HookState.INSTALLED] * len(HOOKS)
    assert [each.remark for each in status] == [""] * len(HOOKS)
    assert status[0].legacy == legacy
    assert installed.repo.state() == before
    assert installed.starts() == []


def test_a_foreign_hook_is_named_and_not_started(repo: RepoBuilder) -> None:
    write_script(repo.path / ".git/hooks/pre-commit", "#!/bin/sh\ntouch ran\n")
    assert states(repo) == [HookState.FOREIGN, *[HookState.MISSING] * (len(HOOKS) - 1)]
    assert not (repo.path / "ran").exists()


def test_a_shim_that_is_not_executable_is_named(installed: Hooked) -> None:
    hook = installed.repo.path / ".git/hooks/pre-commit"
    hook.chmod(0o644)
    assert states(installed.repo) == [
        HookState.NOT_EXECUTABLE,
        *[HookState.INSTALLED] * (len(HOOKS) - 1),
    ]
    assert "chmod +x" in read(installed.repo)[0].remark


def test_a_shim_with_windows_line_ends_does_not_run(installed: Hooked) -> None:
    hook = installed.repo.path / ".git/hooks/pre-commit"
    hook.write_bytes(hook.read_bytes().replace(b"\n", b"\r\n"))
    assert states(installed.repo) == [HookState.BROKEN, *[HookState.INSTALLED] * (len(HOOKS) - 1)]


def test_an_interpreter_that_is_gone_is_remarked(installed: Hooked) -> None:
    installed.python.unlink()
    assert all("is gone" in each.remark for each in read(installed.repo))


def test_shims_in_a_folder_where_git_does_not_look_are_named(installed: Hooked) -> None:
    installed.repo.git("config", "core.hooksPath", ".husky")
    status = read(installed.repo)
    assert [each.state for each in status] == [HookState.MISSING] * len(HOOKS)
    assert all("is never run: core.hooksPath = .husky" in each.remark for each in status)
    assert status[0].path == installed.repo.path / ".husky/pre-commit"


def test_a_worktree_without_the_relative_folder_has_no_hooks(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    repo.git("config", "core.hooksPath", ".hooks")
    hooked = Hooked.create(repo, tmp_path)
    repo.commit("first", all_files=False)
    repo.git("worktree", "add", "-q", str(tmp_path / "side"))
    assert states(repo) == [HookState.INSTALLED] * len(HOOKS)
    assert states(hooked.at(tmp_path / "side").repo) == [HookState.MISSING] * len(HOOKS)


def test_a_shim_that_another_tool_moved_is_named(installed: Hooked) -> None:
    hook = installed.repo.path / ".git/hooks/pre-commit"
    hook.rename(hook.with_name("pre-commit.legacy"))
    write_script(hook, "#!/bin/sh\n")
    status = read(installed.repo)[0]
    assert status.state is HookState.FOREIGN
    assert "moved envtrack's shim to pre-commit.legacy" in status.remark


@pytest.mark.parametrize("setting", [None, ".husky", "~/shared", "/dev/null"])
def test_the_folder_is_the_one_in_which_git_looks(
    repo: RepoBuilder, seal: Path, setting: str | None
) -> None:
    if setting is not None:
        repo.git("config", "core.hooksPath", setting)
    folder = find_hooks_folder(open_repository(repo.path, dict(os.environ)))
    expected = {
        None: repo.path / ".git/hooks",
        ".husky": repo.path / ".husky",
        "~/shared": seal / "shared",
        "/dev/null": Path("/dev/null"),
    }[setting]
    assert folder.path == expected
    assert folder.is_outside == (setting in ("~/shared", "/dev/null"))
    if setting == "/dev/null":
        return
    for name in HOOKS:
        write_script(expected / name, f"#!/bin/sh\necho {name} >>'{seal}/ran'\n")
    repo.commit("first")
    assert (seal / "ran").read_text().split() == list(HOOKS[:4])
