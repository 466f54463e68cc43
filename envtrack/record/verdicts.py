"""Verdicts as notes on commits, shared without rewriting history."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from envtrack.git.notes import append_note, read_all_notes, read_every_note
from envtrack.git.staged import find_working_blob
from envtrack.model.oid import Oid
from envtrack.model.paths import FOLDER
from envtrack.model.redact import redact_homes, redact_text
from envtrack.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envtrack.git.repository import Repository
    from envtrack.model.verdict import Judgement

SCHEMA = 1


def record_verdict(
    repository: Repository,
    judgement: Judgement,
    *,
    head: Oid | None,
    machine: str,
    lockfile: str,
    command: str,
    checks: Mapping[str, str] | None = None,
) -> Oid | str:
    """The commit on which the verdict now stands as a note, or why it stands on none.

    It is said of HEAD, and only if the lockfile in the working tree is HEAD's. A rig that failed
    says nothing of a commit. The line: ``{"schema", "kind": "verdict", "machine", "lockfile":
    {"path", "blob"}, "verdict", "reason", "command", "is_clean", "taken_at"}``; ``is_clean`` is
    whether no tracked file differed from HEAD, envtrack's own aside.

    Args:
        repository: where.
        judgement: the verdict.
        head: what HEAD was when the smoke test began.
        machine: this one's name.
        lockfile: its path from the top level.
        command: the smoke test as written; secrets and the names of homes are hidden.
        checks: the verdict of each named check; ``None``: it has none.
    """
    if judgement.verdict is Verdict.ABORTED:
        return "the smoke test could not run, which says nothing about a commit"
    if head is None:
        return "there is no commit yet"
    if repository.find_commit("HEAD") != head:
        return "HEAD moved while the smoke test ran"
    blob = find_working_blob(repository, lockfile)
    if blob is None or blob != repository.find_blob(head, lockfile):
        return f"{lockfile} is not the one of HEAD; commit it first"
    entry = {
        "lockfile": {"path": lockfile, "blob": blob.hex},
        "machine": machine,
        "command": hide_private(command),
        "is_clean": _is_clean(repository),
        **({} if checks is None else {"checks": dict(checks)}),
    }
    append_note(repository, head, {**entry, **_describe(judgement)})
    return head


def hide_private(text: str) -> str:
    """A command or a reason as it may be noted and said: no credentials, no names of homes."""
    return redact_homes(redact_text(text))


def _describe(judgement: Judgement) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": "verdict",
        "verdict": judgement.verdict,
        "reason": hide_private(judgement.reason),
        "taken_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def find_newest_good(
    repository: Repository, machine: str, lockfile: str, head: Oid, *, command: str = ""
) -> Oid | None:
    """The newest commit up to `head` whose last verdict on this machine is good, or ``None``.

    Args:
        repository: where.
        machine: whose verdicts count.
        lockfile: its path from the top level; the verdict must be of the very blob the commit has.
        head: it and its ancestors are looked at.
        command: only verdicts of this smoke test; empty: of any.

    Cost: one ``rev-list``, then one git process a commit that has notes, newest first.
    """
    ancestors = repository.git("rev-list", "--date-order", head.hex).text.split()
    for commit, entries in read_all_notes(repository, map(Oid, ancestors)):
        verdicts = [
            entry
            for entry in entries
            if _is_about(entry, machine, lockfile) and (not command or _is_of(entry, command))
        ]
        if verdicts and _is_good(verdicts[-1], repository.find_blob(commit, lockfile)):
            return commit
    return None


def find_last_verdict(
    repository: Repository, machine: str, lockfile: str, commit: Oid
) -> Verdict | None:
    """What was last said on a machine of a commit and the lockfile that it has, if anything."""
    for _, entries in read_all_notes(repository, (commit,)):
        about = [entry for entry in entries if _is_about(entry, machine, lockfile)]
        blob = repository.find_blob(commit, lockfile) if about else None
        if about and blob is not None and about[-1]["lockfile"].get("blob") == blob.hex:
            said = about[-1].get("verdict")
            return Verdict(said) if said in set(Verdict) else None
    return None


class GoodVerdicts:
    """All verdicts of good of a repository, read once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    @cached_property
    def _times(self) -> dict[tuple[str, str], datetime]:
        """When a smoke test last called a state of a lockfile good, by its path and blob."""
        found: dict[tuple[str, str], datetime] = {}
        for _, entries in read_every_note(self._repository):
            for entry in entries:
                ref = entry.get("lockfile")
                is_good = entry.get("kind") == "verdict" and entry.get("verdict") == Verdict.GOOD
                at = _read_time(entry.get("taken_at"))
                if is_good and isinstance(ref, dict) and at is not None:
                    key = str(ref.get("path")), str(ref.get("blob"))
                    found[key] = max(at, found.get(key, at))
        return found

    def find_last_good(self, lockfile: str, blob: Oid) -> datetime | None:
        """When a smoke test last called good, on any machine, what a state of a lockfile installs.

        A verdict of another state counts where the two lock the same.
        """
        times = [
            at
            for (path, state), at in self._times.items()
            if path == lockfile and _locks_the_same(self._repository, lockfile, blob, state)
        ]
        return max(times, default=None)


def _locks_the_same(repository: Repository, lockfile: str, blob: Oid, other: str) -> bool:
    if other == blob.hex:
        return True
    from envtrack.compare.locks import compare_locks
    from envtrack.errors import LockfileProblem
    from envtrack.git.staged import find_content
    from envtrack.record.lock_bytes import parse_lock_bytes

    contents = [find_content(repository, name) for name in (blob.hex, other)]
    try:
        locks = [parse_lock_bytes(one, lockfile) for one in contents if one is not None]
    except LockfileProblem:
        return False
    return len(locks) == len(contents) and not compare_locks(*locks)


def _read_time(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def _is_about(entry: Mapping[str, Any], machine: str, lockfile: str) -> bool:
    ref = entry.get("lockfile")
    return (
        entry.get("kind") == "verdict"
        and entry.get("schema") == SCHEMA
        and entry.get("machine") == machine
        and isinstance(ref, dict)
        and ref.get("path") == lockfile
    )


def _is_of(entry: Mapping[str, Any], command: str) -> bool:
    # Notes of an earlier envtrack still have the names of homes.
    noted = entry.get("command")
    return isinstance(noted, str) and hide_private(noted) == hide_private(command)


def _is_good(entry: Mapping[str, Any], blob: Oid | None) -> bool:
    is_same = blob is not None and entry["lockfile"].get("blob") == blob.hex
    return is_same and entry.get("verdict") == Verdict.GOOD and entry.get("is_clean") is True


def _is_clean(repository: Repository) -> bool:
    others = f":(top,exclude){FOLDER}"
    done = repository.git("diff", "--quiet", "HEAD", "--", ":(top)", others, check=False)
    return done.code == 0
