from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.lab import Lab

# Read here: the seal takes the variable away before a test runs.
FIELD = os.environ.get("ENVTRACK_FIELD_LOCKS", "")


def upgrade(lab: Lab, message: str = "two") -> None:
    lab.lock("wick")
    lab.repo.commit(message)


def rows(out: str) -> list[str]:
    return [re.sub(r"\s+", " ", line).strip() for line in out.splitlines() if line.startswith("  ")]


def test_one_line_a_commit_newest_first(lab: Lab) -> None:
    upgrade(lab, "raise wick")
    lab.repo.write("notes.txt", "no lockfile\n")
    lab.repo.commit("other")
    out = lab.run("log").out
    two, one = rows(out)
    assert two.startswith(lab.short("HEAD~1"))
    assert "packages 2 wick 1.0 → 1.1, flint 1.5 → 2.0" in two
    assert two.endswith("raise wick")
    assert "+lab 0.1, +wick 1.0, +flint 1.5" in one
    assert out.endswith("\n2 commits of uv.lock\n")


def test_a_commit_that_changes_the_form_alone_is_the_same_environment(lab: Lab) -> None:
    path = lab.repo.path / "uv.lock"
    path.write_text(path.read_text() + "\n")
    lab.repo.commit("an empty line")
    out = lab.run("log").out
    assert "the same environment" in rows(out)[0]
    assert "2 commits of uv.lock, 1 of them the same environment as before" in out


def test_renames_are_followed(lab: Lab) -> None:
    (lab.repo.path / "deep").mkdir()
    lab.repo.git("mv", "uv.lock", "deep/uv.lock")
    lab.repo.commit("move it")
    out = lab.run("log").out
    assert "moved from uv.lock, the same environment" in rows(out)[0]
    assert len(rows(out)) == 2


def test_records_of_the_machine_are_told_with_their_commits(lab: Lab) -> None:
    lab.record(kernel_release="6.8.0", driver_nvidia="550")
    lab.repo.commit("record")
    lab.record(kernel_release="6.11.0", driver_nvidia="550")
    lab.repo.commit("a new kernel")
    lab.record(kernel_release="6.11.0", driver_nvidia="560")
    upgrade(lab, "driver and wick")
    assert "driver 1, packages 2" in rows(lab.run("log").out)[0]
    kernel = lab.run("log", "--layer", "kernel").out
    assert [row.split(" ", 2)[2] for row in rows(kernel)] == [
        "kernel 1 kernel.release 6.8.0 → 6.11.0 a new kernel"
    ]
    assert "2 others moved nothing of that" in kernel
    assert rows(lab.run("log", "--layer", "driver", "--machine", "elsewhere").out) == []


def test_when_did_a_package_move(lab: Lab) -> None:
    upgrade(lab)
    lab.lock("flint")
    lab.repo.commit("three")
    (lab.repo.path / "uv.lock").write_text((lab.repo.path / "uv.lock").read_text() + "\n")
    lab.repo.commit("four")
    told = lab.run_json("log", "--package", "wi*")
    assert [[(c["before"], c["after"]) for c in entry["changes"]] for entry in told["entries"]] == [
        [("1.1", None)],
        [("1.0", "1.1")],
        [(None, "1.0")],
    ]
    assert told["passed_over"] == 1


def test_json_has_counts_and_the_rest(lab: Lab) -> None:
    upgrade(lab)
    entry = lab.run_json("log", "-n", "1")["entries"][0]
    assert entry["layers"] == {"packages": 2}
    assert entry["counts"] == {"upgraded": 2}
    assert entry["commit"] == lab.repo.head()
    assert entry["subject"] == "two"
    assert entry["same"] is False
    assert [c["origin"] for c in entry["changes"]] == ["root", "forced"]


def test_verdicts_stand_with_their_commits(lab: Lab) -> None:
    lab.sync()
    assert lab.run("smoke", "--", "true").code == 0
    assert lab.run("smoke", "--", "false").code == 1
    assert lab.run_json("log")["entries"][0]["verdicts"] == [
        {"machine": "testbed", "last": "bad", "count": 2}
    ]
    assert "bad@testbed ×2" in rows(lab.run("log").out)[0]


def test_a_lockfile_that_can_not_be_read_is_said_and_the_rest_goes_on(lab: Lab) -> None:
    path = lab.repo.path / "uv.lock"
    whole = path.read_text()
    path.write_text(whole.replace("[[package]]", "<<<<<<< HEAD\n[[package]]", 1))
    lab.repo.commit("unmerged")
    path.write_text(whole)
    lab.repo.commit("merged")
    upgrade(lab)
    told = lab.run_json("log")["entries"]
    assert [bool(entry["fault"]) for entry in told] == [False, True, True, False]
    assert "conflict markers" in told[1]["fault"]


