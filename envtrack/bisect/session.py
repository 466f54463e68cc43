"""Sessions: made, found again, and cleaned up after."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from envtrack.bisect.ends import (
    find_environment_paths,
    find_neighbours,
    require_lockfile,
    require_range,
)
from envtrack.bisect.smoke_files import SmokeFile, find_smoke_files, keep_smoke_files
from envtrack.errors import RigFailed, UsageProblem
from envtrack.files import lock_file, write_whole
from envtrack.git.repository import Repository
from envtrack.git.worktree import find_worktree, remove_worktree
from envtrack.model.oid import Oid
from envtrack.probe.plan import Plan, SessionFiles, read_plan, write_plan
from envtrack.probe.script import render_script

EACH = "each"
_INNER = "-packages"


class Wish(NamedTuple):
    """What the user asked for.

    Attributes:
        good: a revision.
        bad: a revision.
        lockfile: from the top level.
        smoke: the command.
        smoke_from: the revision that the smoke test's files come from; empty: the working tree;
            `EACH`: none are put in place, every commit has its own.
        listed_files: further files of the smoke test.
        settings: the rest of the plan, its own fields as given; see `Plan`.
    """

    good: str
    bad: str
    lockfile: str
    smoke: str
    smoke_from: str
    listed_files: tuple[str, ...]
    settings: Plan


def sessions_folder(repository: Repository) -> Path:
    """Where this repository keeps its sessions."""
    return repository.common_dir / "envtrack" / "sessions"


def make_session(repository: Repository, wish: Wish, *, now: datetime) -> SessionFiles:
    """A new session: checked, planned, its script written; nothing has run yet.

    Raises:
        UsageProblem: the ends, the lockfile or the smoke test are not what they should be.
        RigFailed: the repository's git folder can't be written.
    """
    good, bad = repository.get_commit(wish.good), repository.get_commit(wish.bad)
    names = (wish.good, wish.bad)
    require_range(repository, good, bad, names=names)
    require_lockfile(repository, wish.lockfile, good, bad, names=names)
    settings = replace(
        wish.settings,
        paths=find_environment_paths(repository, wish.lockfile, good, bad),
        neighbours=find_neighbours(repository, wish.lockfile, good, bad),
    )
    return keep_session(repository, wish._replace(settings=settings), (good, bad), now=now)


def keep_session(
    repository: Repository,
    wish: Wish,
    ends: tuple[Oid, Oid],
    *,
    now: datetime,
    more: Mapping[str, str] | None = None,
) -> SessionFiles:
    """The files of a new session, its plan last: with it the session is there.

    Args:
        repository: whose.
        wish: what was asked for; its settings say which paths and neighbours count.
        ends: the good and the bad commit.
        now: when.
        more: further files of the session by name.

    Raises:
        UsageProblem: there is no smoke test, or it is not what it should be.
        RigFailed: the repository's git folder can't be written.
    """
    good, bad = ends
    if not wish.smoke.strip():
        raise UsageProblem(
            "no smoke test: nothing can tell good from bad",
            hint="`--smoke 'COMMAND'`, or `smoke: {command: …}` in .envtrack/config.yaml",
        )
    kept = _choose_smoke_files(repository, wish, bad)
    name = f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
    plan = replace(
        wish.settings,
        id=name,
        created_at=now.isoformat(timespec="seconds"),
        root=str(repository.root),
        common_dir=str(repository.common_dir),
        lockfile=wish.lockfile,
        good=good.hex,
        bad=bad.hex,
        smoke=wish.smoke,
        smoke_files=tuple(file.name for file in kept),
    )
    files = SessionFiles(sessions_folder(repository) / name)
    _require_writable(repository)
    keep_smoke_files(kept, files.smoke_files)
    write_session(files, plan, more or {})
    return files


def write_session(files: SessionFiles, plan: Plan, more: Mapping[str, str]) -> None:
    """Writes a session's files, its plan last: with it the session is there.

    Args:
        files: where; the files of the smoke test are there already.
        plan: what it is to do.
        more: further files by name.
    """
    for name, text in more.items():
        write_whole(files.folder / name, text)
    # A path, or a command with one in it, need not be UTF-8.
    write_whole(files.smoke, os.fsencode(plan.smoke + "\n"))
    write_whole(files.script, os.fsencode(render_script(plan, files)), mode=0o755)
    write_plan(files, plan)


def _choose_smoke_files(repository: Repository, wish: Wish, bad: Oid) -> tuple[SmokeFile, ...]:
    if wish.smoke_from == EACH:
        return ()
    return find_smoke_files(
        repository,
        wish.smoke,
        project=wish.lockfile.rpartition("/")[0],
        listed=wish.listed_files,
        source=repository.get_commit(wish.smoke_from) if wish.smoke_from else None,
        otherwise=bad,
    )


def _require_writable(repository: Repository) -> None:
    folder = sessions_folder(repository)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RigFailed(
            f"{repository.common_dir}: can't be written ({error.strerror}); a search keeps its"
            " session and its worktree there",
            hint="clone the repository to a place of your own: `git clone --shared <this> <there>`",
        ) from error


def inner_session(files: SessionFiles) -> SessionFiles:
    """The session that tries the packages of another one's culprit apart; it may not be there."""
    return SessionFiles(files.folder.with_name(files.folder.name + _INNER))


