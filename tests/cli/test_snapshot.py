from __future__ import annotations

import json

import pytest

from envtrack.model.snapshot import parse_snapshot
from tests.cli.lab import Lab
from tests.support.repo import RepoBuilder

RECORD = ".envtrack/snapshots/testbed/uv.lock.json"


def add_hook(repo: RepoBuilder, name: str, text: str) -> None:
    hook = repo.path / ".git/hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{text}\n")
    hook.chmod(0o755)


def test_a_snapshot_goes_to_stdout_and_nothing_moves(lab: Lab) -> None:
    lab.sync()
    before = lab.repo.state()
    done = lab.run("snapshot")
    assert done.code == 0
    assert done.out.startswith("testbed at ")
    assert "\n  wick " in done.out
    assert lab.repo.state() == before


def test_json_is_the_canonical_form(lab: Lab) -> None:
    snapshot = parse_snapshot(lab.run("snapshot", "--format", "json").out, where="out")
    assert snapshot.lockfile is not None
    assert snapshot.lockfile.blob == lab.blob()


def test_save_writes_the_record_and_stages_nothing(lab: Lab) -> None:
    done = lab.run("snapshot", "--save")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"envtrack: recorded in {RECORD}")
    assert lab.read_record().machine == "testbed"
    assert lab.repo.git("diff", "--cached", "--name-only") == ""


def test_commit_holds_the_record_alone(lab: Lab) -> None:
    lab.repo.write("staged.txt", "x")
    lab.repo.git("add", "staged.txt")
    lab.repo.write("loose.txt", "y")
    done = lab.run("snapshot", "--commit", "-m", "driver 560")
    assert done.code == 0, done.err
    assert lab.repo.git("show", "--format=%s", "--name-only") == f"driver 560\n\n{RECORD}"
    assert lab.repo.git("status", "--porcelain") == "A  staged.txt\n?? loose.txt"
    assert done.err == f"envtrack: recorded in {RECORD}, commit {lab.short()}\n"


def test_nothing_moved_makes_no_commit(lab: Lab) -> None:
    lab.run("snapshot", "--commit", "-m", "one")
    head = lab.repo.head()
    done = lab.run("snapshot", "--commit", "-m", "two")
    assert done.code == 0
    assert "nothing moved since the last record" in done.err
    assert lab.repo.head() == head


def test_the_users_hooks_run_and_ours_keep_still(lab: Lab) -> None:
    add_hook(lab.repo, "pre-commit", 'echo "$ENVTRACK_HOOK" >seen.txt')
    assert lab.run("snapshot", "--commit", "-m", "one").code == 0
    assert (lab.repo.path / "seen.txt").read_text() == "off\n"


def test_a_hook_that_refuses_leaves_the_index_as_it_was(lab: Lab) -> None:
    lab.repo.write("staged.txt", "x")
    lab.repo.git("add", "staged.txt")
    add_hook(lab.repo, "pre-commit", "echo no >&2; exit 1")
    done = lab.run("snapshot", "--commit", "-m", "one")
    assert done.code == 4
    assert done.err.rstrip().endswith("no")
    assert lab.repo.git("status", "--porcelain") == "A  staged.txt\n?? .envtrack/"


def test_an_unfinished_merge_is_refused(lab: Lab) -> None:
    lab.repo.git("branch", "side")
    lab.repo.commit("main")
    lab.repo.git("checkout", "-q", "side")
    lab.repo.write("x", "x")
    lab.repo.commit("side")
    lab.repo.git("merge", "--no-commit", "main")
    done = lab.run("snapshot", "--commit", "-m", "one")
    assert done.code == 2
    assert "MERGE_HEAD is there" in done.err


def test_a_lockfile_that_is_not_heads_gets_no_commit_of_its_own(lab: Lab) -> None:
    lab.lock("wick")
    done = lab.run("snapshot", "--commit", "-m", "one")
    assert done.code == 2
    assert "uv.lock is not the one of HEAD" in done.err


def test_a_message_and_a_commit_go_together(lab: Lab) -> None:
    assert lab.run("snapshot", "--commit").code == 2
    assert lab.run("snapshot", "--commit", "-m", " ").code == 2
    assert lab.run("snapshot", "-m", "x").code == 2


def test_a_record_in_an_ignored_folder_is_committed(lab: Lab) -> None:
    lab.repo.write(".gitignore", ".venv/\n.envtrack/\n")
    lab.repo.commit("ignore")
    assert lab.run("snapshot", "--commit", "-m", "one").code == 0
    assert lab.repo.git("ls-files", RECORD) == RECORD


def test_output_is_a_file_that_can_be_compared(lab: Lab) -> None:
    assert lab.run("snapshot", "-f", "json", "-o", "now.json").code == 0
    assert json.loads((lab.repo.path / "now.json").read_text())["machine"] == "testbed"
    assert lab.run("diff", "now.json", "now", "--exit-code").code == 0


def test_only_deep_starts_a_framework(lab: Lab) -> None:
    lab.sync()
    (site,) = (lab.repo.path / ".venv/lib").glob("python*/site-packages")
    (site / "torch").mkdir()
    (site / "torch/__init__.py").write_text("raise ImportError('a stand-in')\n")
    plain = parse_snapshot(lab.run("snapshot", "--format", "json").out, where="plain")
    deep = parse_snapshot(lab.run("snapshot", "--deep", "--format", "json").out, where="deep")
    assert "framework.torch.import" not in plain.facts
    assert "a stand-in" in str(deep.facts["framework.torch.import"])


@pytest.mark.parametrize("other", [["--save"], ["--commit", "-m", "x"]])
def test_a_record_is_never_deep(lab: Lab, other: list[str]) -> None:
    done = lab.run("snapshot", "--deep", *other)
    assert done.code == 2
    assert "--deep excludes --save and --commit" in done.err
