"""`bisect` killed with SIGKILL at any moment: `bisect resume` comes to the same answer."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.bisect_kill.lab import (
    FIRST_BAD,
    LIMIT_S,
    SEED,
    History,
    Killed,
    finish,
    make_history,
    require_clean,
    require_nothing_twice,
)
from tests.bisect_kill.processes import Aim
from tests.support.repo import RepoBuilder

SESSIONS = 2
KILLS_PER_SESSION = 10
PROBES = 6
"""Verdicts of a whole search here: two ends, three halvings, the parent of what git names."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the repository is made once; every test has a copy."""
    return tmp_path_factory.mktemp("history")


@pytest.fixture
def history(template: Path, tmp_path: Path) -> History:
    if not (template / "repo").exists():
        make_history(template)
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
        culprit=by_content[f"{FIRST_BAD}/{FIRST_BAD - 1}"],
        contents=contents,
    )


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
    finish(session)
    assert len(session.sessions()) == 1, session.tell()
    assert len(session.kills) == KILLS_PER_SESSION
    require_clean(session, before)


def _kill_at(session: Killed, moment: float, aim: Aim) -> None:
    """A run that is killed there; earlier, if it has ended by then."""
    verdicts, runs = session.verdicts(), len(session.smoke_runs())
    driver = session.start()
    deadline = time.monotonic() + LIMIT_S
    while len(session.verdicts()) < int(moment) and driver.poll() is None:
        assert time.monotonic() < deadline, session.tell()
        time.sleep(0.02)
    time.sleep((moment % 1.0) * session.seconds_per_probe())
    is_hit = session.kill(driver, aim)
    require_nothing_twice(session, verdicts, session.smoke_runs()[runs:])
    if not is_hit:
        # All verdicts are known by now: this run only starts, reads them and cleans up.
        _kill_at(session, moment % 1.0 / 2, aim)


@pytest.mark.parametrize("aim", [Aim.DRIVER, Aim.TREE])
def test_killed_while_the_worktree_is_made_it_leaves_none_behind(
    aim: Aim, history: History, tmp_path: Path
) -> None:
    session = Killed(history=history, home=tmp_path, label="making")
    before = history.repo.state()
    driver = session.start(*history.nearest_ends, path=_slow_git(tmp_path))
    _wait_for(tmp_path / "reached", driver)
    assert session.kill(driver, aim)
    finish(session)
    require_clean(session, before)


@pytest.mark.parametrize("late_s", [0.0, 0.03])
def test_killed_while_the_worktree_is_removed_it_is_removed_by_resume(
    late_s: float, history: History, tmp_path: Path
) -> None:
    session = Killed(history=history, home=tmp_path, label="removing", junk=1500, is_named=False)
    before = history.repo.state()
    driver = session.start(*history.nearest_ends)
    while not session.sessions():
        assert driver.poll() is None, "no session was ever made"
        time.sleep(0.01)
    # The answer is written before the worktree goes, and is shown only afterwards.
    sessions = history.repo.path / ".git/envtrack/sessions"
    _wait_for(sessions / session.sessions()[0] / "answer.json", driver)
    time.sleep(late_s)
    session.kill(driver, Aim.TREE)
    finish(session)
    require_clean(session, before)


def _wait_for(path: Path, driver: subprocess.Popen[bytes]) -> None:
    while not path.exists():
        assert driver.poll() is None, f"{path.name} never came"
        time.sleep(0.001)


def _slow_git(folder: Path) -> str:
    """A PATH on which `git worktree add` waits before it does anything, and says that it waits.

    Long enough that whoever resumes meets an orphan that has not done its work yet.
    """
    real = shutil.which("git")
    shim = folder / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(
        "#!/bin/sh\n"
        f"case \" $* \" in *' worktree add '*) : >'{folder}/reached'; sleep 3 ;; esac\n"
        f"exec '{real}' \"$@\"\n"
    )
    shim.chmod(0o755)
    return f"{shim.parent}{os.pathsep}{os.environ['PATH']}"
