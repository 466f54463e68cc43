"""A triage as text, JSON and Markdown.

The JSON form, schema 1, is `TriageShape` in `envtrack.report.shapes`; ``findings`` has the root
first. A hypothesis has a remedy only if the evidence supports it. Keys may be added, none changes
its meaning without a new schema number.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envtrack.model.redact import redact_homes, redact_text
from envtrack.report.look import Block, Line, render_blocks
from envtrack.report.plain import show_json, show_markdown, show_plain
from envtrack.triage.findings import Standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envtrack.report.look import Look
    from envtrack.triage.findings import Judged, Triage, TriageFinding

SCHEMA = 1

_STYLES = {Standing.SUPPORTED: "bold green", Standing.REFUTED: "dim", Standing.OPEN: "yellow"}
_INDENT = 2
_DEEPER = 6
_FEW = 8
_NOTHING = "no error was found in it"


def render_triage_text(triage: Triage, look: Look) -> str:
    """The root with its hypotheses, then what followed in a line each."""
    blocks: list[Block] = [Line(_say_source(triage), "bold")]
    if triage.root is None:
        blocks += [Line(""), Line(_NOTHING)]
    else:
        blocks += [Line(""), *_render_root(triage.root)]
        blocks += _render_rest(triage.findings[1:], look)
    blocks += _render_changes(triage.changes)
    if triage.notes:
        blocks += [Line(""), *(Line(f"note: {note}", "dim") for note in triage.notes)]
    return render_blocks(blocks, look)


def _say_source(triage: Triage) -> str:
    many = "1 line" if triage.lines == 1 else f"{triage.lines} lines"
    return f"{triage.source}: {many}"


def _render_root(finding: TriageFinding) -> Iterator[Block]:
    yield Line(say_place(finding), "bold red")
    for row in finding.excerpt or (finding.text,):
        yield Line(_hide(row), "cyan", _INDENT)
    yield Line("")
    yield Line(finding.means, "", _INDENT)
    if finding.also:
        yield Line(f"may also come from: {', '.join(finding.also)}", "dim", _INDENT)
    if finding.points_to:
        yield Line(
            f"on this machine the evidence points to: {', '.join(finding.points_to)}",
            "bold",
            _INDENT,
        )
    for judged in finding.judged:
        yield from _render_hypothesis(judged)
    if finding.collect:
        yield Line("")
        yield Line("look at next", "bold", _INDENT)
        yield from (Line(f"- {text}", "", _INDENT) for text in finding.collect)


def say_place(finding: TriageFinding) -> str:
    """Layer, kind, line, and the process that said it."""
    who = f", {finding.stream}" if finding.stream else ""
    often = f", {finding.times} times" if finding.times > 1 else ""
    return f"{finding.layer} · {finding.kind} (line {finding.line}{who}{often})"


def _render_hypothesis(judged: Judged) -> Iterator[Block]:
    yield Line("")
    yield Line(f"{judged.standing}: {judged.hypothesis.claim}", _STYLES[judged.standing], _INDENT)
    for one in judged.evidence:
        yield Line(f"{one.name} is {_hide(one.seen)} ({one.points_to})", "dim", _DEEPER)
    if remedy := _find_remedy(judged):
        yield Line(f"→ {remedy}", "", _DEEPER)
    if judged.hypothesis.check and judged.standing is not Standing.REFUTED:
        yield Line(f"$ {judged.hypothesis.check}", "cyan", _DEEPER)


def _find_remedy(judged: Judged) -> str:
    """A remedy without evidence is none."""
    return judged.hypothesis.remedy if judged.standing is Standing.SUPPORTED else ""


def _render_rest(rest: Sequence[TriageFinding], look: Look) -> Iterator[Block]:
    if not rest:
        return
    yield Line("")
    yield Line("beside it", "bold")
    shown = rest if look.is_full else rest[:_FEW]
    for finding in shown:
        yield Line(f"{say_place(finding)}: {_hide(finding.text)[:160]}", "", _INDENT)
    if len(shown) < len(rest):
        yield Line(f"and {len(rest) - len(shown)} more: --full shows them", "dim", _INDENT)


def _render_changes(changes: Sequence[str]) -> Iterator[Block]:
    if changes:
        yield Line("")
        yield Line("what changed", "bold")
        yield from (Line(line, "", _INDENT) for line in changes)


def render_triage_json(triage: Triage) -> str:
    """The documented JSON form, with a final newline."""
    document = {
        "schema": SCHEMA,
        "kind": "triage",
        "source": _hide(triage.source),
        "lines": triage.lines,
        "layer": triage.root.layer if triage.root else None,
        "findings": [_describe(finding) for finding in triage.findings],
        "changes": list(triage.changes),
        "notes": list(triage.notes),
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _describe(finding: TriageFinding) -> dict[str, Any]:
    return {
        "layer": finding.layer,
        "kind": finding.kind,
        "role": finding.role,
        "rule": finding.rule or None,
        "line": finding.line,
        "text": _hide(finding.text),
        "excerpt": [_hide(row) for row in finding.excerpt],
        "means": finding.means,
        "stream": finding.stream or None,
        "times": finding.times,
        "also": list(finding.also),
        "points_to": list(finding.points_to),
        "collect": list(finding.collect),
        "hypotheses": [_describe_hypothesis(judged) for judged in finding.judged],
    }


def _describe_hypothesis(judged: Judged) -> dict[str, Any]:
    return {
        "claim": judged.hypothesis.claim,
        "layer": judged.hypothesis.layer,
        "standing": judged.standing,
        "evidence": [
            {"name": one.name, "seen": _hide(one.seen), "points_to": one.points_to}
            for one in judged.evidence
        ],
        "remedy": _find_remedy(judged) or None,
        "check": judged.hypothesis.check or None,
    }


def render_triage_markdown(triage: Triage) -> str:
    """Ready for a bug report: the message, what it means, the evidence, what followed."""
    root = triage.root
    if root is None:
        return f"## {show_markdown(_hide(_say_source(triage)))}\n\n{_NOTHING}\n"
    lines = [f"## {show_markdown(say_place(root))}", "", show_markdown(root.means), ""]
    lines += [f"    {show_plain(_hide(row))}" for row in root.excerpt or (root.text,)]
    if root.judged:
        lines += ["", "| hypothesis | standing | evidence | remedy |", "|---|---|---|---|"]
    for judged in root.judged:
        seen = "; ".join(f"{one.name} is {_hide(one.seen)}" for one in judged.evidence)
        cells = (judged.hypothesis.claim, judged.standing, seen, _find_remedy(judged))
        lines.append(f"| {' | '.join(show_markdown(str(cell)) for cell in cells)} |")
    if len(triage.findings) > 1:
        lines += ["", "Beside it:", ""]
    lines += [
        f"- {show_markdown(say_place(one))}: {show_markdown(_hide(one.text)[:200])}"
        for one in triage.findings[1 : _FEW + 1]
    ]
    for line in (*triage.changes, *triage.notes):
        lines += ["", f"> {show_markdown(line)}"]
    return "\n".join([*lines, ""])


def _hide(text: str) -> str:
    """A log's words as they may be passed on: no credentials, no names of homes."""
    return redact_homes(redact_text(text))
