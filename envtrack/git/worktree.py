"""Scratch worktrees that go away again."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envtrack.errors import CommandFailed, RigFailed
from envtrack.files import remove_tree, write_whole
from envtrack.git.environ import PLAIN, elsewhere
from envtrack.git.repository import Repository
from envtrack.model.oid import Oid
from envtrack.process import run, undisturbed

_TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """A linked worktree of ours.

    Attributes:
        folder: all that belongs to it; removed with it.
        tree: the working tree's top level, inside `folder`.
        admin: git's own folder for it, inside the shared git folder.
    """

    folder: Path
    tree: Path
    admin: Path


def cache_folder(environ: Mapping[str, str], away_from: Path) -> Path:
    """Where scratch folders go: ``$XDG_CACHE_HOME/envtrack``, but never inside `away_from`.

    Raises:
        RigFailed: the repository holds both the cache and the temporary folder.
    """
    home = Path(environ.get("HOME") or Path.home())
    named = Path(environ.get("XDG_CACHE_HOME") or "")
    # A relative path is to be ignored, says the XDG base directory specification.
    wanted = (named if named.is_absolute() else home / ".cache") / "envtrack"
    for folder in (wanted, Path(tempfile.gettempdir()) / f"envtrack-{os.getuid()}"):
        # A home folder that is a repository itself (dotfiles) holds its own cache. A colon parts
        # the folders of PATH: no program of an environment there would ever be found.
        is_inside = folder.resolve().is_relative_to(away_from.resolve())
        if not is_inside and os.pathsep not in str(folder):
            return folder
    raise RigFailed(
        f"{away_from}: both the cache and the temporary folder lie inside this repository, or have"
        f" a `{os.pathsep}` in their names",
        hint="set XDG_CACHE_HOME to another folder",
    )


def add_worktree(
    repository: Repository,
    commit: Oid,
    *,
    folder: Path,
    name: str,
    marker: Path,
    keep_fds: Sequence[int] = (),
) -> Worktree:
    """A new linked worktree with `commit` checked out, hooks off.

    Args:
        repository: whose.
        commit: what to check out.
        folder: a new folder for it.
        name: the working tree's name in it.
        marker: a file that tells of it, written first, so that whoever comes after a crash can
            remove it.
        keep_fds: descriptors that git inherits: a lock among them is held until git has ended, even
            if we are killed, so that nobody removes what it is still making.

    Raises:
        RigFailed: the repository or the folder can't be written, or the checkout fails.
    """
    tree = folder / name
    made = Worktree(folder=folder, tree=tree, admin=repository.common_dir / "worktrees" / name)
    write_whole(marker, json.dumps({"folder": str(folder), "name": name}))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RigFailed(f"{folder}: can't be written: {error.strerror}") from error
    try:
        _git(
            repository, "worktree", "add", "--detach", "--quiet", str(tree), commit.hex,
            keep_fds=keep_fds,
        )  # fmt: skip
    except CommandFailed as error:
        remove_worktree(made, marker=marker)
        raise RigFailed(f"no worktree can be made: {_last(error.output)}") from error
    except BaseException:
        # Ctrl-C in a checkout that takes its time.
        remove_worktree(made, marker=marker)
        raise
    return made


def find_worktree(repository: Repository, marker: Path) -> Worktree | None:
    """The worktree that a marker tells of, whether or not it is still there."""
    try:
        document = json.loads(marker.read_text())
        folder, name = Path(document["folder"]), str(document["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Worktree(
        folder=folder, tree=folder / name, admin=repository.common_dir / "worktrees" / name
    )


def remove_worktree(worktree: Worktree, *, marker: Path) -> None:
    """Removes a worktree with all that belongs to it; one that is half there too.

    Not by ``git worktree remove``, which refuses a tree with submodules, nor by ``git worktree
    prune``: that would also forget the user's own worktrees on a disk that is not mounted.

    Raises:
        RigFailed: something of it can't be removed.
    """
    with undisturbed():
        remove_tree(worktree.folder)
        remove_tree(worktree.admin)
        # Where it was the only one; another search may be about to make one, or to do the same.
        with contextlib.suppress(OSError):
            worktree.admin.parent.rmdir()
        marker.unlink(missing_ok=True)


def _git(repository: Repository, *arguments: str, keep_fds: Sequence[int]) -> None:
    # By name: a repository that is only found by GIT_DIR is no longer found without it.
    run(
        ("git", f"--git-dir={repository.git_dir}", *PLAIN, *arguments),
        timeout_s=_TIMEOUT_S,
        env=elsewhere(repository.environ),
        cwd=repository.root,
        keep_fds=keep_fds,
    )


def _last(output: str) -> str:
    return next((line for line in reversed(output.splitlines()) if line.strip()), "git failed")
