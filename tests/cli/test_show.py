from __future__ import annotations

from envtrack.model.snapshot import parse_snapshot
from tests.cli.lab import Lab


def test_the_record_of_head_is_shown_by_layer(lab: Lab) -> None:
    lab.record(kernel_release="6.8.0", installed={"wick": "1.0"})
    lab.repo.commit("record")
    done = lab.run("show")
    assert (done.code, done.err) == (0, "")
    assert (
        done.out
        == f"""\
testbed at 2026-01-02T03:04:05Z, beside uv.lock ({lab.blob().short})

kernel
  kernel.release        6.8.0

packages
  packages.environment  <project>/.venv
  wick                  1.0
"""
    )


def test_json_is_the_record_itself(lab: Lab) -> None:
    recorded = lab.record(kernel_release="6.8.0")
    lab.repo.commit("record")
    assert parse_snapshot(lab.run("show", "-f", "json").out, where="out") == recorded


def test_an_older_revision_has_its_own(lab: Lab) -> None:
    for release in ("6.8.0", "6.11.0"):
        lab.record(kernel_release=release)
        lab.repo.commit(release)
    assert "6.8.0" in lab.run("show", "HEAD~1").out
    assert "6.11.0" in lab.run("show").out


def test_a_machine_without_a_record_hears_who_has_one(lab: Lab) -> None:
    lab.record("box")
    lab.record("cluster")
    head = lab.repo.commit("records")[:10]
    done = lab.run("show")
    assert done.code == 2
    assert done.err == (
        f"envtrack: HEAD ({head}) holds no record of testbed beside uv.lock\n"
        "  recorded there: box, cluster; `--machine box` shows it\n"
    )
    assert lab.run("show", "--machine", "cluster").code == 0


def test_no_record_at_all_says_how_to_take_one(lab: Lab) -> None:
    done = lab.run("show")
    assert done.code == 2
    assert "`envtrack snapshot --save` takes one now" in done.err


def test_a_record_of_another_lockfile_is_shown_and_said(lab: Lab) -> None:
    lab.record()
    lab.lock("wick")
    lab.repo.commit("two")
    done = lab.run("show")
    assert done.code == 0
    assert "HEAD is not recorded: this record of 2026-01-02T03:04:05Z" in done.err


def test_an_unknown_revision_is_one_line(lab: Lab) -> None:
    done = lab.run("show", "nosuch")
    assert done.code == 2
    assert done.err.startswith("envtrack: `nosuch` names no commit")


def test_a_record_of_a_newer_schema_is_refused(lab: Lab) -> None:
    lab.repo.write(".envtrack/snapshots/testbed/uv.lock.json", '{"schema": 99}')
    lab.repo.commit("future")
    done = lab.run("show")
    assert done.code == 2
    assert "newer than this envtrack reads" in done.err


def test_escape_sequences_of_a_record_stay_out_of_the_terminal(lab: Lab) -> None:
    lab.record(kernel_release="6\x1b[2J\x9b31m")
    lab.repo.commit("evil")
    for form in ("text", "json", "markdown"):
        out = lab.run("show", "-f", form).out
        assert "\x1b" not in out
        assert "\x9b" not in out
