"""The upgrade policy at the moment of a commit: what stops it, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lockfiles.texts import HEAD, pinned, project
from tests.record.hooked import Hooked, write_script

POLICY = ".envtrack/policies/ours.yaml"
CONFIG = ".envtrack/config.yaml"
LAYERS = "layers:\n  framework: [wick]\n"


def lock(wick: str, flint: str) -> str:
    return HEAD + "\n".join(
        [project("wick", "flint"), pinned("wick", wick), pinned("flint", flint)]
    )


@pytest.fixture
def ruled(hooked: Hooked) -> Hooked:
    """A repository with a policy, wick as its framework, and hooks that keep the rules."""
    hooked.repo.write(CONFIG, LAYERS)
    hooked.lock(lock("1", "1"))
    hooked.repo.git("add", "--all")
    hooked.commit()
    hooked.repo.write(POLICY, "kind: UpgradePolicy\nrules: {reason: {level: error}}\n")
    hooked.repo.git("add", "--all")
    hooked.commit()
    hooked.mark.unlink(missing_ok=True)
    return hooked


def try_commit(hooked: Hooked, *arguments: str) -> tuple[int, str]:
    done = hooked.repo.run(["git", "commit", "--quiet", *arguments], check=False)
    return done.returncode, done.stderr


def test_two_layers_stop_the_commit_and_the_way_out_is_said(ruled: Hooked) -> None:
    head = ruled.repo.head()
    ruled.lock(lock("2", "2"))
    code, said = try_commit(ruled, "-m", "both", "-m", "Env-Reason: new")
    assert code == 1
    assert "2 layers move, 1 may" in said
    assert "uv lock --upgrade-package flint==1" in " ".join(said.split())
    assert ruled.repo.head() == head
    assert ruled.starts() == ["pre-commit"]
    assert "M  uv.lock" in ruled.status()


def test_a_commit_that_keeps_the_rules_passes_in_silence(ruled: Hooked) -> None:
    ruled.lock(lock("2", "1"))
    assert try_commit(ruled, "-m", "one", "-m", "Env-Reason: new") == (0, "")
    assert ruled.starts() == ["pre-commit", "commit-msg"]
    assert ruled.belongs()
    assert ruled.status() == ""


def test_where_no_message_is_asked_for_it_is_not_looked_at(ruled: Hooked) -> None:
    ruled.repo.write(POLICY, "kind: UpgradePolicy\noverrides: [one-layer]\n")
    ruled.lock(lock("2", "1"))
    assert try_commit(ruled, "-m", "one") == (0, "")
    assert ruled.starts() == ["pre-commit"]
    # A commit that was given up leaves nothing behind that a later one would be judged by.
    ruled.lock(lock("3", "1"))
    assert try_commit(ruled, "-m", "")[0] == 1
    ruled.lock(lock("3", "2"))
    code, said = try_commit(ruled, "-m", "both")
    assert code == 1
    assert "one-layer" in said


def test_a_line_that_is_missing_is_asked_for_when_there_is_a_message(ruled: Hooked) -> None:
    ruled.lock(lock("2", "1"))
    code, said = try_commit(ruled, "-m", "one")
    assert code == 1
    assert "the message does not say why packages move" in said
    assert ruled.starts() == ["pre-commit", "commit-msg"]
    assert try_commit(ruled, "-m", "one", "-m", "Env-Reason: new")[0] == 0


def test_an_override_is_for_the_message_to_say(ruled: Hooked) -> None:
    policy = "kind: UpgradePolicy\noverrides: [one-layer]\n"
    ruled.repo.write(POLICY, policy)
    ruled.lock(lock("2", "2"))
    code, said = try_commit(ruled, "-m", "both")
    assert code == 1
    assert "Env-Override: one-layer <reason>" in " ".join(said.split())
    code, said = try_commit(ruled, "-m", "both", "-m", "Env-Override: one-layer they need it")
    assert code == 0
    assert "excused: they need it" in said


def test_what_only_warns_is_said_and_passes(ruled: Hooked) -> None:
    ruled.repo.write(POLICY, "kind: UpgradePolicy\nrules: {one-layer: {level: warn}}\n")
    ruled.lock(lock("2", "2"))
    code, said = try_commit(ruled, "-m", "both")
    assert code == 0
    assert "warn  one-layer  staged uv.lock" in said


def test_a_policy_that_cant_be_read_stops_the_commit_with_its_line(ruled: Hooked) -> None:
    ruled.repo.write(POLICY, "kind: UpgradePolicy\nrules: {one-layers: {}}\n")
    ruled.lock(lock("2", "1"))
    code, said = try_commit(ruled, "-m", "one", "-m", "Env-Reason: new")
    assert code == 1
    assert f"{POLICY}:2: rules.one-layers: unknown key; did you mean `one-layer`?" in said


def test_a_policy_that_changed_is_read_again(ruled: Hooked) -> None:
    ruled.lock(lock("2", "1"))
    assert try_commit(ruled, "-m", "one", "-m", "Env-Reason: new")[0] == 0
    known = ruled.repo.path / ".git/envtrack/hook/policies.json"
    assert known.exists()
    ruled.repo.write(POLICY, "kind: UpgradePolicy\nrules: {pins: {packages: [wick]}}\n")
    ruled.lock(lock("3", "1"))
    code, said = try_commit(ruled, "-m", "one")
    assert code == 1
    assert "pinned, and moves: wick 2 → 3" in said
    # What can't be read is no memory.
    known.write_text("{}")
    assert try_commit(ruled, "-m", "one")[0] == 1


def test_without_a_policy_no_commit_is_judged(ruled: Hooked) -> None:
    (ruled.repo.path / POLICY).unlink()
    ruled.lock(lock("2", "2"))
    assert try_commit(ruled, "-m", "both") == (0, "")
    assert ruled.starts() == ["pre-commit"]


def test_a_commit_without_a_lockfile_starts_no_python(ruled: Hooked) -> None:
    ruled.repo.write("notes.txt", "words\n")
    ruled.repo.git("add", "notes.txt")
    assert try_commit(ruled, "-m", "words") == (0, "")
    assert ruled.starts() == []


def test_no_verify_passes(ruled: Hooked) -> None:
    ruled.lock(lock("2", "2"))
    assert try_commit(ruled, "--no-verify", "-m", "both")[0] == 0


@pytest.mark.parametrize(("said", "code"), [("pass", 0), ("stop", 1)])
def test_a_python_that_is_gone_stops_or_passes_as_the_project_says(
    ruled: Hooked, said: str, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ruled.repo.write(CONFIG, f"{LAYERS}hooks:\n  on-missing: {said}\n")
    ruled.repo.git("add", "--all")
    ruled.lock(lock("2", "1"))
    ruled.python.unlink()
    # No other envtrack may stand in for it.
    bare = tmp_path / "bin"
    for name in ("git", "sh", "grep", "cmp", "rm", "cat"):
        found = next(p for p in ("/usr/bin", "/bin") if (Path(p) / name).exists())
        write_script(bare / name, f'#!/bin/sh\nexec {found}/{name} "$@"\n')
    monkeypatch.setenv("PATH", str(bare))
    ended, told = try_commit(ruled, "-m", "one", "-m", "Env-Reason: new")
    assert ended == code
    assert "envtrack: " in told
    assert "its Python is gone" in told


def test_a_hook_from_before_is_asked_first(ruled: Hooked, tmp_path: Path) -> None:
    folder = ruled.repo.path / ".git/hooks"
    write_script(
        folder / "commit-msg.envtrack-legacy", f'#!/bin/sh\ncp "$1" {tmp_path}/seen\nexit 3\n'
    )
    ruled.lock(lock("2", "1"))
    assert try_commit(ruled, "-m", "one", "-m", "Env-Reason: new")[0] == 1
    assert (tmp_path / "seen").read_text().startswith("one\n")
    assert ruled.starts() == ["pre-commit"]


def test_a_merge_is_judged_elsewhere(ruled: Hooked) -> None:
    ruled.repo.git("switch", "--quiet", "-c", "side")
    ruled.lock(lock("2", "1"))
    assert try_commit(ruled, "-m", "one", "-m", "Env-Reason: new")[0] == 0
    ruled.repo.git("switch", "--quiet", "-")
    ruled.lock(lock("1", "2"))
    assert try_commit(ruled, "-m", "other", "-m", "Env-Reason: new")[0] == 0
    assert ruled.repo.run(["git", "merge", "--quiet", "side"], check=False).returncode == 1
    ruled.lock(lock("2", "2"))
    ruled.repo.git("add", "--all")
    assert try_commit(ruled, "-m", "merged") == (0, "")
