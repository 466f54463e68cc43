"""prepare-commit-msg: what the lockfiles change, in a message that is about to be edited."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lockfiles.texts import HEAD, pinned, project
from tests.record.hooked import Hooked, write_script

POLICY = ".envtrack/policies/ours.yaml"


def lock(wick: str, flint: str) -> str:
    return HEAD + "\n".join(
        [project("wick", "flint"), pinned("wick", wick), pinned("flint", flint)]
    )


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the editor was given to see; it writes a first line and saves."""
    seen = tmp_path / "seen"
    script = write_script(
        tmp_path / "editor", f"#!/bin/sh\ncp \"$1\" '{seen}'\nsed -i '1s/^$/subject/' \"$1\"\n"
    )
    monkeypatch.setenv("GIT_EDITOR", str(script))
    return seen


@pytest.fixture
def locked(hooked: Hooked) -> Hooked:
    hooked.lock_commit(lock("1", "1"))
    hooked.mark.unlink()
    return hooked


def commit(hooked: Hooked, *arguments: str) -> str:
    """The message that came of it."""
    hooked.repo.git("commit", "--quiet", *arguments)
    return hooked.repo.git("log", "-1", "--format=%B").strip()


def test_the_editor_shows_what_moves_and_the_message_does_not(locked: Hooked, editor: Path) -> None:
    locked.lock(lock("2", "1"))
    assert commit(locked) == "subject"
    assert editor.read_text().startswith(
        "\n\n# What the lockfiles change:\n#   uv.lock\n#     packages: wick 1 → 2\n#\n# Please"
    )
    assert locked.starts() == ["pre-commit", "prepare-commit-msg"]


def test_the_trailers_that_the_policy_asks_for_are_offered_empty(
    locked: Hooked, editor: Path
) -> None:
    policy = "kind: UpgradePolicy\noverrides: [one-layer]\nrules: {reason: {level: error}}\n"
    locked.repo.write(POLICY, policy)
    locked.repo.write(".envtrack/config.yaml", "layers: {framework: [wick]}\n")
    locked.lock(lock("2", "2"))
    locked.repo.run(["git", "commit", "-q"], check=False)
    offered = [line for line in editor.read_text().split("\n") if "Env-" in line]
    assert offered == ["# Env-Override: one-layer ", "# Env-Reason: "]


