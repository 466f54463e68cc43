"""The parts of a change that may be moved on their own, by what counts as one layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from envtrack.compare.layer_rules import assign_layers
from envtrack.compare.locks import compare_locks
from envtrack.model.comparison import Change, Origin
from envtrack.policy.interface import Step
from envtrack.policy.one_layer import find_group

if TYPE_CHECKING:
    from envtrack.model.layer import LayerRules
    from envtrack.model.lock import Lock
    from envtrack.model.policy import Options

_NO_TIME = datetime.min.replace(tzinfo=UTC)


class Unit(NamedTuple):
    """One root change, with what must follow it.

    Attributes:
        name: the package's, or ``requires-python``.
        group: what counts as its layer.
        names: itself and what follows it.
    """

    name: str
    group: str
    names: frozenset[str]


class Judging(NamedTuple):
    """By what changes are told and grouped.

    Attributes:
        rules: the project's own word on which packages belong to which layer.
        options: those of the policy's rule `one-layer`.
    """

    rules: LayerRules
    options: Options

    def compare(self, before: Lock, after: Lock) -> tuple[Change, ...]:
        """What differs, in the layers that the project says."""
        return assign_layers(compare_locks(before, after), self.rules)

    def list_moved(self, before: Lock, after: Lock) -> tuple[Change, ...]:
        """What moves, forced changes too: no marker, and not the project's own version."""
        step = Step(
            name="",
            lockfile="",
            at=_NO_TIME,
            before=before,
            after=after,
            changes=self.compare(before, after),
        )
        return step.list_moved(with_forced=True)

    def list_groups(self, moved: Iterable[Change]) -> tuple[str, ...]:
        """The layers of root changes, as the policy counts them, from the ground up."""
        roots = sorted(filter(is_root, moved), key=lambda change: change.layer.height)
        counted = (one for one in roots if one.layer not in self.options.ignore)
        return tuple(dict.fromkeys(find_group(one, self.options) for one in counted))

    def name_group(self, change: Change) -> str:
        """What counts as the layer of a change."""
        return find_group(change, self.options)

    def list_units(self, before: Lock, after: Lock) -> tuple[Unit, ...]:
        """The units of a change, lowest layer first, then by name."""
        moved = self.list_moved(before, after)
        changes = {change.name: change for change in moved}
        # The ground-most row of a name counts; a name has one layer anyway.
        leaders = _find_leaders(moved)
        found = sorted(
            {name for names in leaders.values() for name in names},
            key=lambda name: (changes[name].layer.height, name),
        )
        ways = [(name, find_group(changes[name], self.options)) for name in found]
        places = {group: at for at, group in reversed([*enumerate(g for _, g in ways)])}
        ways.sort(key=lambda way: (places[way[1]], way[0]))
        return tuple(
            Unit(
                name=name,
                group=group,
                names=frozenset(n for n, roots in leaders.items() if name in roots),
            )
            for name, group in ways
        )


def is_root(change: Change) -> bool:
    """Whether a change was asked for, as far as anybody knows."""
    return change.origin is not Origin.FORCED


def _find_leaders(moved: Sequence[Change]) -> dict[str, frozenset[str]]:
    """Of each name that moves the root changes that lead to it; of a root itself."""
    by_name: dict[str, list[Change]] = {}
    for change in moved:
        by_name.setdefault(change.name, []).append(change)
    roots = {name for name, rows in by_name.items() if any(map(is_root, rows))}
    above: Mapping[str, set[str]] = {
        name: {leader for row in rows for leader in row.forced_by if leader in by_name}
        for name, rows in by_name.items()
    }
    found = {}
    for name in by_name:
        led = frozenset({name}) if name in roots else _climb(name, above.__getitem__, roots)
        # What follows from nothing that moves stands for itself.
        found[name] = led or frozenset({name})
    return found


def _climb(name: str, above: Callable[[str], set[str]], roots: set[str]) -> frozenset[str]:
    seen, waiting = {name}, [name]
    while waiting:
        for leader in above(waiting.pop()) - seen:
            seen.add(leader)
            if leader not in roots:
                waiting.append(leader)
    return frozenset(seen & roots)
