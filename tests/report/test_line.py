"""Changes in one line."""

from __future__ import annotations

import pytest

from envtrack.model.comparison import Change, ChangeKind, Comparison, Origin
from envtrack.model.layer import Layer
from envtrack.report.line import render_comparison_line, say_change


def change(
    name: str, kind: ChangeKind, *, layer: Layer = Layer.PACKAGES, origin: Origin = Origin.ROOT
) -> Change:
    before = None if kind is ChangeKind.ADDED else "1.0"
    after = None if kind is ChangeKind.REMOVED else "2.0"
    return Change(layer=layer, name=name, kind=kind, before=before, after=after, origin=origin)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (ChangeKind.ADDED, "+wick 2.0"),
        (ChangeKind.REMOVED, "-wick 1.0"),
        (ChangeKind.UPGRADED, "wick 1.0 → 2.0"),
        (ChangeKind.VARIANT, "wick 1.0 → 2.0"),
        (ChangeKind.REBUILD, "rebuilt wick"),
        (ChangeKind.SELECTOR, "selector of wick"),
        (ChangeKind.SOURCE, "source of wick"),
    ],
)
def test_each_kind_has_its_words(kind: ChangeKind, said: str) -> None:
    assert say_change(change("wick", kind)) == said


def test_layers_from_the_ground_up_and_what_was_asked_for_first() -> None:
    rows = (
        change("kernel.release", ChangeKind.UPGRADED, layer=Layer.KERNEL, origin=Origin.NOT_KNOWN),
        change("a-follower", ChangeKind.UPGRADED, origin=Origin.FORCED),
        change("b-follower", ChangeKind.UPGRADED, origin=Origin.FORCED),
        change("c-follower", ChangeKind.UPGRADED, origin=Origin.FORCED),
        change("flint", ChangeKind.ADDED),
    )
    assert render_comparison_line(Comparison(before="a", after="b", changes=rows)) == (
        "kernel: kernel.release 1.0 → 2.0; "
        "packages: +flint 2.0, a-follower 1.0 → 2.0, b-follower 1.0 → 2.0, … 1 more"
    )


def test_nothing_and_other_machines() -> None:
    assert render_comparison_line(Comparison(before="a", after="b", changes=())) == (
        "the same environment"
    )
    fact = change("kernel.release", ChangeKind.UPGRADED, layer=Layer.KERNEL)
    two = Comparison(before="a", after="b", changes=(), apart=(fact, fact), machines=("x", "y"))
    assert render_comparison_line(two) == "2 facts differ between the machines"