def test_a_merge_tells_its_own_change(lab: Lab) -> None:
    lab.repo.git("checkout", "-q", "-b", "side")
    upgrade(lab, "on the side")
    lab.repo.git("checkout", "-q", "-")
    lab.repo.write("notes.txt", "x\n")
    lab.repo.commit("on the main line")
    lab.repo.git("merge", "-q", "--no-ff", "-m", "merge side", "side")
    assert rows(lab.run("log").out)[0].endswith("→ 2.0 on the side")
    first = rows(lab.run("log", "--first-parent").out)[0]
    assert first.endswith("merge side")
    assert "wick 1.0 → 1.1" in first


def test_no_subject_and_no_name_breaks_the_reading(lab: Lab) -> None:
    upgrade(lab, "odd \x1e\x1f:100644 100644 subject")
    entry = lab.run_json("log")["entries"][0]
    assert entry["counts"] == {"upgraded": 2}
    assert entry["subject"].startswith("odd ")


def test_content_that_a_clone_does_not_have_is_said(lab: Lab) -> None:
    upgrade(lab)
    blob = lab.repo.git("rev-parse", "HEAD~1:uv.lock").strip()
    (lab.repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    told = lab.run_json("log")["entries"]
    assert [entry["fault"] for entry in told] == [
        "uv.lock: this clone does not have its content"
    ] * 2


def memory_of(lab: Lab) -> Path:
    return lab.repo.path / ".git/envtrack/timeline.sqlite"


def test_what_was_looked_at_once_is_remembered(lab: Lab) -> None:
    upgrade(lab)
    first = lab.run_json("log")
    assert memory_of(lab).is_file()
    # Nothing is read again: the content could be gone.
    blob = lab.repo.git("rev-parse", "HEAD:uv.lock").strip()
    (lab.repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert lab.run_json("log") == first
    assert lab.run_json("log", "--package", "wick")["entries"] != []


def test_a_step_that_is_new_is_added_to_the_memory(lab: Lab) -> None:
    lab.run("log")
    upgrade(lab)
    lab.repo.write(".envtrack/config.yaml", "layers:\n  framework: [wick]\n")
    (newest, _) = lab.run_json("log")["entries"]
    assert newest["layers"] == {"framework": 1, "packages": 1}
    assert lab.run_json("log")["entries"][0] == newest


@pytest.mark.parametrize("content", [b"", b"no database", None])
def test_a_memory_that_cant_be_used_is_no_loss(lab: Lab, content: bytes | None) -> None:
    upgrade(lab)
    told = lab.run_json("log")
    memory_of(lab).unlink()
    if content is None:
        memory_of(lab).mkdir()
    else:
        memory_of(lab).write_bytes(content)
    assert lab.run_json("log") == told


def test_another_envtrack_reads_everything_again(lab: Lab) -> None:
    upgrade(lab)
    told = lab.run_json("log")
    with closing(sqlite3.connect(memory_of(lab))) as database, database:
        database.execute("UPDATE steps SET changes = '[]'")
    assert lab.run_json("log") != told
    with closing(sqlite3.connect(memory_of(lab))) as database, database:
        database.execute("UPDATE stamp SET text = 'of another one'")
    assert lab.run_json("log") == told


POETRY = """\
[[package]]
name = "flint"
version = "{flint}"
description = ""
optional = false
python-versions = "*"
files = []

[[package]]
name = "wick"
version = "{wick}"
description = ""
optional = false
python-versions = "*"
files = []

[package.dependencies]
flint = "*"

[metadata]
lock-version = "2.0"
python-versions = "*"
content-hash = "00"
"""
ASKED = """\
[tool.poetry.dependencies]
wick = "*"
"""


def test_what_was_asked_for_is_read_beside_other_lockfiles_too(lab: Lab) -> None:
    lab.repo.write("apps/poetry.lock", POETRY.format(flint="1.5", wick="1.0"))
    lab.repo.write("apps/pyproject.toml", ASKED)
    lab.repo.commit("one")
    lab.repo.write("apps/poetry.lock", POETRY.format(flint="2.0", wick="1.1"))
    lab.repo.commit("both")
    lab.repo.write("apps/pyproject.toml", f'{ASKED}flint = "*"\n')
    lab.repo.write("apps/poetry.lock", POETRY.format(flint="2.1", wick="1.2"))
    lab.repo.commit("both, and both were asked for")
    told = lab.run_json("log", "--lockfile", str(lab.repo.path / "apps/poetry.lock"))
    origins = [
        {change["name"]: change["origin"] for change in entry["changes"]}
        for entry in told["entries"]
    ]
    assert origins == [
        {"wick": "root", "flint": "root"},
        {"wick": "root", "flint": "forced"},
        {"wick": "root", "flint": "forced"},
    ]


def test_the_files_that_a_list_names_are_those_of_the_commit(lab: Lab) -> None:
    lab.repo.write("requirements.txt", "-r base.txt\nwick==1.0\n")
    lab.repo.write("base.txt", "flint==1.5\n")
    lab.repo.commit("lists")
    lab.repo.write("base.txt", "flint==1.6\n")
    lab.repo.write("requirements.txt", "-r base.txt\nwick==1.1\n")
    lab.repo.commit("both")
    (entry, first) = lab.run_json("log", "--lockfile", "requirements.txt")["entries"]
    assert {c["name"]: (c["before"], c["after"]) for c in entry["changes"]} == {
        "flint": ("1.5", "1.6"),
        "wick": ("1.0", "1.1"),
    }
    assert len(first["changes"]) == 2


def test_a_range_and_a_date(lab: Lab) -> None:
    upgrade(lab)
    assert len(rows(lab.run("log", "HEAD~1..HEAD").out)) == 1
    assert rows(lab.run("log", "--since", "2027-01-01").out) == []


@pytest.mark.parametrize("revision", ["nowhere", "--all", "HEAD..nowhere"])
def test_no_such_history_is_one_line(lab: Lab, revision: str) -> None:
    done = lab.run("log", "--", revision)
    assert done.code == 2
    assert "Traceback" not in done.err


def test_markdown_is_a_table(lab: Lab) -> None:
    lines = lab.run("log", "--format", "markdown").out.splitlines()
    assert lines[0].startswith("| commit | date |")
    assert lines[2].count("|") == 7


def count_raw(text: str) -> dict[str, list[tuple[str, ...]]]:
    """Versions and sources by name, from the raw TOML."""
    found: dict[str, list[tuple[str, ...]]] = {}
    document: dict[str, Any] = tomllib.loads(text)
    for package in document.get("package", []):
        source = package["source"]
        kind = next(iter(source)) if isinstance(source, dict) else "text"
        # One that becomes a local tree, or was one, has another source; it did not move.
        is_tree = kind in {"virtual", "editable", "directory"}
        version = "tree" if is_tree else package.get("version", "")
        found.setdefault(package["name"], []).append((version,))
    return {name: sorted(versions) for name, versions in found.items()}


@pytest.mark.skipif(not FIELD, reason="ENVTRACK_FIELD_LOCKS names no folder of histories")
def test_real_histories_agree_with_a_count_of_the_raw_files(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundles = sorted(Path(FIELD).rglob("*.bundle"))
    assert bundles
    for bundle in bundles:
        clone = tmp_path / bundle.stem
        subprocess.run(["git", "clone", "-q", "--bare", str(bundle), str(clone)], check=True)
        branch = subprocess.run(
            ["git", "-C", str(clone), "for-each-ref", "--format=%(refname)"],
            check=True, capture_output=True, text=True,
        ).stdout.split()[0]  # fmt: skip
        tree = tmp_path / f"{bundle.stem}-tree"
        subprocess.run(
            ["git", "-C", str(clone), "worktree", "add", "-q", "--detach", str(tree), branch],
            check=True,
        )
        monkeypatch.chdir(tree)
        for entry in lab.run_json("log")["entries"]:
            texts = []
            for revision in (f"{entry['commit']}~1", entry["commit"]):
                blob = subprocess.run(
                    ["git", "show", f"{revision}:uv.lock"],
                    check=False,
                    capture_output=True,
                    text=True,
                )
                texts.append(blob.stdout if blob.returncode == 0 else "")
            before, after = (count_raw(text) if text else {} for text in texts)
            names = before.keys() | after.keys()
            trees = {n for n in names if ("tree",) in before.get(n, []) + after.get(n, [])}
            moved = {name for name in names if before.get(name) != after.get(name)} - trees
            kinds = {"added", "removed", "upgraded", "downgraded", "variant", "changed"}
            told = {change["name"] for change in entry["changes"] if change["kind"] in kinds}
            assert told - trees - {"requires-python"} == moved, entry["commit"]
