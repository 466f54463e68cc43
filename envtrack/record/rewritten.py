"""What post-rewrite does first: notes go along from old commits to those made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envtrack.git.file_history import find_blobs
from envtrack.git.notes import append_notes, read_lines, read_note_texts
from envtrack.model.oid import Oid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envtrack.git.repository import Repository

_PAIR = 2


def parse_rewritten(text: str) -> tuple[tuple[Oid, Oid], ...]:
    """The pairs of old and new commits that git tells post-rewrite, in its order.

    Raises:
        ValueError: a line is no such pair.
    """
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if any(len(row) < _PAIR for row in rows):
        raise ValueError("a line of git's is no pair of commits")
    return tuple((Oid(old), Oid(new)) for old, new, *_ in rows)


def copy_notes(repository: Repository, pairs: Iterable[tuple[Oid, Oid]]) -> int:
    """Copies what is said of old commits to the new ones, and says of how many new ones.

    A line that speaks of a state of a lockfile goes along only where the new commit has that very
    state: a verdict is one of an environment, and where a rebase or a squash made another one of
    it, nobody has tried that. Where several commits became one, each line is judged so. Other lines
    go along always, and none twice. The old commits keep theirs.

    Raises:
        RigFailed: the notes can't be written.
    """
    found = [(old, new) for old, new in pairs if old != new]
    texts = read_note_texts(repository, dict.fromkeys(old for old, _ in found))
    rows = [
        (new, line, _find_place(entry))
        for old, new in found
        for line, entry in read_lines(texts.get(old, ""))
    ]
    places = {(new, place[0]) for new, _, place in rows if place}
    blobs = find_blobs(repository, sorted(places, key=lambda one: (one[0].hex, one[1])))
    lines: dict[Oid, list[str]] = {}
    for new, line, place in rows:
        blob = blobs.get((new, place[0])) if place else None
        if not place or (blob is not None and blob.hex == place[1]):
            lines.setdefault(new, []).append(line)
    if lines:
        append_notes(repository, lines)
    return len(lines)


def _find_place(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """The path and the blob of the lockfile that a line speaks of."""
    ref = entry.get("lockfile")
    return (str(ref.get("path")), str(ref.get("blob"))) if isinstance(ref, dict) else None
