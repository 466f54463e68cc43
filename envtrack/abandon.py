"""Programs that may never end, and what becomes of them: heard out, killed, or left behind."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
import time
from typing import IO, TYPE_CHECKING

from envtrack.errors import EnvtrackError
from envtrack.model.completed import Completed
from envtrack.process import kill_group, start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# How long after its limit a killed program may take to be gone before it is left behind.
_ABANDON_GRACE_S = 0.3
# A program that has printed so many times what is kept of it prints without end.
_ENDLESS = 64


def run_or_abandon(
    command: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str],
    cwd: Path,
    limit_bytes: int,
    kill: Callable[[int], None] = kill_group,
) -> Completed | None:
    """The ended command with the beginning of what it printed; ``None``: it did not end in time.

    For programs that may never end. One in uninterruptible sleep (a wedged GPU driver, a dead
    mount) can't even be killed: it is left behind with a thread that waits for it, and neither
    keeps our own process from ending.

    Args:
        command: argument list.
        timeout_s: seconds until its process group is killed; we are held up little longer.
        env: the complete environment; its ``PATH`` counts.
        cwd: where to run.
        limit_bytes: how much of each pipe is kept. The rest is thrown away as it comes; what
            prints without end is killed, and its exit code says so.
        kill: ends a process group; another one than `kill_group` in tests.

    Raises:
        ToolMissing: there is no such program, or nothing to interpret it.
        RigFailed: it can't be started.
    """
    ended: list[tuple[int, bytes, bytes] | EnvtrackError | None] = []

    def work() -> None:
        try:
            # Also in the thread: what stands on a dead mount never gets as far as to run.
            child = start(command, env=env, cwd=cwd)
        except EnvtrackError as error:
            ended.append(error)
            return
        ended.append(_hear_out(child, timeout_s=timeout_s, limit_bytes=limit_bytes, kill=kill))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(timeout_s + _ABANDON_GRACE_S)
    outcome = ended[0] if ended else None
    if isinstance(outcome, EnvtrackError):
        raise outcome
    if outcome is None:
        return None
    code, stdout, stderr = outcome
    return Completed(command=tuple(command), code=code, stdout=stdout, stderr=stderr)


def _hear_out(
    child: subprocess.Popen[bytes],
    *,
    timeout_s: float,
    limit_bytes: int,
    kill: Callable[[int], None],
) -> tuple[int, bytes, bytes] | None:
    """Exit code and what was printed; ``None``: it was killed at its limit."""
    deadline = time.monotonic() + timeout_s
    kept = {pipe: bytearray() for pipe in (child.stdout, child.stderr) if pipe is not None}
    try:
        if not _drain(child, kept, deadline, limit_bytes):
            kill(child.pid)
        child.wait(timeout=max(0.0, deadline - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired):
        kill(child.pid)
        child.wait()
        return None
    finally:
        for pipe in kept:
            pipe.close()
    stdout, stderr = (bytes(text) for text in kept.values())
    return child.returncode, stdout, stderr


def _drain(
    child: subprocess.Popen[bytes],
    kept: Mapping[IO[bytes], bytearray],
    deadline: float,
    limit_bytes: int,
) -> bool:
    """Reads until both pipes end; false: there is no end to it. TimeoutError at the deadline."""
    rest = limit_bytes * _ENDLESS
    with selectors.DefaultSelector() as selector:
        for pipe, text in kept.items():
            selector.register(pipe, selectors.EVENT_READ, text)
        while selector.get_map() and rest > 0:
            if (left := deadline - time.monotonic()) <= 0:
                raise TimeoutError
            ready = selector.select(min(left, 0.05))
            if not ready and child.poll() is not None:
                break  # what it started has kept the pipe open
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                rest -= len(chunk)
                key.data.extend(chunk[: limit_bytes - len(key.data)])
                if not chunk:
                    selector.unregister(key.fileobj)
    return rest > 0
