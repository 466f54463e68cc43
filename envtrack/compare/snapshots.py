"""What differs between two snapshots, fact by fact and package by package.

No DeepDiff here: the facts are one flat table of scalars in which *absent*, *unknown* and *not
recorded* must be told apart, which is a set operation and a match; DeepDiff would add a third of a
second to each `diff` and its paths would have to be parsed back into names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.compare.installed import compare_installed, find_version_change
from envtrack.model.comparison import Change, ChangeKind, sort_changes
from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from envtrack.model.snapshot import Snapshot

_ENVIRONMENT = "packages.environment"
_PACKAGE_PREFIX = "packages.installed."
# It follows from the packages themselves.
_DERIVED = frozenset({"packages.count"})
# Facts whose values have an order: their last part says so.
_ORDERED = frozenset({"version", "release", "uv", "glibcxx", "cxxabi", "newest-installed"})
# `cuda-runtime.<component>` are versions too; these of the same form are not.
_NO_COMPONENTS = frozenset({"majors", "sources", "shadows", "collector"})
# The leading numbers of one word, and what follows: 6.8.0-45 and -generic.
_VERSION = re.compile(r"(?P<head>\d+(?:[.\-_+~:]\d+)*(?![A-Za-z]))(?P<tail>\S*)")
_NUMBERS = re.compile(r"\d+")
# The component's name in the names of NVIDIA's packages, where it is another.
_PACKAGE_WORDS = {"cudart": "runtime"}
_NOT_RECORDED = "not recorded"


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
    """What could not be compared and why, a line each: layers not recorded, facts unknown.

    A fact that is unknown on both sides is no news, whatever the reasons: a machine without the
    right to look at its kernel never has it. All of these are one line, with their number.
    """
    notes = [
        f"{layer.value}: not recorded in the {side} snapshot"
        for layer in Layer
        for side, here, other in (("older", before, after), ("newer", after, before))
        if layer is not Layer.SETTINGS
        and not _has_layer(here.facts, layer)
        and _has_layer(other.facts, layer)
    ]
    unknown = {"older": _list_unknown(before), "newer": _list_unknown(after)}
    both = unknown["older"].keys() & unknown["newer"].keys()
    for side, reasons in unknown.items():
        notes += [
            f"{name}: unknown in the {side} snapshot ({reason})"
            for name, reason in sorted(reasons.items())
            if name not in both
        ]
    if both:
        count = "1 fact is" if len(both) == 1 else f"{len(both)} facts are"
        notes.append(f"{count} unknown on both sides")
    return tuple(notes)


def _list_unknown(snapshot: Snapshot) -> dict[str, str]:
    return {name: one.reason for name, one in snapshot.facts.items() if isinstance(one, Unknown)}


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
    """Up or down where both are versions: Python's, or numbers such as ``6.8.0-45-generic``."""
    if name.rpartition(".")[2] not in _ORDERED and _find_component(name) is None:
        return ChangeKind.CHANGED
    kind = find_version_change(before, after)
    old, new = _VERSION.fullmatch(before), _VERSION.fullmatch(after)
    if kind is not ChangeKind.CHANGED or old is None or new is None:
        return kind
    steps = [(_read_numbers(old["head"]), _read_numbers(new["head"]))]
    # Numbers behind letters are compared only where the letters are the same.
    if _NUMBERS.sub("#", old["tail"]) == _NUMBERS.sub("#", new["tail"]):
        steps.append((_read_numbers(old["tail"]), _read_numbers(new["tail"])))
    for one, other in steps:
        if one != other:
            return ChangeKind.UPGRADED if other > one else ChangeKind.DOWNGRADED
    return ChangeKind.CHANGED


def _read_numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBERS.findall(text)]


def _find_component(name: str) -> str | None:
    """``cublas`` of ``cuda-runtime.cublas``; ``None`` for all other facts."""
    layer, _, component = name.partition(".")
    is_one = layer == Layer.CUDA_RUNTIME.value and "." not in component.removeprefix("conda.")
    return component if is_one and component not in _NO_COMPONENTS else None


def leave_out_repeats(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes without facts of the CUDA runtime that only repeat a package's change.

    ``cuda-runtime.cublas`` says nothing new beside ``nvidia-cublas-cu12`` if both went from one
    version to the same other. It stays where no package of that component is among the changes
    (conda's libraries, an environment that moved under an unchanged lockfile), and where one
    package replaced another: then it joins what stands in two lines.
    """
    listed = tuple(changes)
    told = {
        (word, one.before, one.after)
        for one in listed
        if one.name.startswith(("nvidia-", "cuda-"))
        for word in one.name.split("-")
    }
    return tuple(one for one in listed if not _is_repeat(one, told))


def _is_repeat(fact: Change, told: Collection[tuple[str, str | None, str | None]]) -> bool:
    component = _find_component(fact.name)
    if component is None:
        return False
    return (_PACKAGE_WORDS.get(component, component), fact.before, fact.after) in told


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
