"""The new user's way as text, JSON and Markdown.

The JSON form, schema 1: ``{"schema", "kind": "fresh", "commit", "lockfile", "is_cold", "verdict",
"stage", "reason", "exit_code", "setup", "smoke", "seconds", "trials", "ordinary": {"verdict",
"reason"} | null, "hidden": [{"kind", "what", "evidence": [], "hint"}], "output", "notes": [],
"recorded_on"}``. ``seconds`` are of the fresh run alone; ``recorded_on`` is a commit or ``null``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envtrack.model.verdict import Verdict
from envtrack.report.look import Block, Line, render_blocks
from envtrack.report.plain import show_json, show_markdown

if TYPE_CHECKING:
    from envtrack.model.fresh import FreshRun
    from envtrack.report.look import Look

SCHEMA = 1
_STYLES = {Verdict.GOOD: "bold green", Verdict.BAD: "bold red"}


def say_outcome(run: FreshRun) -> str:
    """The verdict in one line."""
    cold = " and empty caches" if run.is_cold else ""
    judgement = run.judgement
    return (
        f"{judgement.verdict}: a clone of {run.commit.short} in an empty home{cold}: "
        f"{judgement.reason} ({run.seconds:.1f} s)"
    )


def render_fresh_text(run: FreshRun, look: Look, *, recorded_on: str) -> str:
    """The verdict, and each hidden dependence with its evidence."""
    style = _STYLES.get(run.judgement.verdict, "bold yellow")
    blocks: list[Block] = [Line(say_outcome(run), style)]
    if run.ordinary is not None:
        blocks.append(
            Line(f"in your own environment: {run.ordinary.verdict}: {run.ordinary.reason}")
        )
    for one in run.hidden:
        blocks += [Line(""), Line(f"hidden  {one.kind}  {one.what}", "bold red")]
        blocks += [Line(line, indent=2) for line in one.evidence]
        blocks.append(Line(f"→ {one.hint}", indent=2))
    if run.output and not run.hidden and run.judgement.verdict is not Verdict.GOOD:
        blocks += [Line(""), Line("It printed last:")]
        blocks += [Line(line, indent=2) for line in run.output.splitlines()]
    blocks += [Line(f"note: {note}", "dim") for note in run.notes]
    if recorded_on:
        blocks.append(Line(f"recorded on {recorded_on}", "dim"))
    return render_blocks(blocks, look)


def render_fresh_json(run: FreshRun, *, recorded_on: str) -> str:
    """The JSON form; see the module."""
    judgement, ordinary = run.judgement, run.ordinary
    document = {
        "schema": SCHEMA,
        "kind": "fresh",
        "commit": run.commit.hex,
        "lockfile": run.lockfile,
        "is_cold": run.is_cold,
        "verdict": judgement.verdict,
        "stage": judgement.stage,
        "reason": judgement.reason,
        "exit_code": judgement.exit_code,
        "setup": run.setup,
        "smoke": run.smoke,
        "seconds": round(run.seconds, 2),
        "trials": run.trials,
        "ordinary": None
        if ordinary is None
        else {"verdict": ordinary.verdict, "reason": ordinary.reason},
        "hidden": [
            {"kind": one.kind, "what": one.what, "evidence": list(one.evidence), "hint": one.hint}
            for one in run.hidden
        ],
        "output": run.output,
        "notes": list(run.notes),
        "recorded_on": recorded_on or None,
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def render_fresh_markdown(run: FreshRun) -> str:
    """The verdict, and a list of what is hidden."""
    lines = [f"**{run.judgement.verdict}** {show_markdown(say_outcome(run))}", ""]
    for one in run.hidden:
        lines.append(f"- **{one.kind}** {show_markdown(one.what)}: {show_markdown(one.hint)}")
        lines += [f"  - {show_markdown(line.strip())}" for line in one.evidence]
    lines += [f"- {show_markdown(note)}" for note in run.notes]
    return "\n".join(lines).rstrip() + "\n"
