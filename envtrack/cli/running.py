"""Runs a session of any kind and shows what it came to."""

import signal
from types import FrameType
from typing import TYPE_CHECKING

from envtrack.cli.output import Output, Rendering, put_out

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.answer import Answer
    from envtrack.probe.plan import SessionFiles


def run_to_answer(
    repository: "Repository", files: "SessionFiles", shape: Output, *, is_verbose: bool
) -> None:
    """Runs a session and shows its answer; the exit code is that of its outcome."""
    from envtrack.bisect.run import run_session
    from envtrack.cli.progress import Progress
    from envtrack.probe.plan import read_plan

    if read_plan(files).is_composed:
        _run_to_culprit(repository, files, shape, is_verbose=is_verbose)
        return
    progress = Progress(repository, is_verbose=is_verbose)
    catch_signals()
    try:
        answer = run_session(repository, files, watcher=progress, told=progress.names)
    finally:
        progress.finish()
    put_out_answer(answer, shape)
    if answer.outcome.exit_code:
        raise SystemExit(answer.outcome.exit_code)


def catch_signals() -> None:
    """From now on SIGTERM and SIGHUP end a command as Ctrl-C does: cleaned up, nothing lost."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # The same way out as Ctrl-C: the worktree goes away and what was learnt is kept.
    raise KeyboardInterrupt


def put_out_answer(answer: "Answer", shape: Output) -> None:
    """Shows an answer in the form that was asked for."""
    from envtrack.report.answer import (
        render_answer_json,
        render_answer_markdown,
        render_answer_text,
    )

    rendering = Rendering(
        text=lambda look: render_answer_text(answer, look),
        json=lambda: render_answer_json(answer),
        markdown=lambda: render_answer_markdown(answer),
    )
    put_out(rendering, shape)


def _run_to_culprit(
    repository: "Repository", files: "SessionFiles", shape: Output, *, is_verbose: bool
) -> None:
    """Runs a session and shows what it came to; the exit code is that of its outcome."""
    from envtrack.bisect.run import run_isolation
    from envtrack.cli.progress import Progress
    from envtrack.report.isolation import (
        render_isolation_json,
        render_isolation_markdown,
        render_isolation_text,
    )

    progress = Progress(repository, is_verbose=is_verbose)
    catch_signals()
    try:
        isolation = run_isolation(repository, files, watcher=progress, told=progress.names)
    finally:
        progress.finish()
    rendering = Rendering(
        text=lambda look: render_isolation_text(isolation, look),
        json=lambda: render_isolation_json(isolation),
        markdown=lambda: render_isolation_markdown(isolation),
    )
    put_out(rendering, shape)
    if isolation.outcome.exit_code:
        raise SystemExit(isolation.outcome.exit_code)
