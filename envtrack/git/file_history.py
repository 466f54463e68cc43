"""The states of one file along a history, read by few git processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.model.oid import Commit, Oid

if TYPE_CHECKING:
    from envtrack.git.repository import Repository

# git ends a message at a NUL, so that no field can hold one; the last is what follows the format.
_FORMAT = "--format=%x00%H%x00%P%x00%an%x00%cI%x00%s%x00"
_FIELDS = 6
# So much is held in memory at a time: the largest lockfiles are 4 MB.
_AT_ONCE_BYTES = 12 * 1024 * 1024
_LONG_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What a commit did to the file.

    Attributes:
        commit: which; `authored_at` is the committer's date.
        before: the blob before; ``None``: there was no file.
        after: the blob after; ``None``: there is none any more.
        path: where it stood after.
        old_path: where it stood before.
    """

    commit: Commit
    before: Oid | None
    after: Oid | None
    path: str
    old_path: str


def list_file_changes(
    repository: Repository,
    path: str,
    revisions: Sequence[str],
    *,
    options: Sequence[str] = (),
) -> tuple[FileChange, ...]:
    """The commits that changed a file, newest first, over its renames.

    A merge counts where the file differs from the first parent's and from every other's: its own
    change, as ``git log`` shows it.

    Args:
        repository: where.
        path: from the top level.
        revisions: what the history is that is looked at, such as ``v1..HEAD``.
        options: further ones of ``git log``: ``--first-parent``, ``--since=…``.

    Raises:
        CommandFailed: git knows no such revision.
    """
    said = repository.git(
        "-c",
        "core.quotePath=false",
        "--literal-pathspecs",
        "log",
        "--follow",
        "--raw",
        "--no-abbrev",
        "--diff-merges=first-parent",
        "--no-color",
        "--no-show-signature",
        _FORMAT,
        *options,
        *revisions,
        "--",
        path,
        timeout_s=_LONG_S,
    )
    _, *fields = said.text.split("\0")
    records = (fields[at : at + _FIELDS] for at in range(0, len(fields), _FIELDS))
    return tuple(change for record in records if (change := _read_record(record, path)))


def list_order(
    repository: Repository, paths: Sequence[str], revisions: Sequence[str], options: Sequence[str]
) -> tuple[Oid, ...]:
    """The commits that changed one of the paths, in the order in which ``git log`` tells them."""
    said = repository.git(
        "--literal-pathspecs", "log", "--format=%H", "--no-show-signature",
        *options, *revisions, "--", *paths, timeout_s=_LONG_S,
    )  # fmt: skip
    return tuple(map(Oid, said.text.split()))


def _read_record(record: Sequence[str], path: str) -> FileChange | None:
    oid, parents, author, date, subject, rest = record
    commit = Commit(
        oid=Oid(oid),
        parents=tuple(map(Oid, parents.split())),
        subject=subject,
        author=author,
        authored_at=date,
    )
    for line in rest.splitlines():
        if line.startswith(":"):
            head, *paths = line.split("\t")
            _, _, before, after, _ = head.split(" ")
            return FileChange(
                commit=commit,
                before=_blob(before),
                after=_blob(after),
                path=paths[-1] if paths else path,
                old_path=paths[0] if paths else path,
            )
    return None


def _blob(text: str) -> Oid | None:
    return None if not text.strip("0") else Oid(text)


def read_blobs(repository: Repository, blobs: Sequence[Oid]) -> Iterator[tuple[Oid, bytes | None]]:
    """The contents of blobs in the order given; `None` for one that this clone does not have.

    Cost: a git process for each 12 MB of them. It runs while those before are being looked at, so
    that twice as much is in memory.
    """
    from concurrent.futures import ThreadPoolExecutor

    def read(some: Sequence[Oid]) -> bytes:
        names = "".join(f"{blob.hex}\n" for blob in some).encode()
        return repository.git("cat-file", "--batch", stdin=names, timeout_s=_LONG_S).stdout

    groups = list(_cut(repository, blobs))
    with ThreadPoolExecutor(max_workers=1) as ahead:
        coming = ahead.submit(read, groups[0]) if groups else None
        for at, some in enumerate(groups):
            if coming is None:
                return
            said = coming.result()
            coming = ahead.submit(read, groups[at + 1]) if at + 1 < len(groups) else None
            yield from _split(said, some)


def _split(said: bytes, blobs: Sequence[Oid]) -> Iterator[tuple[Oid, bytes | None]]:
    """What ``git cat-file --batch`` said of the blobs, one by one."""
    position = 0
    for blob in blobs:
        end = said.index(b"\n", position)
        head = said[position:end].split()
        position = end + 1
        if head[-1] == b"missing":
            yield blob, None
            continue
        size = int(head[-1])
        yield blob, said[position : position + size]
        position += size + 1


def find_blobs(
    repository: Repository, places: Sequence[tuple[Oid, str]]
) -> dict[tuple[Oid, str], Oid]:
    """The blobs of files in commits; a file that is not there, or is none, is left out."""
    # A line is a question: what has a line end in its name can't be asked for so.
    asked = [place for place in dict.fromkeys(places) if "\n" not in place[1]]
    names = "".join(f"{commit.hex}:{path}\n" for commit, path in asked)
    said = repository.git(
        "cat-file",
        "--batch-check=%(objecttype) %(objectname)",
        stdin=names.encode("utf-8", "surrogateescape"),
        timeout_s=_LONG_S,
    ).text
    rows = zip(asked, said.splitlines(), strict=True)
    return {place: Oid(row.split()[1]) for place, row in rows if row.startswith("blob ")}


def measure_blobs(repository: Repository, blobs: Sequence[Oid]) -> dict[Oid, int]:
    """The bytes of each blob; one that this clone does not have is left out."""
    names = "".join(f"{blob.hex}\n" for blob in blobs).encode()
    said = repository.git("cat-file", "--batch-check=%(objectsize)", stdin=names).text
    rows = zip(blobs, said.splitlines(), strict=True)
    return {blob: int(row) for blob, row in rows if row.isdigit()}


def _cut(repository: Repository, blobs: Sequence[Oid]) -> Iterator[list[Oid]]:
    """The blobs in groups of bearable size."""
    sizes = measure_blobs(repository, blobs)
    some: list[Oid] = []
    size = 0
    for blob in blobs:
        some.append(blob)
        size += sizes.get(blob, 0)
        if size > _AT_ONCE_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some
