"""The hooks' shims in the folder where git looks: put there and taken away.

A hook that stands there already is moved aside under a name of ours and still run by our shim.
Not to ``<hook>.legacy``: that name is the pre-commit framework's, whose own script runs whatever
stands there, itself included, and refuses to go on.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.errors import RigFailed, UsageProblem
from envtrack.files import write_whole
from envtrack.git.hook_files import (
    find_moved,
    find_tool,
    get_legacy_path,
    is_executable,
    is_ours,
    is_renewed,
    render_shim,
)

if TYPE_CHECKING:
    from envtrack.git.repository import Repository

HOOKS = (
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
)
# Those that are only installed for whoever asks for them.
OPTIONAL = ("pre-push",)


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksFolder:
    """Where git looks for hooks.

    Attributes:
        path: absolute; it need not exist.
        setting: the value of ``core.hooksPath``; empty where git looks in its own folder.
        is_outside: it lies outside the repository, where other repositories may use it too.
        default: the folder in which git would look without the setting.
    """

    path: Path
    setting: str
    is_outside: bool
    default: Path


class HookAction(StrEnum):
    """What was done about one hook."""

    INSTALLED = "installed"
    REFRESHED = "refreshed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    LEFT_ALONE = "left alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookChange:
    """What was done about one hook.

    Attributes:
        name: git's name of the hook.
        path: where it stands.
        action: what was done.
        legacy: the hook that was there before: moved aside to this path, or brought back from it.
        remark: what a person has to know; empty if nothing.
    """

    name: str
    path: Path
    action: HookAction
    legacy: Path | None = None
    remark: str = ""


def find_hooks_folder(repository: Repository) -> HooksFolder:
    """The folder in which git looks, as git itself says it: ``core.hooksPath`` or its own."""
    root = repository.root
    # A relative setting starts where hooks are run: at the top level of each working tree.
    path = root / repository.git("rev-parse", "--git-path", "hooks").line
    setting = repository.git("config", "--get", "core.hooksPath", check=False).line
    homes = (root, repository.git_dir, repository.common_dir)
    return HooksFolder(
        path=Path(os.path.normpath(path)),
        setting=setting,
        is_outside=not any(path.resolve().is_relative_to(home.resolve()) for home in homes),
        default=repository.common_dir / "hooks",
    )


def install_hooks(
    repository: Repository, *, interpreter: str, force: bool = False, with_push: bool = False
) -> tuple[HookChange, ...]:
    """Puts the shims in place; a second time changes nothing.

    Args:
        repository: where.
        interpreter: absolute path of the Python that has envtrack.
        force: also write into a folder that other repositories may use.
        with_push: also the one that judges what is pushed; where it is installed it stays.

    Raises:
        UsageProblem: the folder lies outside the repository and `force` is not set, or a hook
            can't be moved aside. Nothing was changed then.
        RigFailed: the folder can't be written.
    """
    folder = find_hooks_folder(repository)
    if folder.is_outside and not force:
        raise _refuse_outside(folder)
    if not os.path.isabs(interpreter):  # noqa: PTH117 - it may be empty
        raise UsageProblem(f"{interpreter!r}: the hooks need the absolute path of a Python")
    names = (*HOOKS, *OPTIONAL) if with_push else list_installable(folder)
    for name in names:
        _require_way_aside(folder.path / name)
    return tuple(_install_one(folder.path / name, interpreter) for name in names)


def list_installable(folder: HooksFolder) -> tuple[str, ...]:
    """The hooks that belong in a folder: those that all get, and of the others what is there."""
    paths = [folder.path / name for name in OPTIONAL]
    return (*HOOKS, *(path.name for path in paths if is_ours(path) or find_moved(path)))


def _refuse_outside(folder: HooksFolder) -> UsageProblem:
    lines = f"`envtrack hooks run {HOOKS[0]}` to {shlex.quote(str(folder.path / HOOKS[0]))}"
    return UsageProblem(
        f"core.hooksPath = {folder.setting}: git looks for hooks outside this repository, "
        "where other repositories may look too; nothing was installed",
        hint=f"add the line {lines}, and so on for each hook; or `envtrack hooks install --force` "
        "writes there all the same",
    )


def _require_way_aside(path: Path) -> None:
    """Makes sure that whatever stands at a hook's place can be moved aside and loses nothing.

    A tool that has put its hook there anew wants the new one, not the one from before.
    """
    legacy = get_legacy_path(path)
    if path.is_dir():
        raise UsageProblem(f"{path} is a folder, no hook: nothing was installed")
    if not os.path.lexists(path) or is_ours(path) or not os.path.lexists(legacy):
        return
    if not is_renewed(path, legacy):
        raise UsageProblem(
            f"{path} is not envtrack's, and {legacy.name} keeps another hook from before already: "
            "nothing was installed",
            hint=f"look at both, then remove {legacy} or put what is in it into {path.name}",
        )


def _install_one(path: Path, interpreter: str) -> HookChange:
    shim = render_shim(path.name, interpreter)
    legacy = get_legacy_path(path)
    action = HookAction.INSTALLED
    if is_ours(path):
        if path.read_bytes() == shim and is_executable(path):
            kept = legacy if os.path.lexists(legacy) else None
            return HookChange(name=path.name, path=path, action=HookAction.UNCHANGED, legacy=kept)
        action = HookAction.REFRESHED
    elif os.path.lexists(path):
        _rename(path, legacy)
    _remove_moved(path)
    write_whole(path, shim, mode=0o755)
    kept = legacy if os.path.lexists(legacy) else None
    remark = ""
    if kept is not None and not is_executable(kept):
        remark = "the hook from before is not executable: git did not run it, nor will the shim"
    elif kept is not None and find_tool(kept) == "lefthook":
        remark = (
            "lefthook takes its place again when lefthook.yml changes: "
            "`no_auto_install: true` there keeps it from that"
        )
    return HookChange(name=path.name, path=path, action=action, legacy=kept, remark=remark)


def uninstall_hooks(repository: Repository) -> tuple[HookChange, ...]:
    """Takes the shims away and puts back what stood there before; a second time changes nothing.

    Looks where git looks and, if that is elsewhere, in git's own folder too.

    Raises:
        RigFailed: the folder can't be written.
    """
    folder = find_hooks_folder(repository)
    changes = [_uninstall_one(folder.path / name) for name in list_installable(folder)]
    if folder.default.resolve() != folder.path.resolve():
        stranded = (folder.default / name for name in (*HOOKS, *OPTIONAL))
        changes.extend(_uninstall_one(path) for path in stranded if is_ours(path))
    return tuple(changes)


def _uninstall_one(path: Path) -> HookChange:
    legacy = get_legacy_path(path)
    has_legacy = os.path.lexists(legacy)
    was_moved = _remove_moved(path)
    if os.path.lexists(path) and not is_ours(path):
        if has_legacy and is_renewed(path, legacy):
            _unlink(legacy)
            has_legacy, was_moved = False, True
        return HookChange(
            name=path.name,
            path=path,
            action=HookAction.REMOVED if was_moved else HookAction.LEFT_ALONE,
            legacy=legacy if has_legacy else None,
            remark=f"{legacy} still keeps the hook from before envtrack" if has_legacy else "",
        )
    if not has_legacy and not os.path.lexists(path):
        return HookChange(name=path.name, path=path, action=HookAction.UNCHANGED)
    if has_legacy:
        _rename(legacy, path)
    else:
        _unlink(path)
    return HookChange(
        name=path.name,
        path=path,
        action=HookAction.REMOVED,
        legacy=legacy if has_legacy else None,
    )


def _remove_moved(path: Path) -> bool:
    """Takes away a shim of ours that another tool moved aside; whether there was one."""
    was_there = False
    while (moved := find_moved(path)) is not None:
        _unlink(moved)
        was_there = True
    return was_there


def _rename(path: Path, target: Path) -> None:
    try:
        path.rename(target)
    except OSError as error:
        raise RigFailed(f"{path}: can't be moved to {target.name}: {error.strerror}") from error


def _unlink(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise RigFailed(f"{path}: can't be removed: {error.strerror}") from error
