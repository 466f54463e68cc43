"""Installing and uninstalling: other people's hooks stay what they are, byte for byte."""

from __future__ import annotations

import os
import shlex
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.errors import UsageProblem
from envtrack.git.hook_files import (
    IDS,
    is_ours,
    render_shim,
)
from envtrack.git.hooks import (
    HOOKS,
    HookAction,
    HookChange,
    find_hooks_folder,
    install_hooks,
    uninstall_hooks,
)
from envtrack.git.repository import Repository, open_repository
from tests.record.hooked import write_script
from tests.support.repo import RepoBuilder

PYTHON = "/opt/it's here/python"
FOREIGN = b"#!/bin/sh\r\n# someone's own \xff\n\necho foreign"


def open_repo(path: Path) -> Repository:
    return open_repository(path, dict(os.environ))


def install(repo: RepoBuilder, *, force: bool = False) -> list[HookAction]:
    changes = install_hooks(open_repo(repo.path), interpreter=PYTHON, force=force)
    return [change.action for change in changes]


def uninstall(repo: RepoBuilder) -> tuple[HookChange, ...]:
    return uninstall_hooks(open_repo(repo.path))


def picture(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of a folder with its mode and content; a link with its target."""
    return {
        str(path.relative_to(folder)): (
            stat.S_IMODE(path.lstat().st_mode),
            os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def hooks_of(repo: RepoBuilder) -> Path:
    return repo.path / ".git/hooks"


def put_foreign(folder: Path, name: str = "pre-commit", mode: int = 0o750) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    hook = folder / name
    hook.write_bytes(FOREIGN)
    hook.chmod(mode)
    return hook


def test_installing_puts_all_shims_in_place_and_leaves_samples_alone(repo: RepoBuilder) -> None:
    before = picture(hooks_of(repo))
    assert install(repo) == [HookAction.INSTALLED] * len(HOOKS)
    after = picture(hooks_of(repo))
    assert set(after) - set(before) == set(HOOKS)
    assert {name: after[name] for name in before} == before
    assert all(after[name][0] == 0o755 for name in HOOKS)


@pytest.mark.parametrize("name", HOOKS)
def test_a_shim_knows_itself_and_its_interpreter(name: str) -> None:
    shim = render_shim(name, PYTHON)
    assert shim.startswith(f"#!/bin/sh\n# {IDS[0]} {name}\n".encode())
    assert f"\npython={shlex.quote(PYTHON)}\n".encode() in shim
    assert b"\r" not in shim
    assert b"@PYTHON@" not in shim


def test_installing_twice_changes_nothing(repo: RepoBuilder) -> None:
    put_foreign(hooks_of(repo))
    install(repo)
    before = picture(hooks_of(repo))
    times = {name: (hooks_of(repo) / name).stat().st_mtime_ns for name in HOOKS}
    assert install(repo) == [HookAction.UNCHANGED] * len(HOOKS)
    assert picture(hooks_of(repo)) == before
    assert {name: (hooks_of(repo) / name).stat().st_mtime_ns for name in HOOKS} == times


def test_a_shim_of_another_interpreter_or_mode_is_refreshed(repo: RepoBuilder) -> None:
    install_hooks(open_repo(repo.path), interpreter="/other/python")
    assert install(repo) == [HookAction.REFRESHED] * len(HOOKS)
    (hooks_of(repo) / "pre-commit").chmod(0o644)
    assert install(repo) == [HookAction.REFRESHED, *[HookAction.UNCHANGED] * (len(HOOKS) - 1)]
    assert not list(hooks_of(repo).glob("*legacy*"))


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o700, 0o644])
def test_uninstalling_brings_a_foreign_hook_back_byte_for_byte(
    repo: RepoBuilder, mode: int
) -> None:
    put_foreign(hooks_of(repo), mode=mode)
    put_foreign(hooks_of(repo), "post-commit", mode=mode)
    put_foreign(hooks_of(repo), "commit-msg")
    before = picture(hooks_of(repo))
    install(repo)
    assert all(is_ours(hooks_of(repo) / name) for name in HOOKS)
    assert [change.action for change in uninstall(repo)] == [HookAction.REMOVED] * len(HOOKS)
    assert picture(hooks_of(repo)) == before


def test_a_hook_that_is_a_link_is_moved_and_brought_back_as_a_link(repo: RepoBuilder) -> None:
    write_script(repo.path / "tools/check", "#!/bin/sh\nexit 0\n")
    (hooks_of(repo) / "pre-commit").symlink_to("../../tools/check")
    before = picture(hooks_of(repo)) | picture(repo.path / "tools")
    install(repo)
    uninstall(repo)
    assert picture(hooks_of(repo)) | picture(repo.path / "tools") == before


def test_uninstalling_twice_is_no_error(repo: RepoBuilder) -> None:
    before = picture(hooks_of(repo))
    install(repo)
    uninstall(repo)
    assert [change.action for change in uninstall(repo)] == [HookAction.UNCHANGED] * len(HOOKS)
    assert picture(hooks_of(repo)) == before


def test_uninstalling_without_having_installed_leaves_foreign_hooks_alone(
    repo: RepoBuilder,
) -> None:
    put_foreign(hooks_of(repo))
    before = picture(hooks_of(repo))
    assert [change.action for change in uninstall(repo)] == [
        HookAction.LEFT_ALONE,
        *[HookAction.UNCHANGED] * (len(HOOKS) - 1),
    ]
    assert picture(hooks_of(repo)) == before


def test_a_hook_that_was_written_over_ours_is_left_alone_and_the_old_one_named(
    repo: RepoBuilder,
) -> None:
    put_foreign(hooks_of(repo))
    install(repo)
    (hooks_of(repo) / "pre-commit").write_text("#!/bin/sh\nnewer\n")
    change, *_ = uninstall(repo)
    assert change.action is HookAction.LEFT_ALONE
    assert "pre-commit.envtrack-legacy still keeps" in change.remark
    assert (hooks_of(repo) / "pre-commit").read_text() == "#!/bin/sh\nnewer\n"
    assert change.legacy is not None
    assert change.legacy.read_bytes() == FOREIGN


def test_installing_over_two_foreign_hooks_is_refused_and_changes_nothing(
    repo: RepoBuilder,
) -> None:
    put_foreign(hooks_of(repo))
    install(repo)
    (hooks_of(repo) / "pre-commit").write_text("#!/bin/sh\nnewer\n")
    before = picture(hooks_of(repo))
    with pytest.raises(UsageProblem, match="keeps another hook from before"):
        install(repo)
    assert picture(hooks_of(repo)) == before


def test_a_foreign_hook_that_was_put_back_as_it_was_is_moved_aside_again(
    repo: RepoBuilder,
) -> None:
    put_foreign(hooks_of(repo))
    install(repo)
    put_foreign(hooks_of(repo))
    assert install(repo) == [HookAction.INSTALLED, *[HookAction.UNCHANGED] * (len(HOOKS) - 1)]
    assert uninstall(repo)[0].action is HookAction.REMOVED
    assert (hooks_of(repo) / "pre-commit").read_bytes() == FOREIGN


def test_a_folder_in_the_place_of_a_hook_is_refused(repo: RepoBuilder) -> None:
    (hooks_of(repo) / "post-commit").mkdir()
    with pytest.raises(UsageProblem, match="is a folder"):
        install(repo)
    assert not (hooks_of(repo) / "pre-commit").exists()


def test_the_name_that_the_pre_commit_framework_uses_is_not_touched(repo: RepoBuilder) -> None:
    put_foreign(hooks_of(repo))
    put_foreign(hooks_of(repo), "pre-commit.legacy")
    before = picture(hooks_of(repo))
    install(repo)
    assert (hooks_of(repo) / "pre-commit.legacy").read_bytes() == FOREIGN
    uninstall(repo)
    assert picture(hooks_of(repo)) == before


def test_a_shim_that_a_framework_moved_aside_is_taken_away_with_the_rest(
    repo: RepoBuilder,
) -> None:
    install(repo)
    (hooks_of(repo) / "pre-commit").rename(hooks_of(repo) / "pre-commit.legacy")
    put_foreign(hooks_of(repo))
    uninstall(repo)
    assert not any(is_ours(path) for path in hooks_of(repo).iterdir())
    assert (hooks_of(repo) / "pre-commit").read_bytes() == FOREIGN


def test_a_missing_hooks_folder_is_made(repo: RepoBuilder) -> None:
    for path in hooks_of(repo).iterdir():
        path.unlink()
    hooks_of(repo).rmdir()
    install(repo)
    assert set(picture(hooks_of(repo))) == set(HOOKS)


@pytest.mark.parametrize("value", [".husky", "tools/git hooks", "./x/../hooks"])
def test_a_relative_hooks_path_is_where_the_shims_go(repo: RepoBuilder, value: str) -> None:
    repo.git("config", "core.hooksPath", value)
    folder = Path(os.path.normpath(repo.path / value))
    before = picture(hooks_of(repo))
    put_foreign(folder)
    install(repo)
    assert all(is_ours(folder / name) for name in HOOKS)
    assert picture(hooks_of(repo)) == before
    uninstall(repo)
    assert picture(folder) == {"pre-commit": (0o750, FOREIGN)}


def test_a_hooks_path_outside_the_repository_is_refused_with_a_way_out(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    shared = tmp_path / "shared hooks"
    put_foreign(shared)
    repo.git("config", "--global", "core.hooksPath", str(shared))
    before = picture(shared), picture(repo.path)
    with pytest.raises(UsageProblem, match="outside this repository") as caught:
        install(repo)
    assert f"envtrack hooks run pre-commit` to '{shared}/pre-commit'" in caught.value.hint
    assert (picture(shared), picture(repo.path)) == before


def test_a_hooks_path_outside_the_repository_is_written_by_force(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    put_foreign(shared)
    before = picture(shared)
    repo.git("config", "--global", "core.hooksPath", str(shared))
    install(repo, force=True)
    assert all(is_ours(shared / name) for name in HOOKS)
    uninstall(repo)
    assert picture(shared) == before


def test_hooks_that_are_switched_off_are_not_written(repo: RepoBuilder) -> None:
    repo.git("config", "core.hooksPath", "/dev/null")
    with pytest.raises(UsageProblem, match="/dev/null"):
        install(repo)


def test_shims_that_a_later_hooks_path_stranded_are_taken_away_too(repo: RepoBuilder) -> None:
    put_foreign(hooks_of(repo))
    before = picture(hooks_of(repo))
    install(repo)
    repo.git("config", "core.hooksPath", ".husky")
    uninstall(repo)
    assert picture(hooks_of(repo)) == before


def test_a_linked_worktree_installs_into_the_folder_that_all_share(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    repo.commit("first")
    repo.git("worktree", "add", "-q", str(tmp_path / "side"))
    side = open_repo(tmp_path / "side")
    install_hooks(side, interpreter=PYTHON)
    assert all(is_ours(hooks_of(repo) / name) for name in HOOKS)
    assert not find_hooks_folder(side).is_outside


def test_a_submodule_installs_into_its_own_folder(repo: RepoBuilder, tmp_path: Path) -> None:
    repo.commit("first")
    outer = RepoBuilder.create(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", str(repo.path), "inner")
    install_hooks(open_repo(outer.path / "inner"), interpreter=PYTHON)
    assert all(is_ours(outer.path / ".git/modules/inner/hooks" / name) for name in HOOKS)
    assert not any((hooks_of(outer) / name).exists() for name in HOOKS)


def test_an_interpreter_without_an_absolute_path_is_refused(repo: RepoBuilder) -> None:
    for interpreter in ("", "python3"):
        with pytest.raises(UsageProblem, match="absolute path"):
            install_hooks(open_repo(repo.path), interpreter=interpreter)


def test_a_repository_seen_from_a_subfolder_finds_the_same_folder(repo: RepoBuilder) -> None:
    (repo.path / "sub").mkdir()
    here, there = (find_hooks_folder(open_repo(path)) for path in (repo.path, repo.path / "sub"))
    assert here == there
    assert replace(here, setting="x") != there
