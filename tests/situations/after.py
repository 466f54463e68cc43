"""What is asked after every situation: the commit, the status, git's own check, and no litter."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.record.hooked import RECORD, Hooked

FITS = "the record of this lockfile"
OTHER = "the record of another lockfile"
BROKEN = "no record"

RECORDS = ".envtrack/snapshots/"
# What the hooks leave for each other in the course of one commit, and what a dead git leaves.
_OF_ONE_COMMIT = ("pending.json", "unsquared.json", "asks")


def files(hooked: Hooked, revision: str = "HEAD") -> dict[str, str]:
    """All files of a commit (of the index, where the revision is empty) with their content.

    Of a record it says whether it names the lockfile that stands beside it in the same commit.
    """
    listed = (
        hooked.repo.git("ls-tree", "-r", "-z", "--full-tree", revision)
        if revision
        else hooked.repo.git("ls-files", "--stage", "-z", "--", ":(top)")
    )
    blobs = {}
    for row in listed.split("\0")[:-1]:
        head, _, path = row.partition("\t")
        blobs[path] = head.split(" ")[2 if revision else 1]
    return {path: _describe(hooked, path, blobs) for path in sorted(blobs)}


def _describe(hooked: Hooked, path: str, blobs: dict[str, str]) -> str:
    raw = hooked.repo.run(["git", "cat-file", "-p", blobs[path]], check=False).stdout
    if not path.startswith(RECORDS):
        return raw
    lockfile = path.removeprefix(RECORDS).partition("/")[2].removesuffix(".json")
    try:
        named = json.loads(raw)["lockfile"]
    except ValueError:
        return BROKEN
    return FITS if named == {"path": lockfile, "blob": blobs.get(lockfile)} else OTHER


def settled(hooked: Hooked, *, status: str = "", on: str = "main") -> None:
    """Asserts what must hold after any situation.

    Args:
        hooked: the working tree.
        status: what is rightly left of the user's own changes.
        on: the branch that is checked out; empty if none is.
    """
    found = hooked.status()
    assert found == status
    assert hooked.repo.git("branch", "--show-current") == on
    fsck = hooked.repo.run(["git", "fsck", "--strict", "--no-dangling", "--no-progress"])
    assert (fsck.stdout, fsck.stderr) == ("", "")
    assert litter(hooked) == []


def litter(hooked: Hooked) -> list[str]:
    """Files that a finished (or given up) commit must not leave behind."""
    git_dir = Path(hooked.repo.git("rev-parse", "--absolute-git-dir"))
    found = [*git_dir.glob("*.lock"), *git_dir.glob("next-index-*")]
    memory = git_dir / "envtrack/hook"
    found += [path for name in _OF_ONE_COMMIT for path in memory.glob(name)]
    found += memory.glob(".*")
    top = Path(hooked.repo.git("rev-parse", "--show-toplevel"))
    found += (top / ".envtrack/snapshots").rglob(".*")
    return sorted(os.fspath(path) for path in found)


def first(**more: str) -> dict[str, str]:
    """What the first commit of the template holds, with what a situation adds or replaces."""
    return {RECORD: FITS, "README": "words\n", "uv.lock": "version = 1\n"} | more


def version(number: int, **more: str) -> dict[str, str]:
    """The same with another lockfile and its record."""
    return first(**{"uv.lock": f"version = {number}\n"}) | more
