"""The hooks put in place and taken away: by git's configuration where git has that, else by files.

Never both: a lockfile would be recorded twice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from envtrack.errors import UsageProblem
from envtrack.git.hook_files import is_ours
from envtrack.git.hooks import (
    HOOKS,
    OPTIONAL,
    HookChange,
    find_hooks_folder,
    install_hooks,
    uninstall_hooks,
)
from envtrack.git.hooks_config import (
    configure_hook,
    knows_configured_hooks,
    list_configured,
    remove_configured,
)

if TYPE_CHECKING:
    from envtrack.git.repository import Repository


def put_hooks(
    repository: Repository,
    *,
    interpreter: str,
    by_files: bool = False,
    force: bool = False,
    with_push: bool = False,
) -> tuple[HookChange, ...]:
    """Puts the hooks in place; a second time changes nothing.

    Args:
        repository: where.
        interpreter: absolute path of the Python that has envtrack.
        by_files: use files in git's hooks folder even where git knows configured hooks: an older
            git, such as one that comes with a graphical client, runs no others.
        force: also write into a hooks folder that other repositories may use; that means files.
        with_push: also the one that judges what is pushed; where it is installed it stays.

    Raises:
        UsageProblem: the folder lies outside the repository and `force` is not set, or a hook
            can't be moved aside. Nothing was changed then.
        RigFailed: something can't be written.
    """
    there = {hook.event for hook in list_configured(repository) if hook.is_ours}
    wants_push = with_push or OPTIONAL[0] in there
    if by_files or force or not knows_configured_hooks(repository):
        changes = install_hooks(
            repository, interpreter=interpreter, force=force, with_push=wants_push
        )
        remove_configured(repository)
        return changes
    if not os.path.isabs(interpreter):  # noqa: PTH117 - it may be empty
        raise UsageProblem(f"{interpreter!r}: the hooks need the absolute path of a Python")
    folder = find_hooks_folder(repository)
    has_file = {name for name in (*HOOKS, *OPTIONAL) if is_ours(folder.path / name)}
    names = (*HOOKS, *(OPTIONAL if wants_push or has_file & {*OPTIONAL} else ()))
    changes = tuple(configure_hook(repository, name, interpreter) for name in names)
    uninstall_hooks(repository)
    return changes


def take_hooks(repository: Repository) -> tuple[HookChange, ...]:
    """Takes the hooks away and puts back what stood there before; a second time changes nothing.

    Raises:
        RigFailed: something can't be written.
    """
    gone = remove_configured(repository)
    names = {change.name for change in gone}
    files = uninstall_hooks(repository)
    return (*gone, *(change for change in files if change.name not in names))
