"""Commits that never came about, records touched by hand, lockfiles that go away."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from envtrack.config.settings import Settings
from envtrack.git.repository import open_repository
from envtrack.model.oid import Oid
from envtrack.record.beside import record_beside
from tests.record.hooked import RECORD, Hooked, write_script

if TYPE_CHECKING:
    import pytest


def abort_commit(hooked: Hooked, *arguments: str) -> None:
    """A commit whose editor says no, after pre-commit has run."""
    done = hooked.repo.run(["git", "commit", *arguments], check=False)
    assert done.returncode != 0


def edit(hooked: Hooked, machine: str = "by-hand") -> str:
    """A record edited by hand in the working tree."""
    text = json.dumps(hooked.record() | {"machine": machine})
    hooked.repo.write(RECORD, text)
    return text


def test_an_aborted_commit_is_recorded_anew_the_next_time(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    abort_commit(hooked)
    hooked.lock("version = 3\n")
    assert hooked.commit() == ""
    assert hooked.belongs()
    assert hooked.status() == ""


def test_a_commit_that_its_message_hook_refused_is_recorded_anew(hooked: Hooked) -> None:
    hook = write_script(hooked.repo.path / ".git/hooks/commit-msg", "#!/bin/sh\nexit 1\n")
    hooked.lock("version = 2\n")
    abort_commit(hooked, "-m", "change")
    hook.unlink()
    hooked.lock("version = 3\n")
    hooked.repo.git("add", "--all")
    assert hooked.commit() == ""
    assert hooked.belongs()


def test_a_record_of_an_aborted_commit_goes_when_the_lockfile_is_unstaged(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    abort_commit(hooked)
    hooked.repo.git("restore", "--staged", "uv.lock")
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit()
    assert hooked.changed() == ["other"]
    assert hooked.status() == " M uv.lock"


def test_a_new_record_of_an_aborted_commit_goes_with_its_folder(hooked: Hooked) -> None:
    hooked.lock("version = 1\n", "sub/uv.lock")
    abort_commit(hooked)
    hooked.repo.git("rm", "--cached", "-q", "sub/uv.lock")
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit()
    assert hooked.changed() == ["other"]
    assert hooked.status() == "?? sub/"
    assert not (hooked.repo.path / ".envtrack/snapshots/testbed/sub").exists()


def test_an_aborted_commit_all_stages_nothing(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    abort_commit(hooked, "--all")
    assert hooked.repo.git("diff", "--cached", "--name-only") == ""
    hooked.commit("--all")
    assert hooked.belongs()
    assert hooked.status() == ""


def test_an_aborted_commit_of_a_path_stages_nothing(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    abort_commit(hooked, "uv.lock")
    assert hooked.repo.git("diff", "--cached", "--name-only") == ""
    hooked.lock("version = 3\n")
    hooked.repo.git("add", "--all")
    assert hooked.commit() == ""
    assert hooked.belongs()


def test_commit_path_after_an_aborted_commit_leaves_a_clean_status(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    abort_commit(hooked)
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit("uv.lock")
    assert hooked.belongs()
    assert hooked.status() == ""


def test_an_aborted_deletion_gives_the_record_back(hooked: Hooked) -> None:
    hooked.repo.git("rm", "-q", "uv.lock")
    abort_commit(hooked)
    hooked.repo.git("checkout", "HEAD", "--", "uv.lock")
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit()
    assert hooked.changed() == ["other"]
    assert hooked.status() == ""


def test_a_soft_reset_is_committed_again_with_its_record(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("reset", "-q", "--soft", "HEAD~1")
    assert hooked.commit() == ""
    assert hooked.belongs()
    assert hooked.status() == ""


def test_a_record_that_was_edited_and_staged_by_hand_is_left_alone(hooked: Hooked) -> None:
    mine = edit(hooked)
    hooked.repo.git("add", RECORD)
    hooked.commit()
    assert hooked.repo.git("show", f"HEAD:{RECORD}") == mine


def test_a_record_staged_by_hand_for_another_lockfile_is_left_alone_and_named(
    hooked: Hooked,
) -> None:
    mine = edit(hooked)
    hooked.repo.git("add", RECORD)
    hooked.lock("version = 2\n")
    said = hooked.commit()
    assert "staged by hand and names another lockfile" in said
    assert said.count("\n") == 1
    assert hooked.repo.git("show", f"HEAD:{RECORD}") == mine


def test_a_record_staged_by_hand_for_this_lockfile_is_left_alone(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    blob = hooked.repo.git("rev-parse", ":uv.lock")
    record = hooked.record() | {"lockfile": {"path": "uv.lock", "blob": blob}, "machine": "mine"}
    hooked.repo.write(RECORD, json.dumps(record))
    hooked.repo.git("add", RECORD)
    assert hooked.commit() == ""
    assert hooked.record()["machine"] == "mine"


def test_a_record_whose_removal_was_staged_by_hand_stays_removed(hooked: Hooked) -> None:
    hooked.repo.git("rm", "-q", "--cached", RECORD)
    hooked.lock("version = 2\n")
    hooked.commit()
    assert not hooked.has("HEAD")


def test_an_unstaged_edit_of_a_record_stays_in_the_working_tree(hooked: Hooked) -> None:
    mine = edit(hooked)
    hooked.lock_commit("version = 2\n")
    assert hooked.belongs()
    assert (hooked.repo.path / RECORD).read_text() == mine
    assert hooked.status() == f" M {RECORD}"


def test_a_record_with_conflict_markers_is_replaced(hooked: Hooked) -> None:
    broken = "<<<<<<< ours\n{}\n=======\n{ }\n>>>>>>> theirs\n"
    for is_staged in (True, False):
        hooked.repo.write(RECORD, broken)
        if is_staged:
            hooked.repo.git("add", RECORD)
        hooked.lock_commit(f"staged = '{is_staged}'\n")
        assert hooked.belongs()
        assert hooked.status() == ""


def test_a_record_of_a_newer_envtrack_is_not_replaced(hooked: Hooked) -> None:
    hooked.repo.write(RECORD, json.dumps(hooked.record() | {"schema": 2}))
    hooked.repo.git("add", RECORD)
    hooked.repo.git("commit", "-qm", "newer", env={"ENVTRACK_HOOK": "off"})
    hooked.lock("version = 2\n")
    said = hooked.commit()
    assert "schema 2 is newer" in said
    assert said.count("\n") == 1
    assert hooked.record()["schema"] == 2


def test_a_removed_lockfile_takes_the_records_of_all_machines_along(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "-qm", "bot", env={"ENVTRACK_MACHINE": "bot"})
    hooked.repo.git("rm", "-q", "uv.lock")
    hooked.commit()
    assert hooked.repo.git("ls-tree", "-r", "--name-only", "HEAD") == "README"
    assert hooked.status() == ""


def test_commit_path_of_a_removed_lockfile_leaves_a_clean_status(hooked: Hooked) -> None:
    hooked.repo.git("rm", "-q", "uv.lock")
    hooked.commit("uv.lock")
    assert hooked.changed() == [RECORD, "uv.lock"]
    assert hooked.status() == ""


def test_a_record_edited_by_hand_stays_in_the_tree_when_its_lockfile_goes(hooked: Hooked) -> None:
    mine = edit(hooked)
    hooked.repo.git("rm", "-q", "uv.lock")
    hooked.commit()
    assert not hooked.has("HEAD")
    assert (hooked.repo.path / RECORD).read_text() == mine


def test_a_renamed_lockfile_moves_its_record(hooked: Hooked) -> None:
    (hooked.repo.path / "sub").mkdir()
    hooked.repo.git("mv", "uv.lock", "sub/uv.lock")
    hooked.commit()
    path = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert hooked.belongs(lockfile="sub/uv.lock", path=path)
    assert not hooked.has("HEAD")
    assert hooked.status() == ""


def test_a_lockfile_that_became_a_symbolic_link_has_no_record(hooked: Hooked) -> None:
    hooked.lock("version = 2\n", "sub/uv.lock")
    (hooked.repo.path / "uv.lock").unlink()
    (hooked.repo.path / "uv.lock").symlink_to("sub/uv.lock")
    hooked.repo.git("add", "uv.lock")
    hooked.commit()
    assert not hooked.has("HEAD")
    assert hooked.has("HEAD", ".envtrack/snapshots/testbed/sub/uv.lock.json")
    assert hooked.status() == ""


def test_several_lockfiles_of_one_commit_each_have_a_record(hooked: Hooked) -> None:
    names = ["a/uv.lock", "b/c/uv.lock", "uv.lock"]
    for name in names:
        hooked.lock(f"name = '{name}'\n", name)
    hooked.commit()
    for name in names:
        assert hooked.belongs(lockfile=name, path=f".envtrack/snapshots/testbed/{name}.json")
    assert hooked.status() == ""


def test_a_changed_file_mode_alone_changes_no_record(hooked: Hooked) -> None:
    before = hooked.repo.git("rev-parse", f"HEAD:{RECORD}")
    (hooked.repo.path / "uv.lock").chmod(0o755)
    hooked.repo.git("add", "uv.lock")
    hooked.commit()
    assert hooked.repo.git("rev-parse", f"HEAD:{RECORD}") == before
    assert hooked.status() == ""


def save_record(hooked: Hooked, path: str = RECORD) -> None:
    """As `envtrack snapshot --save` does it."""
    record_beside(
        open_repository(hooked.repo.path, dict(os.environ)),
        "uv.lock",
        Oid(hooked.repo.git("rev-parse", ":uv.lock")),
        environ=dict(os.environ),
        settings=Settings(),
    )
    hooked.repo.git("add", path)


def test_a_record_saved_by_the_command_and_staged_is_ours_to_renew(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    save_record(hooked)
    hooked.lock("version = 3\n")
    assert hooked.commit() == ""
    assert hooked.belongs()
    assert hooked.status() == ""


def test_a_record_saved_for_the_lockfile_that_is_committed_already_stays(
    hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVTRACK_MACHINE", "another")
    path = ".envtrack/snapshots/another/uv.lock.json"
    save_record(hooked, path)
    assert hooked.commit() == ""
    assert hooked.changed() == [path]
    assert hooked.belongs(path=path)
