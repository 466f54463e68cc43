"""The commit that a folder's git repository has checked out, read from its files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.reading import read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from envtrack.collect.reading import Missing

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PACKED_LIMIT_BYTES = 16 * 1024 * 1024
_MOST_LINKS = 5


def find_repository(folder: Path) -> Path | None:
    """The nearest folder, from this one up, that has a ``.git``."""
    for candidate in (folder, *folder.parents):
        try:
            if (candidate / ".git").exists():
                return candidate
        except OSError:
            return None
    return None


def read_revision(repository: Path) -> FactState:
    """The commit at ``HEAD``; absent: none yet. Whether files were changed since is not asked."""
    git = _read_git_folder(repository)
    if not isinstance(git, Path):
        return git
    common = read_text(git / "commondir")  # of a linked worktree: where the branches are
    shared = (git / common.strip()).resolve() if isinstance(common, str) else git
    name = "HEAD"
    for _ in range(_MOST_LINKS):
        text = _read_ref(git, shared, name)
        if not isinstance(text, str):
            return text
        if text == "ref: refs/heads/.invalid":  # what git writes beside a reftable
            return Unknown("its branches are in a reftable")
        if not text.startswith("ref:"):
            return Known(text) if _COMMIT.fullmatch(text) else Unknown("an odd HEAD")
        name = text.removeprefix("ref:").strip()
    return Unknown("its HEAD leads in a circle")


def _read_git_folder(repository: Path) -> Path | Missing:
    """``.git``, or where a file of that name leads: a linked worktree's, a submodule's."""
    link = repository / ".git"
    if link.is_dir():
        return link
    text = read_text(link)
    if not isinstance(text, str):
        return text
    found = re.match(r"gitdir:\s*(?P<path>.+)", text)
    return (repository / found["path"].strip()) if found else Unknown("an odd .git file")


def _read_ref(git: Path, shared: Path, name: str) -> str | Missing:
    for folder in (git, shared):
        text = read_text(folder / name)
        if isinstance(text, str):
            return text.strip()
        if isinstance(text, Unknown):
            return text
    packed = read_text(shared / "packed-refs", limit_bytes=_PACKED_LIMIT_BYTES)
    lines = packed.splitlines() if isinstance(packed, str) else []
    rows = (line.partition(" ") for line in lines)
    return next((commit for commit, _, ref in rows if ref == name), Absent())
