"""What is to be split: what is staged, or the last commit; and when neither can be."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.bisect.ends import find_environment_paths
from envtrack.errors import CommandFailed, UsageProblem
from envtrack.git.plumbing import Author, read_author, write_commit, write_index_tree
from envtrack.git.progress import is_in_progress
from envtrack.git.staged import Entry, find_working_blob, list_parents, read_entries
from envtrack.git.steps import parse_trailers, read_details

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid

STAGED: Final = "staged"
# What says why a change was made goes with each of its parts.
_CARRIED: Final = {"env-reason": "Env-Reason", "env-security": "Env-Security"}


class Source(NamedTuple):
    """What is to be split.

    Attributes:
        name: ``staged``, or the commit's short name.
        head: where HEAD is.
        base: the commit before the change.
        target: a commit that holds the whole of it: the commit itself, or one made of the index.
        lockfile: its path from the top level.
        end: the lockfile at the end.
        entries: the files that decide the environment and differ, with what they are at the end.
        author: who wrote the commit; ``None`` for what is staged.
        subject: the first line of the commit's message; empty for what is staged.
        trailers: those that each part carries.
    """

    name: str
    head: Oid
    base: Oid
    target: Oid
    lockfile: str
    end: Entry
    entries: Mapping[str, Entry | None]
    author: Author | None = None
    subject: str = ""
    trailers: tuple[tuple[str, str], ...] = ()

    @property
    def is_staged(self) -> bool:
        """Whether it is the index that is split."""
        return self.author is None


def find_source(repository: Repository, lockfile: str, revision: str | None) -> Source:
    """What is to be split.

    Args:
        repository: where.
        lockfile: its path from the top level.
        revision: a commit; ``None``: what is staged.

    Raises:
        UsageProblem: it can't be split: there is no commit yet, git is in the middle of something,
            the lockfile is none of uv's or is not changed, the commit is not the last one or is
            published already…
    """
    _refuse_other_formats(lockfile)
    head = repository.find_commit("HEAD")
    if head is None:
        raise UsageProblem(
            "this branch has no commit yet: there is no state before the change",
            hint="commit; the next change of the lockfile can be split",
        )
    if is_in_progress(repository.git_dir):
        raise UsageProblem(
            "git is in the middle of a merge, rebase, cherry-pick, revert or bisect",
            hint="finish it first (`git status` says how)",
        )
    if revision is None:
        return _find_staged(repository, lockfile, head)
    return _find_commit(repository, lockfile, head, revision)


def _refuse_other_formats(lockfile: str) -> None:
    name = PurePosixPath(lockfile).name
    if name != "uv.lock":
        raise UsageProblem(
            f"{lockfile}: `split` makes the lockfiles in between with `uv lock`; it can't for "
            f"{name}",
            hint="commit the lower layer alone, then the next in a commit of its own; "
            "`envtrack check --staged` says which layers move",
        )


def _find_staged(repository: Repository, lockfile: str, head: Oid) -> Source:
    try:
        tree = write_index_tree(repository)
    except CommandFailed as error:
        raise UsageProblem(
            "the index can't be written as a tree; is something in conflict?",
            hint="`git status` says what",
        ) from error
    target = write_commit(repository, tree, head, "envtrack split: what was staged\n", author=None)
    entries = _list_entries(repository, lockfile, head, target)
    if lockfile not in entries:
        raise UsageProblem(
            f"{lockfile}: no change of it is staged",
            hint=f"`git add {lockfile}`, with the pyproject.toml it was made from; or "
            "`envtrack split HEAD` splits the last commit",
        )
    _require_clean(repository, entries)
    return Source(
        name=STAGED,
        head=head,
        base=head,
        target=target,
        lockfile=lockfile,
        end=_require_both(repository, lockfile, head, entries),
        entries=entries,
    )


def _find_commit(repository: Repository, lockfile: str, head: Oid, revision: str) -> Source:
    commit = repository.get_commit(revision)
    if commit != head:
        raise UsageProblem(
            f"`{revision}` ({commit.short}) is not the last commit: only that is replaced",
            hint="commits on top of it would have to be made anew; `git reset --soft "
            f"{commit.short}` takes them into the index",
        )
    parents = list_parents(repository, commit.hex) or ()
    if len(parents) != 1:
        what = "a merge" if parents else "the first commit: there is no state before it"
        raise UsageProblem(f"{commit.short} is {what}; it can't be split")
    published = repository.git(
        "for-each-ref", "--count=1", "--format=%(refname:short)", "--contains", commit.hex,
        "refs/remotes",
    ).text.strip()  # fmt: skip
    if published:
        raise UsageProblem(
            f"{commit.short} is published already ({published}): it is not replaced",
            hint="split before pushing; `envtrack check --staged` in a hook says so in time",
        )
    details = read_details(repository, commit)
    entries = _list_entries(repository, lockfile, parents[0], commit)
    if lockfile not in entries:
        raise UsageProblem(f"{commit.short} does not change {lockfile}")
    trailers = parse_trailers(repository, details.message)
    return Source(
        name=commit.short,
        head=head,
        base=parents[0],
        target=commit,
        lockfile=lockfile,
        end=_require_both(repository, lockfile, parents[0], entries),
        entries=entries,
        author=read_author(repository, commit),
        subject=details.message.partition("\n")[0],
        trailers=tuple((_CARRIED[key], value) for key, value in trailers if key in _CARRIED),
    )


def _list_entries(
    repository: Repository, lockfile: str, base: Oid, target: Oid
) -> dict[str, Entry | None]:
    """The files that decide the environment and differ."""
    paths = find_environment_paths(repository, lockfile, base, target)
    said = repository.git(
        *("diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames", base.hex, target.hex),
        "--",
        *(f":(top,literal){path}" for path in paths),
    )
    found: dict[str, Entry | None] = {}
    for head, path in zip(said.fields[::2], said.fields[1::2], strict=True):
        _, mode, _, blob, status = head.removeprefix(":").split(" ")
        found[path] = None if status == "D" else Entry(mode=mode, blob=_as_oid(blob))
    return found


def _as_oid(text: str) -> Oid:
    from envtrack.model.oid import Oid

    return Oid(text)


def _require_clean(repository: Repository, entries: Mapping[str, Entry | None]) -> None:
    """Makes sure that the working tree has what is staged, where the environment is decided."""
    staged = read_entries(repository, *(f":(top,literal){path}" for path in entries))
    for path in entries:
        there = staged.get(path)
        if (there.blob if there else None) != find_working_blob(repository, path):
            raise UsageProblem(
                f"{path} has changes that are not staged",
                hint=f"`git add {path}` stages them too; `git stash --keep-index` puts them aside",
            )


def _require_both(
    repository: Repository, lockfile: str, base: Oid, entries: Mapping[str, Entry | None]
) -> Entry:
    """The lockfile at the end; there has to be one before, too."""
    end = entries[lockfile]
    is_new = repository.find_blob(base, lockfile) is None
    if end is None or not end.is_file or is_new:
        what = "new" if is_new else "taken away"
        raise UsageProblem(f"{lockfile} is {what}: nothing in it moves from one to another")
    return end
