from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from envtrack.errors import CommandFailed, CommandTimedOut, RigFailed, ToolMissing
from envtrack.process import Child, is_closed, run, run_bounded, undisturbed

ENV = dict(os.environ)


def python(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has asked how it ended does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it can go between opening and reading
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def read_pid(path: Path) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and path.read_text().endswith("\n"):
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def test_a_mebibyte_on_each_pipe_is_read_whole() -> None:
    text = "import sys; sys.stderr.write('e' * 2**20); sys.stdout.write('o' * 2**20)"
    done = run(python(text), timeout_s=20, env=ENV)
    assert (len(done.stdout), len(done.stderr)) == (2**20, 2**20)


def test_a_sleeper_is_killed_at_its_limit() -> None:
    started = time.monotonic()
    with pytest.raises(CommandTimedOut) as caught:
        run(("sh", "-c", "echo before; sleep 60"), timeout_s=0.3, env=ENV)
    assert time.monotonic() - started < 10
    assert "before" in caught.value.output
    assert caught.value.exit_code == 4


def test_a_limit_kills_grandchildren_that_ignore_sigterm(tmp_path: Path) -> None:
    text = f"trap '' TERM; (trap '' TERM; sh -c 'echo $PPID > {tmp_path}/pid; sleep 60'); sleep 60"
    with pytest.raises(CommandTimedOut):
        run(("sh", "-c", text), timeout_s=1, env=ENV)
    assert wait_until_gone(read_pid(tmp_path / "pid"))


def test_a_grandchild_that_keeps_the_pipe_open_does_not_hold_us_up(tmp_path: Path) -> None:
    started = time.monotonic()
    text = f"(sleep 30; true) & echo $! > {tmp_path}/pid; echo done"
    done = run(("sh", "-c", text), timeout_s=20, env=ENV)
    assert done.text == "done\n"
    assert time.monotonic() - started < 10
    os.kill(read_pid(tmp_path / "pid"), signal.SIGKILL)


def test_output_that_is_no_utf8_is_shown_and_paths_keep_their_bytes() -> None:
    done = run(("printf", r"a\377b\000c\n"), timeout_s=5, env=ENV)
    assert done.text == "a\\xffb\0c\n"
    assert done.fields[0] == os.fsdecode(b"a\xffb")


def test_a_missing_program_is_named() -> None:
    with pytest.raises(ToolMissing, match="`no-such-program` is not to be found"):
        run(("no-such-program",), timeout_s=5, env=ENV)


def test_a_program_without_permission_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    with pytest.raises(RigFailed, match="can't be started: Permission denied"):
        run((str(tmp_path / "tool"),), timeout_s=5, env=ENV)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(RigFailed, match="gone"):
        run(("true",), timeout_s=5, env=ENV, cwd=tmp_path / "gone")


def test_a_failure_shows_its_command_and_its_last_line() -> None:
    with pytest.raises(CommandFailed) as caught:
        run(("sh", "-c", "echo one; echo two >&2; exit 3"), timeout_s=5, env=ENV)
    assert caught.value.message == "`sh -c echo one; echo two >&2; exit 3` ended with 3: two"


def test_a_signal_is_a_negative_code() -> None:
    done = run(("sh", "-c", "kill -SEGV $$"), timeout_s=5, env=ENV, check=False)
    assert done.code == -signal.SIGSEGV


def test_a_child_that_does_not_read_what_it_is_sent_is_no_error() -> None:
    assert run(("true",), timeout_s=5, env=ENV, stdin=b"x" * 2**20).code == 0


def test_what_is_sent_is_read() -> None:
    assert run(("cat",), timeout_s=5, env=ENV, stdin=b"x" * 2**20).stdout == b"x" * 2**20


def test_a_bounded_command_leaves_nothing_behind(tmp_path: Path) -> None:
    text = f"(trap '' TERM HUP; sleep 60) & echo $! > {tmp_path}/pid"
    code = run_bounded(("sh", "-c", text), timeout_s=10, env=ENV, cwd=tmp_path)
    assert code == 0
    assert wait_until_gone(read_pid(tmp_path / "pid"))


def test_a_bounded_command_ends_with_whoever_holds_its_lifeline(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    try:
        with pytest.raises(RigFailed, match="has ended"):
            run_bounded(("sleep", "60"), timeout_s=30, env=ENV, cwd=tmp_path, lifeline=reading)
    finally:
        os.close(reading)


def test_a_lifeline_that_is_held_is_open() -> None:
    reading, writing = os.pipe()
    assert not is_closed(reading)
    os.close(writing)
    assert is_closed(reading)
    os.close(reading)


def test_the_whole_group_gets_time_to_clean_up_after_itself(tmp_path: Path) -> None:
    # As `git bisect run` does: the leader ends at once, its child takes a little longer.
    inner = f"trap 'sleep 0.3; echo tidied > {tmp_path}/out; exit' TERM; echo $$ > {tmp_path}/pid; "
    text = f'sh -c "{inner.replace("$", chr(92) + "$")} while :; do sleep 0.05; done" & wait'
    child = Child(("sh", "-c", text), env=ENV, cwd=tmp_path, output=tmp_path / "log")
    read_pid(tmp_path / "pid")
    with child:
        pass
    assert (tmp_path / "out").read_text() == "tidied\n"


def test_a_group_that_does_not_listen_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envtrack.process._TERM_GRACE_S", 0.3)
    text = f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 0.05; done"
    with Child(("sh", "-c", text), env=ENV, cwd=tmp_path, output=tmp_path / "log") as child:
        pid = read_pid(tmp_path / "pid")
        assert child.wait(0.05) is None
    assert wait_until_gone(pid)
    assert child.wait(0) == -signal.SIGKILL


def test_ctrl_c_waits_for_the_end_of_an_undisturbed_block() -> None:
    steps = []

    def interrupt() -> None:
        with undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            steps.append("went on")

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert steps == ["went on"]


def test_a_second_ctrl_c_does_not_spare_the_group(tmp_path: Path) -> None:
    text = f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 0.05; done"
    child = Child(("sh", "-c", text), env=ENV, cwd=tmp_path, output=tmp_path / "log")
    pid = read_pid(tmp_path / "pid")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        child.stop()
    timer.join()
    assert wait_until_gone(pid)


def test_a_command_that_ctrl_c_ends_may_put_things_in_order(tmp_path: Path) -> None:
    mark = tmp_path / "there"
    script = f"trap 'rm {mark}; exit 1' TERM; touch {mark}; while :; do sleep 0.02; done"

    def interrupt() -> None:
        while not mark.exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(("sh", "-c", script), timeout_s=60, env=ENV)
    thread.join()
    assert not mark.exists()


def test_a_signal_that_is_ignored_is_ignored_by_what_is_started() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        run(("sh", "-c", "kill -HUP $$; exit 0"), timeout_s=60, env=ENV)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
