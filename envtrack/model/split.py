"""What `split` made, or would make, of a change."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from envtrack.model.comparison import Change
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement


class SplitOutcome(StrEnum):
    """How it ended."""

    NOTHING = "nothing"
    """It moves one layer already, or what it moves can't be parted."""
    PLANNED = "planned"
    """The steps are known, and nothing was changed."""
    DONE = "done"
    """Every step is a commit."""
    STOPPED = "stopped"
    """A step was not proven good; what comes before it are commits."""


class SplitStep(NamedTuple):
    """One commit of the series.

    Attributes:
        changes: what it moves.
        groups: the layers that it moves, by what counts as one layer, from the ground up.
        joined: why something had to come along, a line each.
        subject: the first line of its message.
        commit: its name; ``None`` where it was not made.
        judgement: what the smoke test says; ``None`` where it was not asked.
        log: the folder with the logs of the smoke test; empty where there is none.
    """

    changes: tuple[Change, ...]
    groups: tuple[str, ...]
    joined: tuple[str, ...]
    subject: str
    commit: Oid | None = None
    judgement: Judgement | None = None
    log: str = ""


class Split(NamedTuple):
    """A change and its series.

    Attributes:
        lockfile: its path from the top level.
        source: what was split: ``staged``, or a commit's short name.
        base: the commit on which the series stands.
        outcome: how it ended.
        steps: lowest layer first.
        paths: the files that are moved with the lockfile, from the top level.
        kept_as: the ref under which the original state is; empty where nothing was changed.
        notes: what else is to be known, a line each.
    """

    lockfile: str
    source: str
    base: Oid
    outcome: SplitOutcome
    steps: tuple[SplitStep, ...]
    paths: tuple[str, ...] = ()
    kept_as: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_staged(self) -> bool:
        """Whether it was the index, and no commit, that was split."""
        return self.source == "staged"

    @property
    def made(self) -> tuple[SplitStep, ...]:
        """The steps that are commits."""
        return tuple(step for step in self.steps if step.commit is not None)
