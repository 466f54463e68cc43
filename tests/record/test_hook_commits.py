"""The truth table of commits: what each kind leaves in the commit, the index and the tree."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from git import Repo

from tests.record.hooked import RECORD, Hooked, install, write_script
from tests.support.repo import RepoBuilder

if TYPE_CHECKING:
    import pytest


def test_a_commit_of_a_lockfile_holds_its_record(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    assert hooked.changed() == [RECORD, "uv.lock"]
    assert hooked.belongs()
    assert hooked.record()["machine"] == "testbed"
    assert hooked.status() == ""


def test_the_first_commit_of_a_repository_holds_a_record(repo: RepoBuilder, tmp_path: Path) -> None:
    hooked = Hooked.create(repo, tmp_path)
    hooked.lock_commit("version = 1\n")
    assert hooked.belongs()
    assert hooked.status() == ""


def test_commit_all_records_the_lockfile_that_is_committed(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("--all")
    assert hooked.belongs()
    assert hooked.status() == ""


def test_commit_include_records_the_lockfile_that_is_committed(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("--include", "uv.lock")
    assert hooked.belongs()
    assert hooked.status() == ""


def test_commit_path_leaves_a_clean_status_and_other_staged_files_staged(hooked: Hooked) -> None:
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    assert hooked.changed() == [RECORD, "uv.lock"]
    assert hooked.belongs()
    assert hooked.status() == "A  other"


def test_the_commit_after_commit_path_does_not_revert_the_record(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit()
    assert hooked.changed() == ["other"]
    assert hooked.belongs()


def test_commit_path_that_adds_the_first_record_leaves_a_clean_status(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    hooked = Hooked.create(repo, tmp_path)
    hooked.repo.write("README", "words\n")
    hooked.repo.git("add", "README")
    hooked.commit()
    hooked.repo.write("uv.lock", "version = 1\n")
    hooked.repo.git("add", "--intent-to-add", "uv.lock")
    hooked.commit("uv.lock")
    assert hooked.belongs()
    assert hooked.status() == ""


def test_the_very_first_commit_can_be_one_of_a_path(repo: RepoBuilder, tmp_path: Path) -> None:
    hooked = Hooked.create(repo, tmp_path)
    hooked.lock("version = 1\n")
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit("uv.lock")
    assert hooked.belongs()
    assert hooked.status() == "A  other"


def test_commit_path_from_a_subfolder_works_the_same(hooked: Hooked) -> None:
    hooked.repo.write("sub/x", "x")
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.at(hooked.repo.path / "sub").commit("../uv.lock")
    assert hooked.belongs()
    assert hooked.status() == "?? sub/"


def test_an_unrelated_staged_change_of_a_record_survives_commit_path(hooked: Hooked) -> None:
    mine = hooked.repo.git("show", f"HEAD:{RECORD}").replace('"testbed"', '"by-hand"') + "\n"
    hooked.repo.write(RECORD, mine)
    hooked.repo.git("add", RECORD)
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    assert hooked.belongs()
    assert hooked.record("")["machine"] == "by-hand"
    assert (hooked.repo.path / RECORD).read_text() == mine


def test_an_amend_that_changes_the_lockfile_changes_the_record(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.lock("version = 3\n")
    hooked.commit("--amend")
    assert hooked.belongs()
    assert hooked.repo.git("rev-list", "--count", "HEAD") == "2"
    assert hooked.status() == ""


def test_an_amend_with_a_path_leaves_a_clean_status(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit("--amend", "uv.lock")
    assert hooked.belongs()
    assert hooked.status() == ""


def test_an_amend_that_drops_the_lockfile_change_drops_the_record_change(hooked: Hooked) -> None:
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("checkout", "HEAD~1", "--", "uv.lock")
    hooked.commit("--amend")
    assert hooked.changed() == ["other"]
    assert hooked.belongs()
    assert hooked.status() == ""


def test_an_amend_of_the_message_changes_no_record(hooked: Hooked) -> None:
    before = hooked.repo.git("rev-parse", f"HEAD:{RECORD}")
    hooked.commit("--amend")
    assert hooked.repo.git("rev-parse", f"HEAD:{RECORD}") == before
    assert hooked.starts() == []


def test_the_time_of_a_record_is_kept_when_nothing_else_moved(hooked: Hooked) -> None:
    hooked.repo.write(RECORD, json.dumps(hooked.record() | {"taken_at": "2020-01-01T00:00:00Z"}))
    hooked.repo.git("add", RECORD)
    hooked.repo.git("commit", "-qm", "older", env={"ENVTRACK_HOOK": "off"})
    hooked.repo.git("update-index", "--chmod=+x", "uv.lock")
    hooked.commit()
    assert hooked.starts() == ["pre-commit"]
    assert hooked.record()["taken_at"] == "2020-01-01T00:00:00Z"


def test_the_hooks_make_no_commit_and_amend_none(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    assert hooked.starts() == ["pre-commit", "post-commit"]
    assert hooked.repo.git("rev-list", "--count", "HEAD") == "2"
    assert hooked.repo.git("reflog", "--format=%gs").split("\n") == [
        "commit: change",
        "commit (initial): change",
    ]


def test_a_dry_run_changes_nothing(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    before = hooked.status(), hooked.starts()
    hooked.repo.git("commit", "--dry-run")
    assert (hooked.status(), hooked.starts()) == before


def test_a_commit_that_skips_hooks_has_no_record_and_no_traces(hooked: Hooked) -> None:
    old = hooked.repo.git("rev-parse", f"HEAD:{RECORD}")
    hooked.lock("version = 2\n")
    hooked.commit("--no-verify")
    assert hooked.repo.git("rev-parse", f"HEAD:{RECORD}") == old
    assert hooked.status() == ""


def test_a_commit_in_a_linked_worktree_holds_its_record(hooked: Hooked, tmp_path: Path) -> None:
    hooked.repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = hooked.at(tmp_path / "side")
    for arguments in ((), ("uv.lock",), ("--all",)):
        side.repo.write("uv.lock", f"version = {arguments}\n")
        if not arguments:
            side.repo.git("add", "uv.lock")
        side.commit(*arguments)
        assert side.belongs()
        assert side.status() == ""
    assert hooked.status() == ""


def test_a_commit_in_a_submodule_holds_its_record_and_the_superproject_none(
    hooked: Hooked, tmp_path: Path
) -> None:
    outer = RepoBuilder.create(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", str(hooked.repo.path), "inner")
    outer.commit("with a submodule")
    install(outer, hooked.python)
    inner = hooked.at(outer.path / "inner")
    install(inner.repo, hooked.python)
    inner.lock_commit("version = 2\n")
    assert inner.belongs()
    assert inner.status() == ""
    starts = hooked.starts()
    outer.commit("inner moved")
    assert hooked.starts() == starts
    assert outer.git("status", "--porcelain") == ""


def test_a_git_folder_elsewhere_is_no_hindrance(hooked: Hooked, tmp_path: Path) -> None:
    tree = hooked.repo.path
    (tree / ".git").rename(tmp_path / "elsewhere.git")
    split = [f"--git-dir={tmp_path / 'elsewhere.git'}", f"--work-tree={tree}"]
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.repo.git(*split, "commit", "--quiet", "--all", "-m", "change")
    assert hooked.repo.git(*split, "show", "--format=", "--name-only").split() == [
        RECORD,
        "uv.lock",
    ]
    assert hooked.repo.git(*split, "status", "--porcelain") == ""


def test_two_commits_at_once_in_two_worktrees_mix_nothing(hooked: Hooked, tmp_path: Path) -> None:
    sides = []
    for name in ("one", "two", "three"):
        hooked.repo.git("worktree", "add", "-q", "-b", name, str(tmp_path / name))
        side = hooked.at(tmp_path / name)
        side.lock(f"version = '{name}'\n")
        sides.append(side)
    running = [
        subprocess.Popen(["git", "commit", "-qm", "change"], cwd=side.repo.path) for side in sides
    ]
    assert [child.wait() for child in running] == [0, 0, 0]
    assert all(side.belongs() and side.status() == "" for side in sides)
    hooked.repo.git("fsck", "--strict")


def test_a_commit_that_a_library_makes_of_its_own_index_goes_through(
    hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GitPython reads no ISO date from these.
    monkeypatch.delenv("GIT_AUTHOR_DATE")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    hooked.lock("version = 2\n")
    Repo(hooked.repo.path).index.commit("through a library")
    assert hooked.repo.git("show", "HEAD:uv.lock") == "version = 2"


def test_our_own_commits_do_not_trigger_us(hooked: Hooked) -> None:
    hooked.lock("version = 3\n")
    before = hooked.starts()
    hooked.repo.git("commit", "-qm", "ours", env={"ENVTRACK_HOOK": "off"})
    assert hooked.starts() == before


def test_the_hook_needs_no_more_than_a_minimal_path(hooked: Hooked, seal: Path) -> None:
    hooked.lock("version = 2\n")
    done = hooked.repo.run(
        [
            *("env", "-i", "PATH=/usr/bin:/bin", f"HOME={seal}", "ENVTRACK_MACHINE=testbed"),
            *("git", "commit", "-qm", "change"),
        ]
    )
    assert done.stderr == ""
    assert hooked.belongs()


def test_the_interpreter_may_have_an_odd_path(repo: RepoBuilder, tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s "so" $HOME `odd` \\ é\udcff' / "venv"
    odd.mkdir(parents=True)
    hooked = Hooked.create(repo, odd)
    hooked.lock_commit("version = 1\n")
    assert hooked.belongs()


def test_a_module_in_the_repository_stands_in_for_none_of_ours(hooked: Hooked) -> None:
    hooked.repo.write("envtrack/__init__.py", "raise SystemExit('hijacked')")
    hooked.repo.write("json.py", "raise SystemExit('hijacked')")
    hooked.lock("version = 2\n")
    assert hooked.commit() == ""
    assert hooked.belongs()


def test_a_bot_with_another_machine_name_leaves_our_record_alone(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "-qm", "bot", env={"ENVTRACK_MACHINE": "bot"})
    other = ".envtrack/snapshots/bot/uv.lock.json"
    assert hooked.changed() == [other, "uv.lock"]
    assert hooked.belongs(path=other)


def test_literal_pathspecs_hide_no_lockfile(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("--literal-pathspecs", "commit", "-qm", "change")
    assert hooked.belongs()


def test_a_record_says_nothing_of_the_hook_in_which_it_was_taken(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    assert not any("GIT_" in name for name in hooked.record()["facts"])


def test_the_shims_run_under_other_shells(hooked: Hooked, tmp_path: Path) -> None:
    hook = hooked.repo.path / ".git/hooks/pre-commit"
    for number, shell in enumerate(["/bin/bash", "/bin/sh"]):
        text = hook.read_text().replace("#!/bin/sh", f"#!{shell}", 1)
        write_script(hook, text)
        hooked.lock_commit(f"number = {number}\n")
        assert hooked.belongs()
