"""A comparison as text and JSON.

The JSON form, schema 1: ``{"schema", "kind": "comparison", "before", "after", "changes": [{"layer",
"name", "kind", "before", "after", "origin", "detail", "forced_by": []}], "apart": [the same],
"machines": [two names, or none], "notes": [], "suspicion": {"situation",
"suspects": [{"name", "layer", "weight", "because": []}], "cleared": [], "next_step", "command"}}``.
``before`` and ``after`` of a change are text or ``null`` (was not there, is no longer there);
what stands in ``apart`` differs because the records are of two machines;
``suspicion`` is ``null`` without verdicts. Keys may be added, none changes its meaning without a
new schema number.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from envtrack.model.comparison import ChangeKind, Origin
from envtrack.report.choice import choose_shown, count_changes, count_origins, say_origin, say_sum
from envtrack.report.look import Block, Line, Row, render_blocks
from envtrack.report.plain import show_json, show_plain
from envtrack.report.suspects import describe_suspicion, suspicion_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envtrack.model.comparison import Change, Comparison
    from envtrack.model.suspect import Suspicion
    from envtrack.report.look import Look
    from envtrack.report.shapes import ChangeShape, ComparisonShape

SCHEMA = 1
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
        blocks += [Line(""), Line(f"{layer}  {count_changes(changes)}", "bold")]
        shown = changes if look.is_full else choose_shown(changes)
        for change in shown:
            blocks += _render_change(change, look)
        if len(shown) < len(changes):
            seen = {id(change) for change in shown}
            left = [change for change in changes if id(change) not in seen]
            blocks.append(Line(_say_rest(left), "dim", 2))
    if comparison.apart:
        blocks += _render_apart(comparison, look)
    blocks += [Line(""), Line(say_sum(comparison))]
    blocks += [Line(f"note: {note}", "dim") for note in comparison.notes]
    if suspicion is not None:
        blocks += suspicion_blocks(suspicion, look)
    return render_blocks(blocks, look)


def _render_apart(comparison: Comparison, look: Look) -> Iterator[Block]:
    """What differs because there are two computers: no change, so no kind and no colour."""
    yield from (Line(""), Line(f"between the machines {' and '.join(comparison.machines)}", "bold"))
    shown = comparison.apart if look.is_full else choose_shown(comparison.apart)
    yield from (Row(((one.name, ""), (_say_values(one), ""))) for one in shown)
    if len(shown) < len(comparison.apart):
        yield Line(f"… and {len(comparison.apart) - len(shown)} more: --full shows them", "dim", 2)


def _say_rest(changes: Sequence[Change]) -> str:
    origins = ", ".join(count_origins(changes))
    return f"… and {len(changes)} more{f' ({origins})' if origins else ''}: --full shows them"


def _render_change(change: Change, look: Look) -> Iterator[Block]:
    """A row, with the detail at its end, or on a line of its own where that is long."""
    origin = say_origin(change)
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


def render_comparison_json(comparison: Comparison, suspicion: Suspicion | None = None) -> str:
    """The documented JSON form, with a final newline."""
    document: ComparisonShape = {
        "schema": SCHEMA,
        "kind": "comparison",
        "before": comparison.before,
        "after": comparison.after,
        "changes": [describe_change(change) for change in comparison.changes],
        "apart": [describe_change(change) for change in comparison.apart],
        "machines": list(comparison.machines),
        "notes": list(comparison.notes),
        "suspicion": None if suspicion is None else describe_suspicion(suspicion),
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def describe_change(change: Change) -> ChangeShape:
    """One change as JSON has it."""
    return {
        "layer": str(change.layer),
        "name": change.name,
        "kind": str(change.kind),
        "before": change.before,
        "after": change.after,
        "origin": str(change.origin),
        "detail": change.detail,
        "forced_by": list(change.forced_by),
    }
