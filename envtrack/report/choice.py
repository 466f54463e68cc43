"""Which changes are shown, and how they are counted: the same in every form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from envtrack.model.comparison import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envtrack.model.comparison import Change, Comparison

# So many changes of one layer are shown; what follows is counted.
_SHOWN: Final = 12
# Changes that follow from others say little: more than so many are only counted.
_SHOWN_FORCED: Final = 3
# So many packages that force another one are named.
_LEADERS: Final = 2


def choose_shown(changes: Sequence[Change]) -> Sequence[Change]:
    """What was asked for first; of what follows from it a few, or none and their count."""
    asked = [change for change in changes if change.origin is not Origin.FORCED]
    if asked and len(changes) - len(asked) > _SHOWN_FORCED:
        changes = asked
    return changes if len(changes) <= _SHOWN + 1 else changes[:_SHOWN]


def say_sum(comparison: Comparison) -> str:
    """One line: how much differs, and in which layers."""
    apart = ""
    if comparison.apart:
        count = len(comparison.apart)
        facts = "1 fact differs" if count == 1 else f"{count} facts differ"
        apart = f"{facts} between the machines {' and '.join(comparison.machines)}"
    if not comparison.changes:
        if apart:
            return f"nothing changed; {apart}"
        # A note says what was not seen: without these words it would seem to say more than it does.
        return "nothing differs" + " in what could be compared" * bool(comparison.notes)
    layers = [str(layer) for layer, _ in comparison.by_layer()]
    counted = "1 layer differs" if len(layers) == 1 else f"{len(layers)} layers differ"
    return f"{counted}: {', '.join(layers)}" + (f"; {apart}" if apart else "")


def count_changes(changes: Sequence[Change]) -> str:
    """``4 changes, 1 root, 3 forced``."""
    counted = "1 change" if len(changes) == 1 else f"{len(changes)} changes"
    return ", ".join((counted, *count_origins(changes)))


def count_origins(changes: Sequence[Change]) -> Iterator[str]:
    """How many were asked for, and how many follow from those."""
    for origin in (Origin.ROOT, Origin.FORCED):
        number = sum(change.origin is origin for change in changes)
        if number:
            yield f"{number} {origin}"


def say_origin(change: Change) -> str:
    """``root``, ``forced by torch``, or nothing."""
    if change.origin is Origin.NOT_KNOWN:
        return ""
    if not change.forced_by:
        return str(change.origin)
    more = len(change.forced_by) - _LEADERS
    others = f" and {more} more" if more > 0 else ""
    return f"{change.origin} by {', '.join(change.forced_by[:_LEADERS])}{others}"
