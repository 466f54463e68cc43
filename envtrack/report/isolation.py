"""What an isolation came to, as text, JSON and Markdown.

The JSON form, schema 1, is `envtrack.report.shapes.IsolationShape`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envtrack.model.isolation import Isolated
from envtrack.report.choice import say_origin
from envtrack.report.line import say_change
from envtrack.report.look import Block, Line, Row, render_blocks
from envtrack.report.plain import show_json, show_markdown, show_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.model.comparison import Change
    from envtrack.model.isolation import Blame, Isolation, Trial
    from envtrack.report.look import Look
    from envtrack.report.shapes import BlameShape, IsolationShape, TrialShape

SCHEMA = 1


def render_isolation_text(told: Isolation, look: Look, *, is_inner: bool = False) -> str:
    """Who is to blame, how that was shown, what it cost, and what to do next.

    Args:
        told: what it came to.
        look: how it is to look.
        is_inner: it stands within a search's answer, which shows how the smoke test fails.
    """
    style = "bold red" if told.outcome is Isolated.FOUND else "bold yellow"
    head: list[Block] = (
        [Line("The packages apart:", "bold")] if is_inner else [Line(told.message, style)]
    )
    head += [Line(f"note: {note}") for note in told.notes]
    parts = [render_blocks(head, look)]
    for blame in told.blames:
        changes = [change for unit in blame.units for change in unit.changes]
        parts.append(render_blocks([_change_row(change) for change in changes], look))
        parts.append(render_blocks(list(_proof(blame, told)), look))
    if not told.blames and told.ends:
        old, new = f"all as in {told.before}", f"all as in {told.after}"
        rows = [_trial_row(where, end) for where, end in zip((old, new), told.ends, strict=True)]
        parts.append(render_blocks([Line("The ends:", "bold"), *rows], look))
    parts.append(render_blocks(list(_tail(told, is_inner=is_inner)), look))
    return "\n".join(parts)


def _change_row(change: Change) -> Row:
    return Row(((change.layer, "dim"), (say_change(change), "bold"), (_remark(change), "dim")))


def _proof(blame: Blame, told: Isolation) -> Iterator[Row]:
    names = " and ".join(blame.names)
    others = " and the others" if len(told.blames) > 1 else ""
    yield _trial_row(f"{told.before} with only {names} as in {told.after}", blame.sufficient)
    yield _trial_row(f"{told.after} without {names}{others}", blame.necessary)
    for turn in blame.turns:
        for version, judgement in turn.trials:
            shown = (f"{told.before} with {turn.name} {version}", "")
            yield Row((shown, (judgement.verdict, ""), (judgement.reason, "dim")))


def _remark(change: Change) -> str:
    return ", ".join(part for part in (str(change.kind), say_origin(change)) if part)


def _trial_row(what: str, trial: Trial) -> Row:
    judgement = trial.judgement
    return Row(((what, ""), (judgement.verdict, ""), (judgement.reason, "dim")))


def _tail(told: Isolation, *, is_inner: bool) -> Iterator[Block]:
    if told.last_lines and not is_inner:
        yield Line("The last lines it printed:", "bold")
        yield from (Line(line, "", 2) for line in told.last_lines)
        yield Line("")
    yield from (Line(say_effort(told)), Line(f"logs: {told.folder}", "dim"))
    if told.hints and not is_inner:
        yield from (Line(""), Line("What to do next:", "bold"))
        yield from (Line(hint, "", 2) for hint in told.hints)


def say_effort(told: Isolation) -> str:
    """One line: probes, changes, seconds."""
    packages = "1 package differs" if told.changed == 1 else f"{told.changed} packages differ"
    units = "" if told.units == told.changed else f", moved in {told.units} groups"
    probes = "1 probe" if told.probes == 1 else f"{told.probes} probes"
    spared = f" ({told.spared} spared, the same environment was known)" if told.spared else ""
    return f"{packages} here{units}; {probes}{spared}; {told.seconds:.1f} s; code of {told.code}"


def render_isolation_json(told: Isolation) -> str:
    """The documented JSON form, with a final newline."""
    document: IsolationShape = {
        "schema": SCHEMA,
        "kind": "isolation",
        "session": told.session,
        "outcome": str(told.outcome),
        "exit_code": told.outcome.exit_code,
        "message": told.message,
        "before": told.before,
        "after": told.after,
        "code": told.code,
        "lockfile": told.lockfile,
        "smoke": told.smoke,
        "changed": told.changed,
        "units": told.units,
        "culprits": [_describe(blame) for blame in told.blames],
        "ends": [_describe_trial(end) for end in told.ends],
        "probes": told.probes,
        "spared": told.spared,
        "seconds": round(told.seconds, 3),
        "last_lines": list(told.last_lines),
        "folder": told.folder,
        "hints": list(told.hints),
        "notes": list(told.notes),
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _describe(blame: Blame) -> BlameShape:
    return {
        "packages": [
            {
                "name": change.name,
                "layer": str(change.layer),
                "kind": str(change.kind),
                "before": change.before,
                "after": change.after,
                "origin": str(change.origin),
            }
            for unit in blame.units
            for change in unit.changes
        ],
        "sufficient": _describe_trial(blame.sufficient),
        "necessary": _describe_trial(blame.necessary),
        "is_minimal": blame.is_minimal,
        "releases": [
            {
                "name": turn.name,
                "last_good": turn.last_good,
                "first_bad": turn.first_bad,
                "unjudged": list(turn.unjudged),
                "trials": {version: str(said.verdict) for version, said in turn.trials},
                "note": turn.note,
            }
            for turn in blame.turns
        ],
    }


def _describe_trial(trial: Trial) -> TrialShape:
    return {
        "taken": list(trial.taken),
        "verdict": str(trial.judgement.verdict),
        "kind": trial.judgement.kind,
        "reason": trial.judgement.reason,
        "log": trial.log or None,
    }


def render_isolation_markdown(told: Isolation, *, level: int = 1) -> str:
    """For an issue or a chat: the finding, how it was shown, the failure, how to go on.

    Args:
        told: what it came to.
        level: of its heading; below the first it stands within a search's answer, which says the
            rest.
    """
    return "\n".join([*_markdown_lines(told, level), ""])


def _markdown_lines(told: Isolation, level: int) -> Iterator[str]:
    yield f"{'#' * level} {show_markdown(told.message)}"
    yield ""
    if level == 1:
        yield f"- smoke test: {show_markdown(told.smoke)}"
    yield f"- {show_markdown(say_effort(told))}"
    yield from (f"- {show_markdown(note)}" for note in told.notes)
    for blame in told.blames:
        yield ""
        for unit in blame.units:
            for change in unit.changes:
                remark = _remark(change)
                yield f"- **{show_markdown(say_change(change))}** ({show_markdown(remark)})"
        for what, trial in (
            (f"{told.before} with only this", blame.sufficient),
            (f"{told.after} without it", blame.necessary),
        ):
            yield f"  - {show_markdown(what)}: {trial.judgement.verdict}"
        for turn in blame.turns:
            if turn.is_exact:
                first, last = show_markdown(turn.first_bad), show_markdown(turn.last_good)
                yield f"  - first bad release: {show_markdown(turn.name)} {first} (after {last})"
    if told.last_lines and level == 1:
        yield from ("", "## The last lines it printed", "")
        yield from (f"    {show_plain(line)}" for line in told.last_lines)
    if told.hints and level == 1:
        yield from ("", "## What to do next", "")
        yield from (f"    {show_plain(hint)}" for hint in told.hints)
