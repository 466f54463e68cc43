"""Whether git is in the middle of something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# The shims look for the same files: git is in the middle of something that is not a new commit.
IN_PROGRESS = (
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "BISECT_LOG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "MERGE_HEAD",
)


def is_in_progress(git_dir: Path) -> bool:
    """Whether a rebase, bisect, cherry-pick, revert or merge is going on in this working tree."""
    return any((git_dir / sign).exists() for sign in IN_PROGRESS)
