from __future__ import annotations

import json

import pytest

from envtrack.model.comparison import Change, ChangeKind, Comparison, Origin, sort_changes
from envtrack.model.layer import Layer
from envtrack.report.comparison import render_comparison_json, render_comparison_text
from envtrack.report.comparison_markdown import render_comparison_markdown
from envtrack.report.look import Look


def change(
    layer: Layer,
    name: str,
    before: str | None,
    after: str | None,
    kind: ChangeKind = ChangeKind.UPGRADED,
    *,
    origin: Origin = Origin.NOT_KNOWN,
    detail: str = "",
) -> Change:
    return Change(
        layer=layer, name=name, kind=kind, before=before, after=after, origin=origin, detail=detail
    )


def compare(*changes: Change, notes: tuple[str, ...] = ()) -> Comparison:
    return Comparison(
        before="HEAD~1 (0123456789)", after="now (box)", changes=sort_changes(changes), notes=notes
    )


MIXED = compare(
    change(Layer.PACKAGES, "wick", "1.0", "1.1", origin=Origin.ROOT),
    change(Layer.PACKAGES, "flint", None, "2.0", ChangeKind.ADDED, origin=Origin.FORCED),
    change(Layer.DRIVER, "driver.nvidia.version", "550.54.15", "560.35.03"),
    change(
        Layer.FRAMEWORK,
        "torch",
        "2.4.0+cu124",
        "2.4.0+cpu",
        ChangeKind.VARIANT,
        origin=Origin.ROOT,
        detail="index",
    ),
    notes=("HEAD~1 (0123456789): not recorded here for box",),
)


def test_text_goes_from_the_ground_up() -> None:
    assert (
        render_comparison_text(MIXED, Look(width=80))
        == """\
HEAD~1 (0123456789) → now (box)

driver  1 change
  driver.nvidia.version  550.54.15 → 560.35.03    upgraded

framework  1 change, 1 root
  torch                  2.4.0+cu124 → 2.4.0+cpu  variant   root, index

packages  2 changes, 1 root, 1 forced
  wick                   1.0 → 1.1                upgraded  root
  flint                  – → 2.0                  added     forced

3 layers differ: driver, framework, packages
note: HEAD~1 (0123456789): not recorded here for box
"""
    )


def test_nothing_is_said_as_nothing() -> None:
    text = render_comparison_text(compare(), Look())
    assert text == "HEAD~1 (0123456789) → now (box)\n\nnothing differs\n"


LONG = compare(
    *(change(Layer.PACKAGES, f"p{n:02}", "1", "2", origin=Origin.FORCED) for n in range(40)),
    change(Layer.PACKAGES, "wish", "1", "2", origin=Origin.ROOT),
)


def test_a_long_layer_is_shortened_with_a_count() -> None:
    asked = LONG._replace(changes=tuple(c._replace(origin=Origin.ROOT) for c in LONG.changes))
    lines = render_comparison_text(asked, Look()).splitlines()
    assert len(lines) == 2 + 1 + 12 + 1 + 2
    assert "  … and 29 more (29 root): --full shows them" in lines


def test_what_follows_is_counted_and_what_was_asked_for_is_shown() -> None:
    lines = render_comparison_text(LONG, Look()).splitlines()
    assert lines[3].split() == ["wish", "1", "→", "2", "upgraded", "root"]
    assert lines[4] == "  … and 40 more (40 forced): --full shows them"


def test_full_shows_all() -> None:
    text = render_comparison_text(LONG, Look(is_full=True))
    assert "p39" in text
    assert "--full" not in text


@pytest.mark.parametrize(("asked", "used"), [(40, 80), (80, 80), (120, 120), (999, 200)])
def test_widths_are_kept_between_80_and_200(asked: int, used: int) -> None:
    path = "/opt/" + "Z" * 300
    one = change(Layer.SETTINGS, "settings.LD_LIBRARY_PATH", None, path, ChangeKind.ADDED)
    lines = render_comparison_text(compare(one), Look(width=asked)).splitlines()
    assert max(map(len, lines)) <= used
    assert "".join(lines).count("Z") == 300
    assert any(line.startswith("  settings.LD_LIBRARY_PATH  ") for line in lines)


