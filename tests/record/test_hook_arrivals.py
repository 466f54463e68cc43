"""A lockfile that comes with a merge, a switch or a rebase: one line if the environment is behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lockfiles.texts import HEAD, pinned, project
from tests.record.hooked import Hooked, write_script
from tests.support.repo import RepoBuilder

BEHIND = "envtrack: .venv is behind uv.lock: wick 1 → 2; `uv sync --locked`\n"


def lock(wick: str, flint: str = "1", *more: str) -> str:
    needs = ["wick", "flint", *more]
    return HEAD + "\n".join(
        [
            project(*needs, kind="virtual"),
            pinned("wick", wick),
            pinned("flint", flint),
            *(pinned(name, "1") for name in more),
        ]
    )


@pytest.fixture
def forked(hooked: Hooked) -> Hooked:
    """`main` with wick 1, which is installed, and `side` with wick 2."""
    hooked.lock_commit(lock("1"))
    hooked.repo.git("switch", "-q", "-c", "side")
    hooked.lock_commit(lock("2"))
    hooked.repo.git("switch", "-q", "main")
    hooked.install(wick="1", flint="1")
    hooked.mark.unlink()
    return hooked


def said(hooked: Hooked, *arguments: str) -> str:
    return hooked.repo.run(["git", *arguments]).stderr


def test_another_branch_with_another_lockfile_is_said(forked: Hooked) -> None:
    assert said(forked, "switch", "-q", "side") == BEHIND
    forked.install(wick="2", flint="1")
    assert said(forked, "switch", "-q", "main") == BEHIND.replace("1 → 2", "2 → 1")


def test_an_environment_that_fits_is_not_spoken_of(forked: Hooked) -> None:
    forked.install(wick="2", flint="1", pip="24", black="9")
    assert said(forked, "switch", "-q", "side") == ""


def test_without_an_environment_there_is_nothing_to_say(forked: Hooked) -> None:
    forked.install()
    (forked.repo.path / ".venv").rename(forked.repo.path.parent / "gone")
    assert said(forked, "switch", "-q", "side") == ""


def test_an_active_environment_of_another_project_is_nobodys_business(
    forked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = forked.repo.path.parent / "other"
    (forked.repo.path / ".venv").rename(other)
    monkeypatch.setenv("VIRTUAL_ENV", str(other))
    assert said(forked, "switch", "-q", "side") == ""


def test_an_environment_that_uv_is_told_of_is_named(
    forked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", "env")
    forked.install("env", wick="1", flint="1")
    assert said(forked, "switch", "-q", "side") == BEHIND.replace(".venv", "env")


def test_what_is_missing_and_what_is_left_over_is_said(forked: Hooked) -> None:
    forked.repo.git("switch", "-q", "-c", "more", env={"ENVTRACK_HOOK": "off"})
    forked.lock_commit(lock("1", "1", "brick"))
    assert said(forked, "switch", "-q", "-c", "same") == ""
    forked.repo.git("switch", "-q", "main")
    assert said(forked, "switch", "-q", "more") == BEHIND.replace("wick 1 → 2", "+brick 1")
    forked.install(wick="1", flint="1", brick="1", black="9")
    assert said(forked, "switch", "-q", "main") == BEHIND.replace("wick 1 → 2", "-brick 1")


def test_the_selection_of_the_project_is_in_the_command(forked: Hooked) -> None:
    forked.repo.write(".envtrack/config.yaml", "selection: {extras: [gpu]}\n")
    line = BEHIND.replace("--locked", "--locked --extra=gpu")
    assert said(forked, "switch", "-q", "side") == line
    # What was remembered says the same.
    forked.repo.git("switch", "-q", "main")
    assert said(forked, "switch", "-q", "side") == line


def test_a_lockfile_in_a_folder_has_its_environment_and_its_command_there(forked: Hooked) -> None:
    forked.lock_commit(lock("1"), "a b/uv.lock")
    forked.repo.git("switch", "-q", "-c", "deep")
    forked.lock_commit(lock("2"), "a b/uv.lock")
    forked.repo.git("switch", "-q", "main")
    forked.install("a b/.venv", wick="1", flint="1")
    assert said(forked, "switch", "-q", "deep") == (
        "envtrack: a b/.venv is behind a b/uv.lock: wick 1 → 2; `(cd 'a b' && uv sync --locked)`\n"
    )


@pytest.mark.parametrize("option", ["--ff-only", "--no-ff"])
def test_a_merge_that_brings_a_lockfile_says_it(forked: Hooked, option: str) -> None:
    assert said(forked, "merge", "-q", "--no-edit", option, "side") == BEHIND
    assert forked.starts() == ["post-merge"]


def test_a_squash_says_it_before_it_is_committed(forked: Hooked) -> None:
    assert BEHIND in said(forked, "merge", "-q", "--squash", "side")
    assert forked.noted() == []


def test_a_pull_says_it(forked: Hooked, tmp_path: Path) -> None:
    forked.repo.git("clone", "-q", str(forked.repo.path), str(tmp_path / "upstream"))
    upstream = RepoBuilder(tmp_path / "upstream")
    upstream.git("merge", "-q", "origin/side")
    forked.repo.git("remote", "add", "origin", str(upstream.path))
    assert BEHIND in said(forked, "pull", "-q", "origin", "main")


def test_a_merge_without_a_lockfile_starts_no_python(forked: Hooked) -> None:
    forked.repo.git("switch", "-q", "-c", "words")
    forked.repo.write("words", "1")
    forked.repo.git("add", "words")
    forked.commit()
    forked.repo.git("switch", "-q", "main")
    assert said(forked, "merge", "-q", "--no-ff", "--no-edit", "words") == ""
    assert forked.starts() == []


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_a_rebase_says_it_once_at_its_end(forked: Hooked, backend: str) -> None:
    forked.repo.git("switch", "-q", "-c", "work")
    for number in range(5):
        forked.repo.write("words", str(number))
        forked.repo.git("add", "words")
        forked.commit()
    forked.mark.unlink(missing_ok=True)
    assert said(forked, "rebase", "-q", backend, "side") == BEHIND
    assert forked.starts() == ["post-rewrite"]


def test_a_rebase_of_lockfile_commits_is_silent_until_its_end(forked: Hooked) -> None:
    forked.repo.git("switch", "-q", "-c", "work")
    for number in (3, 4):
        forked.lock_commit(lock("1", str(number)))
    forked.install(wick="1", flint="4")
    forked.mark.unlink()
    forked.repo.git("switch", "-q", "side", env={"ENVTRACK_HOOK": "off"})
    forked.repo.write("uv.lock", lock("1"))
    forked.repo.git("commit", "-qam", "back", env={"ENVTRACK_HOOK": "off"})
    forked.repo.git("switch", "-q", "work", env={"ENVTRACK_HOOK": "off"})
    done = forked.repo.run(["git", "rebase", "-q", "side", "-X", "theirs"], check=False)
    assert done.stderr.count("envtrack:") <= 1
    assert set(forked.starts()) <= {"post-rewrite"}


def test_files_that_are_checked_out_and_a_new_worktree_are_silent(
    forked: Hooked, tmp_path: Path
) -> None:
    assert said(forked, "checkout", "-q", "side", "--", "uv.lock") == ""
    said(forked, "worktree", "add", "-q", str(tmp_path / "tree"), "side")
    said(forked, "switch", "-q", "-c", "here")
    assert forked.starts() == []


def test_a_bisect_is_silent(forked: Hooked) -> None:
    forked.repo.git("bisect", "start", "side", "main~1")
    forked.repo.git("bisect", "reset")
    assert forked.starts() == []


def test_a_fault_of_ours_is_one_line_and_keeps_the_switch(forked: Hooked) -> None:
    forked.repo.write(".envtrack/config.yaml", "nonsense: 1\n")
    line = said(forked, "switch", "-q", "side")
    assert line.startswith("envtrack: the environment was not looked at: .envtrack/config.yaml:1")
    assert line.count("\n") == 1
    assert forked.repo.git("branch", "--show-current") == "side"


def test_a_python_that_is_gone_is_said_and_keeps_the_switch(
    forked: Hooked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked.python.unlink()
    (tmp_path / "bin").mkdir()
    for name in ("git", "sh"):
        (tmp_path / "bin" / name).symlink_to(Path("/usr/bin") / name)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "its Python is gone" in said(forked, "switch", "-q", "side")


@pytest.mark.parametrize("name", ["post-merge", "post-checkout"])
def test_the_hook_from_before_keeps_its_arguments_and_its_exit_code(
    forked: Hooked, tmp_path: Path, name: str
) -> None:
    hook = forked.repo.path / ".git/hooks" / name
    write_script(
        hook.with_name(f"{name}.envtrack-legacy"),
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" >'{tmp_path}/args'\nexit 4\n",
    )
    assert forked.repo.run([str(hook), "main", "side", "1"], check=False).returncode == 4
    assert (tmp_path / "args").read_text() == "main\nside\n1\n"
