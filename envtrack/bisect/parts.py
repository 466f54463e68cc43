"""What differs between two lockfiles, cut into what can be moved on its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from envtrack.compare.layer_rules import assign_layers
from envtrack.compare.locks import compare_locks
from envtrack.lockfiles.compose import Composer
from envtrack.lockfiles.select import identity
from envtrack.lockfiles.uv import parse
from envtrack.model.comparison import Change, Origin
from envtrack.model.isolation import Unit
from envtrack.model.layer import LayerRules
from envtrack.model.lock import LockedPackage
from envtrack.model.names import normalise
from envtrack.probe.composed import put_composed
from envtrack.probe.identity import read_candidate
from envtrack.probe.plan import Plan, SessionFiles
from envtrack.probe.tree import Tree


class Parts(NamedTuple):
    """The parts of the way from one lockfile to another.

    Attributes:
        composer: makes the lockfiles in between.
        units: what is moved as one.
        idle: names that differ without making a difference to what is installed here; they come
            from the newer side in every composed lockfile.
    """

    composer: Composer
    units: tuple[Unit, ...]
    idle: frozenset[str]

    def compose(self, taken: Iterable[int]) -> str:
        """The lockfile in which these units are as the newer one has them."""
        names = (name for position in taken for name in self.units[position].names)
        return self.composer.compose(self.idle.union(names))


def cut_into_parts(old: str, new: str, *, differing: frozenset[str], rules: LayerRules) -> Parts:
    """The parts between two uv.locks.

    Args:
        old: the text of the older one.
        new: of the newer one.
        differing: the names of which something else is installed here.
        rules: the project's own word on layers.
    """
    composer = Composer(old, new)
    movable = differing.intersection(composer.movable)
    told = compare_locks(parse(old, path="uv.lock"), parse(new, path="uv.lock"))
    changes: dict[str, list[Change]] = {}
    for change in assign_layers(told, rules):
        if change.name in movable:
            changes.setdefault(change.name, []).append(change)
    return Parts(
        composer=composer,
        units=tuple(_make_unit(names, changes) for names in group_names(movable, changes)),
        idle=frozenset(composer.movable) - movable,
    )


def group_names(
    names: Iterable[str], changes: Mapping[str, Sequence[Change]]
) -> tuple[tuple[str, ...], ...]:
    """The names in groups: who moved only because one other did is moved with it.

    In the order of the lockfile's names; in a group the one that was asked for comes first.
    """
    leaders = {name: _find_leader(name, changes) for name in sorted(names)}
    groups: dict[str, list[str]] = {}
    for name in leaders:
        groups.setdefault(_follow(name, leaders), []).append(name)
    return tuple((top, *(name for name in some if name != top)) for top, some in groups.items())


def _find_leader(name: str, changes: Mapping[str, Sequence[Change]]) -> str:
    """Who forced a change; the name itself if nobody did, or several could have."""
    forced_by = {
        leader
        for change in changes.get(name, ())
        if change.origin is Origin.FORCED
        for leader in change.forced_by
        if leader in changes
    }
    return forced_by.pop() if len(forced_by) == 1 else name


def _follow(name: str, leaders: Mapping[str, str]) -> str:
    """The first of those who forced it; of a circle the first by name."""
    seen = [name]
    while (leader := leaders[seen[-1]]) not in seen:
        seen.append(leader)
    return min(seen[seen.index(leader) :])


def _make_unit(names: tuple[str, ...], changes: Mapping[str, Sequence[Change]]) -> Unit:
    return Unit(names=names, changes=tuple(c for name in names for c in changes.get(name, ())))


def find_differing(
    tree: Tree, plan: Plan, files: SessionFiles, texts: tuple[str, str]
) -> frozenset[str]:
    """The names of which two lockfiles install something else here, in a tree of our own.

    Where it can't be told what is installed, all of both.
    """
    old, new = (_find_expected(tree, plan, files, text) for text in texts)
    return frozenset(
        name for name in old.keys() | new.keys() if _name(old.get(name)) != _name(new.get(name))
    )


def _name(packages: Sequence[LockedPackage] | None) -> str:
    return identity(packages) if packages else ""


def _find_expected(
    tree: Tree, plan: Plan, files: SessionFiles, text: str
) -> dict[str, list[LockedPackage]]:
    files.composed.write_text(text, "utf-8")
    put_composed(tree, files, plan.lockfile)
    candidate = read_candidate(tree, plan, files)
    packages = candidate.expected or (candidate.lock.packages if candidate.lock else ())
    found: dict[str, list[LockedPackage]] = {}
    for package in packages:
        found.setdefault(package.name, []).append(package)
    return found


def find_suspected(parts: Parts, names: Iterable[str]) -> tuple[frozenset[int], ...]:
    """The units that hold a package of one of these names, each on its own."""
    wanted = {normalise(name) for name in names}
    return tuple(
        frozenset({position})
        for position, unit in enumerate(parts.units)
        if wanted.intersection(unit.names)
    )
