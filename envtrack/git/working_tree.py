"""The working tree as it stands, and a commit of one file of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from envtrack.errors import UsageProblem
from envtrack.git.staged import find_working_blob

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid

_UNFINISHED = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")


def list_named(
    repository: Repository, names: Sequence[str], *, with_untracked: bool = False
) -> tuple[str, ...]:
    """The tracked paths of the given file names in any folder, from the top level, sorted.

    Args:
        repository: where.
        names: file names such as ``uv.lock``.
        with_untracked: also those that git does not know yet and does not ignore.
    """
    kinds = ("--cached", "--others", "--exclude-standard") if with_untracked else ("--cached",)
    pathspecs = [f":(top,glob)**/{name}" for name in names]
    listed = repository.git("ls-files", "-z", "--full-name", *kinds, "--", *pathspecs)
    return tuple(sorted(set(listed.fields)))


def commit_file(repository: Repository, path: str, message: str) -> Oid:
    """A new commit on HEAD that holds one file's change and nothing else.

    What is staged of other files stays staged; the user's hooks run, envtrack's own keep still.

    Args:
        repository: where.
        path: from the top level; it may be new.
        message: the commit's.

    Raises:
        UsageProblem: a merge, cherry-pick or revert is under way.
        CommandFailed: git refused (a hook, no identity); a new file is then untracked again.
    """
    unfinished = [name for name in _UNFINISHED if (repository.git_dir / name).exists()]
    if unfinished:
        raise UsageProblem(
            f"{unfinished[0]} is there: git makes no commit of one file then",
            hint="finish it first (`git status` says how)",
        )
    quiet = replace(repository, environ={**repository.environ, "ENVTRACK_HOOK": "off"})
    pathspec = f":(top,literal){path}"
    is_new = not quiet.git("ls-files", "-z", "--", pathspec).fields
    if is_new:
        quiet.git("add", "--intent-to-add", "--force", "--", pathspec)
    try:
        quiet.git("commit", "--quiet", "--only", f"--message={message}", "--", pathspec)
    except BaseException:
        if is_new:
            quiet.git("rm", "--cached", "--quiet", "--force", "--", pathspec, check=False)
        raise
    return repository.get_commit("HEAD")


def is_committed(repository: Repository, path: str) -> bool:
    """Whether a file of the working tree is, byte for byte for git, the one of HEAD."""
    head = repository.find_commit("HEAD")
    committed = None if head is None else repository.find_blob(head, path)
    return committed is not None and committed == find_working_blob(repository, path)
