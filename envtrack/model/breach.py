"""What a policy says of a change."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """How much a rule weighs."""

    ERROR = "error"
    WARN = "warn"
    OFF = "off"


class Excuse(StrEnum):
    """Why a broken rule does not count."""

    NONE = ""
    OVERRIDE = "override"
    """The commit says so: ``Env-Override: <rule> <reason>``."""
    WAIVER = "waiver"
    """The policy says so, until a date."""


class Breach(NamedTuple):
    """One rule that one step breaks.

    Attributes:
        rule: the rule's name, as policies have it.
        level: how much it weighs.
        step: what was judged: ``staged``, or a commit's short name.
        lockfile: which lockfile; empty: the commit itself.
        found: what there is, in one line.
        why: why that is a rule.
        ways_out: what to do, each a command to paste or a sentence.
        names: the packages or facts that it is about.
        excuse: why it does not count.
        reason: the excuse in the words of who made it.
        policy: the file of the policy that has the rule.
        is_waiting: whether the commit's message may still answer it.
    """

    rule: str
    level: Level
    step: str
    lockfile: str
    found: str
    why: str
    ways_out: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    excuse: Excuse = Excuse.NONE
    reason: str = ""
    policy: str = ""
    is_waiting: bool = False

    @property
    def is_error(self) -> bool:
        """Whether it stops a commit."""
        return self.level is Level.ERROR and self.excuse is Excuse.NONE


class Judged(NamedTuple):
    """What a policy says of some steps.

    Attributes:
        breaches: in the order of the steps, and of the rules.
        steps: how many were judged.
        policies: the files of the policies.
        waiting: how many breaches more there are that the commit's message may still answer.
    """

    breaches: tuple[Breach, ...]
    steps: int
    policies: tuple[str, ...] = ()
    waiting: int = 0

    @property
    def is_broken(self) -> bool:
        """Whether a rule that counts is broken."""
        return any(breach.is_error for breach in self.breaches)
