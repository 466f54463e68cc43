"""Hooks by git's configuration (git 2.54 and newer): nothing of others is moved or written over.

``hook.<name>.event`` and ``hook.<name>.command`` (git-hook(1)). git runs configured hooks before
the one in its hooks folder, wherever ``core.hooksPath`` points.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.files import write_whole
from envtrack.git.hook_files import is_executable, is_ours, render_shim
from envtrack.git.hooks import HookAction, HookChange

if TYPE_CHECKING:
    from pathlib import Path

    from envtrack.git.repository import Repository

_FIRST: Final = (2, 54)
_PREFIX: Final = "envtrack-"
# git's own folder, which all working trees share.
_FOLDER: Final = "envtrack/hooks"


class ConfiguredHook(NamedTuple):
    """One hook of the configuration, of whichever file.

    Attributes:
        name: of the section: ``hook.<name>.…``.
        event: git's name of the hook; empty where it is not said.
        command: what is run.
        is_enabled: whether it is not switched off.
    """

    name: str
    event: str
    command: str
    is_enabled: bool

    @property
    def is_ours(self) -> bool:
        """Whether envtrack put it there."""
        return self.name == f"{_PREFIX}{self.event}"


def knows_configured_hooks(repository: Repository) -> bool:
    """Whether this git runs hooks of its configuration."""
    found = re.search(r"(\d+)\.(\d+)", repository.git("version").text)
    return found is not None and (int(found[1]), int(found[2])) >= _FIRST


def list_configured(repository: Repository) -> tuple[ConfiguredHook, ...]:
    """All hooks of the configuration, envtrack's and others'."""
    said = repository.git(
        *("config", "-z", "--get-regexp", r"^hook\..*\.(event|command|enabled)$"), check=False
    )
    values: dict[str, dict[str, str]] = {}
    for row in said.fields:
        key, _, value = row.partition("\n")
        name, _, what = key.removeprefix("hook.").rpartition(".")
        values.setdefault(name, {})[what] = value
    return tuple(
        ConfiguredHook(
            name=name,
            event=said.get("event", ""),
            command=said.get("command", ""),
            is_enabled=said.get("enabled", "true").lower() not in {"false", "no", "off", "0"},
        )
        for name, said in values.items()
    )


def get_configured_path(repository: Repository, name: str) -> Path:
    """Where the shim of a configured hook stands."""
    return repository.common_dir / _FOLDER / name


def configure_hook(repository: Repository, name: str, interpreter: str) -> HookChange:
    """Puts a shim in place and has git run it; a second time changes nothing.

    Raises:
        RigFailed: it can't be written.
        CommandFailed: the configuration can't be written.
    """
    path = get_configured_path(repository, name)
    wanted = ConfiguredHook(f"{_PREFIX}{name}", name, shlex.quote(str(path)), is_enabled=True)
    known = [hook for hook in list_configured(repository) if hook.name == wanted.name]
    shim = render_shim(name, interpreter)
    is_new = not path.exists()
    is_written = is_new or path.read_bytes() != shim or not is_executable(path)
    if is_written:
        write_whole(path, shim, mode=0o755)
    if known != [wanted]:
        _set(repository, wanted.name, "event", wanted.event)
        _set(repository, wanted.name, "command", wanted.command)
        repository.git("config", "--local", "--unset", f"hook.{wanted.name}.enabled", check=False)
    action = HookAction.UNCHANGED
    if is_written or known != [wanted]:
        action = HookAction.INSTALLED if is_new or not known else HookAction.REFRESHED
    return HookChange(
        name=name, path=path, action=action, remark=f"by git's configuration: hook.{wanted.name}"
    )


def remove_configured(repository: Repository) -> tuple[HookChange, ...]:
    """Takes envtrack's configured hooks and their shims away.

    Raises:
        OSError: a shim can't be removed.
    """
    changes = []
    for hook in list_configured(repository):
        if not hook.is_ours:
            continue
        section = ("config", "--local", "--remove-section", f"hook.{hook.name}")
        repository.git(*section, check=False)
        path = get_configured_path(repository, hook.event)
        if is_ours(path):
            path.unlink()
        changes.append(HookChange(name=hook.event, path=path, action=HookAction.REMOVED))
    return tuple(changes)


def _set(repository: Repository, name: str, what: str, value: str) -> None:
    repository.git("config", "--local", "--replace-all", f"hook.{name}.{what}", value)