def list_sessions(repository: Repository, *, with_inner: bool = False) -> tuple[SessionFiles, ...]:
    """All sessions of this repository, oldest first; those that belong to another if asked."""
    folder = sessions_folder(repository)
    if not folder.is_dir():
        return ()
    found = (SessionFiles(path) for path in sorted(folder.iterdir()))
    return tuple(
        files
        for files in found
        if files.plan.is_file() and (with_inner or not files.folder.name.endswith(_INNER))
    )


def find_session(repository: Repository, name: str, *, unfinished: bool = False) -> SessionFiles:
    """The session of this id (its beginning is enough), or the newest one.

    Args:
        repository: whose.
        name: an id or its beginning; empty: the newest.
        unfinished: prefer those that did not come to their end, if no name is given: there is no
            answer, or the worktree is still there.

    Raises:
        UsageProblem: there is none, or several begin so.
    """
    known = list_sessions(repository)
    if name:
        matching = [files for files in known if files.folder.name.startswith(name)]
    elif unfinished:
        # Of one that has come to its end the answer is told again: it may never have been shown.
        matching = [files for files in known if not _is_finished(files)][-1:] or list(known[-1:])
    else:
        matching = list(known[-1:])
    if len(matching) == 1:
        return matching[0]
    if matching:
        shown = ", ".join(files.folder.name for files in matching)
        raise UsageProblem(f"several sessions begin with `{name}`: {shown}")
    raise UsageProblem(
        f"there is no session{f' `{name}`' if name else ''} in this repository",
        hint="`envtrack bisect GOOD` starts one",
    )


def clean_up_after_others(repository: Repository) -> None:
    """Removes the worktrees of sessions that were killed; those that run or are kept stay."""
    for files in list_sessions(repository, with_inner=True):
        worktree = find_worktree(repository, files.worktree)
        if worktree is None or _is_kept(files):
            continue
        try:
            with lock_file(files.lock, wait_s=0, busy="running"):
                remove_worktree(worktree, marker=files.worktree)
        except RigFailed:
            continue


def _is_finished(files: SessionFiles) -> bool:
    # The answer is written before the worktree goes, and shown after: a kill can fall in between.
    return files.answer.exists() and (not files.worktree.exists() or _is_kept(files))


def _is_kept(files: SessionFiles) -> bool:
    try:
        return read_plan(files).keep
    except UsageProblem:
        return False


def read_ends(files: SessionFiles) -> tuple[Oid, Oid]:
    """The good and the bad end of a session."""
    plan = read_plan(files)
    return Oid(plan.good), Oid(plan.bad)
