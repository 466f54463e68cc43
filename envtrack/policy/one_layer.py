"""One layer at a time."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from envtrack.model.comparison import Change, Origin
from envtrack.model.layer import Layer
from envtrack.policy.interface import Fault, Step, join_names, say_change

if TYPE_CHECKING:
    from envtrack.config.policy_schema import OneLayer
    from envtrack.model.policy import Options

WHY = (
    "where several layers moved at once, nobody can say which of them broke it, and going back "
    "means going back with all"
)
_OF_ENVIRONMENT = frozenset({Layer.CUDA_RUNTIME, Layer.FRAMEWORK, Layer.PACKAGES})
_INTERPRETER = frozenset({"python.version", "python.implementation"})


def judge_layers(step: Step, options: OneLayer) -> Iterator[Fault]:
    """How many layers move, the machine's own included; and how many packages were asked for."""
    if not step.list_moved(with_forced=True):
        return  # what moved on the machine alone is no lockfile's affair
    groups = _group(step, options)
    if len(groups) > options.layers:
        said = "; ".join(f"{name} ({_say(changes)})" for name, changes in groups)
        yield Fault(
            found=f"{len(groups)} layers move, {options.layers} may: {said}",
            ways_out=tuple(_tell_ways(step, groups)),
            names=tuple(change.name for _, changes in groups for change in changes),
        )
    roots = sorted({c.name for c in step.list_moved() if c.origin is Origin.ROOT})
    if options.root_packages is not None and len(roots) > options.root_packages:
        yield Fault(
            found=f"{len(roots)} packages were asked for at once, {options.root_packages} may: "
            f"{join_names(roots)}",
            ways_out=("`uv lock --upgrade-package NAME` moves one, and what must follow it",),
            names=tuple(roots),
        )


def _group(step: Step, options: OneLayer) -> list[tuple[str, list[Change]]]:
    """What moves, by what counts as one layer, from the ground up."""
    found: dict[str, list[Change]] = {}
    facts = filter(_is_of_machine, step.facts)
    moved = (*facts, *step.list_moved(with_forced=options.count_forced))
    for change in sorted(moved, key=lambda one: one.layer.height):
        if change.layer not in options.ignore:
            found.setdefault(find_group(change, options), []).append(change)
    return list(found.items())


def _is_of_machine(fact: Change) -> bool:
    """Whether a fact is the machine's own.

    What is recorded of the environment follows a lockfile as soon as somebody installs it, which
    may be long after the commit; and a tool such as uv runs in no environment. What can't be seen
    any more need not have moved.
    """
    if (fact.after or "").startswith("unknown ("):
        return False
    if fact.layer is Layer.PYTHON:
        # Without an environment there is no interpreter to be seen.
        return fact.name in _INTERPRETER and None not in {fact.before, fact.after}
    return fact.layer not in _OF_ENVIRONMENT


def find_group(change: Change, options: OneLayer | Options) -> str:
    """What counts as the layer of a change: a package's own, several together, or its layer."""
    if not change.is_fact and any(fnmatchcase(change.name, glob) for glob in options.own_layer):
        return f"package {change.name}"
    for names in options.together:
        if change.layer in names:
            return " with ".join(names)
    return str(change.layer)


def _say(changes: list[Change]) -> str:
    return join_names([say_change(change) for change in changes], most=3)


def _tell_ways(step: Step, groups: list[tuple[str, list[Change]]]) -> Iterator[str]:
    """The machine's own layers first: they can't be put back, only be recorded on their own."""
    of_machine = [name for name, changes in groups if all(one.is_fact for one in changes)]
    if of_machine:
        subject = shlex.quote(f"{' and '.join(of_machine)} of {step.machine}")
        yield (
            f"record and smoke-test the {' and the '.join(of_machine)} before the lockfile moves: "
            f"`git stash && envtrack snapshot --commit -m {subject} && envtrack smoke; "
            "git stash pop`"
        )
    of_lock = [changes for name, changes in groups if name not in of_machine]
    if len(of_lock) > 1:
        if step.lockfile.rpartition("/")[2] == "uv.lock":
            yield _tell_split(step)
        later = [change for changes in of_lock[1:] for change in changes]
        yield from tell_way_back(step, later)


def _tell_split(step: Step) -> str:
    where = f" --lockfile {shlex.quote(step.lockfile)}" if "/" in step.lockfile else ""
    if step.is_committed:
        return (
            "if it is the last commit and not published, let each layer have a commit of its own: "
            f"`envtrack split HEAD{where}`"
        )
    return f"let each layer have a commit of its own, lowest first: `envtrack split{where}`"


def tell_way_back(step: Step, changes: list[Change]) -> Iterator[str]:
    """How to take packages out of the step, for a commit of their own."""
    from envtrack.compare.going_back import can_go_back, say_going_back

    back = [change for change in changes if can_go_back(change)]
    if back and step.after is not None and step.after.format == "uv.lock":
        yield (
            f"put the upper ones back, commit, and move them in a commit of their own: "
            f"`{say_going_back(back)}`"
        )
    else:
        names = join_names(sorted({change.name for change in changes}))
        yield f"commit the lower layer alone, then {names} in a commit of their own"
