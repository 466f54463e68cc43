"""A project's own word on which packages belong to which layer."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from envtrack.model.comparison import Change, sort_changes
from envtrack.model.names import normalise

if TYPE_CHECKING:
    from envtrack.model.layer import Layer, LayerRules


def assign_layers(changes: Iterable[Change], rules: LayerRules) -> tuple[Change, ...]:
    """The changes from the ground up, those of packages in the layer that the first rule says.

    Facts stay where they are, and so does a package that no rule names.
    """
    return sort_changes(_assign(change, rules) for change in changes)


def _assign(change: Change, rules: LayerRules) -> Change:
    if change.is_fact:
        return change
    return change._replace(layer=find_layer(change.name, change.layer, rules))


def find_layer(name: str, layer: Layer, rules: LayerRules) -> Layer:
    """The layer that the first rule says of a package; the one given where no rule names it."""
    name = normalise(name)
    named = (one for one, globs in rules if any(fnmatchcase(name, glob) for glob in globs))
    return next(named, layer)
