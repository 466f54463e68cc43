"""Changes in one line: for a commit's message, and for a row of the timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from envtrack.model.comparison import ChangeKind, Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envtrack.model.comparison import Change, Comparison

# So many changes of a commit, or of a layer, are named; the rest is counted.
NAMED: Final = 3
_SIGNS: Final = {
    ChangeKind.ADDED: "+",
    ChangeKind.REMOVED: "-",
    ChangeKind.REBUILD: "rebuilt ",
    ChangeKind.SELECTOR: "selector of ",
    ChangeKind.SOURCE: "source of ",
}
_NOTHING: Final = "–"


def render_comparison_line(comparison: Comparison) -> str:
    """``kernel: 6.8.0-45 → 6.8.0-48; packages: numpy 2.1.3 → 2.2.0, … 2 more``; never wrapped."""
    parts = [
        f"{layer}: {', '.join(name_changes(changes, NAMED))}"
        for layer, changes in comparison.by_layer()
    ]
    if comparison.apart:
        count = len(comparison.apart)
        facts = "1 fact differs" if count == 1 else f"{count} facts differ"
        parts.append(f"{facts} between the machines")
    return "; ".join(parts) or "the same environment"


def name_changes(changes: Sequence[Change], most: int) -> list[str]:
    """The first `most` changes in words, what was asked for first, and how many more there are."""
    order = sorted(changes, key=lambda change: change.origin is not Origin.ROOT)
    # One package can stand in a lock several times, and do the same each time.
    said = list(dict.fromkeys(map(say_change, order)))
    rest = [f"… {len(said) - most} more"] if len(said) > most else []
    return [*said[:most], *rest]


def say_change(change: Change) -> str:
    """``numpy 2.1.3 → 2.2.0``, ``+flint 2.0``, ``-wick 1.0``."""
    sign = _SIGNS.get(change.kind, "")
    if change.kind in {ChangeKind.ADDED, ChangeKind.REMOVED}:
        return f"{sign}{change.name} {change.after or change.before or ''}".rstrip()
    if change.kind in _SIGNS:
        return f"{sign}{change.name}"
    return f"{change.name} {change.before or _NOTHING} → {change.after or _NOTHING}"
