"""Whether git would really run the hooks: where it looks, what stands there, and a start to see."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from envtrack.errors import RigFailed
from envtrack.git.environ import here
from envtrack.git.hook_files import (
    FRAMEWORK,
    IDS,
    find_moved,
    find_tool,
    get_legacy_path,
    is_executable,
    is_ours,
)
from envtrack.git.hooks import (
    HOOKS,
    HooksFolder,
    find_hooks_folder,
    list_installable,
)
from envtrack.git.hooks_config import (
    ConfiguredHook,
    get_configured_path,
    knows_configured_hooks,
    list_configured,
)
from envtrack.git.hooks_trial import BARE_PATH, Trial, try_hooks
from envtrack.process import run

if TYPE_CHECKING:
    from pathlib import Path

    from envtrack.git.repository import Repository

_PROBE_TIMEOUT_S = 10.0


class HookState(StrEnum):
    """How one hook stands."""

    INSTALLED = "installed"
    MISSING = "not installed"
    FOREIGN = "foreign"
    """A hook of others; ours was never there."""
    SHADOWED = "shadowed"
    """Ours is there, and git does not come to it."""
    NOT_EXECUTABLE = "not executable"
    BROKEN = "does not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStatus:
    """How one hook stands.

    Attributes:
        name: git's name of the hook.
        path: where git looks for it.
        state: only `HookState.INSTALLED` means that git runs it: it was started to see.
        legacy: the hook that was there before and that it runs first, if there is one.
        remark: what a person has to know; empty if nothing.
        shim: where envtrack's own file stands, if there is one.
        is_file: whether git comes to it by its hooks folder, and not by its configuration.
    """

    name: str
    path: Path
    state: HookState
    shim: Path
    legacy: Path | None = None
    remark: str = ""
    is_file: bool = True


def read_hooks_status(repository: Repository) -> tuple[HookStatus, ...]:
    """How each hook stands; a shim of ours is started to see whether git could.

    It only says its name then. A hook that is not ours is not started.
    """
    folder = find_hooks_folder(repository)
    configured = {hook.event: hook for hook in list_configured(repository) if hook.is_ours}
    names = (*list_installable(folder), *configured)
    knows = bool(configured) and knows_configured_hooks(repository)
    return tuple(
        _read_configured(repository, configured[name], folder, knows=knows)
        if name in configured
        else _read_one(folder, folder.path / name, repository)
        for name in dict.fromkeys(names)
    )


def _read_configured(
    repository: Repository, hook: ConfiguredHook, folder: HooksFolder, *, knows: bool
) -> HookStatus:
    """How a hook of git's configuration stands."""
    path = get_configured_path(repository, hook.event)
    way_out = "`envtrack hooks install` puts it right"
    if not knows:
        state = HookState.SHADOWED
        remark = f"by this git, which does not know hooks of its configuration: {way_out}"
    elif not hook.is_enabled:
        state, remark = HookState.SHADOWED, f"by hook.{hook.name}.enabled = false: {way_out}"
    elif not is_executable(path) or hook.command != shlex.quote(str(path)):
        state, remark = HookState.BROKEN, f"hook.{hook.name}.command is not {path}: {way_out}"
    else:
        state, remark = _probe(path, repository)
    if is_ours(folder.path / hook.event):
        remark = f"a file in {folder.path} does the same once more: {way_out}"
    said = f"by git's configuration, hook.{hook.name}"
    return HookStatus(
        name=hook.event, path=path, state=state, remark=remark or said, shim=path, is_file=False
    )


def try_commits(repository: Repository, hooks: tuple[HookStatus, ...]) -> tuple[Trial, ...]:
    """A commit of a lockfile with the user's ``PATH``, and one with a graphical client's.

    Nothing is tried where git does not come to our pre-commit.

    Raises:
        RigFailed: there is no room for a repository.
    """
    working = [hook for hook in hooks if hook.state is HookState.INSTALLED]
    if HOOKS[0] not in [hook.name for hook in working]:
        return ()
    shims = {hook.name: hook.shim for hook in working if hook.is_file}
    paths = dict.fromkeys((repository.environ.get("PATH", BARE_PATH), BARE_PATH))
    return tuple(try_hooks(repository, shims, path=path) for path in paths)


def _read_one(folder: HooksFolder, path: Path, repository: Repository) -> HookStatus:
    legacy = get_legacy_path(path)
    shim, remark = path, ""
    if not os.path.lexists(path):
        state = HookState.MISSING
        stranded = folder.default / path.name
        if stranded != path and is_ours(stranded):
            state = HookState.SHADOWED
            remark = f"the shim in {folder.default} is never run: core.hooksPath = {folder.setting}"
    elif not is_ours(path):
        state, shim, remark = _read_foreign(path)
    elif not is_executable(path):
        state, remark = HookState.NOT_EXECUTABLE, f"`chmod +x {shlex.quote(str(path))}`"
    else:
        state, remark = _probe(path, repository)
    return HookStatus(
        name=path.name,
        path=path,
        state=state,
        legacy=legacy if os.path.lexists(legacy) else None,
        remark=remark,
        shim=shim,
    )


def _read_foreign(path: Path) -> tuple[HookState, Path, str]:
    """The state where somebody else's hook stands, our shim, and a remark."""
    moved, tool = find_moved(path), find_tool(path)
    who = tool or "a hook of others"
    if moved is not None and tool == FRAMEWORK and moved.suffix == ".legacy":
        if is_executable(moved) and is_executable(path):
            return HookState.INSTALLED, moved, f"{FRAMEWORK} stands in its place and runs it"
        return HookState.SHADOWED, moved, f"by {FRAMEWORK}: a file is not executable"
    if moved is not None or os.path.lexists(get_legacy_path(path)):
        where = f", which moved envtrack's shim to {moved.name}" if moved is not None else ""
        way_out = "`envtrack hooks install` puts the shim before it, and runs both"
        return HookState.SHADOWED, path, f"by {who}{where}: {way_out}"
    return HookState.FOREIGN, path, f"{who} stands there: `envtrack hooks install` runs both"


def _probe(path: Path, repository: Repository) -> tuple[HookState, str]:
    environ = {**here(repository.environ), "ENVTRACK_HOOK": "probe"}
    try:
        done = run((str(path),), timeout_s=_PROBE_TIMEOUT_S, env=environ, cwd=repository.root)
    except RigFailed as error:
        return HookState.BROKEN, str(error)
    if done.text.strip() != f"{IDS[0]} {path.name}":
        return HookState.INSTALLED, "of an earlier envtrack: `envtrack hooks install` renews it"
    return HookState.INSTALLED, _describe_interpreter(path)


def _describe_interpreter(path: Path) -> str:
    line = next((row for row in path.read_bytes().splitlines() if row.startswith(b"python=")), b"")
    named = shlex.split(os.fsdecode(line.removeprefix(b"python=")))
    if named and os.access(named[0], os.X_OK):
        return ""
    return "the Python it names is gone: `envtrack hooks install` puts it right"
