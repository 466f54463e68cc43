"""The steps as commits: made in full before any ref moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from envtrack.git.plumbing import write_commit, write_tree
from envtrack.git.staged import Entry, store_blob
from envtrack.model.comparison import Comparison
from envtrack.model.snapshot import LockfileRef, Snapshot, render_snapshot
from envtrack.report.line import render_comparison_line
from envtrack.report.plain import show_plain

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid
    from envtrack.split.source import Source
    from envtrack.split.state import Piece

_MODE = "100644"


class Record(NamedTuple):
    """This machine's record beside the lockfile.

    Attributes:
        path: from the top level.
        lockfile: the lockfile's path, likewise.
        snapshot: what it says; each step's names that step's lockfile.
        last: what stands there at the end, if that is already made.
    """

    path: str
    lockfile: str
    snapshot: Snapshot
    last: Entry | None = None


class Made(NamedTuple):
    """One commit of the series; no ref names it yet.

    Attributes:
        commit: its name.
        subject: the first line of its message.
        record: this machine's record in it; ``None`` if it has none of its own.
    """

    commit: Oid
    subject: str
    record: Entry | None


def make_commits(
    repository: Repository, source: Source, pieces: Sequence[Piece], record: Record | None
) -> tuple[Made, ...]:
    """The series, oldest first.

    The last tree is that of the commit that is split, or of what is staged the base's with
    everything that decides the environment; and with this machine's record.

    Raises:
        CommandFailed: git does not know who commits, can't sign, or the disk is full.
    """
    made: list[Made] = []
    parent, tree = source.base, source.base
    for number, piece in enumerate(pieces, 1):
        is_last = number == len(pieces)
        entries = source.entries if is_last else _store(repository, source, piece)
        lockfile = entries[source.lockfile] or source.end
        entry = _make_record(repository, lockfile.blob, record, is_last=is_last)
        if is_last and not source.is_staged:
            # Whatever else the commit holds comes with its last part.
            tree, entries = source.target, {}
        if record is not None:
            entries = {**entries, record.path: entry}
        tree = write_tree(repository, tree, entries)
        subject = say_subject(piece)
        message = _say_message(source, subject, f"Part {number} of {len(pieces)}")
        parent = write_commit(repository, tree, parent, message, author=source.author)
        made.append(Made(parent, subject, entry))
    return tuple(made)


def _store(repository: Repository, source: Source, piece: Piece) -> Mapping[str, Entry | None]:
    texts = {**piece.state.projects, source.lockfile: piece.state.text}
    found: dict[str, Entry | None] = {}
    for path, text in texts.items():
        there = source.entries[path]
        mode = _MODE if there is None else there.mode
        found[path] = Entry(mode=mode, blob=store_blob(repository, text.encode()))
    return found


def _make_record(
    repository: Repository, lockfile: Oid, record: Record | None, *, is_last: bool
) -> Entry | None:
    if record is None:
        return None
    if is_last and record.last is not None:
        return record.last
    ref = LockfileRef(path=record.lockfile, blob=lockfile)
    text = render_snapshot(replace(record.snapshot, lockfile=ref))
    blob = store_blob(repository, text.encode("utf-8", "backslashreplace"))
    return Entry(mode=_MODE, blob=blob)


def say_subject(piece: Piece) -> str:
    """The first line of a step's message: what it moves, from the ground up."""
    comparison = Comparison(before="", after="", changes=piece.changes)
    return show_plain(render_comparison_line(comparison))


def _say_message(source: Source, subject: str, part: str) -> str:
    origin = "what was staged" if source.is_staged else f"{source.name} ({source.subject})"
    blocks = [subject, f"{part} of {origin}, made by `envtrack split`."]
    blocks += list(_say_trailers(source))
    return "\n\n".join(blocks) + "\n"


def _say_trailers(source: Source) -> Iterator[str]:
    if source.trailers:
        yield "\n".join(f"{key}: {value}" for key, value in source.trailers)
