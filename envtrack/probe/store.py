"""The verdicts, written as they fall: SQLite in the repository's shared git folder."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from envtrack.errors import RigFailed
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement, Observation, Verdict

_SCHEMA = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS probes (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    commit_oid TEXT NOT NULL,
    environment TEXT,              -- environment identity and everything else that decides, hashed
    started_at REAL NOT NULL,      -- seconds since 1970
    seconds REAL,                  -- of the whole probe
    verdict TEXT,                  -- NULL while it runs, and for ever if it was killed
    stage TEXT,
    kind TEXT,
    reason TEXT,
    exit_code INTEGER,
    same_as TEXT,                  -- the commit whose verdict this is: same environment, same code
    log TEXT                       -- folder, from the one of this file
);
CREATE INDEX IF NOT EXISTS by_session ON probes (session, commit_oid);
"""


class Store:
    """The verdicts of all sessions of one repository; every write is its own transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as database:
                database.executescript(_TABLES)
                database.execute(f"PRAGMA user_version = {_SCHEMA}")
        except OSError as error:
            raise RigFailed(f"{path}: can't be written: {error.strerror}") from error

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            database = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        except sqlite3.Error as error:
            raise RigFailed(f"{self._path}: can't be opened: {error}") from error
        try:
            if database.execute("PRAGMA user_version").fetchone()[0] > _SCHEMA:
                raise RigFailed(
                    f"{self._path}: written by a newer envtrack", hint="upgrade envtrack"
                )
            # On a file system that has no shared memory (NFS) SQLite keeps its ordinary journal.
            database.execute("PRAGMA journal_mode = WAL")
            yield database
        except sqlite3.Error as error:
            raise RigFailed(f"{self._path}: {error}") from error
        finally:
            database.close()

    def begin(self, session: str, commit: Oid, *, log: Path, at: float) -> int:
        """The number of a probe that starts now; `log` is its folder."""
        # SQLite takes no path that is no UTF-8; from here on it is plain.
        place = _plain(os.path.relpath(log, self._path.parent))
        with self._open() as database:
            row = database.execute(
                "INSERT INTO probes (session, commit_oid, started_at, log) VALUES (?, ?, ?, ?)",
                (session, commit.hex, at, place),
            )
            return int(row.lastrowid or 0)

    def set_key(self, probe: int, key: str) -> None:
        """Says what decides this probe's verdict."""
        with self._open() as database:
            database.execute("UPDATE probes SET environment = ? WHERE id = ?", (key, probe))

    def finish(
        self, probe: int, judgement: Judgement, *, seconds: float, same_as: Oid | None = None
    ) -> None:
        """Records the verdict of a running probe; a verdict once given is never changed."""
        with self._open() as database:
            database.execute(
                "UPDATE probes SET verdict = ?, stage = ?, kind = ?, reason = ?, exit_code = ?,"
                " seconds = ?, same_as = ? WHERE id = ? AND verdict IS NULL",
                (
                    judgement.verdict.value,
                    judgement.stage,
                    judgement.kind,
                    _plain(judgement.reason),
                    judgement.exit_code,
                    seconds,
                    same_as and same_as.hex,
                    probe,
                ),
            )

    def record_alike(
        self, session: str, commits: Iterable[Oid], judgement: Judgement, *, same_as: Oid, at: float
    ) -> None:
        """Records one commit's verdict for others that need no trial of their own."""
        said = (judgement.verdict.value, judgement.stage, judgement.kind, _plain(judgement.reason))
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            database.executemany(
                "INSERT INTO probes (session, commit_oid, started_at, seconds, verdict, stage,"
                " kind, reason, exit_code, same_as) VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?)",
                [
                    (session, commit.hex, at, *said, judgement.exit_code, same_as.hex)
                    for commit in commits
                ],
            )
            database.execute("COMMIT")

    def forget_unfinished(self, session: str) -> None:
        """Removes probes that never came to a verdict: their run was killed."""
        with self._open() as database:
            database.execute("DELETE FROM probes WHERE session = ? AND verdict IS NULL", (session,))

    def list(self, session: str) -> tuple[Observation, ...]:
        """All probes of a session, in order."""
        return self._select("session = ?", session)

    def find_known(self, session: str, commit: Oid) -> Observation | None:
        """What is known of a commit in this session; the rig's failures are no knowledge."""
        return self._newest("session = ? AND commit_oid = ?", session, commit.hex)

    def find_same(self, session: str, key: str, *, shared: str = "") -> Observation | None:
        """The verdict of the smoke test at another commit with the same environment and code.

        Not what uv said there: two lockfiles can install the same and only one of them be stale.

        Args:
            session: whose verdicts count.
            key: of environment and code.
            shared: another session of the same smoke test whose verdicts count too.
        """
        where = "session IN (?, ?) AND environment = ? AND same_as IS NULL AND stage = 'smoke'"
        return self._newest(where, session, shared or session, key)

    def _newest(self, where: str, *values: str) -> Observation | None:
        found = self._select(f"{where} AND verdict NOT NULL AND verdict != 'aborted'", *values)
        return found[-1] if found else None

    def _select(self, where: str, *values: str) -> tuple[Observation, ...]:
        with self._open() as database:
            rows = database.execute(
                "SELECT id, commit_oid, environment, started_at, seconds, verdict, stage, kind,"  # noqa: S608 - `where` is our own text
                f" reason, exit_code, same_as, log FROM probes WHERE {where} ORDER BY id",
                values,
            ).fetchall()
        return tuple(_observe(row, self._path.parent) for row in rows)


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _observe(row: tuple[object, ...], folder: Path) -> Observation:
    number, commit, key, started, seconds, verdict, stage, kind, reason, code, same, log = row
    judgement = None
    if verdict is not None:
        judgement = Judgement(
            verdict=Verdict(str(verdict)),
            stage=str(stage),
            kind=str(kind),
            reason=str(reason),
            exit_code=code if isinstance(code, int) else None,
        )
    return Observation(
        id=int(str(number)),
        commit=Oid(str(commit)),
        key=str(key or ""),
        started_at=float(str(started)),
        seconds=float(str(seconds or 0)),
        judgement=judgement,
        same_as=Oid(str(same)) if same else None,
        log=str(folder / str(log)) if log else "",
    )
