from __future__ import annotations

from envtrack.model.fact import Absent, Known, Unknown
from envtrack.model.oid import Oid
from envtrack.model.snapshot import InstalledPackage, LockfileRef, Snapshot, parse_snapshot
from envtrack.report.look import Look
from envtrack.report.snapshot import (
    render_snapshot_json,
    render_snapshot_markdown,
    render_snapshot_text,
)

SNAPSHOT = Snapshot(
    machine="box",
    taken_at="2026-01-02T03:04:05Z",
    facts={
        "kernel.release": Known("6.8.0"),
        "driver.nvidia.version": Unknown("not permitted"),
        "driver.amd.version": Absent(),
        "driver.nvidia.open": Known(value=True),
        "later.thing": Known("a|b\x1b[2J"),
    },
    installed={
        "torch": InstalledPackage(name="torch", version="2.4.0+cu124"),
        "lab": InstalledPackage(name="lab", version="0.1", origin="editable <project>"),
    },
    lockfile=LockfileRef(path="uv.lock", blob=Oid("a" * 40)),
)


def test_text_is_by_layer_from_the_ground_up() -> None:
    assert (
        render_snapshot_text(SNAPSHOT, Look())
        == """\
box at 2026-01-02T03:04:05Z, beside uv.lock (aaaaaaaaaa)

kernel
  kernel.release         6.8.0

driver
  driver.nvidia.open     yes
  driver.nvidia.version  unknown: not permitted
  absent: driver.amd.version

framework
  torch                  2.4.0+cu124

packages
  lab                    0.1  from editable <project>

other
  later.thing            a|b\\x1b[2J
"""
    )


def test_many_packages_are_counted_unless_full() -> None:
    many = {f"p{n:02}": InstalledPackage(name=f"p{n:02}", version="1") for n in range(30)}
    snapshot = Snapshot(machine="box", taken_at="t", facts={}, installed=many)
    assert "  … and 18 more installed: --full shows them\n" in render_snapshot_text(
        snapshot, Look()
    )
    assert "p29" in render_snapshot_text(snapshot, Look(is_full=True))


def test_json_is_the_canonical_form() -> None:
    text = render_snapshot_json(SNAPSHOT)
    assert parse_snapshot(text, where="x") == SNAPSHOT
    assert "\x1b" not in text


def test_markdown_is_a_table_a_layer() -> None:
    text = render_snapshot_markdown(SNAPSHOT)
    assert "| driver.amd.version | absent |" in text
    assert "| later.thing | a\\|b\\\\x1b\\[2J |" in text
    assert "| lab | 0.1 editable &lt;project&gt; |" in text
