"""What the next commit will hold, asked of git itself, and putting records into it.

Inside a hook git's index may be another file than ``.git/index`` (``commit -a``, ``commit PATH``):
only the git command in the environment that it gave its hook knows which.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.errors import CommandFailed
from envtrack.model.oid import Oid
from envtrack.model.paths import LOCKFILE_NAMES, SNAPSHOTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from envtrack.git.repository import Repository

RECORDS = f":(top){SNAPSHOTS}"
_REGULAR = ("100644", "100755")

# A record is data of ours: it is stored as it is, whatever filters or line ends a repository has
# for its own files, so that it can be read back by its blob id.
_MODE = "100644"

_LOCK_WAITS_S = (0.02, 0.05, 0.1, 0.2)

# `git --literal-pathspecs commit` sets these for its hooks; our pathspecs mean what they say.
PLAIN_PATHSPECS = {
    "GIT_LITERAL_PATHSPECS": "0",
    "GIT_GLOB_PATHSPECS": "0",
    "GIT_NOGLOB_PATHSPECS": "0",
    "GIT_ICASE_PATHSPECS": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What stands at one path of an index or a tree.

    Attributes:
        mode: git's, six digits.
        blob: the content.
    """

    mode: str
    blob: Oid

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file: neither a symbolic link nor a submodule."""
        return self.mode in _REGULAR


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedPath:
    """One path at which the next commit differs from ``HEAD``.

    Attributes:
        path: from the top level, with forward slashes.
        before: what ``HEAD`` has there; ``None``: nothing.
        after: what the commit will have there; ``None``: nothing.
    """

    path: str
    before: Entry | None
    after: Entry | None


def lockfile_pathspecs(lockfiles: Sequence[str]) -> tuple[str, ...]:
    """The pathspecs of the configured lockfiles; of all that are called so where none is."""
    if not lockfiles:
        return tuple(f":(top,glob)**/{name}" for name in LOCKFILE_NAMES)
    return tuple(f":(top,literal){path}" for path in lockfiles)


def list_staged(
    repository: Repository, pathspecs: Sequence[str], *, base: str = "HEAD"
) -> tuple[StagedPath, ...]:
    """Where the next commit differs from ``HEAD``; a rename is a deletion and an addition.

    Right on a branch without a commit too: everything is an addition there, as it is where a first
    commit is amended (`base` is ``HEAD^``).
    """
    start = () if base == "HEAD" else (find_tree(repository, base),)
    return list_changed(repository, pathspecs, "--cached", *start)


def list_changed(
    repository: Repository, pathspecs: Sequence[str], *span: str
) -> tuple[StagedPath, ...]:
    """Where two commits, or a commit and the index (``--cached``), differ; no renames are seen.

    Raises:
        CommandFailed: one of them is not there.
    """
    done = repository.git(
        *("diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff"),
        *span,
        "--",
        *pathspecs,
    )
    fields = done.fields
    return tuple(
        _parse_raw(head, path) for head, path in zip(fields[::2], fields[1::2], strict=True)
    )


def find_tree(repository: Repository, revision: str) -> str:
    """A revision, or the empty tree where there is none."""
    done = repository.git("rev-parse", "--verify", "--quiet", revision, check=False)
    return done.line or repository.git("hash-object", "-t", "tree", "--stdin").line


def _parse_raw(head: str, path: str) -> StagedPath:
    # After a colon: old mode, new mode, old blob, new blob, status.
    old_mode, new_mode, old, new, _ = head.removeprefix(":").split(" ")
    return StagedPath(
        path=path, before=_find_entry(old_mode, old), after=_find_entry(new_mode, new)
    )


def _find_entry(mode: str, blob: str) -> Entry | None:
    return None if mode == "000000" else Entry(mode=mode, blob=Oid(blob))


def read_entries(repository: Repository, *pathspecs: str) -> dict[str, Entry]:
    """The index at these paths; what is in conflict is left out."""
    done = repository.git("ls-files", "--stage", "-z", "--", *pathspecs)
    entries = {}
    for row in done.fields:
        head, _, path = row.partition("\t")
        mode, blob, stage = head.split(" ")
        if stage == "0":
            entries[path] = Entry(mode=mode, blob=Oid(blob))
    return entries


def list_tracked(repository: Repository, paths: Sequence[str]) -> tuple[StagedPath, ...]:
    """Files of ``HEAD`` as if nothing had been done to them; those that are not there left out."""
    entries = read_head_entries(repository, *paths)
    return tuple(StagedPath(path=path, before=one, after=one) for path, one in entries.items())


def read_head_entries(repository: Repository, *paths: str) -> dict[str, Entry]:
    """The tree of ``HEAD`` at these paths from the top level; empty where there is no commit."""
    done = repository.git("ls-tree", "-z", "--full-tree", "HEAD", "--", *paths, check=False)
    entries = {}
    for row in done.fields:
        head, _, path = row.partition("\t")
        mode, _, blob = head.split(" ")
        entries[path] = Entry(mode=mode, blob=Oid(blob))
    return entries


def find_content(repository: Repository, name: str) -> bytes | None:
    """The content of a blob by its id or as ``REVISION:PATH``; ``None`` where it is not at hand."""
    done = repository.git("cat-file", "blob", name, check=False)
    return done.stdout if done.code == 0 else None


def store_blob(repository: Repository, content: bytes) -> Oid:
    """The id of a content that git now has."""
    done = repository.git("hash-object", "-w", "--stdin", stdin=content)
    return Oid(done.line)


def find_working_blob(repository: Repository, path: str) -> Oid | None:
    """The blob that ``git add`` would make of a file in the working tree; ``None``: no file."""
    file = repository.root / path
    if file.is_symlink() or not file.is_file():
        return None
    done = repository.git("hash-object", "--", path, check=False)
    return Oid(done.line) if done.code == 0 else None


def stage_blobs(repository: Repository, blobs: Mapping[str, Oid | None]) -> None:
    """Puts blobs at paths of the index; ``None`` takes the path out of it.

    Not ``git add``: that refuses ignored folders and paths outside a sparse checkout.

    Raises:
        CommandFailed: the index is locked or can't be written.
    """
    rows = [
        f"{_MODE} {blob.hex}\t".encode() + os.fsencode(path) + b"\0"
        for path, blob in blobs.items()
        if blob is not None
    ]
    gone = [os.fsencode(path) + b"\0" for path, blob in blobs.items() if blob is None]
    if rows:
        _update_index(repository, "--index-info", stdin=b"".join(rows))
    if gone:
        _update_index(repository, "--force-remove", "--stdin", stdin=b"".join(gone))


def _update_index(repository: Repository, *arguments: str, stdin: bytes) -> None:
    """Waits a moment for an index that is locked: editors look at the status at every turn."""
    for wait_s in _LOCK_WAITS_S:
        try:
            repository.git("update-index", "-z", *arguments, stdin=stdin)
        except CommandFailed as error:
            if ".lock': File exists" not in error.output:
                raise
            time.sleep(wait_s)
        else:
            return
    repository.git("update-index", "-z", *arguments, stdin=stdin)


def list_parents(repository: Repository, revision: str) -> tuple[Oid, ...] | None:
    """The parents of a commit, or ``None`` where there is no such commit."""
    done = repository.git(
        "rev-list", "--parents", "-n", "1", "--end-of-options", revision, "--", check=False
    )
    return tuple(map(Oid, done.text.split()[1:])) if done.code == 0 else None
