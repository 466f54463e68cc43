"""What moved from one state of a uv.lock to the next, remembered in the repository's git folder.

That never changes: it follows from two blobs. So the second look at a long history, and every later
one, reads only what is new. What is remembered is forgotten with every other envtrack; where it
can't be read or written, everything is read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import posixpath
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final

import envtrack
from envtrack.model.comparison import Change, ChangeKind, Origin
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envtrack.git.file_history import FileChange

_FILE: Final = "envtrack/timeline.sqlite"
# What other files beside it say decides how any other format reads.
_SELF_CONTAINED: Final = "uv.lock"
_ROOMS: Final = ("compare", "lockfiles", "model")
# Of so many steps nothing is kept for long: some megabytes.
_MOST: Final = 50_000
_BUSY_S: Final = 2.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS stamp (text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS steps (name TEXT PRIMARY KEY, changes TEXT NOT NULL);
"""


class TimelineMemory:
    """The memory of one repository.

    Args:
        common_dir: the git folder that all working trees share.
    """

    def __init__(self, common_dir: Path) -> None:
        self._path = common_dir / _FILE

    def read(self, changes: Iterable[FileChange]) -> dict[str, tuple[Change, ...]]:
        """What is known of these, by `name_step`."""
        names = [name for change in changes if (name := name_step(change))]
        if not names or not self._path.is_file():
            return {}
        with contextlib.suppress(sqlite3.Error, OSError, ValueError, KeyError, TypeError):
            with self._open() as database:
                rows = database.execute("SELECT name, changes FROM steps").fetchall()
            wanted = set(names)
            return {name: _parse(text) for name, text in rows if name in wanted}
        return {}

    def write(self, found: Mapping[str, Sequence[Change]]) -> None:
        """Remembers these too; where that can't be, nothing is lost."""
        if not found:
            return
        rows = [(name, _render(changes)) for name, changes in found.items()]
        with contextlib.suppress(sqlite3.Error, OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as database:
                count = database.execute("SELECT count(*) FROM steps").fetchone()[0]
                if count + len(rows) > _MOST:
                    database.execute("DELETE FROM steps")
                database.executemany("INSERT OR REPLACE INTO steps VALUES (?, ?)", rows)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self._path, timeout=_BUSY_S)
        try:
            with database:  # one transaction
                database.executescript(_TABLES)
                stamp = _find_stamp()
                if database.execute("SELECT text FROM stamp").fetchall() != [(stamp,)]:
                    database.execute("DELETE FROM steps")
                    database.execute("DELETE FROM stamp")
                    database.execute("INSERT INTO stamp VALUES (?)", (stamp,))
                yield database
        finally:
            database.close()


def name_step(change: FileChange) -> str:
    """The name under which a step is remembered; empty for one that is not."""
    paths = {posixpath.basename(change.path), posixpath.basename(change.old_path)}
    if paths != {_SELF_CONTAINED}:
        return ""
    return "..".join("" if blob is None else blob.hex for blob in (change.before, change.after))


def _find_stamp() -> str:
    """Another one for every other code that could tell other changes."""
    root = Path(envtrack.__file__).parent
    told = [envtrack.__version__]
    for room in _ROOMS:
        for path in sorted((root / room).glob("*.py")):
            status = path.stat()
            told.append(f"{room}/{path.name} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _render(changes: Sequence[Change]) -> str:
    return json.dumps([list(change) for change in changes], ensure_ascii=False)


def _parse(text: str) -> tuple[Change, ...]:
    return tuple(
        Change(
            layer=Layer(layer),
            name=name,
            kind=ChangeKind(kind),
            before=before,
            after=after,
            origin=Origin(origin),
            detail=detail,
            forced_by=tuple(forced_by),
        )
        for layer, name, kind, before, after, origin, detail, forced_by in json.loads(text)
    )
