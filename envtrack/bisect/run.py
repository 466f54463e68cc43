"""A session from beginning, or from where it was left, to its answer."""

from __future__ import annotations

from envtrack.bisect.answer import make_answer
from envtrack.bisect.rig import Watcher, open_rig
from envtrack.bisect.search import search
from envtrack.errors import Interrupted
from envtrack.files import write_whole
from envtrack.git.repository import Repository
from envtrack.model.answer import Answer
from envtrack.probe.plan import SessionFiles, read_plan
from envtrack.report.answer import (
    render_answer_json,
    render_answer_markdown,
    render_answer_text,
)
from envtrack.report.look import Look


def run_session(repository: Repository, files: SessionFiles, *, watcher: Watcher) -> Answer:
    """The answer of a session; what it has learnt before is not tried again.

    Args:
        repository: whose.
        files: the session's files, its plan among them.
        watcher: is called while something runs.

    Raises:
        RigFailed: network, disk, a missing tool; everything learnt is kept.
        Interrupted: the user stopped it; likewise.
    """
    plan = read_plan(files)
    try:
        with open_rig(repository, plan, files, watcher=watcher) as rig:
            found = search(rig, repository)
            answer = make_answer(repository, plan, files, rig.store, found)
            write_whole(files.answer_text, render_answer_text(answer, Look(width=100)))
            write_whole(files.answer_markdown, render_answer_markdown(answer))
            # Last: with this file the session counts as finished.
            write_whole(files.answer, render_answer_json(answer))
            return answer
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"stopped; every finished probe of session {plan.id} is kept",
            hint=f"`envtrack bisect resume {plan.id}` goes on from here",
        ) from error
