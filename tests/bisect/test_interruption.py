"""Searches that are stopped, and go on; and two at once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.history import SMOKE, History, Script, run_cli
from tests.test_process import read_pid, wait_until_gone


@pytest.fixture
def history(tmp_path: Path) -> History:
    script = Script().add("good", "1.0").add("b", "1.2").add("guilty", "2.0").add("last", "2.1")
    return script.build(tmp_path / "repo")


@contextlib.contextmanager
def started(history: History, smoke: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "envtrack", "bisect", history["good"], "--smoke", smoke]
    with subprocess.Popen(
        command, cwd=history.repo.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


# Waits at the third probe, where git bisect runs it; a second process of its own waits with it.
WAIT = (
    'n=$(ls "$OUT" | wc -l); echo "$$" > "$OUT/$n.$$"; '
    'if [ "$n" = 2 ] && [ ! -e "$OUT.go" ]; then '
    '(trap "" TERM; while :; do sleep 0.1; done) & echo $! > "$OUT.pid"; wait; fi; '
) + SMOKE


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.setenv("OUT", str(folder))
    return folder


def worktrees() -> list[Path]:
    folder = Path(os.environ["XDG_CACHE_HOME"]) / "envtrack" / "worktrees"
    return list(folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_search_that_is_stopped_goes_on_where_it_was(
    history: History, out: Path, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    before = history.repo.state()
    with started(history, WAIT) as child:
        pid = read_pid(Path(f"{out}.pid"))
        child.send_signal(number)
        _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "Traceback" not in said
    assert "every finished probe" in said
    assert "envtrack bisect resume" in said
    assert wait_until_gone(pid)
    assert worktrees() == []
    assert history.repo.state() == before
    probes = len(list(out.iterdir()))
    Path(f"{out}.go").write_text("")
    ended = run_cli(capsys, history.repo, "resume")
    assert ended.out.startswith(f"{history['guilty'][:10]} is the first bad commit"), ended
    assert ended.code == 0
    # The one that was stopped is run again, and no other.
    judged = run_cli(capsys, history.repo, "log").out.count("logs/")
    assert len(list(out.iterdir())) == judged + 1
    assert probes == 3
    assert history.repo.state() == before
    # Of a search that has come to its end the answer is told again, without a trial.
    probes = len(list(out.iterdir()))
    again = run_cli(capsys, history.repo, "resume")
    assert (again.code, again.out) == (0, ended.out)
    assert len(list(out.iterdir())) == probes


def test_while_it_runs_it_is_refused_and_another_may_run(
    history: History, out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = history.repo.state()
    with started(history, WAIT) as child:
        read_pid(Path(f"{out}.pid"))
        began = time.monotonic()
        ended = run_cli(capsys, history.repo, "resume")
        assert time.monotonic() - began < 15
        assert ended.code == 4
        assert len(ended.err.splitlines()) == 1
        assert "is running in another process" in ended.errors[0]
        status = run_cli(capsys, history.repo, "status")
        assert "  running" in status.out.splitlines()
        # Another session in the same repository, meanwhile.
        other = run_cli(capsys, history.repo, history["b"], history["guilty"], "--smoke", SMOKE)
        assert other.out.startswith(f"{history['guilty'][:10]} is the first bad commit"), other
        assert len(worktrees()) == 1
        Path(f"{out}.go").write_text("")
        os.kill(read_pid(Path(f"{out}.pid")), signal.SIGKILL)
        said, progress = child.communicate(timeout=120)
    assert said.startswith(f"{history['guilty'][:10]} is the first bad commit"), progress
    assert worktrees() == []
    assert history.repo.state() == before


def test_two_searches_at_once_do_not_meet(history: History) -> None:
    before = history.repo.state()
    with started(history, SMOKE) as one, started(history, SMOKE) as other:
        for child in (one, other):
            said, progress = child.communicate(timeout=120)
            assert said.startswith(f"{history['guilty'][:10]} is the first bad commit"), progress
    assert worktrees() == []
    assert history.repo.state() == before
