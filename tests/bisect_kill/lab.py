"""A small history whose search is killed and resumed, and what must hold of it whatever happens."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.bisect_kill.processes import MARK, Aim, kill, wait_until_gone
from tests.support.repo import RepoBuilder
from tests.support.wheels import write_wheel

SEED = 20260704
RELEASES = 9
FIRST_BAD = 6
LIMIT_S = 120.0

PROJECT = """\
[project]
name = "lab"
version = "0.1"
requires-python = ">=3.11"
dependencies = ["flint=={version}"]
[tool.uv]
package = false
no-index = true
find-links = ["index"]
"""
# Writes down every run that came to its end: what envtrack's store says can be held against it.
SMOKE = f"""\
import os, sys, time
import flint
time.sleep(0.1)
# Makes the environment slow to remove, for those who want to meet that moment.
for number in range(int(os.environ["SMOKE_JUNK"])):
    open(os.path.join(os.environ["VIRTUAL_ENV"], f"junk{{number}}"), "w").close()
with open(os.environ["SMOKE_RUNS"], "a") as runs:
    runs.write(f"{{flint.VERSION}}\\n")
sys.exit(int(flint.VERSION) >= {FIRST_BAD})
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A repository with one lockfile commit a release and a code commit after each.

    `contents` says by commit what its smoke test writes down.
    """

    repo: RepoBuilder
    good: str
    culprit: str
    contents: dict[str, str]

    @property
    def nearest_ends(self) -> tuple[str, str]:
        """The commit before the culprit and the culprit: no more than these are tried."""
        return f"{self.culprit}^", self.culprit


@dataclass(slots=True, kw_only=True)
class Killed:
    """One session that is killed and resumed, and what was seen of it.

    Attributes:
        history: what is searched.
        home: a folder for what is written down.
        label: the mark of its processes.
        junk: files that make the environment slow to remove.
        is_named: the session is resumed by its name; otherwise envtrack must know which one.
        kills: what was hit so far, for the message of a failing test.
    """

    history: History
    home: Path
    label: str
    junk: int = 0
    is_named: bool = True
    kills: list[str] = field(default_factory=list)

    @property
    def runs(self) -> Path:
        return self.home / "smoke-runs"

    def smoke_runs(self) -> list[str]:
        return self.runs.read_text().split() if self.runs.exists() else []

    def sessions(self) -> list[str]:
        folder = self.history.repo.path / ".git/envtrack/sessions"
        return sorted(plan.parent.name for plan in folder.glob("*/plan.json"))

    def ends(self) -> tuple[str, ...]:
        """The full names of the good and bad end of every session; none before there is one."""
        folder = self.history.repo.path / ".git/envtrack/sessions"
        plans = [json.loads((folder / name / "plan.json").read_text()) for name in self.sessions()]
        return tuple(str(plan[end]) for plan in plans for end in ("good", "bad"))

    def start(self, *ends: str, path: str = "") -> subprocess.Popen[bytes]:
        """`bisect`, or `bisect resume` once there is a session, as a user would type it."""
        sessions = self.sessions()
        if sessions:
            return self._call("resume", *(sessions[-1:] if self.is_named else ()))
        smoke = ("--smoke", "python smoke.py", "--python", sys.executable)
        return self._call(*(ends or (self.history.good,)), *smoke, path=path)

    def _call(self, *arguments: str, path: str = "") -> subprocess.Popen[bytes]:
        # Into files: what is killed leaves nobody to read a pipe.
        with (self.home / "out").open("wb") as out, (self.home / "err").open("wb") as err:
            return subprocess.Popen(
                [sys.executable, "-m", "envtrack", "bisect", *arguments, "--format", "json"],
                cwd=self.history.repo.path,
                env={
                    **os.environ,
                    MARK: self.label,
                    "SMOKE_RUNS": str(self.runs),
                    "SMOKE_JUNK": str(self.junk),
                    "PATH": path or os.environ["PATH"],
                },
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    def finish(self) -> str:
        """The culprit that a run names which nobody kills."""
        code = self.start().wait(LIMIT_S)
        said = (self.home / "err").read_text()
        assert code == 0, f"{self.tell()}\n{said}"
        return str(json.loads((self.home / "out").read_text())["culprit"]["commit"])

    def kill(self, driver: subprocess.Popen[bytes], aim: Aim) -> bool:
        """Whether there was still something to kill."""
        kill(self.label, driver.pid, aim)
        is_hit = driver.wait(LIMIT_S) == -signal.SIGKILL
        if is_hit:
            self.kills.append(f"{aim} with {len(self.verdicts())} verdicts")
        return is_hit

    def seconds_per_probe(self) -> float:
        """By the session's own record; before there is one a guess for the first."""
        rows = self._read("SELECT AVG(seconds) FROM probes WHERE verdict NOT NULL")
        return float(str(rows[0][0])) if rows and rows[0][0] is not None else 1.5

    def verdicts(self) -> dict[str, list[tuple[int, str]]]:
        """Number and verdict of every finished probe by commit."""
        rows = self._read(
            "SELECT commit_oid, id, verdict FROM probes"
            " WHERE verdict NOT NULL AND verdict != 'aborted' ORDER BY id"
        )
        found: dict[str, list[tuple[int, str]]] = {}
        for commit, number, verdict in rows:
            found.setdefault(str(commit), []).append((int(str(number)), str(verdict)))
        return found

    def _read(self, question: str) -> list[tuple[object, ...]]:
        store = self.history.repo.path / ".git/envtrack/verdicts.sqlite"
        if not store.exists():
            return []
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=30)) as database:
            # Killed between the file and its tables.
            if database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (0,):
                return []
            return database.execute(question).fetchall()

    def tell(self) -> str:
        return f"seed {SEED}, {self.label}, killed: {'; '.join(self.kills)}"


