from __future__ import annotations

import os
from typing import Any

import pytest  # noqa: TC002 - fixtures are annotated with it

from envtrack.git.repository import open_repository
from envtrack.record.noted import note_snapshot
from tests.cli.lab import Lab
from tests.cli.test_schemas import check


def fact(told: dict[str, Any], machine: str, name: str) -> dict[str, Any]:
    (row,) = [one for one in told["machines"] if one["name"] == machine]
    found: list[dict[str, Any]] = [one for one in row["facts"] if one["name"] == name]
    return found[0]


def build(lab: Lab) -> None:
    """`old` is one change of the lockfile behind, `new` is current."""
    lab.record("old", kernel_release="6.8.0-45-generic", python_version="3.12.1")
    lab.repo.commit("old's record")
    lab.lock("wick")
    lab.record("new", kernel_release="6.11.0-9-generic", python_version="3.12.1")
    lab.repo.commit("two")


def test_who_is_behind_and_whose_record_is_stale(lab: Lab) -> None:
    build(lab)
    told = lab.run_json("machines")
    check("machines", told)
    standings = {row["name"]: (row["behind"], row["stale"]) for row in told["machines"]}
    assert standings == {"new": (0, False), "old": (1, True)}
    assert fact(told, "old", "kernel.release")["older"]
    assert not fact(told, "new", "kernel.release")["older"]
    assert not fact(told, "old", "python.version")["older"]
    assert told["commit"] == lab.repo.git("rev-parse", "HEAD")


def test_text_names_what_is_older(lab: Lab) -> None:
    build(lab)
    out = lab.run("machines").out
    assert "6.8.0-45-generic (older)" in out
    assert "1 change behind" in out
    assert "2 machines of uv.lock" in out
    assert "1 of 2 records stale; 1 with something older" in out


def test_an_older_revision_knows_only_its_own_records(lab: Lab) -> None:
    build(lab)
    told = lab.run_json("machines", "HEAD~1")
    assert [(row["name"], row["behind"]) for row in told["machines"]] == [("old", 0)]


def test_a_record_in_a_note_counts(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVTRACK_MACHINE", "guest")
    record = lab.record("guest", kernel_release="6.8.0")
    (lab.repo.path / ".envtrack/snapshots/guest/uv.lock.json").unlink()
    repository = open_repository(lab.repo.path, dict(os.environ))
    assert note_snapshot(repository, repository.get_commit("HEAD"), record)
    (row,) = lab.run_json("machines")["machines"]
    assert (row["name"], row["here"], row["behind"]) == ("guest", True, 0)


def test_a_record_of_an_unknown_lockfile_is_of_another_history(lab: Lab) -> None:
    text = (lab.repo.path / "uv.lock").read_text()
    (lab.repo.path / "uv.lock").write_text(text + "\n")
    lab.record("guest", kernel_release="1")
    (lab.repo.path / "uv.lock").write_text(text)
    lab.repo.commit("a record alone")
    (row,) = lab.run_json("machines")["machines"]
    assert (row["behind"], row["stale"], row["commit"]) == (None, True, None)


def test_a_broken_record_is_a_note_and_not_the_end(lab: Lab) -> None:
    lab.record("good", kernel_release="1")
    lab.repo.write(".envtrack/snapshots/torn/uv.lock.json", "<<<<<<< ours\n")
    lab.repo.commit("torn")
    told = lab.run_json("machines")
    assert [row["name"] for row in told["machines"]] == ["good"]
    assert "conflict markers" in told["notes"][0]


def test_without_a_record_it_says_how_to_take_one(lab: Lab) -> None:
    ended = lab.run("machines")
    assert ended.code == 0
    assert "envtrack snapshot --save" in ended.out


def test_hostile_values_never_reach_the_terminal_raw(lab: Lab) -> None:
    lab.record("m", kernel_release="6.8\x1b[31m|<b>")
    lab.repo.commit("hostile")
    assert "\x1b" not in lab.run("machines").out
    markdown = lab.run("machines", "--format", "markdown").out
    assert "\\x1b" in markdown
    assert "<b>" not in markdown
