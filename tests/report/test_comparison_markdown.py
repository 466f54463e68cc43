"""A comparison in a pull request: what counts is open, the rest is folded, all of it fits."""

from __future__ import annotations

from envtrack.model.comparison import Change, ChangeKind, Comparison, Origin
from envtrack.model.layer import Layer
from envtrack.report.comparison_markdown import render_comparison_markdown

# https://docs.github.com/en/rest/issues/comments: the API refuses a longer body.
GITHUBS_LIMIT = 65_536


def change(name: str, origin: Origin, detail: str = "") -> Change:
    return Change(
        layer=Layer.PACKAGES,
        name=name,
        kind=ChangeKind.UPGRADED,
        before="1",
        after="2",
        origin=origin,
        detail=detail,
    )


def compare(asked: int, followed: int, detail: str = "") -> Comparison:
    rows = [change(f"leader-{n:03}", Origin.ROOT, detail) for n in range(asked)]
    rows += [change(f"follower-{n:03}", Origin.FORCED, detail) for n in range(followed)]
    return Comparison(before="a", after="b", changes=tuple(rows))


def test_what_follows_from_others_is_folded() -> None:
    assert (
        render_comparison_markdown(compare(1, 4))
        == """\
## a → b

1 layer differs: packages.

### packages: 5 changes, 1 root, 4 forced

| name | before | after | kind | origin | detail |
|---|---|---|---|---|---|
| leader-000 | 1 | 2 | upgraded | root |  |

<details><summary>4 more (4 forced)</summary>

| name | before | after | kind | origin | detail |
|---|---|---|---|---|---|
| follower-000 | 1 | 2 | upgraded | forced |  |
| follower-001 | 1 | 2 | upgraded | forced |  |
| follower-002 | 1 | 2 | upgraded | forced |  |
| follower-003 | 1 | 2 | upgraded | forced |  |

</details>
"""
    )


def test_few_are_not_folded() -> None:
    assert "<details>" not in render_comparison_markdown(compare(1, 3))


def test_full_folds_nothing() -> None:
    told = render_comparison_markdown(compare(40, 400), is_full=True)
    assert "<details>" not in told
    assert told.count("| upgraded |") == 440


def test_a_long_comparison_fits_into_a_comment_and_says_what_does_not() -> None:
    told = render_comparison_markdown(compare(20, 900, detail="d" * 200))
    assert len(told) <= GITHUBS_LIMIT
    shown = told.count("| upgraded |")
    assert f"\n{920 - shown} of them do not fit here.\n\n</details>\n" in told
    assert shown > 200


def test_a_value_without_end_is_cut() -> None:
    told = render_comparison_markdown(compare(1, 0, detail="x" * 100_000))
    assert len(told) < 1_000
    assert "x…" in told


def test_what_differs_between_machines_stands_apart() -> None:
    fact = Change(
        layer=Layer.KERNEL,
        name="kernel.release",
        kind=ChangeKind.UPGRADED,
        before="6.8.0-45",
        after="6.8.0-48",
    )
    told = render_comparison_markdown(
        Comparison(before="a", after="b", changes=(), apart=(fact,), machines=("box", "gpu_1"))
    )
    assert "nothing changed; 1 fact differs between the machines box and gpu_1." in told
    assert "### between the machines box and gpu_1\n" in told
    assert "| kernel.release | 6.8.0-45 | 6.8.0-48 |" in told
