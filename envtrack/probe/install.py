"""The first step of a probe: the commit's environment put in place and looked at."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.config.settings import Stale
from envtrack.errors import RigFailed
from envtrack.files import remove_tree
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.bench import (
    Bench,
    Notes,
    finish,
    forget_notes,
    read_notes,
    read_output,
    require_driver,
    run_here,
    write_notes,
)
from envtrack.probe.composed import name_composed, put_composed
from envtrack.probe.crossing import find_held, put_crossing
from envtrack.probe.identity import Candidate, read_candidate
from envtrack.probe.submodules import Origin, bring_submodules
from envtrack.probe.tree import put_smoke_files
from envtrack.process import run

if TYPE_CHECKING:
    from envtrack.probe.verify import Misfit

NEEDS = "needs.json"
READY = "ready"
STALE = "stale"


def install(bench: Bench, command: Sequence[str]) -> str:
    """How to go on: `ready`, `stale`, or the number of a verdict.

    A verdict that is known already, of this commit or of another with the same environment and
    code, ends the probe at once.

    Args:
        bench: where.
        command: ``uv sync …``; what has to be built anew is added.

    Raises:
        RigFailed: the commit was not checked out whole, or the driver is gone.
    """
    forget_notes(bench)
    commit = bench.tree.read_head()
    subject = _name_subject(bench, commit)
    if bench.is_driven:
        known = None if bench.is_fresh else bench.store.find_known(bench.plan.id, subject)
        if known is not None and known.judgement is not None:
            return str(known.judgement.verdict.bisect_code)
        bench.tree.scour(commit)
    notes = _begin(bench, commit, subject)
    if not bench.tree.is_whole(bench.plan.lockfile):
        raise RigFailed(f"{bench.plan.lockfile}: git did not check it out at {commit.short}")
    _cross(bench, commit)
    if bench.is_driven:
        origin = Origin(modules=Path(bench.plan.common_dir) / "modules", tree=Path(bench.plan.root))
        said = bring_submodules(bench.tree, origin)
        (notes.path / "tree.log").write_text("".join(f"{line}\n" for line in said))
    if bench.plan.is_composed:
        put_composed(bench.tree, bench.files, bench.plan.lockfile)
    candidate = read_candidate(bench.tree, bench.plan, bench.files)
    notes = replace(notes, key=candidate.key)
    if candidate.key and bench.is_driven and not bench.is_fresh:
        same = bench.store.find_same(bench.plan.id, candidate.key, shared=bench.plan.shares_with)
        if same is not None and same.judgement is not None:
            return finish(bench, notes, same.judgement, same_as=same.commit)
    if not bench.project.is_dir():
        missing = f"{bench.plan.lockfile}: there is no such file at this commit"
        return finish(bench, notes, _untestable("lock-missing", missing))
    placed = put_smoke_files(
        bench.tree, bench.files.smoke_files, bench.plan.smoke_files, ours=bench.is_driven
    )
    notes = replace(notes, placed=tuple(placed))
    write_notes(bench, notes)
    return _sync(bench, notes, candidate, command)


def install_stale(bench: Bench, command: Sequence[str]) -> str:
    """The same for a lockfile that was found stale, by another command."""
    notes = read_notes(bench)
    candidate = read_candidate(bench.tree, bench.plan, bench.files)
    return _sync(bench, notes, candidate, command, is_stale=True)


def _name_subject(bench: Bench, commit: Oid) -> Oid:
    """The name under which the verdict is kept."""
    if bench.plan.is_composed:
        return name_composed(bench.tree, bench.files)
    return bench.crossing.name if bench.crossing is not None else commit


def _cross(bench: Bench, commit: Oid) -> None:
    """Puts code and environment of two commits together, where that is what is tried."""
    crossing = bench.crossing or find_held(bench.plan, commit)
    if crossing is None:
        return
    if not bench.is_driven:
        raise RigFailed(
            "this session holds a half of every commit, which is done in its own worktree only",
            hint=f"`envtrack bisect resume {bench.plan.id}` drives it",
        )
    put_crossing(bench.tree, crossing, bench.plan.paths)


def _begin(bench: Bench, commit: Oid, subject: Oid) -> Notes:
    folder = _new_folder(bench, subject)
    number, now = 0, time.time()
    if bench.is_driven:
        number = bench.store.begin(bench.plan.id, subject, log=folder, at=now)
    notes = Notes(folder=str(folder), commit=commit.hex, number=number, started=now)
    write_notes(bench, notes)
    return notes


def _new_folder(bench: Bench, subject: Oid) -> Path:
    bench.files.logs.mkdir(parents=True, exist_ok=True)
    number = 1 + sum(1 for _ in bench.files.logs.iterdir())
    while (folder := bench.files.logs / f"{number:03d}-{subject.short}").exists():
        number += 1
    folder.mkdir()
    return folder


def _sync(
    bench: Bench,
    notes: Notes,
    candidate: Candidate,
    command: Sequence[str],
    *,
    is_stale: bool = False,
) -> str:
    """Runs uv until it has done its work, or there is no point in trying again."""
    words = [bench.plan.uv if word == "uv" else word for word in command]
    # uv takes a cached build of a folder whose code has changed: what is local is built anew.
    local = candidate.lock.local_trees if candidate.lock is not None else ()
    anew = [f"--reinstall-package={package.name}" for package in local]
    remove_tree(bench.environment)
    remove_tree(bench.caches)
    tries = 0
    while True:
        require_driver(bench)
        ended = run_here(bench, notes, "sync", [*words, *anew], bench.plan.sync_timeout_s)
        if ended.code == 0:
            misfits = _find_misfits(bench, candidate, is_stale=is_stale)
            if anew == ["--reinstall"]:
                misfits = tuple(misfit for misfit in misfits if not misfit.is_lost_file)
            if not misfits:
                return _look_at_needs(bench, notes, candidate) if bench.plan.is_composed else READY
            if anew == ["--reinstall"]:
                return finish(bench, notes, _untestable("environment", _say(misfits)))
            anew = ["--reinstall"]
        else:
            judgement = _judge_failure(bench, notes, candidate, ended.code)
            if judgement.kind == "lock-stale" and not is_stale and bench.plan.stale != Stale.SKIP:
                _put_log_aside(notes)
                return STALE
            if not _is_worth_a_retry(judgement) or tries >= bench.plan.retries:
                return finish(bench, notes, judgement)
            time.sleep(2.0**tries)
            tries += 1
        _put_log_aside(notes)


def _look_at_needs(bench: Bench, notes: Notes, candidate: Candidate) -> str:
    """Whether the parts of a composed environment are made for each other."""
    from envtrack.probe.needs import find_broken_needs

    own = frozenset(p.name for p in candidate.lock.local_trees) if candidate.lock else frozenset()
    broken = find_broken_needs(bench.environment, own=own)
    (notes.path / NEEDS).write_text(json.dumps(broken), "utf-8")
    try:
        tolerated = json.loads(bench.files.tolerated.read_text("utf-8"))
    except FileNotFoundError:
        return READY  # of the ends nothing is known yet
    if new := [need for need in broken if need not in tolerated]:
        reason = f"what it is made of does not fit together: {'; '.join(new[:3])}"
        return finish(bench, notes, _untestable("requirements", reason))
    return READY


def _put_log_aside(notes: Notes) -> None:
    """Only the words of the next attempt may decide."""
    number = 1 + sum(1 for _ in notes.path.glob("sync.*.log"))
    (notes.path / "sync.log").replace(notes.path / f"sync.{number}.log")


def _is_worth_a_retry(judgement: Judgement) -> bool:
    from envtrack.uv import is_worth_a_retry

    return is_worth_a_retry(judgement)


def _judge_failure(bench: Bench, notes: Notes, candidate: Candidate, code: int | None) -> Judgement:
    from envtrack.uv import judge_sync_failure

    if code is None:
        reason = f"uv sync was still running after {bench.plan.sync_timeout_s:g} s"
        return Judgement(verdict=Verdict.ABORTED, stage="sync", kind="timeout", reason=reason)
    judgement = judge_sync_failure(read_output(notes.path / "sync.log"), code)
    if judgement.kind in {"lock-corrupt", "sync-failed"} and candidate.problem:
        # Our own reader says on which line it breaks.
        return replace(_untestable("lock-corrupt", candidate.problem), exit_code=code)
    return judgement


def _find_misfits(bench: Bench, candidate: Candidate, *, is_stale: bool) -> tuple[Misfit, ...]:
    """Where the environment is not the lock's."""
    from envtrack.probe.verify import Trees, find_misfits

    if is_stale:
        # `--stale relock` has written another lockfile than the one that was looked at.
        candidate = read_candidate(bench.tree, bench.plan, bench.files)
    if candidate.lock is None:
        return ()
    trees = Trees(top=bench.tree.top, project=bench.project, users=Path(bench.plan.root))
    misfits = find_misfits(bench.environment, candidate.lock, candidate.expected, trees=trees)
    if all(misfit.is_absence for misfit in misfits) and misfits and _uv_is_content(bench):
        return ()
    return misfits


def _uv_is_content(bench: Bench) -> bool:
    """Whether uv itself finds nothing missing from the environment."""
    import os

    options = [*bench.plan.selection.as_uv_arguments()]
    options += [f"--python={bench.plan.python}"] if bench.plan.python else []
    done = run(
        (bench.plan.uv, "sync", "--frozen", "--check", "--no-progress", *options),
        timeout_s=bench.plan.sync_timeout_s,
        env=os.environ,
        cwd=bench.project,
        check=False,
    )
    return done.code == 0


def _say(misfits: tuple[Misfit, ...]) -> str:
    shown = "; ".join(f"{misfit.package} {misfit.what}".strip() for misfit in misfits[:5])
    return f"the environment is not what the lockfile says: {shown}"


def _untestable(kind: str, reason: str) -> Judgement:
    stage = "environment" if kind in {"environment", "requirements"} else "sync"
    return Judgement(verdict=Verdict.UNTESTABLE, stage=stage, kind=kind, reason=reason)