def test_a_trailer_that_is_filled_in_counts(
    locked: Hooked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked.repo.write(POLICY, "kind: UpgradePolicy\nrules: {reason: {level: error}}\n")
    script = write_script(
        tmp_path / "editor",
        "#!/bin/sh\nsed -i -e '1s/^$/subject/' -e 's/^# Env-Reason: /Env-Reason: new/' \"$1\"\n",
    )
    monkeypatch.setenv("GIT_EDITOR", str(script))
    locked.lock(lock("2", "1"))
    assert commit(locked, "--signoff") == (
        "subject\n\nSigned-off-by: Ada Tester <ada@example.org>\nEnv-Reason: new"
    )


def test_a_trailer_that_is_there_is_not_asked_for(locked: Hooked, editor: Path) -> None:
    locked.repo.write(POLICY, "kind: UpgradePolicy\nrules: {reason: {level: error}}\n")
    template = locked.repo.write("template", "subject\n\nEnv-Reason: new\n")
    locked.lock(lock("2", "1"))
    commit(locked, "--template", str(template), "--allow-empty-message", "--no-verify")
    assert "wick 1 → 2" in editor.read_text()
    assert "# Env-Reason" not in editor.read_text()


@pytest.mark.parametrize(
    "arguments", [("-m", "said"), ("-F", "file"), ("--amend", "--no-edit"), ("-C", "HEAD")]
)
def test_a_message_that_nobody_edits_is_left_alone(
    locked: Hooked, editor: Path, arguments: tuple[str, ...]
) -> None:
    locked.repo.write("file", "said\n")
    locked.lock(lock("2", "1"))
    assert "#" not in commit(locked, *arguments)
    assert "prepare-commit-msg" not in locked.starts()
    assert not editor.exists()


def test_without_a_staged_lockfile_no_python_is_started(locked: Hooked, editor: Path) -> None:
    locked.repo.write("words", "1")
    locked.repo.git("add", "words")
    commit(locked)
    assert editor.read_text().startswith("\n# Please")
    assert locked.starts() == []


def test_an_amended_commit_is_described_whole(locked: Hooked, editor: Path) -> None:
    locked.lock(lock("2", "1"))
    locked.commit()
    locked.repo.write("words", "1")
    locked.repo.git("add", "words")
    commit(locked, "--amend")
    assert editor.read_text().startswith("change\n\n# What the lockfiles change:\n")
    assert "wick 1 → 2" in editor.read_text()


def test_a_first_commit_that_is_amended_brings_its_lockfile(hooked: Hooked, editor: Path) -> None:
    first = hooked.repo.git("rev-list", "--max-parents=0", "HEAD")
    hooked.repo.git("reset", "-q", "--soft", first)
    commit(hooked, "--amend")
    assert "#   uv.lock is new\n" in editor.read_text()


def test_a_commit_of_a_path_is_described_by_what_it_will_hold(locked: Hooked, editor: Path) -> None:
    locked.repo.write("uv.lock", lock("2", "1"))
    locked.lock(lock("1", "1"), "other/uv.lock")
    commit(locked, "uv.lock")
    assert "#   uv.lock\n#     packages: wick 1 → 2\n#\n" in editor.read_text()
    assert "other/uv.lock is new" not in editor.read_text()


@pytest.mark.parametrize("kind", ["merge", "squash"])
def test_what_git_says_of_a_merge_is_left_alone(locked: Hooked, editor: Path, kind: str) -> None:
    locked.repo.git("switch", "-q", "-c", "side")
    locked.lock_commit(lock("2", "1"))
    locked.repo.git("switch", "-q", "main")
    locked.repo.write("words", "1")
    locked.repo.git("add", "words")
    locked.commit()
    if kind == "merge":
        locked.repo.git("merge", "-q", "--edit", "side")
    else:
        locked.repo.git("merge", "-q", "--squash", "side")
        locked.repo.git("commit", "-q")
    assert "What the lockfiles" not in editor.read_text()


@pytest.mark.parametrize(
    ("setting", "value"),
    [("core.commentChar", ";"), ("core.commentChar", "auto"), ("core.commentString", "//")],
)
def test_the_comment_mark_is_the_one_that_this_git_takes(
    locked: Hooked, editor: Path, setting: str, value: str
) -> None:
    locked.repo.git("config", setting, value)
    template = locked.repo.write("template", "subject\n\n#1 is an issue\n")
    locked.lock(lock("2", "1"))
    message = commit(locked, "--template", str(template), "--edit", "--allow-empty-message")
    seen = editor.read_text()
    mark = next(row for row in seen.split("\n") if "Please enter" in row).partition(" ")[0]
    assert f"{mark}     packages: wick 1 → 2\n" in seen
    assert "What the lockfiles" not in message


@pytest.mark.parametrize(
    "options", [("-v",), ("-v", "--cleanup=scissors"), ("--cleanup=scissors",)]
)
def test_nothing_of_it_ends_up_in_the_message_whatever_is_cleaned_up(
    locked: Hooked, editor: Path, options: tuple[str, ...]
) -> None:
    locked.lock(lock("2", "1"))
    assert commit(locked, *options) == "subject"
    assert "wick 1 → 2" in editor.read_text()


def test_a_message_of_another_encoding_comes_out_as_it_went_in(
    locked: Hooked, editor: Path
) -> None:
    template = locked.repo.path / "template"
    template.write_bytes("für\n".encode("latin-1"))
    locked.lock(lock("2", "1"))
    locked.repo.git("commit", "-q", "-t", "template", "--allow-empty-message", check=False)
    assert editor.read_bytes().startswith("für\n".encode("latin-1"))


def test_a_lockfile_that_installs_the_same_says_so(locked: Hooked, editor: Path) -> None:
    locked.lock(lock("1", "1") + "\n# words\n")
    commit(locked)
    assert "#   uv.lock installs the same\n" in editor.read_text()


def test_what_can_not_be_read_is_one_line_and_no_hindrance(locked: Hooked, editor: Path) -> None:
    locked.repo.write(POLICY, "kind: UpgradePolicy\nrules: {nonsense: {}}\n")
    locked.lock(lock("2", "1"))
    done = locked.repo.run(["git", "commit", "-q", "--no-verify"], check=False)
    assert done.returncode == 0
    assert done.stderr.startswith("envtrack: the message has no summary: .envtrack/policies")
    assert done.stderr.count("\n") == 1


def test_a_hook_from_before_that_refuses_is_obeyed(locked: Hooked, editor: Path) -> None:
    hook = locked.repo.path / ".git/hooks/prepare-commit-msg.envtrack-legacy"
    write_script(hook, "#!/bin/sh\nexit 3\n")
    locked.lock(lock("2", "1"))
    assert locked.repo.run(["git", "commit", "-q"], check=False).returncode == 1
    assert not editor.exists()
