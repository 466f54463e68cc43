"""What differs between two snapshots, fact by fact and package by package.

No DeepDiff here: the facts are one flat table of scalars in which *absent*, *unknown* and *not
recorded* must be told apart, which is a set operation and a match; DeepDiff would add a third of a
second to each `diff` and its paths would have to be parsed back into names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.compare.installed import compare_installed
from envtrack.model.comparison import Change, ChangeKind, sort_changes
from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envtrack.model.snapshot import Snapshot

_ENVIRONMENT = "packages.environment"
_PACKAGE_PREFIX = "packages.installed."
# It follows from the packages themselves.
_DERIVED = frozenset({"packages.count"})
# Facts whose values have an order: their last part says so.
_ORDERED = frozenset({"version", "release", "uv"})
_NOT_RECORDED = "not recorded"
_NUMBERS = re.compile(r"\d+")


def compare_snapshots(before: Snapshot, after: Snapshot) -> tuple[Change, ...]:
    """All changes, sorted from the ground up.

    What counts as one:

    - known → known: another value. A version or release that can be ordered is an upgrade or a
      downgrade.
    - known → absent, absent → known: removed, added. A line that is missing is as good as absent
      where something else is known of its layer; otherwise nobody looked, or there is nothing to
      look at, and one line says that. Settings are the exception: one that is not set has no line.
    - known → unknown: changed, to ``unknown (reason)``: something could be seen and no longer can,
      which on a shared server is often the first sign. The reverse, and absent → unknown, are no
      changes: nothing is known to have moved.

    Packages are compared where both environments were read; if one side has none, the change of
    ``packages.environment`` says it all.
    """
    changes = [*_compare_facts(before, after)]
    # An older envtrack may have written no such line; one side alone was not looked at.
    is_said = {_ENVIRONMENT in one.facts for one in (before, after)}
    if len(is_said) == 1 and _was_read(before) and _was_read(after):
        changes += compare_installed(before.installed, after.installed, _unread(after))
    return sort_changes(changes)


def compare_notes(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """What could not be compared and why, a line each: unknown facts, layers not recorded."""
    notes = [
        f"{layer.value}: not recorded in the {side} snapshot"
        for layer in Layer
        for side, here, other in (("older", before, after), ("newer", after, before))
        if layer is not Layer.SETTINGS
        and not _has_layer(here.facts, layer)
        and _has_layer(other.facts, layer)
    ]
    for side, one in (("older", before), ("newer", after)):
        for name, state in sorted(one.facts.items()):
            if isinstance(state, Unknown):
                notes.append(f"{name}: unknown in the {side} snapshot ({state.reason})")
    return tuple(notes)


def _compare_facts(before: Snapshot, after: Snapshot) -> Iterator[Change]:
    for name in before.facts.keys() | after.facts.keys():
        if name in _DERIVED or name.startswith(_PACKAGE_PREFIX):
            continue
        old, new = _get_state(before.facts, name), _get_state(after.facts, name)
        if name.endswith(".collector") and isinstance(old, Absent):
            old = Known("recorded")  # the layer was; now its collector fails
        kind = _find_kind(name, old, new)
        if kind is not None:
            yield Change(
                layer=_find_layer(name),
                name=name,
                kind=kind,
                before=_describe(old),
                after=_describe(new),
                detail=_package_count(before, after) if name == _ENVIRONMENT else "",
            )


def _get_state(facts: Mapping[str, FactState], name: str) -> FactState:
    """A fact's state; for one without a line, what its layer says."""
    if name in facts:
        return facts[name]
    layer = name.partition(".")[0]
    failed = facts.get(f"{layer}.collector")
    if failed is None and layer == Layer.SETTINGS.value:
        return Absent()
    if any(isinstance(s, Known) for n, s in facts.items() if n.startswith(f"{layer}.")):
        return Absent()
    return Unknown(_NOT_RECORDED)


def _find_layer(name: str) -> Layer:
    """By the part before the first dot; a layer of a newer envtrack goes to the top storey."""
    try:
        return Layer(name.partition(".")[0])
    except ValueError:
        return Layer.SETTINGS


def _has_layer(facts: Mapping[str, FactState], layer: Layer) -> bool:
    return any(name.startswith(f"{layer.value}.") for name in facts)


def _find_kind(name: str, old: FactState, new: FactState) -> ChangeKind | None:
    match old, new:
        case Known(first), Known(second):
            # True is 1 in Python, and a switch is no number.
            if (type(first), first) == (type(second), second):
                return None
            return _find_order(name, str(first), str(second))
        case Known(), Unknown(reason):
            return None if reason == _NOT_RECORDED else ChangeKind.CHANGED
        case Known(), Absent():
            return ChangeKind.REMOVED
        case Absent(), Known():
            return ChangeKind.ADDED
        case _:
            return None


def _find_order(name: str, before: str, after: str) -> ChangeKind:
    """By the numbers in both: a kernel's ``6.8.0-45-generic`` is no version of packaging's."""
    if name.rpartition(".")[2] not in _ORDERED:
        return ChangeKind.CHANGED
    old = [int(number) for number in _NUMBERS.findall(before)]
    new = [int(number) for number in _NUMBERS.findall(after)]
    if old == new or not old or not new:
        return ChangeKind.CHANGED
    return ChangeKind.UPGRADED if new > old else ChangeKind.DOWNGRADED


def _describe(state: FactState) -> str | None:
    match state:
        case Known(value):
            return str(value).lower() if isinstance(value, bool) else str(value)
        case Absent():
            return None
        case Unknown(reason):
            return f"unknown ({reason})"


def _was_read(snapshot: Snapshot) -> bool:
    """Whether its packages are all there: not without an environment, nor half a listing."""
    states = (snapshot.facts.get(_ENVIRONMENT), snapshot.facts.get("packages.collector"))
    return not any(isinstance(state, (Absent, Unknown)) for state in states)


def _unread(snapshot: Snapshot) -> dict[str, str]:
    """Packages that are there but can't be read, each with the reason."""
    return {
        name.removeprefix(_PACKAGE_PREFIX): state.reason
        for name, state in snapshot.facts.items()
        if name.startswith(_PACKAGE_PREFIX) and isinstance(state, Unknown)
    }


def _package_count(before: Snapshot, after: Snapshot) -> str:
    old, new = len(before.installed), len(after.installed)
    return "" if old == new else f"{old} packages before, {new} after"
