"""A lockfile that came by itself: with a merge, a switch, a pick, a rebase.

pre-commit did not run for it. Whether the environment is what it says is read from files; if it is,
this machine's record becomes a note, and if not, one line says what differs and the command.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.collect.environment import find_environment
from envtrack.collect.machine_name import find_machine_name
from envtrack.errors import EnvtrackError, LockfileProblem
from envtrack.git.staged import StagedPath, find_content, list_changed
from envtrack.model.paths import snapshot_path
from envtrack.model.snapshot import LockfileRef
from envtrack.record.beside import TakesSnapshots, describe_machine, find_record, find_taker
from envtrack.record.lock_bytes import make_include, parse_lock_bytes
from envtrack.record.noted import find_noted, find_origin, note_snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from envtrack.config.settings import Settings
    from envtrack.git.repository import Repository
    from envtrack.model.lock import Lock
    from envtrack.model.oid import Oid
    from envtrack.model.selection import Selection
    from envtrack.record.behind import Behind
    from envtrack.record.memory import HookMemory

# The variable by which uv is told of an environment elsewhere.
_NAMED: Final = "UV_PROJECT_ENVIRONMENT"


class Arrivals(NamedTuple):
    """What came, and what is done about it.

    Attributes:
        repository: where.
        memory: what the hooks remember there.
        settings: the repository's.
        environ: the environment in which we were called.
        take: looks at the machine; `take_snapshot` if not given.
    """

    repository: Repository
    memory: HookMemory
    settings: Settings
    environ: Mapping[str, str]
    take: TakesSnapshots | None = None

    def report(self, lockfiles: Sequence[StagedPath]) -> tuple[str, ...]:
        """A line for each lockfile that the project's own environment is behind."""
        return tuple(line for each in lockfiles if (line := self._describe(each)))

    def record(self, lockfiles: Sequence[StagedPath]) -> tuple[str, ...]:
        """Adds this machine's record as a note where ``HEAD`` has none of its own.

        An environment that is behind the lockfile would say of it what is not so. Such a lockfile
        waits: post-commit looks again when something has been installed.

        Returns:
            What could not be done, a line each.
        """
        problems = []
        waiting: dict[str, Path] = {}
        for each in lockfiles:
            try:
                site = self._record(each)
            except (EnvtrackError, OSError) as error:
                problems.append(f"{each.path}: {error}")
                continue
            if site is not None:
                waiting[each.path] = site
        self.memory.wait_for(waiting, instead_of=[each.path for each in lockfiles])
        return tuple(problems)

    def _record(self, lockfile: StagedPath) -> Path | None:
        """The folder in which packages have to be installed first; ``None``: it is settled."""
        repository, path, entry = self.repository, lockfile.path, lockfile.after
        head = repository.find_commit("HEAD")
        if head is None or entry is None or not entry.is_file:
            return None
        name = find_machine_name(
            self.environ, configured=self.settings.machine, salt=self.settings.salt
        )
        if _has_record(repository, head, path, entry.blob, name):
            return None
        environment = find_environment(self.environ, repository.root / PurePosixPath(path).parent)
        found = self._look(lockfile, environment)
        if found is not None and found.changes:
            return found.site
        snapshot = (self.take or find_taker())(
            describe_machine(repository, path, self.environ, self.settings.salt),
            name=name,
            lockfile=LockfileRef(path=path, blob=entry.blob),
            now=datetime.now(UTC),
        )
        note_snapshot(repository, find_origin(repository, head, path) or head, snapshot)
        return None

    def _describe(self, lockfile: StagedPath) -> str:
        from envtrack.record.behind import name_command
        from envtrack.report.line import NAMED, name_changes

        path = lockfile.path
        environment = _find_own(self.environ, self.repository.root / PurePosixPath(path).parent)
        found = None if environment is None else self._look(lockfile, environment)
        if environment is None or found is None or not found.changes:
            return ""
        root = self.repository.root
        is_inside = environment.is_relative_to(root)
        shown = environment.relative_to(root) if is_inside else environment
        differs = ", ".join(name_changes(found.changes, NAMED))
        command = name_command(path, self.settings.selection)
        return f"envtrack: {shown} is behind {path}: {differs}; `{command}`"

    def _look(self, lockfile: StagedPath, environment: Path | None) -> Behind | None:
        """How an environment stands to the lockfile; ``None`` where that can't be told."""
        from envtrack.record.behind import find_behind

        lock = None if lockfile.after is None else self._read(lockfile.path, lockfile.after.blob)
        if lock is None or environment is None:
            return None
        before = self._read(lockfile.path, lockfile.before.blob) if lockfile.before else None
        return find_behind(environment, lock, before=before, selection=self._select(lockfile.path))

    def _read(self, path: str, blob: Oid) -> Lock | None:
        content = find_content(self.repository, blob.hex)
        root = self.repository.root

        def read(inside: str) -> bytes | None:
            file = root / inside
            return file.read_bytes() if file.is_file() else None

        try:
            return (
                None
                if content is None
                else parse_lock_bytes(content, path, include=make_include(path, read))
            )
        except LockfileProblem:
            return None  # whoever installs it hears of it

    def _select(self, path: str) -> Selection:
        from envtrack.probe.identity import add_default_groups

        folder = self.repository.root / PurePosixPath(path).parent
        return add_default_groups(self.settings.selection, folder)


def list_arrived(repository: Repository, settings: Settings, *span: str) -> tuple[StagedPath, ...]:
    """The lockfiles that differ between two commits, or between one and the index."""
    from envtrack.git.staged import lockfile_pathspecs

    return list_changed(repository, lockfile_pathspecs(settings.lockfiles), *span)


def _has_record(repository: Repository, head: Oid, path: str, blob: Oid, machine: str) -> bool:
    record = find_record(
        find_content(repository, f"{head.hex}:{snapshot_path(machine, path)}"), path
    )
    if record is not None and record.lockfile is not None and record.lockfile.blob == blob:
        return True
    return find_noted(repository, head, lockfile=path, machine=machine) is not None


def _find_own(environ: Mapping[str, str], folder: Path) -> Path | None:
    """The environment that is the project's for sure: an active one may be another's."""
    named = {name: environ[name] for name in (_NAMED,) if name in environ}
    return find_environment(named, folder)
