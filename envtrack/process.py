"""The one door to subprocesses: a limit, an explicit environment, both pipes drained.

A child is started in a session of its own, so that a limit or Ctrl-C ends it with everything it
started, and a Ctrl-C in the terminal reaches it only through us.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import threading
import time
from typing import IO, TYPE_CHECKING, Self

from envtrack.errors import CommandFailed, CommandTimedOut, RigFailed, ToolMissing
from envtrack.model.completed import Completed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

# How long a grandchild that kept our pipe open may hold us up after the child itself has ended.
_PIPE_GRACE_S = 1.0
_TERM_GRACE_S = 5.0
_LAST_LINES = 40
_LOOK_MS = 200
_PIPE_BYTES = 1 << 20  # what a pipe may hold without privileges (pipe(7))
_POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(
    command: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: bytes = b"",
    check: bool = True,
    keep_fds: Sequence[int] = (),
) -> Completed:
    """The ended command.

    Args:
        command: argument list; never a shell's text.
        timeout_s: seconds until the whole process group is killed.
        env: the complete environment.
        cwd: where to run.
        stdin: what it reads.
        check: whether an exit code other than 0 is an error.
        keep_fds: descriptors that the command inherits.

    Raises:
        ToolMissing: there is no such program.
        CommandFailed: it ended with another code than 0 and `check` is set.
        CommandTimedOut: it did not end within `timeout_s`.
    """
    with _started(command, env=env, cwd=cwd, keep_fds=keep_fds) as child:
        readers = [_Reader(child.stdout), _Reader(child.stderr)]
        threading.Thread(target=_feed, args=(child, stdin), daemon=True).start()
        try:
            code = _wait(child, timeout_s)
        except subprocess.TimeoutExpired as error:
            kill_group(child.pid)
            child.wait()
            output = _last_lines(*(reader.finish() for reader in readers))
            raise CommandTimedOut(tuple(command), timeout_s, output) from error
    stdout, stderr = (reader.finish() for reader in readers)
    if check and code != 0:
        raise CommandFailed(tuple(command), code, _last_lines(stdout, stderr))
    return Completed(command=tuple(command), code=code, stdout=stdout, stderr=stderr)


@contextlib.contextmanager
def _started(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None,
    keep_fds: Sequence[int],
) -> Iterator[subprocess.Popen[bytes]]:
    """A command that Ctrl-C ends with us, from the first moment on.

    It is asked to, not made to: a git that is killed leaves its index.lock in the user's way.
    """
    child = None
    try:
        with undisturbed():
            child = start(command, env=env, cwd=cwd, stdin=subprocess.PIPE, keep_fds=keep_fds)
        yield child
    except BaseException:
        if child is not None:
            end_group(child)
        raise


class Child:
    """A long-running command whose output goes to a file; use as a context manager.

    Leaving the block ends the command's whole process group if it still runs.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        output: Path,
        keep_fds: Sequence[int] = (),
    ) -> None:
        with output.open("ab") as sink:
            self._child = start(command, env=env, cwd=cwd, sink=sink, keep_fds=keep_fds)

    def wait(self, timeout_s: float) -> int | None:
        """The exit code, or ``None`` if it still runs after `timeout_s` seconds."""
        try:
            return _wait(self._child, timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        """Ends the process group: first asked to, after some seconds made to."""
        if self._child.poll() is None:
            end_group(self._child)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def run_bounded(
    command: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str],
    cwd: Path,
    output: IO[bytes] | None = None,
    lifeline: int | None = None,
    on_start: Callable[[int], None] = lambda _pid: None,
) -> int | None:
    """The exit code of a bounded command; ``None``: it passed its limit.

    Args:
        command: argument list.
        timeout_s: seconds until its whole process group is killed.
        env: the complete environment.
        cwd: where to run.
        output: where both its pipes go; ``None``: where our own go.
        lifeline: a pipe's reading end; when the other side closes, the group is killed.
        on_start: is told the process group's number.

    Raises:
        ToolMissing: there is no such program.
        RigFailed: the other side of `lifeline` is gone.
    """
    child = start(command, env=env, cwd=cwd, sink=output, is_piped=False)
    deadline = time.monotonic() + timeout_s
    try:
        on_start(child.pid)
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return _wait(child, min(0.1, max(0.0, deadline - time.monotonic())))
            if lifeline is not None and is_closed(lifeline):
                raise RigFailed("the process that drives this search has ended")
            if time.monotonic() >= deadline:
                return None
    finally:
        # What the command left behind in its group must not reach into the next probe.
        kill_group(child.pid)
        child.wait()


