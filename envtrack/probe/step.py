"""``python -m envtrack.probe.step SESSION TOP ACTION [COMMAND…]``: one step of a probe's script.

Prints one word for the script: a number is the verdict, `ready` and `stale` say how to go on. An
exit code other than 0 means that the rig failed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from envtrack.errors import EnvtrackError, RigFailed
from envtrack.model.verdict import Judgement
from envtrack.probe.bench import (
    Bench,
    Notes,
    NothingBegun,
    finish,
    read_notes,
    read_output,
    record_failure,
    require_driver,
    run_here,
    tidy,
)
from envtrack.probe.bounded import LIFELINE
from envtrack.probe.crossing import Crossing
from envtrack.probe.plan import SessionFiles, read_plan
from envtrack.probe.store import Store
from envtrack.probe.tree import Tree

SCRATCH = "ENVTRACK_SCRATCH"
GIT_FOLDER = "ENVTRACK_GIT_FOLDER"
FRESH = "ENVTRACK_FRESH"
CROSSING = "ENVTRACK_CROSSING"


def main(arguments: Sequence[str]) -> int:
    """0, or 4 if the rig failed."""
    session, top, action, *command = arguments
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGHUP, _stop)
    bench: Bench | None = None
    try:
        bench = _make_bench(SessionFiles(Path(session)), Path(top))
        require_driver(bench)
        print(_act(bench, action, command))
    except (EnvtrackError, OSError) as error:
        message = error.message if isinstance(error, EnvtrackError) else str(error)
        print(f"envtrack: {message}", file=sys.stderr)
        if bench is not None and action != "end":
            # On a full disk this fails as well; then the log says why.
            with contextlib.suppress(EnvtrackError, OSError):
                record_failure(bench, message)
        return RigFailed.exit_code
    return 0


def _stop(number: int, _frame: FrameType | None) -> None:
    # As an exception, so that the running command's process group is killed on the way out.
    raise SystemExit(128 + number)


def _make_bench(files: SessionFiles, top: Path) -> Bench:
    scratch, git_folder = os.environ.get(SCRATCH), os.environ.get(GIT_FOLDER)
    return Bench(
        plan=read_plan(files),
        files=files,
        tree=Tree(
            top=top, environ=os.environ, own_git_dir=Path(git_folder) if git_folder else None
        ),
        scratch=Path(scratch) if scratch else files.folder / "by-hand",
        is_driven=LIFELINE in os.environ,
        store=Store(files.store),
        crossing=Crossing.parse(os.environ[CROSSING]) if CROSSING in os.environ else None,
        is_fresh=FRESH in os.environ,
    )


def _act(bench: Bench, action: str, command: Sequence[str]) -> str:
    match action:
        case "install":
            from envtrack.probe.install import install

            return install(bench, command)
        case "install-stale":
            from envtrack.probe.install import install_stale

            return install_stale(bench, command)
        case "judge":
            return _judge(bench, command)
        case _:
            # The probe was cut short, maybe before it had begun.
            with contextlib.suppress(NothingBegun):
                tidy(bench, read_notes(bench))
            return ""


def _judge(bench: Bench, command: Sequence[str]) -> str:
    """The number of the smoke test's verdict."""
    from envtrack.probe.metric import judge_metric
    from envtrack.probe.repeated import judge_repeated

    notes, plan = read_notes(bench), bench.plan

    def run_once(number: int) -> Judgement:
        if number:
            # What decides is the last log; the earlier ones stay beside it.
            log = notes.path / "smoke.log"
            log.rename(log.with_name(f"smoke-{number}.log"))
        return _run_smoke(bench, notes, command)

    if plan.condition.metric:
        return finish(bench, notes, judge_metric(bench, notes, run_once))
    return finish(bench, notes, judge_repeated(run_once, repeat=plan.repeat, quorum=plan.quorum))


def _run_smoke(bench: Bench, notes: Notes, command: Sequence[str]) -> Judgement:
    """What one run of the smoke test says."""
    from envtrack.probe.failures import tell_failures_apart
    from envtrack.probe.inverted import turn
    from envtrack.probe.smoke import judge_smoke

    plan = bench.plan
    require_driver(bench)
    ended = run_here(bench, notes, "smoke", command, plan.smoke_timeout_s)
    judgement = judge_smoke(
        ended,
        command=plan.smoke,
        output=read_output(notes.path / "smoke.log"),
        timeout_is=plan.timeout_is,
        timeout_s=plan.smoke_timeout_s,
    )
    judgement = tell_failures_apart(bench, notes, judgement)
    return turn(judgement) if plan.condition.invert else judgement


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
