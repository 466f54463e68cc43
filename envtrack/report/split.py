"""A change and its series of commits, as text, Markdown and JSON.

JSON, schema 1: ``{"schema", "kind": "split", "lockfile", "source", "base", "outcome", "steps": [
{"commit", "subject", "layers": [], "changes": [as in `diff`], "joined": [], "verdict", "reason",
"log"}], "paths": [], "kept_as", "notes": []}``; ``outcome`` is ``nothing``, ``planned``, ``done``
or ``stopped``, ``commit`` is null where the step is no commit, ``verdict`` where it was not tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from envtrack.model.split import SplitOutcome
from envtrack.model.verdict import Verdict
from envtrack.report.comparison import describe_change
from envtrack.report.line import name_changes
from envtrack.report.look import Block, Line, render_blocks
from envtrack.report.plain import show_json, show_markdown

if TYPE_CHECKING:
    from envtrack.model.split import Split, SplitStep
    from envtrack.report.look import Look
    from envtrack.report.shapes import SplitShape, SplitStepShape

SCHEMA = 1
_NAMED = 8
_STYLES = {Verdict.GOOD: "bold green", Verdict.BAD: "bold red"}


def render_split_text(split: Split, look: Look) -> str:
    """Each step with what it moves and why it is no smaller; then what to do next."""
    blocks: list[Block] = [Line(_say_sum(split), "bold")]
    for number, step in enumerate(split.steps, 1):
        most = len(step.changes) if look.is_full else _NAMED
        style = _STYLES.get(step.judgement.verdict, "") if step.judgement else ""
        blocks += [Line(""), Line(f"{number}  {_say_head(split, step)}", style or "bold")]
        blocks += [Line(text, "", 3) for text in name_changes(step.changes, most)]
        blocks += [Line(f"together: {why}", "dim", 3) for why in step.joined]
        blocks += [Line(text, style, 3) for text in _say_verdict(step)]
    blocks.append(Line(""))
    blocks += [Line(f"note: {note}", "dim") for note in split.notes]
    blocks += [Line(text) for text in _say_next(split)]
    return render_blocks(blocks, look)


def render_split_markdown(split: Split) -> str:
    """A table, a row a step, and what to do next."""
    lines = [f"{show_markdown(_say_sum(split))}.", ""]
    lines += ["| step | commit | layers | changes | verdict |", "|---|---|---|---|---|"]
    for number, step in enumerate(split.steps, 1):
        changes = ", ".join(name_changes(step.changes, _NAMED))
        cells = (str(number), _say_commit(split, step), " and ".join(step.groups), changes)
        verdict = "" if step.judgement is None else str(step.judgement.verdict)
        lines.append(f"| {' | '.join(show_markdown(cell) for cell in (*cells, verdict))} |")
    lines += ["", *(f"- {show_markdown(why)}" for step in split.steps for why in step.joined)]
    lines += ["", *(f"- {show_markdown(text)}" for text in (*split.notes, *_say_next(split)))]
    return "\n".join([*lines, ""])


def render_split_json(split: Split) -> str:
    """The JSON document; see the module's docstring for its shape."""
    document: SplitShape = {
        "schema": SCHEMA,
        "kind": "split",
        "lockfile": split.lockfile,
        "source": split.source,
        "base": split.base.hex,
        "outcome": str(split.outcome),
        "steps": [_describe(step) for step in split.steps],
        "paths": list(split.paths),
        "kept_as": split.kept_as,
        "notes": list(split.notes),
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _describe(step: SplitStep) -> SplitStepShape:
    return {
        "commit": None if step.commit is None else step.commit.hex,
        "subject": step.subject,
        "layers": list(step.groups),
        "changes": [describe_change(change) for change in step.changes],
        "joined": list(step.joined),
        "verdict": None if step.judgement is None else str(step.judgement.verdict),
        "reason": "" if step.judgement is None else step.judgement.reason,
        "log": step.log,
    }


def _say_sum(split: Split) -> str:
    what = f"{split.lockfile}, {'what is staged' if split.is_staged else split.source}"
    count = len(split.steps)
    match split.outcome:
        case SplitOutcome.NOTHING:
            return f"{what}: nothing to split"
        case SplitOutcome.PLANNED:
            return f"{what}: {count} steps on {split.base.short}, nothing was changed"
        case SplitOutcome.DONE:
            return f"{what}: {count} commits on {split.base.short}"
        case SplitOutcome.STOPPED:
            return f"{what}: stopped at step {len(split.made) + 1} of {count}"


def _say_head(split: Split, step: SplitStep) -> str:
    layers = " and ".join(step.groups) or "no package moves"
    commit = _say_commit(split, step)
    return f"{layers}  {commit}".rstrip()


def _say_commit(split: Split, step: SplitStep) -> str:
    if step.commit is not None:
        return step.commit.short
    return "not committed" if split.outcome is SplitOutcome.STOPPED else ""


def _say_verdict(step: SplitStep) -> Iterator[str]:
    if step.judgement is not None:
        yield f"{step.judgement.verdict}: {step.judgement.reason}"
    if step.log:
        yield f"logs: {step.log}"


def _say_next(split: Split) -> Iterator[str]:
    """What can be done now, and how to go back."""
    match split.outcome:
        case SplitOutcome.NOTHING:
            groups = split.steps[0].groups if split.steps else ()
            if len(groups) > 1:
                yield "uv locks none of these layers without the others."
            else:
                yield f"Only one layer moves: {groups[0]}." if groups else "No package moves."
        case SplitOutcome.PLANNED:
            yield "Without --dry-run these become commits."
        case SplitOutcome.DONE:
            yield f"`envtrack check {split.base.short}..HEAD` judges them by the policy."
            yield _say_return(split)
        case SplitOutcome.STOPPED:
            yield from _say_stop(split)


def _say_stop(split: Split) -> Iterator[str]:
    at = len(split.made)
    step = split.steps[at]
    layers = " and ".join(step.groups)
    verdict = "" if step.judgement is None else f" is {step.judgement.verdict}"
    yield f"The step of {layers}{verdict}."
    if split.made:
        yield "The good steps are commits; the rest of the change is staged as it was."
        yield _say_return(split)
    else:
        yield "Nothing was committed, and nothing was changed."


def _say_return(split: Split) -> str:
    if split.is_staged:
        back = f"git reset --soft {split.base.short} && git read-tree {split.kept_as}"
    else:
        back = f"git reset --soft {split.kept_as}"
    return f"The original state is kept: `{back}` goes back to it."
