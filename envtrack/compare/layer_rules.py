"""A project's own word on which packages belong to which layer."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from envtrack.model.comparison import Change, sort_changes
from envtrack.model.names import normalise

if TYPE_CHECKING:
    from envtrack.model.layer import LayerRules


def assign_layers(changes: Iterable[Change], rules: LayerRules) -> tuple[Change, ...]:
    """The changes from the ground up, those of packages in the layer that the first rule says.

    Facts stay where they are, and so does a package that no rule names.
    """
    return sort_changes(_assign(change, rules) for change in changes)


def _assign(change: Change, rules: LayerRules) -> Change:
    if change.is_fact:
        return change
    name = normalise(change.name)
    for layer, globs in rules:
        if any(fnmatchcase(name, glob) for glob in globs):
            return change._replace(layer=layer)
    return change
