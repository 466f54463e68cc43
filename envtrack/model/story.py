"""A search as it went: which commit was tried when, what was said, and what was left open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from envtrack.model.oid import Commit, Oid
from envtrack.model.verdict import Observation


class Probed(NamedTuple):
    """One probe of a search.

    Attributes:
        observation: which commit, when, how long, what was said.
        subject: the commit's, or what was composed; may be empty.
        log: the last lines that it printed; without secrets and folders of worktrees.
    """

    observation: Observation
    subject: str = ""
    log: tuple[str, ...] = ()


class Story(NamedTuple):
    """One session of `bisect` or `isolate`.

    Attributes:
        session: its id.
        created_at: UTC, ISO 8601.
        good: the good end.
        bad: the bad end.
        lockfile: its path from the top level.
        smoke: the smoke test, without secrets.
        machine: where it ran.
        is_composed: whether lockfiles were composed, and not commits tried.
        candidates: the commits among which the culprit was sought, oldest first, each with its
            parents among them; empty where history no longer has them.
        probes: in order.
        answer: the answer's JSON document (`envtrack.report.answer`, `envtrack.report.isolation`);
            ``None``: there is none yet.
    """

    session: str
    created_at: str
    good: Oid
    bad: Oid
    lockfile: str
    smoke: str
    machine: str
    is_composed: bool
    candidates: tuple[Commit, ...]
    probes: tuple[Probed, ...]
    answer: Mapping[str, Any] | None
