"""The states of a lockfile along its history, read in the order in which they are needed."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from envtrack.errors import LockfileProblem
from envtrack.git.file_history import find_blobs, read_blobs
from envtrack.lockfiles.interface import find_format
from envtrack.lockfiles.manifests import MANIFESTS
from envtrack.record.lock_bytes import make_include, parse_lock_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envtrack.git.file_history import FileChange
    from envtrack.git.repository import Repository
    from envtrack.lockfiles.text import Include
    from envtrack.model.lock import Lock
    from envtrack.model.oid import Oid

_SELF_CONTAINED: Final = "uv.lock"


class LockStates:
    """The locks before and after each of some changes.

    What a uv.lock says is told by its blob. What other formats say is told together with the files
    beside them in the same commit: what the project asks for, or what a requirements.txt names.

    Args:
        repository: where.
        changes: in the order in which they will be asked for.
    """

    def __init__(self, repository: Repository, changes: Sequence[FileChange]) -> None:
        self._states = {change.commit.oid: tuple(_list_states(change)) for change in changes}
        states = [state for change in changes for state in self._states[change.commit.oid]]
        self._coming = read_blobs(repository, list(dict.fromkeys(blob for blob, _, _ in states)))
        self._uses: dict[Oid, int] = {}
        for blob, _, _ in states:
            self._uses[blob] = self._uses.get(blob, 0) + 1
        self._contents: dict[Oid, bytes | None] = {}
        self._locks: dict[tuple[Oid, tuple[Oid | None, ...]], Lock | str] = {}
        self._beside = _Beside(repository, ((path, commit) for _, path, commit in states))

    def read(self, change: FileChange) -> tuple[Lock | str | None, Lock | str | None]:
        """The locks before and after; why one can't be read; ``None`` where there was no file."""
        before = None
        after = None
        for blob, path, commit in self._states[change.commit.oid]:
            lock = self._read(blob, path, commit)
            if commit == change.commit.oid:
                after = lock
            else:
                before = lock
        self._forget()
        return before, after

    def _read(self, blob: Oid, path: str, commit: Oid) -> Lock | str:
        key = blob, self._beside.find_manifests(path, commit)
        known = self._locks.get(key)
        if known is None:
            include = self._beside.include(path, commit)
            known = self._locks[key] = _parse(self._take(blob), path, include)
        self._uses[blob] -= 1
        return known

    def _take(self, blob: Oid) -> bytes | None:
        while blob not in self._contents:
            oid, content = next(self._coming)
            self._contents[oid] = content
        return self._contents[blob]

    def _forget(self) -> None:
        """Few of them are in memory together."""
        for blob in [blob for blob in self._contents if not self._uses[blob]]:
            del self._contents[blob]
        for key in [key for key in self._locks if not self._uses[key[0]]]:
            del self._locks[key]


def _list_states(change: FileChange) -> Iterator[tuple[Oid, str, Oid]]:
    """Blob, path and commit of the file before and after."""
    if change.before is not None and change.commit.parents:
        yield change.before, change.old_path, change.commit.parents[0]
    if change.after is not None:
        yield change.after, change.path, change.commit.oid


class _Beside:
    """The files beside a lockfile at each commit; which blobs they are is asked for all at once."""

    def __init__(self, repository: Repository, places: Iterable[tuple[str, Oid]]) -> None:
        self._repository = repository
        self._blobs: Mapping[tuple[Oid, str], Oid] = {}
        wanted = [(commit, beside) for path, commit in places for beside in _list_manifests(path)]
        if wanted:
            self._blobs = find_blobs(repository, wanted)

    def find_manifests(self, path: str, commit: Oid) -> tuple[Oid | None, ...]:
        """What decides how a state reads, besides its own content."""
        return tuple(self._blobs.get((commit, one)) for one in _list_manifests(path))

    def include(self, path: str, commit: Oid) -> Include | None:
        """Reads files by their path from the lockfile's folder, as they were at the commit."""
        if posixpath.basename(path) == _SELF_CONTAINED:
            return None

        def read(inside: str) -> bytes | None:
            blob = self._blobs.get((commit, inside))
            if blob is not None:
                return self._repository.read_blob(blob)
            if inside in _list_manifests(path):
                return None
            return self._repository.read_file(commit, inside)

        return make_include(path, read)


def _list_manifests(path: str) -> tuple[str, ...]:
    folder, name = posixpath.split(path)
    found = None if name == _SELF_CONTAINED else find_format(name, "")
    # By its name alone nobody knows what it is: any of them may be asked for.
    names = dict.fromkeys(one for some in MANIFESTS.values() for one in some)
    if found is not None:
        names = dict.fromkeys(MANIFESTS.get(found.name, ()))
    if name == _SELF_CONTAINED:
        return ()
    return tuple(posixpath.join(folder, one) for one in names)


def _parse(content: bytes | None, path: str, include: Include | None) -> Lock | str:
    if content is None:
        return f"{path}: this clone does not have its content"
    try:
        return parse_lock_bytes(content, path, include=include)
    except LockfileProblem as problem:
        return problem.message
