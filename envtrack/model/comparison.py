"""What differs between two records, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from envtrack.model.layer import Layer


class ChangeKind(StrEnum):
    """In which way something differs."""

    ADDED = "added"
    REMOVED = "removed"
    UPGRADED = "upgraded"
    DOWNGRADED = "downgraded"
    CHANGED = "changed"
    """A fact's value, which has no order."""
    VARIANT = "variant"
    """The local part of a version: +cu124 to +cpu."""
    REBUILD = "rebuild"
    """The same version with another hash."""
    SOURCE = "source"
    """Another index, mirror, git commit or path."""
    SELECTOR = "selector"
    """Another marker, extra or group selects it."""


class Origin(StrEnum):
    """Whether a package change was asked for."""

    ROOT = "root"
    FORCED = "forced"
    NOT_KNOWN = "not-known"


_LAYERS = frozenset(Layer)


class Change(NamedTuple):
    """One fact or package that differs.

    Attributes:
        layer: where it belongs.
        name: the package's name, or the fact's dotted name.
        kind: in which way.
        before: the older value as text; ``None`` where there was none.
        after: the newer value; ``None`` where there is none any more.
        origin: asked for, or following from a root change; facts are ``NOT_KNOWN``.
        detail: a few words more where kind and values do not say it all.
        forced_by: of a forced change the packages that moved and need it, by name.
    """

    layer: Layer
    name: str
    kind: ChangeKind
    before: str | None
    after: str | None
    origin: Origin = Origin.NOT_KNOWN
    detail: str = ""
    forced_by: tuple[str, ...] = ()

    @property
    def is_fact(self) -> bool:
        """Whether it is a fact and no package; a package of conda's may have a dot in its name."""
        layer, dot, _ = self.name.partition(".")
        return bool(dot) and layer in _LAYERS


class Comparison(NamedTuple):
    """All changes between two records.

    Attributes:
        before: how the older record is named.
        after: how the newer record is named.
        changes: sorted from the ground up, then by name.
        notes: what could not be compared and why, a line each.
        apart: facts that differ between two machines, in the same order. Nothing changed there:
            they are two computers.
        machines: the names of the older and the newer record's machine, if they are two.
    """

    before: str
    after: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    apart: tuple[Change, ...] = ()
    machines: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        return bool(self.changes or self.apart)

    def by_layer(self) -> tuple[tuple[Layer, tuple[Change, ...]], ...]:
        """The layers that moved, from the ground up, each with its changes."""
        return tuple((layer, tuple(rows)) for layer, rows in groupby(self.changes, _layer_of))


def sort_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """From the ground up; asked-for changes before those that follow; then by name."""
    order = list(Origin)
    return tuple(
        sorted(
            changes, key=lambda c: (c.layer.height, order.index(c.origin), c.name, c.before or "")
        )
    )


def _layer_of(change: Change) -> Layer:
    return change.layer
