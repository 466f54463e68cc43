"""A timeline as text, Markdown and JSON.

JSON, schema 1: ``{"schema": 1, "kind": "log", "lockfile", "machine", "passed_over", "entries": [
{"commit", "date", "author", "subject", "same", "fault", "moved_from", "layers": {layer: count},
"counts": {kind: count}, "root": count, "changes": [as in `diff`], "verdicts": [{"machine", "last",
"count"}]}]}``, newest first.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from envtrack.model.comparison import Origin
from envtrack.report.line import NAMED, name_changes
from envtrack.report.look import Block, Line, Row, render_blocks
from envtrack.report.plain import show_json, show_markdown

if TYPE_CHECKING:
    from envtrack.model.timeline import Entry, Timeline
    from envtrack.report.look import Look
    from envtrack.report.shapes import EntryShape, LogShape

SCHEMA = 1
_DAY = 10
_VERDICT_STYLES = {"good": "green", "bad": "red"}


def render_timeline_text(timeline: Timeline, look: Look) -> str:
    """One line a commit: date, layers that moved, what was asked for, verdicts, subject."""
    blocks: list[Block] = [_row(entry, look) for entry in timeline.entries]
    blocks += [Line(""), Line(_say_sum(timeline), "dim")]
    return render_blocks(blocks, look)


def render_timeline_markdown(timeline: Timeline) -> str:
    """A table, a row a commit."""
    lines = [
        "| commit | date | layers | changes | verdicts | subject |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        "| " + " | ".join(show_markdown(cell) for cell in _cells(entry, named=NAMED)) + " |"
        for entry in timeline.entries
    ]
    return "\n".join([*lines, "", show_markdown(_say_sum(timeline)), ""])


def render_timeline_json(timeline: Timeline) -> str:
    """The JSON document; see the module's docstring for its shape."""
    document: LogShape = {
        "schema": SCHEMA,
        "kind": "log",
        "lockfile": timeline.lockfile,
        "machine": timeline.machine,
        "passed_over": timeline.passed_over,
        "entries": [_describe(entry) for entry in timeline.entries],
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=1)) + "\n"


def _describe(entry: Entry) -> EntryShape:
    return {
        "commit": entry.commit.oid.hex,
        "date": entry.commit.authored_at,
        "author": entry.commit.author,
        "subject": entry.commit.subject,
        "same": entry.is_same,
        "fault": entry.fault or None,
        "moved_from": entry.moved_from or None,
        "layers": dict(Counter(str(change.layer) for change in entry.changes)),
        "counts": dict(Counter(str(change.kind) for change in entry.changes)),
        "root": sum(change.origin is Origin.ROOT for change in entry.changes),
        "changes": [
            {
                "layer": str(change.layer),
                "name": change.name,
                "kind": str(change.kind),
                "before": change.before,
                "after": change.after,
                "origin": str(change.origin),
            }
            for change in entry.changes
        ],
        "verdicts": [
            {"machine": one.machine, "last": one.last, "count": one.count} for one in entry.verdicts
        ],
    }


def _row(entry: Entry, look: Look) -> Row:
    commit, date, layers, changes, verdicts, subject = _cells(
        entry, named=len(entry.changes) if look.is_full else NAMED
    )
    style = "red" if entry.fault else ""
    last = entry.verdicts[-1].last if entry.verdicts else ""
    return Row(
        (
            (commit, "yellow"),
            (date, ""),
            (layers, "dim"),
            (changes, style),
            (verdicts, _VERDICT_STYLES.get(last, "magenta")),
            (subject, "dim"),
        )
    )


def _cells(entry: Entry, *, named: int) -> tuple[str, str, str, str, str, str]:
    verdicts = ", ".join(
        f"{one.last}@{one.machine}" + (f" ×{one.count}" if one.count > 1 else "")
        for one in entry.verdicts
    )
    counted = Counter(str(change.layer) for change in entry.changes)
    layers = ", ".join(f"{layer} {count}" for layer, count in counted.items())
    date = entry.commit.authored_at[:_DAY]
    said = _say_changes(entry, named)
    return entry.commit.oid.short, date, layers, said, verdicts, entry.commit.subject


def _say_changes(entry: Entry, named: int) -> str:
    if entry.fault:
        return entry.fault
    parts = [f"moved from {entry.moved_from}"] if entry.moved_from else []
    if entry.is_same:
        return ", ".join([*parts, "the same environment"])
    return ", ".join([*parts, *name_changes(entry.changes, named)])


def _say_sum(timeline: Timeline) -> str:
    count = len(timeline.entries)
    same = sum(entry.is_same for entry in timeline.entries)
    said = f"{'1 commit' if count == 1 else f'{count} commits'} of {timeline.lockfile}"
    if same:
        said += f", {same} of them the same environment as before"
    if timeline.passed_over:
        said += f"; {timeline.passed_over} others moved nothing of that"
    return said
