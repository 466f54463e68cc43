"""A diagnosis as text, JSON and Markdown.

The JSON form, schema 1: ``{"schema", "kind": "diagnosis", "subject", "fits", "counts": {verdict:
number}, "findings": [{"rule", "purpose", "verdict", "compared", "reason", "remedy", "command",
"sources"}], "passed_over": [{"rule", "reason"}], "notes": []}``. ``fits`` is false if something
does not fit; ``remedy`` and ``command`` are text or ``null``. Keys may be added, none changes its
meaning without a new schema number.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envtrack.model.finding import Fit, Purpose
from envtrack.report.look import Block, Line, render_blocks
from envtrack.report.plain import show_json, show_markdown, show_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.model.finding import Diagnosis, Finding
    from envtrack.report.look import Look

SCHEMA = 1

_STYLES = {
    Fit.MISFIT: "bold red",
    Fit.LIMITED: "bold yellow",
    Fit.UNKNOWN: "bold magenta",
    Fit.FITS: "bold green",
}
_INDENT = 2
_DEEPER = 6


def render_diagnosis_text(diagnosis: Diagnosis, look: Look) -> str:
    """The verdicts from bad to good; what fits in a line each, sources if the look is full."""
    blocks: list[Block] = [Line(diagnosis.subject, "bold")]
    for fit in Fit:
        found = [finding for finding in diagnosis.findings if finding.fit is fit]
        if found:
            blocks += [Line(""), Line(f"{fit}  {len(found)}", _STYLES[fit])]
        for finding in found:
            blocks += _render_finding(finding, look)
    if diagnosis.passed_over:
        blocks += [Line(""), *_render_passed_over(diagnosis, look)]
    blocks += [Line(""), Line(say_verdict(diagnosis))]
    blocks += [Line(f"note: {note}", "dim") for note in diagnosis.notes]
    return render_blocks(blocks, look)


def say_verdict(diagnosis: Diagnosis) -> str:
    """One line: how many of each verdict."""
    if not diagnosis.findings:
        return "there was nothing to compare"
    parts = [
        f"{number} {_SINGULAR[fit] if number == 1 else _PLURAL[fit]}"
        for fit in Fit
        if (number := diagnosis.count(fit))
    ]
    return ", ".join(parts)


_SINGULAR = {
    Fit.MISFIT: "does not fit",
    Fit.LIMITED: "fits with limits",
    Fit.UNKNOWN: "can't be told",
    Fit.FITS: "fits",
}
_PLURAL = {
    Fit.MISFIT: "do not fit",
    Fit.LIMITED: "fit with limits",
    Fit.UNKNOWN: "can't be told",
    Fit.FITS: "fit",
}


def _render_finding(finding: Finding, look: Look) -> Iterator[Block]:
    head = f"{say_rule(finding)}: {finding.compared}"
    if finding.fit is Fit.FITS and not look.is_full:
        yield Line(head, "", _INDENT)
        return
    yield Line(head, "" if finding.fit is Fit.FITS else "bold", _INDENT)
    yield Line(finding.reason, "", _DEEPER)
    if finding.remedy:
        yield Line(f"→ {finding.remedy}", "", _DEEPER)
    if finding.command:
        yield Line(f"$ {finding.command}", "cyan", _DEEPER)
    if look.is_full:
        for source in finding.sources:
            yield Line(f"by {source}", "dim", _DEEPER)


def say_rule(finding: Finding) -> str:
    """The rule's name, and that it matters for building only where it does."""
    if finding.purpose is Purpose.BUILDING:
        return f"{finding.rule} (for building)"
    return finding.rule


def _render_passed_over(diagnosis: Diagnosis, look: Look) -> Iterator[Block]:
    if not look.is_full:
        names = dict.fromkeys(one.rule for one in diagnosis.passed_over)
        yield Line(f"nothing to compare for {', '.join(names)}: --full says why", "dim")
        return
    yield Line("nothing to compare", "bold")
    for one in diagnosis.passed_over:
        yield Line(f"{one.rule}: {one.reason}", "", _INDENT)


def render_diagnosis_json(diagnosis: Diagnosis) -> str:
    """The documented JSON form, with a final newline."""
    document = {
        "schema": SCHEMA,
        "kind": "diagnosis",
        "subject": diagnosis.subject,
        "fits": not diagnosis.has_misfit,
        "counts": {fit: diagnosis.count(fit) for fit in Fit},
        "findings": [
            {
                "rule": finding.rule,
                "purpose": finding.purpose,
                "verdict": finding.fit,
                "compared": finding.compared,
                "reason": finding.reason,
                "remedy": finding.remedy or None,
                "command": finding.command or None,
                "sources": list(finding.sources),
            }
            for finding in diagnosis.findings
        ],
        "passed_over": [{"rule": one.rule, "reason": one.reason} for one in diagnosis.passed_over],
        "notes": list(diagnosis.notes),
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def render_diagnosis_markdown(diagnosis: Diagnosis) -> str:
    """A table of the verdicts, and the remedies below it."""
    lines = [f"## {show_markdown(diagnosis.subject)}", "", show_markdown(say_verdict(diagnosis))]
    rows = [f for fit in Fit for f in diagnosis.findings if f.fit is fit]
    if rows:
        lines += ["", "| verdict | rule | compared | reason |", "|---|---|---|---|"]
    for finding in rows:
        cells = (str(finding.fit), say_rule(finding), finding.compared, finding.reason)
        lines.append(f"| {' | '.join(show_markdown(cell) for cell in cells)} |")
    lines += list(_remedy_lines(rows))
    lines += [line for note in diagnosis.notes for line in ("", f"> {show_markdown(note)}")]
    return "\n".join([*lines, ""])


def _remedy_lines(findings: list[Finding]) -> Iterator[str]:
    remedied = [finding for finding in findings if finding.remedy or finding.command]
    if remedied:
        yield from ("", "### What to do")
    for finding in remedied:
        yield ""
        yield f"- {show_markdown(say_rule(finding))}: {show_markdown(finding.remedy)}"
        if finding.command:
            # Indented code needs no fence, which the output could close.
            yield from ("", f"      {show_plain(finding.command)}")
