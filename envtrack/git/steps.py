"""What single commits, and the one that is being made, do to some files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from envtrack.git.staged import list_staged
from envtrack.model.oid import Oid

if TYPE_CHECKING:
    from envtrack.git.repository import Repository

_LONG_S = 300.0
_NOTHING = "0"
_OURS = "env-"


class FileStep(NamedTuple):
    """What a step does to one file.

    Attributes:
        path: where it stands after, from the top level; before, where it is taken away.
        old_path: where it stood before; the same, where it did not move.
        before: the blob before; ``None``: there was none.
        after: the blob after; ``None``: there is none any more.
    """

    path: str
    old_path: str
    before: Oid | None
    after: Oid | None


def list_staged_steps(
    repository: Repository, pathspecs: Sequence[str], *, base: str = "HEAD"
) -> tuple[FileStep, ...]:
    """What the next commit will do; a file that goes and one of its name that comes are a move."""
    rows = list_staged(repository, pathspecs, base=base)
    steps = [
        FileStep(
            path=row.path,
            old_path=row.path,
            before=row.before.blob if row.before and row.before.is_file else None,
            after=row.after.blob if row.after and row.after.is_file else None,
        )
        for row in rows
    ]
    return tuple(_join_moves(steps))


def _join_moves(steps: list[FileStep]) -> Iterator[FileStep]:
    gone = {step.path.rpartition("/")[2]: step for step in steps if step.after is None}
    come = [step for step in steps if step.before is None and step.after is not None]
    moved = {
        step.path: source
        for step in come
        if (source := gone.pop(step.path.rpartition("/")[2], None)) is not None
    }
    left = {source.path for source in moved.values()}
    for step in steps:
        if step.path in moved:
            source = moved[step.path]
            yield step._replace(old_path=source.path, before=source.before)
        elif step.path not in left:
            yield step


def list_range(repository: Repository, span: str, pathspecs: Sequence[str]) -> tuple[Oid, ...]:
    """The commits of a range, or of one revision, that touch the files; oldest first.

    Merges are among them where they may have done something of their own.

    Raises:
        CommandFailed: git knows no such range.
    """
    wanted = (span,) if ".." in span else ("--max-count=1", span)
    said = repository.git(
        *("rev-list", "--reverse", "--topo-order", "--full-history"),
        *wanted,
        *("--end-of-options", "--", *pathspecs) if ".." in span else ("--",),
        timeout_s=_LONG_S,
    )
    return tuple(map(Oid, said.text.split()))


def list_new(
    repository: Repository, news: Sequence[Oid], known: Sequence[str], pathspecs: Sequence[str]
) -> tuple[tuple[Oid, ...], Oid | None]:
    """The commits that somebody does not have yet and that touch the files, oldest first.

    Args:
        repository: where.
        news: what they will have.
        known: what they have: names of commits (those that are not here are passed over), or
            options of ``git rev-list`` such as ``--remotes=origin``.
        pathspecs: the files.

    Returns:
        The commits, and the newest one of those that they have on which the new ones stand;
        ``None``: they have nothing of this history.

    Raises:
        CommandFailed: git can't list them.
    """
    span = ("--topo-order", "--ignore-missing", *(new.hex for new in news), "--not", *known)
    said = repository.git(
        *("rev-list", "--reverse", "--full-history", *span, "--", *pathspecs), timeout_s=_LONG_S
    )
    edge = repository.git("rev-list", "--boundary", *span, "--", timeout_s=_LONG_S).text.split()
    bounds = [name[1:] for name in edge if name.startswith("-")]
    return tuple(map(Oid, said.text.split())), Oid(bounds[0]) if bounds else None


class Details(NamedTuple):
    """What is said of a commit.

    Attributes:
        oid: which.
        parents: their names.
        committed_at: ISO 8601 with the committer's offset.
        message: whole.
    """

    oid: Oid
    parents: tuple[str, ...]
    committed_at: str
    message: str


def read_details(repository: Repository, commit: Oid) -> Details:
    """What a commit says of itself."""
    said = repository.git(
        "log", "-1", "--no-show-signature", "--format=%P%x00%cI%x00%B", commit.hex
    )
    parents, at, message = said.text.split("\0", 2)
    return Details(commit, tuple(parents.split()), at.strip(), message)


def list_commit_steps(
    repository: Repository, commit: Details, pathspecs: Sequence[str]
) -> tuple[FileStep, ...]:
    """What one commit does to the files.

    A merge does what is like none of its parents; it is told against the first.
    """
    name, parents = commit.oid.hex, commit.parents
    head = ("diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-commit-id")
    if len(parents) > 1:
        names = _list_own(repository, commit.oid, pathspecs)
        if not names:
            return ()
        pathspecs = [f":(top,literal){each}" for each in names]
        said = repository.git(*head, "-M", parents[0], name, "--", *pathspecs)
    else:
        said = repository.git(*head, "-M", "--root", name, "--", *pathspecs)
    return tuple(_read_raw(said.fields))


def _list_own(repository: Repository, merge: Oid, pathspecs: Sequence[str]) -> tuple[str, ...]:
    said = repository.git(
        *("diff-tree", "-c", "-r", "-z", "--name-only", "--no-commit-id", merge.hex, "--"),
        *pathspecs,
    )
    return said.fields


def _read_raw(fields: Sequence[str]) -> Iterator[FileStep]:
    waiting = list(reversed(fields))
    while waiting:
        _, _, before, after, status = waiting.pop().split(" ")
        old_path = waiting.pop()
        path = waiting.pop() if status[0] in "RC" else old_path
        yield FileStep(
            path=path, old_path=old_path, before=_find_blob(before), after=_find_blob(after)
        )


def _find_blob(text: str) -> Oid | None:
    return None if not text.strip(_NOTHING) else Oid(text)


def parse_trailers(repository: Repository, message: str) -> tuple[tuple[str, str], ...]:
    """Key in lower case, and value, of each trailer of ours; comments are passed over."""
    if _OURS not in message.lower():
        return ()  # git is not asked in vain: most messages have none
    plain = repository.git("stripspace", "--strip-comments", stdin=message.encode()).stdout
    said = repository.git("interpret-trailers", "--parse", stdin=plain).text
    rows = (line.partition(":") for line in said.splitlines())
    return tuple(
        (key.strip().lower(), value.strip())
        for key, found, value in rows
        if found and key.strip().lower().startswith(_OURS)
    )
