"""What is said of commits afterwards: ``refs/notes/envtrack``, JSON lines, never rewriting history.

Nothing of the user's moves: no checkout, no index, only this one ref, and it only if nobody else
moved it meanwhile.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envtrack.errors import CommandFailed, RigFailed
from envtrack.model.oid import Oid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from envtrack.git.repository import Repository

NOTES_REF = "refs/notes/envtrack"
# Each try loses only against somebody else who has got a note of theirs in.
_TRIES = 20


def append_note(repository: Repository, commit: Oid, entry: Mapping[str, Any]) -> None:
    """Adds one JSON line to what is said of a commit.

    Raises:
        RigFailed: the ref moved each time it was tried, or can't be written.
    """
    line = json.dumps(entry, ensure_ascii=True, sort_keys=True)
    for _ in range(_TRIES):
        tip = _find_tip(repository)
        said = _read_text(repository, commit)
        if said and not said.endswith("\n"):
            said += "\n"
        stream = _render_commit(repository, commit, f"{said}{line}\n", tip)
        # fast-import spreads notes over folders as git does, and refuses to move a ref that is
        # not an ancestor of what it wrote: the old value is compared by git itself.
        done = repository.git("fast-import", "--quiet", "--done", stdin=stream, check=False)
        if done.code == 0:
            return
        if _find_tip(repository) == tip:
            raise CommandFailed(done.command, done.code, done.error_text)
    raise RigFailed(f"{NOTES_REF} moved each of the {_TRIES} times a note was added; try again")


def read_notes(repository: Repository, commit: Oid) -> tuple[dict[str, Any], ...]:
    """What is said of a commit, oldest first; lines that are no JSON objects are passed over."""
    return tuple(_parse_lines(_read_text(repository, commit)))


def read_all_notes(
    repository: Repository, commits: Iterable[Oid]
) -> Iterator[tuple[Oid, tuple[dict[str, Any], ...]]]:
    """Those of the commits that something is said of, in the order given, read one by one."""
    listed = repository.git("notes", f"--ref={NOTES_REF}", "list", check=False).text.split()
    noted = set(listed[1::2])
    for commit in commits:
        if commit.hex in noted:
            yield commit, read_notes(repository, commit)


def read_every_note(
    repository: Repository,
) -> Iterator[tuple[Oid, tuple[dict[str, Any], ...]]]:
    """All commits of which something is said, with it."""
    listed = repository.git("notes", f"--ref={NOTES_REF}", "list", check=False).text.split()
    for commit in map(Oid, listed[1::2]):
        yield commit, read_notes(repository, commit)


def _find_tip(repository: Repository) -> Oid | None:
    done = repository.git("rev-parse", "--verify", "--quiet", NOTES_REF, check=False)
    return Oid(done.line.strip()) if done.code == 0 else None


def _read_text(repository: Repository, commit: Oid) -> str:
    done = repository.git("notes", f"--ref={NOTES_REF}", "show", commit.hex, check=False)
    return done.text if done.code == 0 else ""


def _parse_lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _render_commit(repository: Repository, commit: Oid, text: str, tip: Oid | None) -> bytes:
    """A fast-import stream: one commit on the notes ref that sets one note."""
    message = b"envtrack: note\n"
    content = text.encode("utf-8", "backslashreplace")
    parts = [
        b"commit %s\n" % NOTES_REF.encode(),
        b"committer %s\n" % _read_identity(repository),
        b"data %d\n%s\n" % (len(message), message),
        b"" if tip is None else b"from %s\n" % tip.hex.encode(),
        b"N inline %s\n" % commit.hex.encode(),
        b"data %d\n%s\n" % (len(content), content),
        b"done\n",
    ]
    return b"".join(parts)


def _read_identity(repository: Repository) -> bytes:
    """Who writes: the user, or envtrack itself where git does not know one."""
    done = repository.git("var", "GIT_COMMITTER_IDENT", check=False)
    if done.code != 0:
        done = repository.git(
            *("-c", "user.name=envtrack", "-c", "user.email=envtrack@localhost"),
            *("var", "GIT_COMMITTER_IDENT"),
        )
    return done.stdout.strip()
