"""The smoke test in the environment as it is now, and its verdict on the commit that is now."""

from __future__ import annotations

import codecs
import contextlib
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.git.environ import without_git
from envtrack.probe.bounded import Ended
from envtrack.probe.checks import REPORT
from envtrack.probe.smoke import judge_smoke
from envtrack.process import run_bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from envtrack.model.verdict import Judgement, Verdict

_TAIL_EVERY_S = 0.05
# What decides stands at the end: so much of the output is looked at.
_END_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of a smoke test.

    Attributes:
        command: for ``sh -c``, as written.
        timeout_s: seconds until it is killed with all that it started.
        timeout_is: what it means then.
        folder: where it runs: the lockfile's.
        environment: the environment it runs in; ``None``: whatever is on PATH.
        environ: the variables of whoever started us.
        report: where a smoke test with named checks says what each came to; ``None``: nobody asks.
        is_recording: whether it is to take its values for the expected ones.
    """

    command: str
    timeout_s: float
    timeout_is: Verdict
    folder: Path
    environment: Path | None
    environ: Mapping[str, str]
    report: Path | None = None
    is_recording: bool = False


def run_smoke(trial: Trial, *, show: Callable[[str], None]) -> Judgement:
    """The verdict of one run; what the command prints is handed to `show` while it runs.

    Raises:
        RigFailed: the folder is gone, or there is no ``sh``.
    """
    with tempfile.TemporaryDirectory(prefix="envtrack-smoke-") as scratch:
        log = Path(scratch) / "output"
        started = time.monotonic()
        # One file for both pipes: what it prints is kept in the order in which it was said.
        with log.open("wb") as sink, _followed(log, show):
            code = run_bounded(
                ("sh", "-c", trial.command),
                timeout_s=trial.timeout_s,
                env=_environment(trial),
                cwd=trial.folder,
                output=sink,
            )
        ended = Ended(code=code, seconds=time.monotonic() - started)
        return judge_smoke(
            ended,
            command=trial.command,
            output=_read_end(log),
            timeout_is=trial.timeout_is,
            timeout_s=trial.timeout_s,
        )


def _read_end(log: Path) -> str:
    with log.open("rb") as source:
        source.seek(max(0, log.stat().st_size - _END_BYTES))
        return source.read().decode("utf-8", "backslashreplace")


def _environment(trial: Trial) -> dict[str, str]:
    env = without_git(trial.environ)
    if trial.environment is not None:
        env["PATH"] = f"{trial.environment / 'bin'}:{env.get('PATH', '/usr/bin:/bin')}"
        env["VIRTUAL_ENV"] = str(trial.environment)
        env.pop("PYTHONHOME", None)
    if trial.report is not None:
        env[REPORT] = str(trial.report)
    if trial.is_recording:
        env["ENVTRACK_SMOKE_RECORD"] = "1"
    return env


@contextlib.contextmanager
def _followed(log: Path, show: Callable[[str], None]) -> Iterator[None]:
    """Hands on what is written to a file until the block ends."""
    is_over = threading.Event()
    thread = threading.Thread(target=_follow, args=(log, show, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _follow(log: Path, show: Callable[[str], None], is_over: threading.Event) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    with log.open("rb") as source:
        while True:
            was_over = is_over.wait(_TAIL_EVERY_S)
            # A reader that has gone away must not turn into a thread's traceback.
            with contextlib.suppress(OSError, ValueError):
                while chunk := source.read(65536):
                    show(decoder.decode(chunk))
            if was_over:
                return
