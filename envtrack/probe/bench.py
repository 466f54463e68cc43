"""What the steps of one probe share: where they are, and how a verdict is recorded."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from envtrack.errors import RigFailed
from envtrack.files import write_whole
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.bounded import LIFELINE, Ended, run_stage, stage_environment
from envtrack.probe.crossing import Crossing
from envtrack.probe.plan import Plan, SessionFiles
from envtrack.probe.store import Store
from envtrack.probe.tree import Tree, take_back
from envtrack.process import is_closed

_OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What the steps of a probe work with.

    Attributes:
        plan: the session's plan.
        files: the session's files.
        tree: the tree in which the commit is checked out.
        scratch: the folder that holds the environment.
        is_driven: a session drives the search, in a worktree of its own; otherwise the script was
            started by hand: verdicts are neither looked up nor recorded, and nothing is cleaned.
        store: the verdicts.
        crossing: what is tried instead of the commit that is checked out.
        is_fresh: nothing that is known already counts: it is tried once more.
    """

    plan: Plan
    files: SessionFiles
    tree: Tree
    scratch: Path
    is_driven: bool
    store: Store
    crossing: Crossing | None = None
    is_fresh: bool = False

    @property
    def environment(self) -> Path:
        """The folder of the probe's environment."""
        return self.scratch / "env"

    @property
    def caches(self) -> Path:
        """The folder of caches that belong to the environment and go away with it."""
        return self.scratch / "caches"

    @property
    def project(self) -> Path:
        """The folder in which uv and the smoke test run."""
        return self.tree.top / self.plan.project


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What one step of a probe must tell the next one.

    Attributes:
        folder: the probe's folder, with its logs.
        commit: full name of the commit.
        number: the probe's number in the store; 0 if it is not recorded.
        started: seconds since 1970.
        key: what decides the verdict; empty if that could not be told.
        placed: files of the smoke test that were put into a tree of the user's.
    """

    folder: str
    commit: str
    number: int
    started: float
    key: str = ""
    placed: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The probe's folder."""
        return Path(self.folder)


class NothingBegun(RigFailed):
    """A step that needs a probe under way, and there is none."""


def write_notes(bench: Bench, notes: Notes) -> None:
    """Leaves the notes for the next step."""
    write_whole(bench.scratch / "notes.json", json.dumps(asdict(notes)))


def read_notes(bench: Bench) -> Notes:
    """The notes of the step before.

    Raises:
        NothingBegun: there are none: the steps were not run in their order.
    """
    try:
        document = json.loads((bench.scratch / "notes.json").read_text())
        return Notes(**{**document, "placed": tuple(document["placed"])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NothingBegun(f"{bench.scratch}: no probe has begun here") from error


def forget_notes(bench: Bench) -> None:
    """Removes the notes of the probe before, which say nothing of the one that begins now."""
    (bench.scratch / "notes.json").unlink(missing_ok=True)


def require_driver(bench: Bench) -> None:
    """Makes sure that whoever drives this search is still there.

    Raises:
        RigFailed: it is not; what an orphan sees is no verdict.
    """
    if bench.is_driven and is_closed(int(os.environ[LIFELINE])):
        raise RigFailed("the process that drives this search has ended")


def run_here(
    bench: Bench, notes: Notes, stage: str, command: Sequence[str], timeout_s: float
) -> Ended:
    """How a stage's command ended, run in the project's folder."""
    env = stage_environment(
        os.environ, root=Path(bench.plan.root), top=bench.tree.top, caches=bench.caches
    )
    return run_stage(notes.path, stage, command, timeout_s=timeout_s, env=env, cwd=bench.project)


def finish(bench: Bench, notes: Notes, judgement: Judgement, *, same_as: Oid | None = None) -> str:
    """Records a verdict and tidies up; gives the verdict's number for git."""
    print(f"{judgement.verdict}: {judgement.reason}", file=sys.stderr)
    if notes.number:
        require_driver(bench)
        bench.store.set_key(notes.number, notes.key)
        seconds = time.time() - notes.started
        bench.store.finish(notes.number, judgement, seconds=seconds, same_as=same_as)
    tidy(bench, notes)
    return str(judgement.verdict.bisect_code)


def tidy(bench: Bench, notes: Notes) -> None:
    """Leaves the tree as it was checked out, so that git can go on to the next commit."""
    if bench.is_driven:
        bench.tree.scour(Oid(notes.commit))
    else:
        take_back(bench.tree, notes.placed)


def record_failure(bench: Bench, message: str) -> None:
    """Records that the rig failed during a probe; nothing is said about its commit."""
    try:
        notes = read_notes(bench)
    except NothingBegun:
        return
    if notes.number:
        judgement = Judgement(verdict=Verdict.ABORTED, stage="rig", reason=message, kind="rig")
        bench.store.finish(notes.number, judgement, seconds=time.time() - notes.started)


def read_output(path: Path) -> str:
    """The end of a log."""
    with path.open("rb") as source:
        source.seek(max(0, path.stat().st_size - _OUTPUT_LIMIT_BYTES))
        return source.read().decode("utf-8", "backslashreplace")
