"""What post-commit does: the index of the user knows of the records in the new commit."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from envtrack.errors import EnvtrackError
from envtrack.git.progress import is_in_progress
from envtrack.git.staged import (
    RECORDS,
    Entry,
    list_parents,
    read_entries,
    read_head_entries,
    stage_blobs,
)
from envtrack.record.memory import HookMemory, Pending

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid


def square_index(repository: Repository) -> None:
    """Gives the index the records of the new commit where it still has those from before.

    After ``git commit PATH`` the index that stays knows nothing of what pre-commit added. Only
    what pre-commit noted is looked at, and only where the index holds what ``HEAD`` held before
    the commit, or what a commit that never came about left there: everything else was staged by
    the user.

    Raises:
        CommandFailed: the index is locked or can't be written.
    """
    memory = HookMemory(repository.git_dir)
    pending = memory.read_pending()
    if repository.is_bare or is_in_progress(repository.git_dir) or pending is None:
        return
    try:
        if _is_of_this_commit(repository, pending):
            _square(repository, pending)
    except EnvtrackError:
        memory.keep_unsquared(pending)
        raise


def square_at_last(repository: Repository, memory: HookMemory, environ: Mapping[str, str]) -> None:
    """Does what the post-commit of an earlier commit did not do.

    It may have found the index locked, or may never have been started; the commit that is made
    now would quietly bring the record from before back.

    Raises:
        CommandFailed: the index is locked or can't be written.
    """
    left = [each for each in (memory.read_unsquared(), memory.read_pending()) if each is not None]
    # The index of `git commit PATH` is made of HEAD: the one that has to be squared is elsewhere.
    if not left or PurePath(environ.get("GIT_INDEX_FILE", "")).name.startswith("next-index-"):
        return
    for pending in left:
        _square(repository, pending)
    memory.keep_unsquared(None)


def _square(repository: Repository, pending: Pending) -> None:
    paths = [each.path for each in pending.additions]
    if not paths:
        return
    head = read_head_entries(repository, *paths)
    index = read_entries(repository, RECORDS)
    blobs = {}
    for each in pending.additions:
        committed, indexed = (_find_blob(entries.get(each.path)) for entries in (head, index))
        if committed == each.blob and indexed in (each.base, each.former):
            blobs[each.path] = committed
    stage_blobs(repository, blobs)


def _is_of_this_commit(repository: Repository, pending: Pending) -> bool:
    """Whether ``HEAD`` was made where pre-commit left its note: on top of it, or instead of it."""
    parents = list_parents(repository, "HEAD")
    if pending.head is None or parents is None:
        return parents == ()
    return parents[:1] == (pending.head,) or parents == list_parents(repository, pending.head.hex)


def _find_blob(entry: Entry | None) -> Oid | None:
    return None if entry is None else entry.blob
