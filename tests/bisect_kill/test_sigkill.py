"""`bisect` killed with SIGKILL at any moment: `bisect resume` comes to the same answer."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.bisect_kill.processes import MARK, Aim, kill, wait_until_gone
from tests.support.repo import RepoBuilder
from tests.support.wheels import write_wheel

SEED = 20260704
SESSIONS = 4
KILLS_PER_SESSION = 5
RELEASES = 9
FIRST_BAD = 6
PROBES = 6
"""Verdicts of a whole search here: two ends, three halvings, the parent of what git names."""
_LIMIT_S = 120.0

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
time.sleep(0.15)
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
    nearest_good: str
    culprit: str
    contents: dict[str, str]


@dataclass(slots=True, kw_only=True)
class Killed:
    """One session that is killed and resumed, and what was seen of it."""

    history: History
    home: Path
    label: str
    kills: list[str] = field(default_factory=list)

    @property
    def runs(self) -> Path:
        return self.home / "smoke-runs"

    def smoke_runs(self) -> list[str]:
        return self.runs.read_text().split() if self.runs.exists() else []

    def sessions(self) -> list[str]:
        folder = self.history.repo.path / ".git/envtrack/sessions"
        return sorted(plan.parent.name for plan in folder.glob("*/plan.json"))

    def start(self, *, path: str = "") -> subprocess.Popen[str]:
        """`bisect`, or `bisect resume` once there is a session, as a user would type it."""
        asked: tuple[str, ...] = ("resume", *(name for name in self.sessions()[-1:]))
        if not self.sessions():
            asked = (self.history.good, "--smoke", "python smoke.py", "--python", sys.executable)
        return subprocess.Popen(
            [sys.executable, "-m", "envtrack", "bisect", *asked, "--format", "json"],
            cwd=self.history.repo.path,
            env={
                **os.environ,
                MARK: self.label,
                "SMOKE_RUNS": str(self.runs),
                "PATH": path or os.environ["PATH"],
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill(self, driver: subprocess.Popen[str], aim: Aim) -> bool:
        """Whether there was still something to kill."""
        is_hit = driver.poll() is None
        kill(self.label, driver.pid, aim)
        driver.wait(_LIMIT_S)
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


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the repository is made once; every test has a copy."""
    return tmp_path_factory.mktemp("history")


@pytest.fixture
def history(template: Path, tmp_path: Path) -> History:
    if not (template / "repo").exists():
        _make_history(template)
    copy = tmp_path / "repo"
    shutil.copytree(template / "repo", copy, symlinks=True)
    repo = RepoBuilder(copy)
    # What a user has lying about: a stash, a staged file, a changed file, an untracked one.
    repo.write("notes.txt", "stashed\n")
    repo.git("add", "notes.txt")
    repo.git("stash")
    repo.write("staged.txt", "staged\n")
    repo.git("add", "staged.txt")
    repo.write("steps.py", "DONE = 999\n")
    repo.write("scratch/untracked.txt", "untracked\n")
    contents, by_content = {}, {}
    for line in repo.git("log", "--format=%H %s").splitlines():
        commit, _, content = line.partition(" ")
        contents[commit], by_content[content] = content, commit
    return History(
        repo=repo,
        good=by_content["1/0"],
        nearest_good=by_content[f"{FIRST_BAD - 1}/{FIRST_BAD - 1}"],
        culprit=by_content[f"{FIRST_BAD}/{FIRST_BAD - 1}"],
        contents=contents,
    )


def _make_history(folder: Path) -> None:
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


def _finish(session: Killed) -> None:
    """A last run that nobody kills, to the right answer."""
    verdicts, runs = session.verdicts(), len(session.smoke_runs())
    out, err = (driver := session.start()).communicate(timeout=_LIMIT_S)
    assert driver.returncode == 0, f"{session.tell()}\n{err}"
    assert json.loads(out)["culprit"]["commit"] == session.history.culprit, session.tell()
    _require_nothing_twice(session, verdicts, session.smoke_runs()[runs:])


