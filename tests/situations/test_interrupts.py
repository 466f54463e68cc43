"""Ctrl-C, and clients that end git while our hook is at work: the next commit finds no lock."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.record.hooked import Hooked, make_python, write_script
from tests.situations.after import FITS, files, first, settled, version


def start_commit(hooked: Hooked, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["git", "commit", "-m", "change", *arguments],
        cwd=hooked.repo.path,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


def wait_for_end(group: int) -> None:
    """Until the commit and all that it started in its terminal is gone."""
    try:
        while True:
            os.killpg(group, 0)
            time.sleep(0.02)
    except ProcessLookupError:
        return


def slow_git(hooked: Hooked, tmp_path: Path, command: str, body: str) -> None:
    """Lets one command of our hook's git do something else, in which `$git` is the real one."""
    script = (
        f'#!/bin/sh\ngit={shutil.which("git")}\n[ "$1" = {command} ] || exec $git "$@"\n{body}\n'
    )
    write_script(tmp_path / "slow/git", script)
    make_python(hooked.python, hooked.mark, before=f"PATH={tmp_path}/slow:$PATH")


def hold_staging(hooked: Hooked, tmp_path: Path) -> None:
    """Lets our hook's git stand still while it holds the index."""
    os.mkfifo(tmp_path / "never")
    slow_git(hooked, tmp_path, "update-index", f'exec $git "$@" <>{tmp_path}/never')


@pytest.mark.parametrize("arguments", [[], ["--all"], ["uv.lock"]])
def test_ctrl_c_while_the_record_is_staged_leaves_no_lock(
    hooked: Hooked, tmp_path: Path, arguments: list[str]
) -> None:
    hold_staging(hooked, tmp_path)
    hooked.repo.write("uv.lock", "version = 2\n")
    if not arguments:
        hooked.repo.git("add", "uv.lock")
    commit = start_commit(hooked, *arguments)
    git_dir = hooked.repo.path / ".git"
    while not list(git_dir.glob("*.lock.lock" if arguments else "index.lock")):
        time.sleep(0.02)
    os.killpg(commit.pid, signal.SIGINT)
    assert commit.wait() != 0
    wait_for_end(commit.pid)
    assert list(git_dir.glob("*.lock*")) == []
    make_python(hooked.python, hooked.mark)
    hooked.commit(*arguments)
    assert files(hooked) == version(2)
    settled(hooked)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_anything_is_recorded_leaves_things_as_they_were(
    hooked: Hooked, tmp_path: Path, number: signal.Signals
) -> None:
    make_python(hooked.python, hooked.mark, before=f"touch '{tmp_path}/there'; sleep 60")
    hooked.repo.write("uv.lock", "version = 2\n")
    commit = start_commit(hooked, "--all")
    wait_for(tmp_path / "there")
    os.killpg(commit.pid, number)
    assert commit.wait() != 0
    wait_for_end(commit.pid)
    settled(hooked, status=" M uv.lock")


@pytest.mark.parametrize("arguments", [["--all"], ["uv.lock"]])
def test_a_commit_that_a_client_ended_alone_leaves_no_lock(
    hooked: Hooked, tmp_path: Path, arguments: list[str]
) -> None:
    wait = f"touch '{tmp_path}/there'; until [ -e '{tmp_path}/on' ]; do sleep 0.02; done"
    slow_git(hooked, tmp_path, "hash-object", f'{wait}; exec $git "$@"')
    hooked.repo.write("uv.lock", "version = 2\n")
    commit = start_commit(hooked, *arguments)
    wait_for(tmp_path / "there")
    commit.terminate()
    commit.wait()
    (tmp_path / "on").touch()
    wait_for_end(commit.pid)
    assert list((hooked.repo.path / ".git").glob("*.lock*")) == []
    make_python(hooked.python, hooked.mark)
    hooked.commit(*arguments)
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_lockfile_added_after_ctrl_c_has_its_record(hooked: Hooked, tmp_path: Path) -> None:
    hold_staging(hooked, tmp_path)
    hooked.lock("version = 1\n", "sub/uv.lock")
    commit = start_commit(hooked)
    wait_for(hooked.repo.path / ".git/index.lock")
    os.killpg(commit.pid, signal.SIGINT)
    commit.wait()
    wait_for_end(commit.pid)
    make_python(hooked.python, hooked.mark)
    hooked.repo.git("add", "--all")
    hooked.commit()
    record = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert files(hooked) == first(**{"sub/uv.lock": "version = 1\n", record: FITS})
    settled(hooked)
