"""What pre-commit does: this machine's records into the commit that is being made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.machine_name import find_machine_name
from envtrack.errors import EnvtrackError, RigFailed
from envtrack.files import write_whole
from envtrack.git.progress import is_in_progress
from envtrack.git.staged import (
    RECORDS,
    Entry,
    StagedPath,
    find_content,
    find_working_blob,
    list_staged,
    lockfile_pathspecs,
    read_entries,
    stage_blobs,
)
from envtrack.model.paths import SNAPSHOTS, is_snapshot, snapshot_path
from envtrack.record.beside import TakesSnapshots, find_record, record_beside
from envtrack.record.memory import Addition, HookMemory, Pending
from envtrack.record.square import square_at_last

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from envtrack.config.settings import Settings
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid


def find_lockfile(record: str) -> str:
    """The lockfile beside which a record stands; empty if the path is not a record's."""
    _, _, lockfile = record.removeprefix(f"{SNAPSHOTS}/").partition("/")
    return lockfile.removesuffix(".json") if lockfile.endswith(".json") else ""


def record_commit(
    repository: Repository, *, environ: Mapping[str, str], take: TakesSnapshots | None = None
) -> tuple[str, ...]:
    """Puts this machine's records into the commit that is being made.

    Returns:
        What could not be done, a line each.

    Raises:
        EnvtrackError: nothing could be done.
    """
    if repository.is_bare or is_in_progress(repository.git_dir):
        return ()
    memory = HookMemory(repository.git_dir)
    try:
        settings = memory.read_settings(repository.root)
    except EnvtrackError:
        # A commit without a lockfile is not the place to hear of a faulty configuration.
        if list_staged(repository, lockfile_pathspecs(())):
            raise
        return ()
    square_at_last(repository, memory, environ)
    staged = list_staged(repository, (*lockfile_pathspecs(settings.lockfiles), RECORDS))
    if not staged:
        return ()
    recorder = _Recorder(
        repository=repository,
        memory=memory,
        settings=settings,
        environ=environ,
        take=take,
        staged={each.path: each for each in staged},
        index=read_entries(repository, RECORDS),
        ours=memory.read_written(),
    )
    return recorder.run()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorder:
    """One pre-commit at work.

    Attributes:
        staged: where the commit differs from ``HEAD``: lockfiles and records.
        index: all records of the index.
        ours: the records of our own making.
        blobs: what is to be put into the index (``None``: taken out of it).
        following: where the working tree is to hold the same.
        problems: what could not be done.
    """

    repository: Repository
    memory: HookMemory
    settings: Settings
    environ: Mapping[str, str]
    take: TakesSnapshots | None
    staged: Mapping[str, StagedPath]
    index: Mapping[str, Entry]
    ours: Mapping[str, Oid | None]
    blobs: dict[str, Oid | None] = field(default_factory=dict)
    following: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def run(self) -> tuple[str, ...]:
        lockfiles = {path: each for path, each in self.staged.items() if not is_snapshot(path)}
        for path, each in lockfiles.items():
            try:
                self._record(each)
            except (EnvtrackError, OSError) as error:
                self.problems.append(f"{path}: {error}")
        for path, each in self.staged.items():
            if is_snapshot(path) and find_lockfile(path) not in lockfiles:
                self._drop_if_left_over(each)
        self._stage()
        return tuple(self.problems)

    def _record(self, lockfile: StagedPath) -> None:
        if lockfile.after is None or not lockfile.after.is_file:
            self._remove_records(lockfile.path)
            return
        name = find_machine_name(
            self.environ, configured=self.settings.machine, salt=self.settings.salt
        )
        path = snapshot_path(name, lockfile.path)
        if self._is_staged_by_hand(path, lockfile.after.blob):
            return
        outcome = record_beside(
            self.repository,
            lockfile.path,
            lockfile.after.blob,
            environ=self.environ,
            settings=self.settings,
            take=self.take,
            keep_edits=True,
        )
        self.blobs[path] = outcome.blob

    def _is_staged_by_hand(self, path: str, lockfile: Oid) -> bool:
        """Whether the record that is staged is the user's own and has to stay."""
        each = self.staged.get(path)
        if each is None or self._is_ours(each):
            return False
        # What `merge --squash` staged was carried here by git.
        if (self.repository.git_dir / "SQUASH_MSG").exists():
            return False
        if each.after is None:
            return True
        record = find_record(find_content(self.repository, each.after.blob.hex), path)
        if record is None:  # conflict markers, for one
            return False
        if record.lockfile is None or record.lockfile.blob != lockfile:
            self.problems.append(
                f"{path} was staged by hand and names another lockfile: left alone"
            )
        return True

    def _is_ours(self, each: StagedPath) -> bool:
        return each.path in self.ours and self.ours[each.path] == _find_blob(each.after)

    def _remove_records(self, lockfile: str) -> None:
        """Takes the records of a lockfile that is gone, of every machine, out of the commit."""
        for path, entry in self.index.items():
            each = self.staged.get(path)
            if find_lockfile(path) == lockfile and (each is None or self._is_ours(each)):
                self._put(path, old=entry.blob, new=None)

    def _drop_if_left_over(self, each: StagedPath) -> None:
        """Undoes what an earlier commit that never came about made us stage."""
        if not self._is_ours(each) or self._belongs(each):
            return
        self._put(each.path, old=_find_blob(each.after), new=_find_blob(each.before))

    def _belongs(self, each: StagedPath) -> bool:
        lockfile = find_lockfile(each.path)
        there = read_entries(self.repository, f":(top,literal){lockfile}").get(lockfile)
        if each.after is None:
            return there is None
        record = find_record(find_content(self.repository, each.after.blob.hex), each.path)
        return (
            record is not None
            and record.lockfile is not None
            and there is not None
            and record.lockfile.blob == there.blob
        )

    def _put(self, path: str, *, old: Oid | None, new: Oid | None) -> None:
        """Plans an entry of the index; the file follows unless the user has changed it."""
        self.blobs[path] = new
        if find_working_blob(self.repository, path) == old:
            self.following.append(path)

    def _let_follow(self, path: str) -> None:
        file = self.repository.root / path
        new = self.blobs[path]
        content = None if new is None else find_content(self.repository, new.hex)
        if content is not None:
            write_whole(file, content)
        else:
            file.unlink(missing_ok=True)
            _remove_empty_folders(self.repository.root, path)

    def _stage(self) -> None:
        changed = {
            path: blob
            for path, blob in self.blobs.items()
            if blob != _find_blob(self.index.get(path))
        }
        if not changed:
            return
        self._require_index()
        self.memory.add_written(changed)
        head = self.repository.find_commit("HEAD")
        stage_blobs(self.repository, changed)
        for path in self.following:
            self._let_follow(path)
        rows = tuple(
            Addition(path=path, blob=blob, base=base, former=self.ours.get(path, base))
            for path, blob, base in (
                (path, blob, self._find_base(path)) for path, blob in changed.items()
            )
        )
        self.memory.write_pending(Pending(head=head, additions=rows))

    def _require_index(self) -> None:
        """Makes sure that the index of the commit is still there.

        `commit -a` and `commit PATH` have one of their own, and a git that is ended while we look
        at the machine takes it away: what we then wrote would be an ``index.lock`` of nobody.
        """
        index = self.environ.get("GIT_INDEX_FILE")
        if index and not (self.repository.root / index).exists():
            raise RigFailed("the commit was given up")

    def _find_base(self, path: str) -> Oid | None:
        each = self.staged.get(path)
        return _find_blob(self.index.get(path) if each is None else each.before)


def _find_blob(entry: Entry | None) -> Oid | None:
    return None if entry is None else entry.blob


def _remove_empty_folders(root: Path, path: str) -> None:
    # As git does when it takes away the last file of a folder.
    for parent in PurePosixPath(path).parents:
        if str(parent) in (".", SNAPSHOTS):
            return
        try:
            (root / parent).rmdir()
        except OSError:
            return
