"""What a log says of failures, as it was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from envtrack.triage.rules import Hit
from envtrack.triage.traces import Trace

MARK_SPAN: Final = 40
"""Marks are kept by spans of so many lines."""


@dataclass(slots=True, kw_only=True)
class Event:
    """One message.

    Attributes:
        line: where its deciding line stands, from 1.
        text: that line, as a person reads it.
        stream: the process that wrote it; empty: not said.
        hits: the rules that fit it, the one that says most first.
        trace: its traceback or exception.
        is_warning: whether it was said to be a warning.
        excerpt: the lines to show.
        chain: the event before it in one chain of exceptions.
        times: how often it was said.
        last_line: where it was said last.
    """

    line: int
    text: str
    stream: str = ""
    hits: tuple[Hit, ...] = ()
    trace: Trace | None = None
    is_warning: bool = False
    excerpt: list[str] = field(default_factory=list)
    chain: Event | None = None
    times: int = 1
    last_line: int = 0


@dataclass(slots=True)
class Scan:
    """What was read of a log.

    Attributes:
        events: in the order of the log; of too many the first and the last.
        loose: lines that look like errors, of which nothing is known: the first and the last.
        marks: where each mark was seen, in spans of lines.
        lines: how many lines the log has.
        root_rank: the rank that torchrun says failed first; empty: it does not say.
        dropped: how many different events were not kept.
    """

    events: list[Event] = field(default_factory=list)
    loose: list[Event] = field(default_factory=list)
    marks: dict[str, set[int]] = field(default_factory=dict)
    lines: int = 0
    root_rank: str = ""
    dropped: int = 0

    def has_mark(self, name: str, line: int) -> bool:
        """Whether a mark was seen near a line."""
        span = line // MARK_SPAN
        seen = self.marks.get(name, ())
        return any(near in seen for near in range(span - 3, span + 4))
