"""Reads the sessions of a repository for its report."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envtrack.errors import CommandFailed, EnvtrackError
from envtrack.model.oid import Commit, Oid
from envtrack.model.story import Probed, Story

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.verdict import Observation
    from envtrack.probe.plan import Plan, SessionFiles

_MOST = 10


def read_stories(repository: "Repository") -> tuple[tuple[Story, ...], tuple[str, ...]]:
    """The newest sessions, newest first, and a note on each whose files can't be read.

    At most ten of them are told: each may have hundreds of lines of logs.
    """
    from envtrack.bisect.session import list_sessions

    stories, notes = [], []
    for files in list_sessions(repository)[::-1][:_MOST]:
        try:
            stories.append(_read_story(repository, files))
        except (EnvtrackError, ValueError, OSError):  # of a newer envtrack, or torn
            name = files.folder.name
            notes.append(f"search {name} can't be read: `envtrack bisect status {name}` says why")
    return tuple(stories), tuple(notes)


def _read_story(repository: "Repository", files: "SessionFiles") -> Story:
    from envtrack.git.candidates import list_candidates
    from envtrack.probe.plan import read_plan
    from envtrack.probe.store import Store
    from envtrack.record.verdicts import hide_private

    plan = read_plan(files)
    good, bad = Oid(plan.good), Oid(plan.bad)
    candidates: tuple[Commit, ...] = ()
    if not plan.is_composed:
        try:
            candidates = list_candidates(repository, good, bad, plan.paths)
        except CommandFailed:
            candidates = ()  # its commits are no longer there
    subjects = {commit.oid: commit.subject for commit in candidates}
    seen = Store(files.store).list(plan.id)
    return Story(
        session=plan.id,
        created_at=plan.created_at,
        good=good,
        bad=bad,
        lockfile=plan.lockfile,
        smoke=hide_private(plan.smoke),
        machine=plan.machine,
        is_composed=plan.is_composed,
        candidates=candidates,
        probes=tuple(_read_probe(one, plan, subjects) for one in seen),
        answer=_read_answer(files.answer),
    )


def _read_probe(seen: "Observation", plan: "Plan", subjects: Mapping[Oid, str]) -> Probed:
    from envtrack.bisect.last_lines import read_last_lines
    from envtrack.record.verdicts import hide_private

    lines = read_last_lines(seen.log, plan.id)
    return Probed(
        observation=seen,
        subject=subjects.get(seen.commit, ""),
        log=tuple(hide_private(line) for line in lines),
    )


def _read_answer(path: Path) -> Mapping[str, Any] | None:
    if not path.is_file():
        return None
    answer = _hide(json.loads(path.read_text("utf-8")))
    return answer if isinstance(answer, dict) else None


def _hide(value: Any) -> Any:  # noqa: ANN401 - JSON
    """The same without secrets and homes: a report is made to be passed on."""
    from envtrack.record.verdicts import hide_private

    if isinstance(value, str):
        return hide_private(value)
    if isinstance(value, list):
        return [_hide(one) for one in value]
    if isinstance(value, dict):
        return {name: _hide(one) for name, one in value.items()}
    return value
