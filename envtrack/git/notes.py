"""What is said of commits afterwards: ``refs/notes/envtrack``, JSON lines, never rewriting history.

Nothing of the user's moves: no checkout, no index, only this one ref, and it only if nobody else
moved it meanwhile.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envtrack.errors import CommandFailed, RigFailed
from envtrack.git.file_history import read_blobs
from envtrack.model.oid import Oid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envtrack.git.repository import Repository

NOTES_REF = "refs/notes/envtrack"
# Each try loses only against somebody else who has got a note of theirs in.
_TRIES = 20


def append_note(repository: Repository, commit: Oid, entry: Mapping[str, Any]) -> None:
    """Adds one JSON line to what is said of a commit.

    Raises:
        RigFailed: the ref moved each time it was tried, or can't be written.
    """
    append_notes(repository, {commit: (render_entry(entry),)}, keep_repeats=True)


def append_notes(
    repository: Repository, lines: Mapping[Oid, Sequence[str]], *, keep_repeats: bool = False
) -> None:
    """Adds lines to what is said of some commits, in one step of the notes' own history.

    Args:
        repository: where.
        lines: by commit, each without its end.
        keep_repeats: whether a line is also added to a commit of which it is said already.

    Raises:
        RigFailed: the ref moved each time it was tried, or can't be written.
    """
    for _ in range(_TRIES):
        tip = _find_tip(repository)
        texts = {}
        for commit, said in _read_texts(repository, lines).items():
            known = () if keep_repeats else said.split("\n")
            new = [line for line in lines[commit] if line not in known]
            if new:
                texts[commit] = "\n".join([*filter(None, [said.rstrip("\n")]), *new, ""])
        if not texts:
            return
        stream = _render_commit(repository, texts, tip)
        # fast-import spreads notes over folders as git does, and refuses to move a ref that is
        # not an ancestor of what it wrote: the old value is compared by git itself.
        done = repository.git("fast-import", "--quiet", "--done", stdin=stream, check=False)
        if done.code == 0:
            return
        if _find_tip(repository) == tip:
            raise CommandFailed(done.command, done.code, done.error_text)
    raise RigFailed(f"{NOTES_REF} moved each of the {_TRIES} times a note was added; try again")


def render_entry(entry: Mapping[str, Any]) -> str:
    """One entry as the line of a note that it becomes."""
    return json.dumps(entry, ensure_ascii=True, sort_keys=True)


def read_notes(repository: Repository, commit: Oid) -> tuple[dict[str, Any], ...]:
    """What is said of a commit, oldest first; lines that are no JSON objects are passed over."""
    return tuple(entry for _, entry in read_lines(_read_text(repository, commit)) if entry)


def read_lines(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line of a note, with the entry that it is: empty for one that is no JSON object."""
    for line in filter(None, text.split("\n")):
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        yield line, entry if isinstance(entry, dict) else {}


def read_all_notes(
    repository: Repository, commits: Iterable[Oid]
) -> Iterator[tuple[Oid, tuple[dict[str, Any], ...]]]:
    """Those of the commits that something is said of, in the order given."""
    noted = list_noted(repository)
    for commit in commits:
        if commit in noted:
            yield commit, read_notes(repository, commit)


def read_every_note(
    repository: Repository,
) -> Iterator[tuple[Oid, tuple[dict[str, Any], ...]]]:
    """All commits of which something is said, with it."""
    for commit in list_noted(repository):
        yield commit, read_notes(repository, commit)


def list_noted(repository: Repository) -> dict[Oid, Oid]:
    """The commits of which something is said, each with the blob in which it stands."""
    listed = repository.git("notes", f"--ref={NOTES_REF}", "list", check=False).text.split()
    return dict(zip(map(Oid, listed[1::2]), map(Oid, listed[::2]), strict=True))


def read_note_texts(repository: Repository, commits: Iterable[Oid]) -> dict[Oid, str]:
    """What is said of some commits as it stands there, by few git processes."""
    noted = list_noted(repository)
    wanted = {commit: noted[commit] for commit in commits if commit in noted}
    contents = dict(read_blobs(repository, list(dict.fromkeys(wanted.values()))))
    return {
        commit: (contents[blob] or b"").decode("utf-8", "backslashreplace")
        for commit, blob in wanted.items()
    }


def _find_tip(repository: Repository) -> Oid | None:
    done = repository.git("rev-parse", "--verify", "--quiet", NOTES_REF, check=False)
    return Oid(done.line.strip()) if done.code == 0 else None


def _read_text(repository: Repository, commit: Oid) -> str:
    done = repository.git("notes", f"--ref={NOTES_REF}", "show", commit.hex, check=False)
    return done.text if done.code == 0 else ""


def _read_texts(repository: Repository, commits: Iterable[Oid]) -> dict[Oid, str]:
    """What is said of each, nothing of those of which nothing is."""
    wanted = list(commits)
    if len(wanted) == 1:
        return {wanted[0]: _read_text(repository, wanted[0])}
    return {**dict.fromkeys(wanted, ""), **read_note_texts(repository, wanted)}


def _render_commit(repository: Repository, texts: Mapping[Oid, str], tip: Oid | None) -> bytes:
    """A fast-import stream: one commit on the notes ref that sets the notes of some commits."""
    message = b"envtrack: note\n"
    parts = [
        b"commit %s\n" % NOTES_REF.encode(),
        b"committer %s\n" % _read_identity(repository),
        b"data %d\n%s\n" % (len(message), message),
        b"" if tip is None else b"from %s\n" % tip.hex.encode(),
    ]
    for commit, text in texts.items():
        content = text.encode("utf-8", "backslashreplace")
        parts.append(b"N inline %s\n" % commit.hex.encode())
        parts.append(b"data %d\n%s\n" % (len(content), content))
    return b"".join([*parts, b"done\n"])


def _read_identity(repository: Repository) -> bytes:
    """Who writes: the user, or envtrack itself where git does not know one."""
    done = repository.git("var", "GIT_COMMITTER_IDENT", check=False)
    if done.code != 0:
        done = repository.git(
            *("-c", "user.name=envtrack", "-c", "user.email=envtrack@localhost"),
            *("var", "GIT_COMMITTER_IDENT"),
        )
    return done.stdout.strip()
