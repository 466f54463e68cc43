"""Records and verdicts as notes: where pre-commit did not run, and where commits are rewritten."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from envtrack.cli.main import main
from envtrack.git.notes import append_note
from envtrack.git.repository import open_repository
from envtrack.model.oid import Oid
from tests.lockfiles.texts import HEAD, pinned, project
from tests.record.hooked import RECORD, Hooked, write_script

OFF = {"ENVTRACK_HOOK": "off"}


def lock(wick: str, flint: str = "1") -> str:
    return HEAD + "\n".join(
        [project("wick", "flint", kind="virtual"), pinned("wick", wick), pinned("flint", flint)]
    )


@pytest.fixture
def forked(hooked: Hooked) -> Hooked:
    """`main` with wick 1, and `side` whose commit of wick 2 nobody recorded here."""
    hooked.lock_commit(lock("1"))
    hooked.repo.git("switch", "-q", "-c", "side")
    lock_elsewhere(hooked, "2")
    hooked.repo.git("switch", "-q", "main", env=OFF)
    hooked.install(wick="2", flint="1")
    hooked.mark.unlink(missing_ok=True)
    return hooked


def lock_elsewhere(hooked: Hooked, *versions: str) -> str:
    """A commit of a lockfile without a record, as one that was merged on a server."""
    hooked.lock(lock(*versions))
    hooked.repo.git("commit", "-q", "-m", "elsewhere", env=OFF)
    return hooked.repo.head()


def blob(hooked: Hooked, revision: str = "HEAD") -> str:
    return hooked.repo.git("rev-parse", f"{revision}:uv.lock")


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    main([*arguments])
    return capsys.readouterr().out


def verdict(hooked: Hooked, revision: str, said: str, **more: object) -> None:
    """A verdict as `envtrack smoke` notes it."""
    entry = {
        "schema": 1,
        "kind": "verdict",
        "machine": "testbed",
        "lockfile": {"path": "uv.lock", "blob": blob(hooked, revision)},
        "verdict": said,
        "is_clean": True,
        "command": "true",
        **more,
    }
    commit = Oid(hooked.repo.git("rev-parse", revision))
    append_note(open_repository(hooked.repo.path, dict(os.environ)), commit, entry)


def verdicts(hooked: Hooked, revision: str = "HEAD") -> list[str]:
    return [note["verdict"] for note in hooked.notes(revision) if note["kind"] == "verdict"]


@pytest.mark.parametrize("option", ["--ff-only", "--no-ff"])
def test_a_merge_adds_the_record_to_the_commit_that_brought_the_lockfile(
    forked: Hooked, option: str
) -> None:
    before = {key: value for key, value in forked.repo.state().items() if key != "refs"}
    done = forked.repo.run(["git", "merge", "-q", "--no-edit", option, "side"])
    assert done.stderr == ""
    assert forked.noted() == [forked.repo.git("rev-parse", "side")]
    (note,) = forked.notes("side")
    assert note["kind"] == "snapshot"
    assert note["machine"] == "testbed"
    assert note["lockfile"] == {"path": "uv.lock", "blob": blob(forked)}
    assert note["snapshot"]["installed"]["wick"] == "2"
    assert note["snapshot"]["lockfile"] == note["lockfile"]
    assert forked.status() == ""
    assert before["HEAD"] == forked.repo.state()["HEAD"]


def test_a_merge_that_makes_a_third_lockfile_is_recorded_itself(forked: Hooked) -> None:
    forked.repo.write("uv.lock", lock("1").replace("revision = 3", "revision = 4"))
    forked.repo.git("commit", "-qam", "other", env=OFF)
    forked.repo.git("merge", "-q", "--no-edit", "side")
    assert forked.noted() == [forked.repo.head()]
    assert forked.notes()[0]["lockfile"]["blob"] == blob(forked)


def test_a_merge_with_a_conflict_is_recorded_when_it_is_concluded(forked: Hooked) -> None:
    lock_elsewhere(forked, "3")
    forked.repo.git("merge", "-q", "side", check=False)
    forked.lock(lock("2") + "# merged\n")
    forked.repo.git("commit", "-q", "-m", "merged")
    assert forked.noted() == [forked.repo.head()]


def test_an_environment_that_is_behind_is_not_recorded_and_waits(forked: Hooked) -> None:
    forked.install(wick="1", flint="1")
    forked.repo.git("merge", "-q", "--ff-only", "side")
    assert forked.noted() == []
    forked.mark.unlink()
    forked.repo.write("words", "1")
    forked.repo.git("add", "words")
    forked.commit()
    assert forked.starts() == []
    site = forked.install(wick="2", flint="1")
    later = site.stat().st_mtime_ns + 5_000_000_000
    os.utime(site, ns=(later, later))
    forked.commit("--allow-empty")
    assert forked.starts() == ["post-commit"]
    assert forked.noted() == [forked.repo.git("rev-parse", "side")]
    forked.commit("--allow-empty")
    assert forked.starts() == ["post-commit"]


def test_what_was_installed_since_and_is_still_behind_waits_on(forked: Hooked) -> None:
    forked.install(wick="1", flint="1")
    forked.repo.git("merge", "-q", "--ff-only", "side")
    site = forked.install(wick="1", flint="1", brick="1")
    later = site.stat().st_mtime_ns + 5_000_000_000
    os.utime(site, ns=(later, later))
    forked.mark.unlink()
    for _ in range(2):
        forked.commit("--allow-empty")
    assert forked.starts() == ["post-commit"]
    assert forked.noted() == []
    os.utime(forked.install(wick="2", flint="1"), ns=(2 * later, 2 * later))
    forked.commit("--allow-empty")
    assert forked.noted() == [forked.repo.git("rev-parse", "side")]


def test_a_machine_without_an_environment_is_recorded(forked: Hooked) -> None:
    (forked.repo.path / ".venv").rename(forked.repo.path.parent / "gone")
    forked.repo.git("merge", "-q", "--ff-only", "side")
    assert forked.noted() == [forked.repo.git("rev-parse", "side")]


def test_a_second_merge_of_the_same_adds_nothing(forked: Hooked) -> None:
    for _ in range(2):
        forked.repo.git("merge", "-q", "--ff-only", "side")
        forked.repo.git("reset", "-q", "--hard", "HEAD~1")
    assert len(forked.notes("side")) == 1


def test_a_record_of_another_machine_does_not_stand_for_this_one(hooked: Hooked) -> None:
    hooked.lock_commit(lock("1"))
    hooked.repo.git("switch", "-q", "-c", "side")
    hooked.lock(lock("2"))
    hooked.repo.git("commit", "-qm", "theirs", env={"ENVTRACK_MACHINE": "theirs"})
    hooked.repo.git("switch", "-q", "main")
    hooked.repo.git("merge", "-q", "--ff-only", "side")
    (note,) = hooked.notes()
    assert note["machine"] == "testbed"


@pytest.mark.parametrize("options", [(), ("--no-commit",)])
def test_a_pick_is_recorded(forked: Hooked, options: tuple[str, ...]) -> None:
    forked.repo.git("cherry-pick", *options, "side")
    if options:
        forked.commit("--no-verify")
    assert forked.noted() == [forked.repo.head()]


def test_a_revert_is_recorded(forked: Hooked) -> None:
    lock_elsewhere(forked, "5")
    lock_elsewhere(forked, "6")
    forked.install(wick="5", flint="1")
    forked.repo.git("revert", "--no-edit", "HEAD")
    assert forked.noted() == [forked.repo.head()]


def test_a_commit_without_verification_is_recorded(forked: Hooked) -> None:
    forked.lock(lock("2"))
    forked.commit("--no-verify")
    assert forked.changed() == ["uv.lock"]
    assert forked.noted() == [forked.repo.head()]


def test_a_first_commit_without_verification_is_recorded(hooked: Hooked) -> None:
    hooked.repo.git("switch", "-q", "--orphan", "fresh", env=OFF)
    hooked.lock("version = 1\n")
    hooked.commit("--no-verify")
    assert hooked.noted() == [hooked.repo.head()]


def test_a_commit_whose_record_could_not_be_taken_is_not_tried_twice(
    forked: Hooked, tmp_path: Path
) -> None:
    folder = forked.repo.path / ".envtrack/snapshots/testbed"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    forked.lock(lock("2"))
    assert "is a symbolic link" in forked.commit()
    assert forked.starts() == ["pre-commit"]


def test_a_plain_commit_without_verification_starts_no_python(forked: Hooked) -> None:
    forked.commit("--allow-empty", "--no-verify")
    assert forked.starts() == []


def test_a_rebase_is_recorded_at_its_end(forked: Hooked) -> None:
    forked.repo.write("words", "1")
    forked.repo.git("add", "words")
    forked.commit()
    forked.repo.git("rebase", "-q", "side")
    assert forked.noted() == [forked.repo.git("rev-parse", "side")]


def test_what_a_note_records_is_shown_compared_and_told(
    forked: Hooked, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forked.repo.git("merge", "-q", "--ff-only", "side", env={"ENVTRACK_MACHINE": "other"})
    monkeypatch.chdir(forked.repo.path)
    shown = json.loads(call(capsys, "show", "HEAD", "--machine", "other", "--format", "json"))
    assert shown["lockfile"]["blob"] == blob(forked)
    assert "not recorded here for other" not in call(capsys, "diff", "HEAD@other", "now")
    assert "not recorded here for testbed" in call(capsys, "diff", "HEAD", "now")
    # A later commit has the same lockfile, and so the same record.
    forked.repo.git("commit", "-q", "--allow-empty", "-m", "later")
    shown = json.loads(call(capsys, "show", "--machine", "other", "--format", "json"))
    assert shown["machine"] == "other"


def edit_note(hooked: Hooked, revision: str, fact: str, value: str) -> None:
    """As if the machine had been another one when it was recorded."""
    (note,) = hooked.notes(revision)
    note["snapshot"]["facts"][fact] = value
    text = json.dumps(note)
    hooked.repo.git("notes", "--ref=envtrack", "add", "-f", "-m", text, revision)


def test_log_tells_what_moved_between_a_record_and_a_noted_one(
    forked: Hooked, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(forked.repo.path)
    forked.repo.git("merge", "-q", "--ff-only", "side")
    edit_note(forked, "HEAD", "kernel.release", "9.9.9")
    forked.lock_commit(lock("3"))
    said = json.loads(call(capsys, "log", "--format", "json"))
    moved = [
        [change["name"] for change in entry["changes"] if change["name"] == "kernel.release"]
        for entry in said["entries"]
    ]
    # Into the noted one, and out of it again.
    assert moved[:3] == [["kernel.release"], ["kernel.release"], []]


def test_the_last_record_may_be_a_noted_one(
    forked: Hooked, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(forked.repo.path)
    forked.repo.git("merge", "-q", "--ff-only", "side")
    noted = forked.repo.head()
    lock_elsewhere(forked, "3")
    assert f"{noted[:10]} is the last" in call(capsys, "diff")


def test_an_amended_commit_keeps_the_verdict_on_its_environment(forked: Hooked) -> None:
    verdict(forked, "HEAD", "good")
    old = forked.repo.head()
    forked.commit("--amend")
    assert verdicts(forked) == ["good"]
    assert verdicts(forked, old) == ["good"]


def test_an_amended_lockfile_has_no_verdict(forked: Hooked) -> None:
    verdict(forked, "HEAD", "good")
    forked.lock(lock("2"))
    forked.commit("--amend")
    assert verdicts(forked) == []


def test_amending_a_commit_that_nothing_is_said_of_starts_no_python(forked: Hooked) -> None:
    verdict(forked, "HEAD~1", "good")
    forked.commit("--amend")
    assert forked.starts() == []


def test_a_rebase_takes_the_notes_of_all_commits_along_in_one_pass(forked: Hooked) -> None:
    forked.repo.git("switch", "-q", "-c", "work", "main")
    for number in range(2, 7):
        lock_elsewhere(forked, "1", str(number))
        verdict(forked, "HEAD", "good" if number % 2 else "bad", reason=f"{number}")
    steps = len(forked.repo.git("rev-list", "refs/notes/envtrack").split())
    forked.repo.git("switch", "-q", "main", env=OFF)
    forked.repo.write("words", "1")
    forked.repo.git("add", "words")
    forked.commit()
    forked.repo.git("switch", "-q", "work", env=OFF)
    forked.mark.unlink(missing_ok=True)
    forked.repo.git("rebase", "-q", "main")
    assert [verdicts(forked, f"HEAD~{back}") for back in range(5)] == [
        ["bad"],
        ["good"],
        ["bad"],
        ["good"],
        ["bad"],
    ]
    assert forked.starts() == ["post-rewrite"]
    assert len(forked.repo.git("rev-list", "refs/notes/envtrack").split()) == steps + 1


def test_a_rebase_that_changes_a_lockfile_drops_the_verdict(forked: Hooked) -> None:
    forked.repo.git("switch", "-q", "-c", "work", "main", env=OFF)
    forked.repo.write("uv.lock", lock("1", "5"))
    forked.repo.git("commit", "-qam", "flint", env=OFF)
    verdict(forked, "HEAD", "good")
    forked.repo.run(["git", "rebase", "-q", "side"], check=False)
    forked.repo.write("uv.lock", lock("2", "5"))
    forked.repo.git("rm", "-q", "--cached", "--ignore-unmatch", RECORD)
    forked.repo.git("add", "uv.lock")
    forked.repo.git("rebase", "--continue", env={"GIT_EDITOR": "true"}, check=False)
    assert not (forked.repo.path / ".git/rebase-merge").exists()
    assert verdicts(forked) == []


def test_of_commits_that_become_one_only_its_own_environment_keeps_its_verdict(
    forked: Hooked,
) -> None:
    lock_elsewhere(forked, "1", "2")
    verdict(forked, "HEAD", "bad")
    lock_elsewhere(forked, "1", "3")
    verdict(forked, "HEAD", "good")
    environ = {"GIT_SEQUENCE_EDITOR": "sed -i '2s/^pick/fixup/'"}
    forked.repo.git("rebase", "-q", "-i", "HEAD~2", env=environ)
    assert verdicts(forked) == ["good"]


def test_notes_that_git_copied_itself_are_not_there_twice(forked: Hooked) -> None:
    forked.repo.git("config", "notes.rewriteRef", "refs/notes/*")
    verdict(forked, "HEAD", "good")
    forked.commit("--amend")
    assert verdicts(forked) == ["good"]


def test_words_of_others_go_along(forked: Hooked) -> None:
    forked.repo.git("notes", "--ref=envtrack", "add", "-m", "tried by hand")
    forked.commit("--amend")
    assert forked.repo.git("notes", "--ref=envtrack", "show") == "tried by hand"


def test_the_hook_from_before_is_sent_what_git_sends(forked: Hooked, tmp_path: Path) -> None:
    hook = forked.repo.path / ".git/hooks/post-rewrite.envtrack-legacy"
    write_script(hook, f"#!/bin/sh\ncat >'{tmp_path}/in'\necho \"$1\" >'{tmp_path}/how'\n")
    verdict(forked, "HEAD", "good")
    old = forked.repo.head()
    forked.commit("--amend")
    assert (tmp_path / "in").read_text() == f"{old} {forked.repo.head()}\n"
    assert (tmp_path / "how").read_text() == "amend\n"
    assert verdicts(forked) == ["good"]