def _require_nothing_twice(
    session: Killed, before: dict[str, list[tuple[int, str]]], runs_since: list[str]
) -> None:
    """What had a verdict keeps it, and its smoke test did not run again."""
    after, told = session.verdicts(), session.tell()
    assert all(len(rows) == 1 for rows in after.values()), f"{told}\n{after}"
    assert {commit: after.get(commit) for commit in before} == before, told
    settled = {session.history.contents[commit] for commit in before}
    assert not settled & set(runs_since), f"{told}\n{settled} {runs_since}"


def _require_clean(session: Killed, before: dict[str, str]) -> None:
    """Nothing of ours is left but the session's own folder."""
    repo, told = session.history.repo, session.tell()
    assert wait_until_gone(session.label, within_s=5.0) == (), told
    assert repo.state() == before, told
    assert not (repo.path / ".git/worktrees").exists(), told
    scratch = Path(os.environ["XDG_CACHE_HOME"]) / "envtrack/worktrees"
    left = list(scratch.iterdir()) if scratch.exists() else []
    assert left == [], told
    print(told)
    with closing(sqlite3.connect(repo.path / ".git/envtrack/verdicts.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), told
    assert repo.git("fsck", "--no-dangling") == "", told


@pytest.mark.parametrize("number", range(SESSIONS))
def test_killed_at_random_moments_it_resumes_to_the_same_culprit(
    number: int, history: History, tmp_path: Path
) -> None:
    # One generator a session, so that each can be repeated alone.
    dice = random.Random(f"{SEED}-{number}")
    # A moment is a place in the search: 2.3 is 0.3 of a probe's time after the second verdict; the
    # last ones fall into the confirming and the cleaning up.
    moments = sorted(dice.uniform(0.0, PROBES + 0.5) for _ in range(KILLS_PER_SESSION))
    session = Killed(history=history, home=tmp_path, label=f"session-{number}")
    before = history.repo.state()
    for moment in moments:
        _kill_at(session, moment, dice.choice(list(Aim)))
    _finish(session)
    assert len(session.sessions()) == 1, session.tell()
    assert len(session.kills) == KILLS_PER_SESSION
    _require_clean(session, before)


def _kill_at(session: Killed, moment: float, aim: Aim) -> None:
    """A run that is killed there; earlier, if it has ended by then."""
    verdicts, runs = session.verdicts(), len(session.smoke_runs())
    driver = session.start()
    deadline = time.monotonic() + _LIMIT_S
    while len(session.verdicts()) < int(moment) and driver.poll() is None:
        assert time.monotonic() < deadline, session.tell()
        time.sleep(0.02)
    time.sleep((moment % 1.0) * session.seconds_per_probe())
    is_hit = session.kill(driver, aim)
    _require_nothing_twice(session, verdicts, session.smoke_runs()[runs:])
    if not is_hit:
        # All verdicts are known by now: this run only starts, reads them and cleans up.
        _kill_at(session, moment % 1.0, aim)


@pytest.mark.parametrize("aim", [Aim.DRIVER, Aim.TREE])
@pytest.mark.parametrize("verb", ["add", "remove"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_git_worktree_it_leaves_none_behind(
    when: str, verb: str, aim: Aim, history: History, tmp_path: Path
) -> None:
    session = Killed(history=replace(history, good=history.nearest_good), home=tmp_path, label=verb)
    before = history.repo.state()
    path = _slow_git(tmp_path, verb, when)
    driver = session.start(path=path)
    deadline = time.monotonic() + _LIMIT_S
    while not (tmp_path / "reached").exists():
        assert time.monotonic() < deadline and driver.poll() is None, driver.communicate()
        time.sleep(0.01)
    assert session.kill(driver, aim)
    _finish(session)
    _require_clean(session, before)


def _slow_git(folder: Path, verb: str, when: str) -> str:
    """A PATH on which `git worktree <verb>` takes a second longer, and says that it has begun."""
    real = shutil.which("git")
    wait = f": >'{folder}/reached'; sleep 1"
    shim = folder / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(
        f"""#!/bin/sh
case " $* " in
    *" worktree {verb} "*)
        {wait if when == "before" else ":"}
        '{real}' "$@"; code=$?
        {wait if when == "after" else ":"}
        exit $code ;;
esac
exec '{real}' "$@"
"""
    )
    shim.chmod(0o755)
    return f"{shim.parent}{os.pathsep}{os.environ['PATH']}"
