"""What a policy says, as text, JSON, Markdown, and annotations of GitHub and GitLab.

JSON, schema 1: ``{"schema", "kind": "check", "broken", "steps", "policies": [], "breaches": [
{"policy", "rule", "level", "step", "lockfile", "found", "why", "ways_out": [], "names": [],
"excuse", "reason"}]}``; ``excuse`` is ``override``, ``waiver`` or empty.

GitLab's form is that of its code quality reports (a list of ``{"description", "check_name",
"fingerprint", "severity", "location"}``), GitHub's that of its workflow commands.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from envtrack.model.breach import Excuse, Level
from envtrack.report.look import Block, Line, render_blocks
from envtrack.report.plain import show_json, show_markdown, show_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envtrack.model.breach import Breach, Judged
    from envtrack.report.look import Look
    from envtrack.report.shapes import BreachShape, CheckShape

SCHEMA = 1
_STYLES = {Level.ERROR: "bold red", Level.WARN: "bold yellow", Level.OFF: ""}
# https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
_SEVERITIES = {Level.ERROR: "major", Level.WARN: "minor", Level.OFF: "info"}


def render_check_text(judged: Judged, look: Look) -> str:
    """Each broken rule: what was found, why it is a rule, the way out."""
    blocks: list[Block] = []
    for breach in judged.breaches:
        excused = f" ({breach.excuse})" if breach.excuse else ""
        head = f"{breach.level}{excused}  {breach.rule}  {_say_place(breach)}"
        blocks.append(Line(head, "dim" if excused else _STYLES[breach.level]))
        blocks.append(Line(breach.found, "", 2))
        if breach.excuse:
            blocks.append(Line(f"excused: {breach.reason}", "dim", 2))
        else:
            blocks.append(Line(f"why: {breach.why}", "dim", 2))
            blocks += [Line(f"way out: {way}", "", 2) for way in breach.ways_out]
        blocks.append(Line(""))
    blocks.append(Line(say_judged(judged)))
    return render_blocks(blocks, look)


def _say_place(breach: Breach) -> str:
    return f"{breach.step} {breach.lockfile}".strip()


def say_judged(judged: Judged) -> str:
    """One line: how many changes were judged by which policies, and what came of it."""
    steps = (
        "1 change of a lockfile" if judged.steps == 1 else f"{judged.steps} changes of lockfiles"
    )
    counts = Counter(breach.excuse.value or breach.level.value for breach in judged.breaches)
    told = [
        f"{counts[key]} {one if counts[key] == 1 else many}"
        for key, one, many in (
            (Level.ERROR.value, "error", "errors"),
            (Level.WARN.value, "warning", "warnings"),
            (Excuse.OVERRIDE.value, "overridden", "overridden"),
            (Excuse.WAIVER.value, "waived", "waived"),
        )
        if counts[key]
    ]
    said = ", ".join(told) or "nothing to object to"
    return f"{steps} judged by {', '.join(judged.policies)}: {said}"


def render_check_json(judged: Judged) -> str:
    """The JSON document; see the module's docstring for its shape."""
    document: CheckShape = {
        "schema": SCHEMA,
        "kind": "check",
        "broken": judged.is_broken,
        "steps": judged.steps,
        "policies": list(judged.policies),
        "breaches": [_describe(breach) for breach in judged.breaches],
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _describe(breach: Breach) -> BreachShape:
    return {
        "policy": breach.policy,
        "rule": breach.rule,
        "level": str(breach.level),
        "step": breach.step,
        "lockfile": breach.lockfile,
        "found": breach.found,
        "why": breach.why,
        "ways_out": list(breach.ways_out),
        "names": list(breach.names),
        "excuse": str(breach.excuse),
        "reason": breach.reason,
    }


def render_check_markdown(judged: Judged) -> str:
    """A comment for a pull request: a table, and the ways out below it."""
    lines = [f"{show_markdown(say_judged(judged))}.", ""]
    if judged.breaches:
        lines += ["| level | rule | where | found |", "|---|---|---|---|"]
        lines += [_markdown_row(breach) for breach in judged.breaches]
    ways = [breach for breach in judged.breaches if not breach.excuse]
    for breach in ways:
        lines += ["", f"**{breach.rule}**, {show_markdown(_say_place(breach))}: {breach.why}.", ""]
        lines += [f"- {_keep_code(way)}" for way in breach.ways_out]
    return "\n".join([*lines, ""])


def _markdown_row(breach: Breach) -> str:
    level = f"{breach.level}, {breach.excuse}" if breach.excuse else str(breach.level)
    found = f"{breach.found} ({breach.reason})" if breach.excuse else breach.found
    cells = (level, breach.rule, _say_place(breach), found)
    return f"| {' | '.join(show_markdown(cell) for cell in cells)} |"


def _keep_code(text: str) -> str:
    """Commands stay code; all else renders as itself."""
    parts = text.split("`")
    return "`".join(
        show_plain(part) if at % 2 else show_markdown(part) for at, part in enumerate(parts)
    )


def render_check_github(judged: Judged) -> str:
    """Workflow commands, one a line: they become annotations of the lockfile."""
    return "".join(f"{line}\n" for line in _list_annotations(judged.breaches))


def _list_annotations(breaches: Sequence[Breach]) -> Iterator[str]:
    kinds = {Level.ERROR: "error", Level.WARN: "warning", Level.OFF: "notice"}
    for breach in breaches:
        kind = "notice" if breach.excuse else kinds[breach.level]
        text = "\n".join([f"{breach.step}: {breach.found}", breach.why, *breach.ways_out])
        place = f"file={_escape(breach.lockfile, is_property=True)},"
        title = _escape(f"envtrack: {breach.rule}", is_property=True)
        yield f"::{kind} {place if breach.lockfile else ''}title={title}::{_escape(text)}"


def _escape(text: str, *, is_property: bool = False) -> str:
    """As the runner reads it back (github.com/actions/toolkit, packages/core/src/command.ts)."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text


def render_check_gitlab(judged: Judged) -> str:
    """A code quality report; what is excused is information."""
    import hashlib

    rows = []
    for breach in judged.breaches:
        key = f"{breach.rule}\0{breach.step}\0{breach.lockfile}\0{breach.found}"
        rows.append(
            {
                "description": f"{breach.step}: {breach.found}",
                "check_name": f"envtrack-{breach.rule}",
                "fingerprint": hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest(),
                "severity": "info" if breach.excuse else _SEVERITIES[breach.level],
                "location": {"path": breach.lockfile, "lines": {"begin": 1}},
            }
        )
    return show_json(json.dumps(rows, ensure_ascii=False, indent=2)) + "\n"