def make_history(folder: Path) -> None:
    repo = RepoBuilder.create(folder / "repo")
    for number in range(1, RELEASES + 1):
        write_wheel(repo.path / "index", "flint", str(number))
    repo.write("smoke.py", SMOKE)
    repo.write("steps.py", "DONE = 0\n")
    for number in range(1, RELEASES + 1):
        repo.write("pyproject.toml", PROJECT.format(version=number))
        repo.uv_lock("--python", sys.executable)
        repo.commit(f"{number}/{number - 1}")
        repo.write("steps.py", f"DONE = {number}\n")
        repo.commit(f"{number}/{number}")


def finish(session: Killed) -> None:
    """A last run that nobody kills, to the right answer."""
    verdicts, runs = session.verdicts(), len(session.smoke_runs())
    assert session.finish() == session.history.culprit, session.tell()
    require_nothing_twice(session, verdicts, session.smoke_runs()[runs:])


def require_nothing_twice(
    session: Killed, before: dict[str, list[tuple[int, str]]], runs_since: list[str]
) -> None:
    """What had a verdict keeps it, and its smoke test did not run again: the ends' ran twice."""
    after, told, ends = session.verdicts(), session.tell(), session.ends()

    def is_done(commit: str) -> bool:
        return len(before.get(commit, ())) == (2 if commit in ends else 1)

    most = {commit: 2 if commit in ends else 1 for commit in after}
    assert all(len(rows) <= most[commit] for commit, rows in after.items()), f"{told}\n{after}"
    kept = {commit: after.get(commit, [])[: len(rows)] for commit, rows in before.items()}
    assert kept == before, told
    contents = session.history.contents
    settled = {contents[commit] for commit in before if is_done(commit)}
    settled -= {contents[commit] for commit in ends if not is_done(commit)}
    assert not settled & set(runs_since), f"{told}\n{settled} {runs_since}"


def require_clean(session: Killed, before: dict[str, str]) -> None:
    """Nothing of ours is left but the session's own folder."""
    repo, told = session.history.repo, session.tell()
    assert wait_until_gone(session.label, within_s=5.0) == (), told
    assert repo.state() == before, told
    assert not (repo.path / ".git/worktrees").exists(), told
    scratch = Path(os.environ["XDG_CACHE_HOME"]) / "envtrack/worktrees"
    left = list(scratch.iterdir()) if scratch.exists() else []
    assert left == [], told
    with closing(sqlite3.connect(repo.path / ".git/envtrack/verdicts.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), told
    assert repo.git("fsck", "--no-dangling") == "", told
