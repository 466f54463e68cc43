"""What a log's reader found: values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from envtrack.triage.rules import Hypothesis, Role


class Standing(StrEnum):
    """How a hypothesis stands after looking."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing that was looked at.

    Attributes:
        name: the fact, or the doctor's rule.
        seen: what was seen there, in words.
        points_to: what it says of the hypothesis.
    """

    name: str
    seen: str
    points_to: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A hypothesis, and what the evidence says of it.

    Attributes:
        hypothesis: what would be the case, with the message's own values put in.
        standing: how it stands.
        evidence: what was looked at.
    """

    hypothesis: Hypothesis
    standing: Standing = Standing.OPEN
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageFinding:
    """One error.

    Attributes:
        layer: the layer that failed, or what is no layer (`PLACES`).
        kind: finer than the layer.
        role: what the message is in the course of the failure.
        rule: the rule that knows it; empty: judged by type and place of the exception, or unknown.
        line: the line it stands on, from 1.
        text: that line.
        excerpt: the lines around it.
        means: what it says, in a sentence.
        stream: the process that wrote it; empty: not said.
        times: how often it was said.
        also: other layers that it may come from.
        values: what the message names: a library, a module.
        collect: what to look at next.
        judged: its hypotheses.
    """

    layer: str
    kind: str
    role: Role
    rule: str
    line: int
    text: str
    excerpt: tuple[str, ...]
    means: str = ""
    stream: str = ""
    times: int = 1
    also: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    collect: tuple[str, ...] = ()
    judged: tuple[Judged, ...] = ()

    @property
    def points_to(self) -> tuple[str, ...]:
        """The layers that the evidence on this machine points to: of the supported hypotheses."""
        supported = (one for one in self.judged if one.standing is Standing.SUPPORTED)
        return tuple(dict.fromkeys(one.hypothesis.layer for one in supported))


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """What a log says of failures.

    Attributes:
        source: the log's name.
        lines: how many lines it has.
        findings: the root first, then what followed or stood beside it, in the log's order.
        changes: what moved since the last good record, in lines.
        notes: what is to be said of the reading as a whole.
    """

    source: str
    lines: int
    findings: tuple[TriageFinding, ...]
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def root(self) -> TriageFinding | None:
        """The first cause; ``None`` where no error was found."""
        return self.findings[0] if self.findings else None
