"""Trees, commits and refs made without the user's index and working tree."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.errors import CommandFailed, RigFailed
from envtrack.git.staged import Entry
from envtrack.model.oid import Oid

if TYPE_CHECKING:
    from envtrack.git.repository import Repository

_NOBODY = "0" * 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who wrote a commit, and when.

    Attributes:
        name: as git has it.
        email: likewise.
        date: seconds since 1970 and the offset: ``1700000000 +0100``.
    """

    name: str
    email: str
    date: str


def write_index_tree(repository: Repository) -> Oid:
    """The tree that the next commit would have; the index itself is not touched.

    Raises:
        CommandFailed: something in it is in conflict.
    """
    real = Path(repository.git("rev-parse", "--path-format=absolute", "--git-path", "index").line)
    with _scratch_index(repository) as (scratch, index):
        if real.exists():
            shutil.copyfile(real, index)
        return Oid(scratch.git("write-tree").line)


def write_tree(repository: Repository, base: Oid, entries: Mapping[str, Entry | None]) -> Oid:
    """A tree that is another one's but for some paths.

    Args:
        repository: where.
        base: a commit or a tree.
        entries: what is to stand at each path; ``None``: nothing.
    """
    with _scratch_index(repository) as (scratch, _):
        scratch.git("read-tree", base.hex)
        rows = [_render_row(path, entry) for path, entry in entries.items()]
        scratch.git("update-index", "-z", "--index-info", stdin=b"".join(rows))
        return Oid(scratch.git("write-tree").line)


def _render_row(path: str, entry: Entry | None) -> bytes:
    # Mode 0 takes a path out (git-update-index, --index-info).
    head = f"0 {_NOBODY}" if entry is None else f"{entry.mode} {entry.blob.hex}"
    return head.encode() + b"\t" + os.fsencode(path) + b"\0"


@contextlib.contextmanager
def _scratch_index(repository: Repository) -> Iterator[tuple[Repository, Path]]:
    """The repository with an index of its own, which goes away again."""
    folder = repository.common_dir / "envtrack"
    try:
        folder.mkdir(exist_ok=True)
        place = tempfile.TemporaryDirectory(prefix="index-", dir=folder)
    except OSError as error:
        raise RigFailed(f"{folder}: can't be written: {error.strerror}") from error
    with place as name:
        index = Path(name) / "index"
        environ = {**repository.environ, "GIT_INDEX_FILE": str(index)}
        yield replace(repository, environ=environ), index


def write_commit(
    repository: Repository, tree: Oid, parent: Oid, message: str, *, author: Author | None = None
) -> Oid:
    """A new commit that no ref names yet; signed where the user signs his own.

    Args:
        repository: where.
        tree: what it holds.
        parent: the commit before.
        message: whole.
        author: who wrote it; by default whoever commits.

    Raises:
        CommandFailed: git does not know who commits, or can't sign.
    """
    environ = dict(repository.environ)
    if author is not None:
        environ |= {
            "GIT_AUTHOR_NAME": author.name,
            "GIT_AUTHOR_EMAIL": author.email,
            "GIT_AUTHOR_DATE": f"@{author.date}",
        }
    signs = repository.git("config", "--type=bool", "--get", "commit.gpgSign", check=False)
    sign = ("-S",) if signs.line == "true" else ()
    done = replace(repository, environ=environ).git(
        *("-c", "i18n.commitEncoding=UTF-8", "commit-tree", *sign, "-p", parent.hex, tree.hex),
        stdin=message.encode("utf-8", "surrogateescape"),
    )
    return Oid(done.line)


def read_author(repository: Repository, commit: Oid) -> Author:
    """Who wrote a commit."""
    said = repository.git(
        *("-c", "i18n.logOutputEncoding=UTF-8", "log", "-1", "--no-show-signature"),
        *("--date=raw", "--format=%an%x00%ae%x00%ad", commit.hex),
    )
    name, email, date = os.fsdecode(said.stdout).strip("\n").split("\0")
    return Author(name=name, email=email, date=date)


def move_head(repository: Repository, *, old: Oid, new: Oid, reason: str) -> None:
    """Moves the current branch, if it still is where it was.

    Raises:
        RigFailed: somebody moved it meanwhile, or it is locked; nothing has changed.
    """
    try:
        repository.git("update-ref", "-m", reason, "HEAD", new.hex, old.hex)
    except CommandFailed as error:
        raise RigFailed(
            f"HEAD is no longer at {old.short}, or is locked: nothing was changed",
            hint="`git status` and `git log` say who moved it; then start again",
        ) from error


def create_ref(repository: Repository, name: str, commit: Oid, *, reason: str) -> None:
    """A new ref.

    Raises:
        CommandFailed: there is one of this name.
    """
    repository.git("update-ref", "-m", reason, name, commit.hex, _NOBODY[: len(commit.hex)])


def delete_ref(repository: Repository, name: str, commit: Oid) -> None:
    """Takes a ref away, if it still names this commit."""
    repository.git("update-ref", "-d", name, commit.hex, check=False)
