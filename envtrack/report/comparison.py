"""A comparison as text, JSON and Markdown.

The JSON form, schema 1: ``{"schema", "kind": "comparison", "before", "after", "changes": [{"layer",
"name", "kind", "before", "after", "origin", "detail"}], "notes": [], "suspicion": {"situation",
"suspects": [{"name", "layer", "weight", "because": []}], "cleared": [], "next_step", "command"}}``.
``before`` and ``after`` of a change are text or ``null`` (was not there, is no longer there);
``suspicion`` is ``null`` without verdicts. Keys may be added, none changes its meaning without a
new schema number.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envtrack.model.comparison import ChangeKind, Origin
from envtrack.report.look import Block, Line, Row, render_blocks
from envtrack.report.plain import show_json, show_markdown, show_plain
from envtrack.report.suspects import describe_suspicion, suspicion_blocks, suspicion_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envtrack.model.comparison import Change, Comparison
    from envtrack.model.suspect import Suspicion
    from envtrack.report.look import Look

SCHEMA = 1
# So many changes of one layer are shown; what follows is counted.
_SHOWN = 12
# Changes that follow from others say little: more than so many are only counted.
_SHOWN_FORCED = 3
_NOTHING = "–"
# A detail of up to a fifth of the width stands at the end of its row.
_DETAIL_SHARE = 5
_DETAIL_INDENT = 6

_STYLES = {
    ChangeKind.ADDED: "cyan",
    ChangeKind.REMOVED: "red",
    ChangeKind.UPGRADED: "green",
    ChangeKind.DOWNGRADED: "red",
    ChangeKind.CHANGED: "yellow",
    ChangeKind.VARIANT: "magenta",
    ChangeKind.REBUILD: "yellow",
    ChangeKind.SOURCE: "magenta",
    ChangeKind.SELECTOR: "yellow",
}


def render_comparison_text(
    comparison: Comparison, look: Look, suspicion: Suspicion | None = None
) -> str:
    """A table by layer from the ground up; long layers are shortened unless the look is full."""
    blocks: list[Block] = [Line(f"{comparison.before} → {comparison.after}", "bold")]
    for layer, changes in comparison.by_layer():
        blocks += [Line(""), Line(f"{layer}  {_count(changes)}", "bold")]
        shown = changes if look.is_full else _choose_shown(changes)
        for change in shown:
            blocks += _render_change(change, look)
        if len(shown) < len(changes):
            seen = {id(change) for change in shown}
            left = [change for change in changes if id(change) not in seen]
            blocks.append(Line(_say_rest(left), "dim", 2))
    blocks += [Line(""), Line(say_sum(comparison))]
    blocks += [Line(f"note: {note}", "dim") for note in comparison.notes]
    if suspicion is not None:
        blocks += suspicion_blocks(suspicion, look)
    return render_blocks(blocks, look)


def _choose_shown(changes: Sequence[Change]) -> Sequence[Change]:
    """What was asked for first; of what follows from it a few, or none and their count."""
    asked = [change for change in changes if change.origin is not Origin.FORCED]
    if asked and len(changes) - len(asked) > _SHOWN_FORCED:
        changes = asked
    return changes if len(changes) <= _SHOWN + 1 else changes[:_SHOWN]


def say_sum(comparison: Comparison) -> str:
    """One line: how much differs, and in which layers."""
    if not comparison.changes:
        # A note says what was not seen: without these words it would seem to say more than it does.
        return "nothing differs" + " in what could be compared" * bool(comparison.notes)
    layers = [str(layer) for layer, _ in comparison.by_layer()]
    counted = "1 layer differs" if len(layers) == 1 else f"{len(layers)} layers differ"
    return f"{counted}: {', '.join(layers)}"


def _count(changes: Sequence[Change]) -> str:
    counted = "1 change" if len(changes) == 1 else f"{len(changes)} changes"
    return ", ".join((counted, *_count_origins(changes)))


def _say_rest(changes: Sequence[Change]) -> str:
    origins = ", ".join(_count_origins(changes))
    return f"… and {len(changes)} more{f' ({origins})' if origins else ''}: --full shows them"


def _count_origins(changes: Sequence[Change]) -> Iterator[str]:
    for origin in (Origin.ROOT, Origin.FORCED):
        number = sum(change.origin is origin for change in changes)
        if number:
            yield f"{number} {origin}"


def _render_change(change: Change, look: Look) -> Iterator[Block]:
    """A row, with the detail at its end, or on a line of its own where that is long."""
    origin = _say_origin(change)
    is_short = len(change.detail) <= look.columns // _DETAIL_SHARE
    remark = ", ".join(part for part in (origin, change.detail if is_short else "") if part)
    yield Row(
        (
            (change.name, "bold" if change.origin is Origin.ROOT else ""),
            (_say_values(change), ""),
            (change.kind, _STYLES[change.kind]),
            (remark, "dim"),
        )
    )
    if not is_short:
        detail = show_plain(change.detail)
        room = look.columns - _DETAIL_INDENT
        is_cut = len(detail) > room and not look.is_full
        yield Line(f"{detail[: room - 1]}…" if is_cut else detail, "dim", _DETAIL_INDENT)


def _say_values(change: Change) -> str:
    if change.before == change.after:
        return _value(change.after)
    return f"{_value(change.before)} → {_value(change.after)}"


def _value(value: str | None) -> str:
    return _NOTHING if value is None else value


def _say_origin(change: Change) -> str:
    return "" if change.origin is Origin.NOT_KNOWN else str(change.origin)


def render_comparison_json(comparison: Comparison, suspicion: Suspicion | None = None) -> str:
    """The documented JSON form, with a final newline."""
    document = {
        "schema": SCHEMA,
        "kind": "comparison",
        "before": comparison.before,
        "after": comparison.after,
        "changes": [
            {
                "layer": change.layer,
                "name": change.name,
                "kind": change.kind,
                "before": change.before,
                "after": change.after,
                "origin": change.origin,
                "detail": change.detail,
            }
            for change in comparison.changes
        ],
        "notes": list(comparison.notes),
        "suspicion": None if suspicion is None else describe_suspicion(suspicion),
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def render_comparison_markdown(comparison: Comparison, suspicion: Suspicion | None = None) -> str:
    """A table a layer, whole; every value renders as itself."""
    before, after = show_markdown(comparison.before), show_markdown(comparison.after)
    lines = [f"## {before} → {after}", "", f"{say_sum(comparison)}."]
    for layer, changes in comparison.by_layer():
        lines += ["", f"### {layer}", "", "| name | before | after | kind | origin | detail |"]
        lines.append("|---|---|---|---|---|---|")
        lines += [_markdown_row(change) for change in changes]
    if comparison.notes:
        lines += ["", *(f"- {show_markdown(note)}" for note in comparison.notes)]
    if suspicion is not None:
        lines += suspicion_markdown(suspicion)
    return "\n".join([*lines, ""])


def _markdown_row(change: Change) -> str:
    cells = (
        change.name,
        _value(change.before),
        _value(change.after),
        change.kind,
        _say_origin(change),
        change.detail,
    )
    return f"| {' | '.join(show_markdown(cell) for cell in cells)} |"