def test_escape_sequences_of_a_value_are_written_out() -> None:
    evil = change(Layer.PACKAGES, "p\x1b]0;x\x07", "1\x1b[2J", "2\n3", detail="\x9b1m[bold]")
    text = render_comparison_text(compare(evil, notes=("\x1b[31m",)), Look(width=200))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "1\\x1b[2J → 2\\n3" in text
    assert "\\x9b1m[bold]" in text


def test_a_long_detail_has_a_line_of_its_own_and_is_cut_unless_full() -> None:
    detail = "index https://index.example.org/simple/one → https://index.example.org/simple/another"
    moved = compare(
        change(
            Layer.PACKAGES,
            "wick",
            "1.0",
            "1.0",
            ChangeKind.SOURCE,
            detail=detail,
            origin=Origin.ROOT,
        )
    )
    lines = render_comparison_text(moved, Look(width=80)).splitlines()
    assert lines[3] == "  wick  1.0  source  root"
    assert lines[4] == "      " + detail[:73] + "…"
    full = render_comparison_text(moved, Look(width=80, is_full=True)).splitlines()
    assert full[4:6] == [
        "      index https://index.example.org/simple/one →",
        "      https://index.example.org/simple/another",
    ]


def test_colours_come_only_when_wanted() -> None:
    assert "\x1b[" not in render_comparison_text(MIXED, Look())
    assert "\x1b[32mupgraded" in render_comparison_text(MIXED, Look(is_coloured=True))


def test_wide_characters_keep_the_columns() -> None:
    both = compare(
        change(Layer.HARDWARE, "hardware.cpu.model", "處理器", "x", ChangeKind.CHANGED),
        change(Layer.HARDWARE, "hardware.gpu.count", "1", "2", ChangeKind.CHANGED),
    )
    rows = [row for row in render_comparison_text(both, Look()).splitlines() if "  changed" in row]
    assert [row.index("changed") for row in rows] == [31, 34]


def test_json_is_the_documented_shape() -> None:
    document = json.loads(render_comparison_json(MIXED))
    assert document["schema"] == 1
    assert document["kind"] == "comparison"
    assert (document["before"], document["after"]) == ("HEAD~1 (0123456789)", "now (box)")
    assert document["notes"] == ["HEAD~1 (0123456789): not recorded here for box"]
    assert document["changes"][3] == {
        "layer": "packages",
        "name": "flint",
        "kind": "added",
        "before": None,
        "after": "2.0",
        "origin": "forced",
        "detail": "",
        "forced_by": [],
    }


def test_markdown_is_a_table_a_layer() -> None:
    odd = change(Layer.PACKAGES, "wick", "1|0", "1.1", origin=Origin.ROOT, detail="a | b")
    assert (
        render_comparison_markdown(compare(odd, notes=("a*b",)))
        == """\
## HEAD\\~1 (0123456789) → now (box)

1 layer differs: packages.

### packages: 1 change, 1 root

| name | before | after | kind | origin | detail |
|---|---|---|---|---|---|
| wick | 1\\|0 | 1.1 | upgraded | root | a \\| b |

- a\\*b
"""
    )


def test_many_forced_changes_are_counted_and_few_are_shown() -> None:
    def change(name: str, origin: Origin) -> Change:
        return Change(
            layer=Layer.PACKAGES,
            name=name,
            kind=ChangeKind.UPGRADED,
            before="1",
            after="2",
            origin=origin,
        )

    forced = [change(f"follower-{number}", Origin.FORCED) for number in range(4)]
    rows = (change("leader", Origin.ROOT), *forced)
    told = render_comparison_text(Comparison(before="a", after="b", changes=rows), Look())
    assert "leader" in told
    assert "follower" not in told
    assert "4" in told
    few = Comparison(before="a", after="b", changes=rows[:4])
    assert "follower-2" in render_comparison_text(few, Look())
    full = render_comparison_text(
        Comparison(before="a", after="b", changes=rows), Look(is_full=True)
    )
    assert "follower-3" in full


def test_who_forces_a_change_is_said() -> None:
    moved = change(Layer.PACKAGES, "flint", "1", "2", origin=Origin.FORCED)
    for leaders, said in (
        ((), "forced"),
        (("wick",), "forced by wick"),
        (("a", "b", "c", "d"), "forced by a, b and 2 more"),
    ):
        told = render_comparison_text(compare(moved._replace(forced_by=leaders)), Look())
        assert told.splitlines()[3].endswith(f"upgraded  {said}")
