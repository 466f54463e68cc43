"""Records that were touched by hand, by git, or by another version: what is left alone."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from envtrack.config.settings import Settings
from envtrack.git.repository import open_repository
from envtrack.model.oid import Oid
from envtrack.record.beside import record_beside
from tests.record.hooked import RECORD, Hooked
from tests.situations.after import settled

if TYPE_CHECKING:
    import pytest


def edit(hooked: Hooked, machine: str = "by-hand") -> str:
    """A record edited by hand in the working tree."""
    text = json.dumps(hooked.record() | {"machine": machine})
    hooked.repo.write(RECORD, text)
    return text


def test_a_record_that_was_edited_and_staged_by_hand_is_left_alone(hooked: Hooked) -> None:
    mine = edit(hooked)
    hooked.repo.git("add", RECORD)
    hooked.commit()
    assert hooked.repo.git("show", f"HEAD:{RECORD}") == mine
    settled(hooked)


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
    settled(hooked, status=f" M {RECORD}")


def test_a_record_with_conflict_markers_is_replaced(hooked: Hooked) -> None:
    broken = "<<<<<<< ours\n{}\n=======\n{ }\n>>>>>>> theirs\n"
    for is_staged in (True, False):
        hooked.repo.write(RECORD, broken)
        if is_staged:
            hooked.repo.git("add", RECORD)
        hooked.lock_commit(f"staged = '{is_staged}'\n")
        assert hooked.belongs()
        settled(hooked)


def test_a_record_of_a_newer_envtrack_is_not_replaced(hooked: Hooked) -> None:
    hooked.repo.write(RECORD, json.dumps(hooked.record() | {"schema": 2}))
    hooked.repo.git("add", RECORD)
    hooked.repo.git("commit", "-qm", "newer", env={"ENVTRACK_HOOK": "off"})
    hooked.lock("version = 2\n")
    said = hooked.commit()
    assert "schema 2 is newer" in said
    assert said.count("\n") == 1
    assert hooked.record()["schema"] == 2


def test_commit_path_of_a_removed_lockfile_leaves_a_clean_status(hooked: Hooked) -> None:
    hooked.repo.git("rm", "-q", "uv.lock")
    hooked.commit("uv.lock")
    assert hooked.changed() == [RECORD, "uv.lock"]
    settled(hooked)


def test_a_record_edited_by_hand_stays_in_the_tree_when_its_lockfile_goes(hooked: Hooked) -> None:
    mine = edit(hooked)
    hooked.repo.git("rm", "-q", "uv.lock")
    hooked.commit()
    assert not hooked.has("HEAD")
    assert (hooked.repo.path / RECORD).read_text() == mine


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
    settled(hooked)


def test_a_record_saved_for_the_lockfile_that_is_committed_already_stays(
    hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENVTRACK_MACHINE", "another")
    path = ".envtrack/snapshots/another/uv.lock.json"
    save_record(hooked, path)
    assert hooked.commit() == ""
    assert hooked.changed() == [path]
    assert hooked.belongs(path=path)
