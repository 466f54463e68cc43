"""The two environments in which git and other programs are started.

A hook's environment is hostile: git sets ``GIT_DIR``, ``GIT_INDEX_FILE`` and more, and
``git bisect run`` hands a linked worktree's ``GIT_DIR`` to its script. Whoever works on *another*
repository (a scratch worktree, a clone, uv fetching a git dependency) must not see them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def here(environ: Mapping[str, str]) -> dict[str, str]:
    """For git in the repository that we were called for: its variables are kept.

    ``LC_ALL=C`` so that messages can be read; no optional locks, so that a look at the status
    never stands in the way of the user's own git; no prompt can block.
    """
    return {**environ, **_QUIET}


def elsewhere(environ: Mapping[str, str]) -> dict[str, str]:
    """For any program in another repository or tree: every ``GIT_*`` variable is gone."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    return {**kept, **_QUIET}


def without_git(environ: Mapping[str, str]) -> dict[str, str]:
    """For the user's own commands: every ``GIT_*`` variable is gone and nothing is added."""
    return {name: value for name, value in environ.items() if not name.startswith("GIT_")}


PLAIN = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.sparseCheckout=false",
    "-c", "core.fsmonitor=false",
    "-c", "submodule.recurse=false",
)  # fmt: skip
"""What git is told in a tree of ours, whatever the user has configured for his own.

No hooks; the whole commit, though `git worktree add` copies the user's sparse checkout; no daemon
that outlives the tree; submodules only as we bring them.
"""

_QUIET = {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat"}
