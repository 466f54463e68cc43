"""The record beside a lockfile: taken, kept quiet where nothing moved, and written whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from envtrack.collect.machine_name import find_machine_name
from envtrack.errors import RigFailed, SnapshotProblem
from envtrack.files import write_whole
from envtrack.git.environ import without_git
from envtrack.git.staged import find_content, find_working_blob, store_blob
from envtrack.model.paths import snapshot_path
from envtrack.model.snapshot import SCHEMA, LockfileRef, Snapshot, parse_snapshot, render_snapshot
from envtrack.record.memory import HookMemory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from envtrack.collect.interface import Machine
    from envtrack.config.settings import Settings
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid


class TakesSnapshots(Protocol):
    """Looks at a machine; `take_snapshot` is one, and whoever gives it a limit another."""

    def __call__(
        self, machine: Machine, *, name: str, lockfile: LockfileRef | None, now: datetime
    ) -> Snapshot:
        """What the machine looks like now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOutcome:
    """A record, and where it went.

    Attributes:
        path: of the record, from the top level.
        snapshot: what it says.
        content: the file, byte for byte.
        blob: git's id of it; git has the content.
        is_written: whether the working tree holds it: not where a change of the user's stands in
            its place and was to be kept.
    """

    path: str
    snapshot: Snapshot
    content: bytes
    blob: Oid
    is_written: bool


def record_beside(
    repository: Repository,
    lockfile: str,
    blob: Oid,
    *,
    environ: Mapping[str, str],
    settings: Settings,
    take: TakesSnapshots | None = None,
    keep_edits: bool = False,
) -> RecordOutcome:
    """This machine's record beside a lockfile, written into the working tree; nothing is staged.

    An earlier record that says the same is taken over with its time: of the index, of ``HEAD``,
    of its first parent (an amended commit goes back to it), of the working tree. An earlier file
    that is no record (conflict markers) is replaced.

    Args:
        repository: where the lockfile is.
        lockfile: its path from the top level.
        blob: its content, as it is or will be committed.
        environ: the environment in which we were called.
        settings: the repository's.
        take: looks at the machine; `take_snapshot` if not given.
        keep_edits: whether a file that neither git nor we put there is left as it is.

    Raises:
        UsageProblem: the machine's name can't be one, or a newer envtrack wrote the record.
        RigFailed: the file can't be written.
    """
    path, snapshot = take_record(
        repository, lockfile, blob, environ=environ, settings=settings, take=take
    )
    target = repository.root / path
    for earlier in _read_earlier(repository, path):
        if (kept := snapshot.with_time_of(earlier)) is earlier:
            snapshot = kept
            break
    # The same as write_whole does: a path that is no UTF-8 becomes a JSON escape.
    content = render_snapshot(snapshot).encode("utf-8", "backslashreplace")
    stored = store_blob(repository, content)
    is_written = not (keep_edits and has_edit(repository, path))
    if is_written:
        # First: where it can't be remembered, nothing is left lying in the working tree either.
        HookMemory(repository.git_dir).add_written({path: stored})
        write_whole(target, content)
    return RecordOutcome(
        path=path, snapshot=snapshot, content=content, blob=stored, is_written=is_written
    )


def take_record(
    repository: Repository,
    lockfile: str,
    blob: Oid,
    *,
    environ: Mapping[str, str],
    settings: Settings,
    take: TakesSnapshots | None = None,
) -> tuple[str, Snapshot]:
    """Where this machine's record beside a lockfile stands, and what it would say now.

    Nothing is written; see `record_beside` for the arguments.

    Raises:
        UsageProblem: the machine's name can't be one.
        RigFailed: git can't record there.
    """
    name = find_machine_name(environ, configured=settings.machine, salt=settings.salt)
    path = snapshot_path(name, lockfile)
    _require_place(repository.root, path)
    snapshot = (take or find_taker())(
        describe_machine(repository, lockfile, environ, settings.salt),
        name=name,
        lockfile=LockfileRef(path=lockfile, blob=blob),
        now=datetime.now(UTC),
    )
    return path, snapshot


def find_taker() -> TakesSnapshots:
    """What looks at a machine where nobody gives another; imported only now."""
    from envtrack.collect.take import take_snapshot

    return take_snapshot


def describe_machine(
    repository: Repository, lockfile: str, environ: Mapping[str, str], salt: str
) -> Machine:
    """This machine, as it is looked at for the record beside a lockfile."""
    from envtrack.collect.this_machine import this_machine

    project = repository.root / PurePosixPath(lockfile).parent
    return this_machine(without_git(environ), project, salt=salt)


def _require_place(root: Path, path: str) -> None:
    """Makes sure that no folder on the way to a record leads out of the repository."""
    folder = root
    for part in PurePosixPath(path).parts[:-1]:
        folder = folder / part
        if folder.is_symlink():
            raise RigFailed(
                f"{folder.relative_to(root)} is a symbolic link: git can't record there"
            )


def _read_earlier(repository: Repository, path: str) -> Iterator[Snapshot]:
    for name in (f":{path}", f"HEAD:{path}", f"HEAD^:{path}"):
        earlier = find_record(find_content(repository, name), path)
        if earlier is not None:
            yield earlier
    file = repository.root / path
    if file.is_file():
        earlier = find_record(file.read_bytes(), path)
        if earlier is not None:
            yield earlier


def find_record(content: bytes | None, path: str) -> Snapshot | None:
    """The snapshot that a file's content is, or ``None`` where it is none.

    Raises:
        SnapshotProblem: it is one, of a newer envtrack: not ours to replace.
    """
    if content is None:
        return None
    try:
        return parse_snapshot(content.decode("utf-8", "backslashreplace"), where=path)
    except SnapshotProblem:
        if _is_newer(content):
            raise
        return None


def _is_newer(content: bytes) -> bool:
    try:
        return bool(json.loads(content)["schema"] > SCHEMA)
    except (ValueError, RecursionError, TypeError, KeyError):
        return False


def has_edit(repository: Repository, path: str) -> bool:
    """Whether the working tree holds a record that neither git nor envtrack put there."""
    found = find_working_blob(repository, path)
    if found is None or found == HookMemory(repository.git_dir).read_written().get(path):
        return False
    content = (repository.root / path).read_bytes()
    return find_record(content, path) is not None and all(
        find_blob_name(repository, name) != found.hex for name in (f":{path}", f"HEAD:{path}")
    )


def find_blob_name(repository: Repository, name: str) -> str:
    """The id of what stands at ``REVISION:PATH`` or ``:PATH``; empty where nothing does."""
    done = repository.git("rev-parse", "--verify", "--quiet", "--end-of-options", name, check=False)
    return done.line