def run_watched(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    watch: Callable[[int, bytes], None],
) -> int:
    """The exit code of a user's own command, whose output is handed on while it runs; no limit.

    It stays in our process group and keeps our stdin: Ctrl-C in the terminal reaches it as if we
    were not there.

    Args:
        command: argument list.
        env: the complete environment.
        cwd: where to run.
        watch: is given 1 or 2 (stdout, stderr) and what was written there; by one thread at a time.

    Returns:
        Negative: killed by that signal.

    Raises:
        ToolMissing: there is no such program.
        RigFailed: it can't be started.
    """
    try:
        child = subprocess.Popen(
            list(command), env=dict(env), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except FileNotFoundError as error:
        raise ToolMissing(f"`{command[0]}` is not to be found on PATH") from error
    except OSError as error:
        raise RigFailed(f"`{command[0]}` can't be started: {error.strerror}") from error
    pipes = {
        pipe.fileno(): number for number, pipe in ((1, child.stdout), (2, child.stderr)) if pipe
    }
    poll = select.poll()
    for handle in pipes:
        poll.register(handle, select.POLLIN)
    while pipes and (child.poll() is None or poll.poll(_PIPE_GRACE_S * 1000)):
        for handle, _ in poll.poll(_LOOK_MS):
            chunk = os.read(handle, _PIPE_BYTES)
            if chunk:
                watch(pipes[handle], chunk)
            else:
                poll.unregister(handle)
                del pipes[handle]
    return child.wait()


def end_by_signal(number: int) -> None:
    """Ends this process by a signal, as the command that it stands for did; leaves no core file."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # SIGKILL and SIGSTOP have no handlers, and need none.
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _wait(child: subprocess.Popen[bytes], timeout_s: float) -> int:
    """The exit code as soon as there is one; the standard library looks ever more seldom.

    Raises:
        subprocess.TimeoutExpired: it still runs after `timeout_s` seconds.
    """
    try:
        handle = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        # Not Linux, an old kernel, or it has ended.
        return child.wait(timeout=timeout_s)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(timeout_s * 1000):
            raise subprocess.TimeoutExpired(child.args, timeout_s)
    finally:
        os.close(handle)
    return child.wait()


def is_closed(pipe: int) -> bool:
    """Whether the writing side of a pipe is gone; nothing is ever written to a lifeline."""
    os.set_blocking(pipe, False)
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """A block that Ctrl-C, SIGTERM and SIGHUP do not cut short; they are obeyed at its end."""
    held: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        # Python tells the main thread alone of signals.
        yield
        return
    # What is ignored stays so for a child that is started now (nohup); what is not Python's (None)
    # could not be given back.
    disturbing = [n for n in _POLITE if signal.getsignal(n) not in (None, signal.SIG_IGN)]
    before = {number: signal.signal(number, lambda n, _: held.append(n)) for number in disturbing}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        for number in dict.fromkeys(held):
            signal.raise_signal(number)


def kill_group(group: int) -> None:
    """Kills a process group that we started; one that is gone is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Asks a process group to end, and after some seconds makes it.

    All of it gets that time, not only its leader: git ends at once, and leaves a shell and our own
    step behind that still have to end what they had started themselves.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGTERM)
    deadline = time.monotonic() + _TERM_GRACE_S
    try:
        while time.monotonic() < deadline and (child.poll() is None or _has_members(child.pid)):
            time.sleep(0.02)
    finally:
        # Also at a second Ctrl-C.
        kill_group(child.pid)
        child.wait()


def _has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def start(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None,
    stdin: int = subprocess.DEVNULL,
    sink: IO[bytes] | None = None,
    is_piped: bool = True,
    keep_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """The started command in a session of its own; for `envtrack.abandon` and this module.

    Raises:
        ToolMissing: there is no such program, or nothing to interpret it.
        RigFailed: it can't be started.
    """
    pipe = subprocess.PIPE if sink is None and is_piped else sink
    try:
        return subprocess.Popen(
            list(command),
            env=dict(env),
            cwd=cwd,
            stdin=stdin,
            stdout=pipe,
            stderr=subprocess.PIPE if pipe == subprocess.PIPE else pipe,
            start_new_session=True,
            pass_fds=tuple(keep_fds),
        )
    except FileNotFoundError as error:
        if cwd is not None and not cwd.is_dir():
            raise RigFailed(f"{cwd}: this folder is gone") from error
        raise ToolMissing(f"`{command[0]}` is not to be found on PATH") from error
    except OSError as error:
        raise RigFailed(f"`{command[0]}` can't be started: {error.strerror}") from error


class _Reader:
    """Drains one pipe in a thread of its own."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self._pipe = pipe
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        if self._pipe is not None:
            self._parts.extend(self._chunks(self._pipe))
            self._pipe.close()

    @staticmethod
    def _chunks(pipe: IO[bytes]) -> Iterator[bytes]:
        with contextlib.suppress(AttributeError, OSError):
            # Fewer switches between the two processes; what can't be had is no loss.
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        while chunk := os.read(pipe.fileno(), _PIPE_BYTES):
            yield chunk

    def finish(self) -> bytes:
        self._thread.join(timeout=_PIPE_GRACE_S)
        return b"".join(self._parts)


def _feed(child: subprocess.Popen[bytes], content: bytes) -> None:
    if child.stdin is not None:
        # A child that does not read what it is sent is its own affair.
        with contextlib.suppress(BrokenPipeError, OSError):
            child.stdin.write(content)
        with contextlib.suppress(BrokenPipeError, OSError):
            child.stdin.close()


def _last_lines(*outputs: bytes) -> str:
    text = b"\n".join(part for part in outputs if part).decode("utf-8", "backslashreplace")
    return "\n".join(text.splitlines()[-_LAST_LINES:])
