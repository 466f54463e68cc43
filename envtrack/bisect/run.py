"""A session from beginning, or from where it was left, to its answer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from envtrack.bisect.answer import make_answer
from envtrack.bisect.conditions import reword, reword_isolation, settle
from envtrack.bisect.rig import Watcher, open_rig
from envtrack.bisect.search import search
from envtrack.compare.going_back import GOING_BACK
from envtrack.errors import Interrupted, RigFailed
from envtrack.files import write_whole
from envtrack.git.repository import Repository
from envtrack.model.answer import Answer
from envtrack.model.oid import Oid
from envtrack.probe.plan import Plan, SessionFiles, read_plan
from envtrack.report.answer import (
    render_answer_json,
    render_answer_markdown,
    render_answer_text,
)
from envtrack.report.look import Look

if TYPE_CHECKING:
    from envtrack.model.isolation import Isolation

_KEPT = Look(width=100)


def run_session(
    repository: Repository, files: SessionFiles, *, watcher: Watcher, told: dict[Oid, str]
) -> Answer:
    """The answer of a session; what it has learnt before is not tried again.

    A commit that moves several packages is not the end of it: they are tried apart.

    Args:
        repository: whose.
        files: the session's files, its plan among them.
        watcher: is called while something runs.
        told: takes what is tried, in words, where that is no commit.

    Raises:
        RigFailed: network, disk, a missing tool; everything learnt is kept.
        Interrupted: the user stopped it; likewise.
    """
    plan = read_plan(files)
    with _kept_when_interrupted(plan), open_rig(repository, plan, files, watcher=watcher) as rig:
        found = settle(rig, repository, search(rig, repository))
        answer = reword(plan, files, make_answer(repository, plan, files, rig.store, found))
        _keep(files, answer)
    return _go_on(repository, files, answer, watcher=watcher, told=told)


def _keep(files: SessionFiles, answer: Answer) -> None:
    write_whole(files.answer_text, render_answer_text(answer, _KEPT))
    write_whole(files.answer_markdown, render_answer_markdown(answer))
    # Last: with this file the session counts as finished.
    write_whole(files.answer, render_answer_json(answer))


def _go_on(
    repository: Repository,
    files: SessionFiles,
    answer: Answer,
    *,
    watcher: Watcher,
    told: dict[Oid, str],
) -> Answer:
    """The answer with the package that is to blame, if there is something to be told apart."""
    from envtrack.bisect.isolate import isolate_further

    inner = isolate_further(repository, files, answer)
    if inner is None:
        return answer
    try:
        isolation = run_isolation(repository, inner, watcher=watcher, told=told)
    except RigFailed as error:
        # The commit is found all the same.
        note = f"the packages could not be tried apart: {error.message}"
        answer = replace(answer, notes=(*answer.notes, note))
    else:
        # Putting one package back is better advice than putting back all that moved.
        others = (hint for hint in answer.hints if not hint.startswith(GOING_BACK))
        hints = (*isolation.hints, *(others if isolation.blames else answer.hints))
        answer = replace(answer, isolation=isolation, hints=hints)
    _keep(files, answer)
    return answer


def run_isolation(
    repository: Repository, files: SessionFiles, *, watcher: Watcher, told: dict[Oid, str]
) -> Isolation:
    """The same for a session that composes lockfiles.

    Args:
        repository: whose.
        files: the session's files.
        watcher: is called while something runs.
        told: takes what is tried, in words.

    Raises:
        RigFailed: network, disk, a missing tool; everything learnt is kept.
        Interrupted: the user stopped it; likewise.
    """
    from envtrack.bisect.isolate import Search, read_names
    from envtrack.bisect.isolated import tell_isolation
    from envtrack.report.isolation import (
        render_isolation_json,
        render_isolation_markdown,
        render_isolation_text,
    )

    plan = read_plan(files)
    with _kept_when_interrupted(plan), open_rig(repository, plan, files, watcher=watcher) as rig:
        isolation = tell_isolation(rig, read_names(files), Search(rig, told).run())
        isolation = reword_isolation(plan, isolation)
        write_whole(files.answer_text, render_isolation_text(isolation, _KEPT))
        write_whole(files.answer_markdown, render_isolation_markdown(isolation))
        write_whole(files.answer, render_isolation_json(isolation))
        return isolation


@contextlib.contextmanager
def _kept_when_interrupted(plan: Plan) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"stopped; every finished probe of session {plan.id} is kept",
            hint=f"`envtrack bisect resume {plan.id}` goes on from here",
        ) from error
