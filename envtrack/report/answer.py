"""A bisect session's answer as text, JSON and Markdown.

The JSON form, schema 1: ``{"schema", "kind": "bisect", "session", "outcome", "message",
"exit_code", "lockfile", "smoke", "culprit", "predecessor", "possible": [], "ends": [],
"skipped": [], "comparison", "crossings", "isolation", "last_lines": [], "effort", "folder",
"hints": [], "notes": [], "machine"}``.
A commit is ``{"commit", "subject", "author", "date"}``, with ``verdict``, ``kind``, ``reason`` and
``log`` where it was judged; ``crossings`` is ``{"attribution", "environment_alone",
"code_alone"}`` with a verdict, its kind, reason and log for each of the two, or ``null``;
``comparison`` is that of `envtrack.report.comparison`, ``isolation`` that of
`envtrack.report.isolation`, or ``null``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envtrack.model.answer import Outcome
from envtrack.report.attribution import say_crossings
from envtrack.report.comparison import render_comparison_json, render_comparison_text
from envtrack.report.comparison_markdown import render_comparison_markdown
from envtrack.report.isolation import (
    render_isolation_json,
    render_isolation_markdown,
    render_isolation_text,
)
from envtrack.report.look import Block, Line, Row, render_blocks
from envtrack.report.plain import show_json, show_markdown, show_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.model.answer import Answer, Judged
    from envtrack.model.attribution import Crossed
    from envtrack.model.oid import Commit
from envtrack.report.look import Look

SCHEMA = 1
_SHOWN = 20


def render_answer_text(answer: Answer, look: Look) -> str:
    """What was found, what it changed, how it fails, what it cost, and what to do next."""
    style = "bold red" if answer.outcome is Outcome.FOUND else "bold yellow"
    blocks: list[Block] = [Line(answer.message, style)]
    if answer.isolation is not None:
        blocks.append(Line(f"in it {answer.isolation.message}", style))
    if answer.culprit is not None:
        blocks += _commit_rows(answer.culprit.commit)
    blocks += [Line(line) for line in say_crossings(answer)]
    blocks += [Line(f"note: {note}") for note in answer.notes]
    for title, rows in (
        ("It is one of these:", answer.possible),
        ("The ends:", answer.ends if answer.outcome is not Outcome.FOUND else ()),
        ("Skipped, they can't be tested:", answer.skipped),
    ):
        blocks += _judged_rows(title, rows, is_full=look.is_full)
    parts = [render_blocks(blocks, look)]
    if answer.comparison is not None and answer.comparison.changes:
        parts.append(render_comparison_text(answer.comparison, look))
    if answer.isolation is not None:
        parts.append(render_isolation_text(answer.isolation, look, is_inner=True))
    parts.append(render_blocks(_tail(answer), look))
    return "\n".join(parts)


def _commit_rows(commit: Commit) -> list[Block]:
    return [
        Row((("commit", "dim"), (commit.oid.hex, ""))),
        Row((("author", "dim"), (commit.author, ""))),
        Row((("date", "dim"), (commit.authored_at, ""))),
    ]


def _judged_rows(title: str, rows: tuple[Judged, ...], *, is_full: bool) -> list[Block]:
    if not rows:
        return []
    shown = rows if is_full else rows[:_SHOWN]
    blocks: list[Block] = [Line(""), Line(title, "bold")]
    for row in shown:
        said = f"{row.judgement.verdict}: {row.judgement.reason}" if row.judgement else "not tried"
        blocks.append(Row(((row.commit.oid.short, ""), (row.commit.subject, ""), (said, "dim"))))
    if len(shown) < len(rows):
        blocks.append(Line(f"… and {len(rows) - len(shown)} more", "dim", 2))
    return blocks


def _tail(answer: Answer) -> list[Block]:
    blocks: list[Block] = []
    if answer.last_lines:
        blocks.append(Line("The last lines it printed:", "bold"))
        blocks += [Line(line, "", 2) for line in answer.last_lines]
        blocks.append(Line(""))
    blocks.append(Line(say_effort(answer)))
    if answer.machine:
        blocks.append(Line(f"this holds for the machine {answer.machine}"))
    blocks.append(Line(f"logs and script: {answer.folder}", "dim"))
    if answer.hints:
        blocks += [Line(""), Line("What to do next:", "bold")]
        blocks += [Line(hint, "", 2) for hint in answer.hints]
    return blocks


def say_effort(answer: Answer) -> str:
    """One line: probes, candidates, seconds."""
    effort = answer.effort
    candidates = "1 candidate" if effort.candidates == 1 else f"{effort.candidates} candidates"
    parts = [
        f"{number} {what}"
        for number, what in (
            (effort.end_probes, "at the ends"),
            (effort.untestable, "untestable"),
        )
        if number
    ]
    said = "1 probe" if effort.probes == 1 else f"{effort.probes} probes"
    said += f" ({', '.join(parts)})" if parts else ""
    said += f" for {candidates}; halving needs {effort.least}"
    if effort.spared:
        said += f"; {effort.spared} spared, the same environment and code was known"
    return f"{said}; {effort.seconds:.1f} s"


def render_answer_json(answer: Answer) -> str:
    """The documented JSON form, with a final newline."""
    comparison = answer.comparison
    document = {
        "schema": SCHEMA,
        "kind": "bisect",
        "session": answer.session,
        "outcome": answer.outcome,
        "exit_code": answer.outcome.exit_code,
        "message": answer.message,
        "lockfile": answer.lockfile,
        "smoke": answer.smoke,
        "culprit": _judged(answer.culprit) if answer.culprit else None,
        "predecessor": _commit(answer.predecessor) if answer.predecessor else None,
        "possible": [_judged(row) for row in answer.possible],
        "ends": [_judged(row) for row in answer.ends],
        "skipped": [_judged(row) for row in answer.skipped],
        "comparison": json.loads(render_comparison_json(comparison)) if comparison else None,
        "crossings": _crossings(answer.crossed) if answer.crossed else None,
        "isolation": (
            json.loads(render_isolation_json(answer.isolation)) if answer.isolation else None
        ),
        "last_lines": list(answer.last_lines),
        "effort": {
            "candidates": answer.effort.candidates,
            "least": answer.effort.least,
            "probes": answer.effort.probes,
            "end_probes": answer.effort.end_probes,
            "untestable": answer.effort.untestable,
            "spared": answer.effort.spared,
            "seconds": round(answer.effort.seconds, 3),
        },
        "folder": answer.folder,
        "hints": list(answer.hints),
        "notes": list(answer.notes),
        "machine": answer.machine,
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _crossings(crossed: Crossed) -> dict[str, Any]:
    halves = (
        ("environment_alone", crossed.environment_alone, crossed.logs[0]),
        ("code_alone", crossed.code_alone, crossed.logs[1]),
    )
    return {
        "attribution": crossed.attribution,
        **{
            name: {
                "verdict": said.verdict,
                "kind": said.kind,
                "reason": said.reason,
                "log": log or None,
            }
            for name, said, log in halves
        },
    }


def _commit(commit: Commit) -> dict[str, Any]:
    return {
        "commit": commit.oid.hex,
        "subject": commit.subject,
        "author": commit.author,
        "date": commit.authored_at,
    }


def _judged(row: Judged) -> dict[str, Any]:
    judgement = row.judgement
    return {
        **_commit(row.commit),
        "verdict": judgement.verdict if judgement else None,
        "kind": judgement.kind if judgement else None,
        "reason": judgement.reason if judgement else None,
        "log": row.log or None,
    }


def render_answer_markdown(answer: Answer) -> str:
    """For an issue or a chat: the finding, the changes, the failure, how to go on."""
    return "\n".join([*_markdown_lines(answer), ""])


def _markdown_lines(answer: Answer) -> Iterator[str]:
    yield f"# {show_markdown(answer.message)}"
    yield ""
    if answer.culprit is not None:
        commit = answer.culprit.commit
        yield f"- commit {commit.oid.hex}"
        yield f"- {show_markdown(commit.author)}, {commit.authored_at}"
    yield f"- smoke test: {show_markdown(answer.smoke)}"
    yield f"- {say_effort(answer)}"
    if answer.machine:
        yield f"- this holds for the machine {show_markdown(answer.machine)}"
    yield from (f"- {show_markdown(line)}" for line in say_crossings(answer))
    yield from (f"- {show_markdown(note)}" for note in answer.notes)
    for title, rows in (("One of these", answer.possible), ("Skipped", answer.skipped)):
        if rows:
            yield from ("", f"## {title}", "")
            yield from (_markdown_row(row) for row in rows)
    if answer.comparison is not None:
        yield ""
        yield render_comparison_markdown(answer.comparison).rstrip()
    if answer.isolation is not None:
        yield ""
        yield render_isolation_markdown(answer.isolation, level=2).rstrip()
    if answer.last_lines:
        yield from ("", "## The last lines it printed", "")
        # Indented code needs no fence, which the output could close.
        yield from (f"    {show_plain(line)}" for line in answer.last_lines)
    if answer.hints:
        yield from ("", "## What to do next", "")
        yield from (f"    {show_plain(hint)}" for hint in answer.hints)


def _markdown_row(row: Judged) -> str:
    said = f"{row.judgement.verdict}: {row.judgement.reason}" if row.judgement else "not tried"
    return f"- {row.commit.oid.short} {show_markdown(row.commit.subject)} ({show_markdown(said)})"
