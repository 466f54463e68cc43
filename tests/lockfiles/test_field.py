"""Reads whole real histories, where there are any.

`ENVTRACK_FIELD_LOCKS` names a folder with lockfiles (`*.lock`) and git bundles (`*.bundle`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from envtrack.compare.locks import compare_locks
from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import find_format, parse_lock
from envtrack.lockfiles.select import explain_selection, identity, select
from envtrack.model.lock import Lock
from envtrack.model.selection import Selection
from tests.lockfiles.texts import LINUX, names

# Read here: the seal takes the variable away before a test runs.
FOLDER = os.environ.get("ENVTRACK_FIELD_LOCKS", "")

pytestmark = pytest.mark.skipif(
    not FOLDER, reason="ENVTRACK_FIELD_LOCKS names no folder of real lockfiles and bundles"
)


def git(*arguments: str, at: Path) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=at, capture_output=True, check=True, text=True, encoding="utf-8"
    )
    return done.stdout


def locks_of_bundle(bundle: Path, scratch: Path) -> Iterator[tuple[str, str]]:
    clone = scratch / bundle.stem
    git("clone", "--quiet", "--bare", str(bundle), str(clone), at=scratch)
    seen = set()
    for commit in git("rev-list", "--all", "--reverse", "--", "uv.lock", at=clone).split():
        blob = git("ls-tree", "--format=%(objectname)", commit, "uv.lock", at=clone).strip()
        if blob and blob not in seen:
            seen.add(blob)
            yield f"{bundle.name}:{blob}", git("cat-file", "blob", blob, at=clone)


def all_locks(scratch: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(path for path in Path(FOLDER).rglob("*.lock") if path.is_file()):
        text = path.read_text(encoding="utf-8")
        chosen = find_format(path.name, text)
        if chosen is not None and chosen.name == "uv.lock":
            yield path.name, text
    for bundle in sorted(Path(FOLDER).rglob("*.bundle")):
        yield from locks_of_bundle(bundle, scratch)


def test_every_lock_of_the_field_is_read_selected_and_compared(tmp_path: Path) -> None:
    earlier: Lock | None = None
    count = 0
    for where, text in all_locks(tmp_path):
        if "\n<<<<<<< " in text:
            with pytest.raises(LockfileProblem, match="conflict markers"):
                parse_lock(text, path="uv.lock")
            continue
        lock = parse_lock(text, path="uv.lock")
        chosen = explain_selection(lock, Selection(), LINUX)
        assert not [note for note in chosen.notes if "not in the lock" in note], where
        assert len(identity(chosen.packages)) == 64
        again = parse_lock(text, path="again.lock")
        assert compare_locks(lock, again) == (), where
        if compare_locks(earlier, lock) == () and earlier is not None:
            # Where nothing is told, nothing else is installed.
            assert names(chosen.packages) == names(select(earlier, Selection(), LINUX)), where
        earlier, count = lock, count + 1
    assert count
