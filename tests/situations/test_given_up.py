"""Commits that never come about after pre-commit has run: nothing harmful is left lying."""

from __future__ import annotations

import pytest

from tests.record.hooked import RECORD, Hooked, write_script
from tests.situations.after import files, first, settled, version

STAGED = f"M  {RECORD}\nM  uv.lock"
MODIFIED = f" M {RECORD}\n M uv.lock"


def give_up(hooked: Hooked, *arguments: str) -> None:
    """A commit whose editor says no, after pre-commit has run."""
    assert hooked.repo.run(["git", "commit", *arguments], check=False).returncode != 0


def commit_other(hooked: Hooked, *arguments: str) -> None:
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit(*arguments)


def refuse_by_editor(hooked: Hooked) -> None:
    hooked.repo.git("config", "core.editor", "false")


def refuse_empty_message(hooked: Hooked) -> None:
    hooked.repo.git("config", "core.editor", "true")


def refuse_by_message(hooked: Hooked) -> None:
    write_script(hooked.repo.path / ".git/hooks/commit-msg.envtrack-legacy", "#!/bin/sh\nexit 1\n")


def refuse_by_template(hooked: Hooked) -> None:
    write_script(
        hooked.repo.path / ".git/hooks/prepare-commit-msg.envtrack-legacy", "#!/bin/sh\nexit 1\n"
    )
    hook = hooked.repo.path / ".git/hooks/prepare-commit-msg"
    if not hook.exists():
        write_script(hook, "#!/bin/sh\nexit 1\n")


def refuse_by_signature(hooked: Hooked) -> None:
    hooked.repo.git("config", "commit.gpgSign", "true")
    hooked.repo.git("config", "gpg.program", "false")


def refuse_by_reference(hooked: Hooked) -> None:
    write_script(
        hooked.repo.path / ".git/hooks/reference-transaction",
        "#!/bin/sh\nwhile read -r _ _ name; do\n"
        '    [ "$1" = prepared ] && [ "$name" = refs/heads/main ] && exit 1\ndone\nexit 0\n',
    )


def allow(hooked: Hooked) -> None:
    """Takes every refusal away again."""
    for name in ("core.editor", "commit.gpgSign", "gpg.program"):
        hooked.repo.git("config", "--unset", name, check=False)
    for hook in (hooked.repo.path / ".git/hooks").iterdir():
        if hook.name.endswith("legacy") or hook.read_text() == "#!/bin/sh\nexit 1\n":
            hook.unlink()
    (hooked.repo.path / ".git/hooks/reference-transaction").unlink(missing_ok=True)


REFUSALS = {
    "editor": (refuse_by_editor, []),
    "empty message": (refuse_empty_message, []),
    "commit-msg": (refuse_by_message, ["-m", "change"]),
    "prepare-commit-msg": (refuse_by_template, ["-m", "change"]),
    "signature": (refuse_by_signature, ["-m", "change"]),
    "reference": (refuse_by_reference, ["-m", "change"]),
}


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_commit_that_was_refused_is_recorded_anew_the_next_time(
    hooked: Hooked, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    monkeypatch.delenv("GIT_EDITOR")
    refuse, arguments = REFUSALS[refusal]
    refuse(hooked)
    hooked.lock("version = 2\n")
    give_up(hooked, *arguments)
    assert hooked.status() == STAGED
    allow(hooked)
    hooked.lock("version = 3\n")
    hooked.commit()
    assert files(hooked) == version(3)
    settled(hooked)


@pytest.mark.parametrize("arguments", [["--all"], ["uv.lock"], ["--include", "uv.lock"]])
def test_a_refused_commit_of_what_was_not_staged_stages_nothing(
    hooked: Hooked, arguments: list[str]
) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    give_up(hooked, *arguments)
    assert hooked.status() == MODIFIED
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit(*arguments)
    assert files(hooked) == version(3)
    settled(hooked)


def test_a_hook_of_others_that_refuses_comes_before_anything_is_recorded(hooked: Hooked) -> None:
    legacy = write_script(
        hooked.repo.path / ".git/hooks/pre-commit.envtrack-legacy", "#!/bin/sh\nexit 1\n"
    )
    hooked.lock("version = 2\n")
    give_up(hooked, "-m", "change")
    assert hooked.status() == "M  uv.lock"
    legacy.unlink()
    hooked.commit()
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_left_over_record_goes_when_the_lockfile_is_unstaged(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    give_up(hooked)
    hooked.repo.git("restore", "--staged", "uv.lock")
    commit_other(hooked)
    assert files(hooked) == first(other="words\n")
    settled(hooked, status=" M uv.lock")


def test_a_left_over_record_is_not_committed_when_the_lockfile_is_put_back(
    hooked: Hooked,
) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    give_up(hooked, "--all")
    hooked.repo.git("checkout", "--", "uv.lock")
    commit_other(hooked, "--all")
    assert files(hooked) == first(other="words\n")
    settled(hooked)


def test_a_left_over_record_goes_along_to_another_branch_and_is_dropped_there(
    hooked: Hooked,
) -> None:
    hooked.lock("version = 2\n")
    give_up(hooked)
    hooked.repo.git("checkout", "-q", "-b", "side")
    hooked.repo.git("restore", "--staged", "--worktree", "uv.lock")
    commit_other(hooked)
    assert files(hooked) == first(other="words\n")
    settled(hooked, on="side")


def test_a_left_over_record_is_stashed_and_comes_back_with_its_lockfile(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    give_up(hooked)
    hooked.repo.git("stash", "-q")
    commit_other(hooked)
    assert files(hooked) == first(other="words\n")
    settled(hooked)
    hooked.repo.git("stash", "pop", "-q", "--index")
    hooked.commit()
    assert files(hooked) == version(2, other="words\n")
    settled(hooked)


def test_a_left_over_record_stays_out_of_the_commit_of_another_path(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    give_up(hooked)
    commit_other(hooked, "other")
    assert files(hooked) == first(other="words\n")
    settled(hooked, status=STAGED)
    hooked.commit()
    assert files(hooked) == version(2, other="words\n")
    settled(hooked)


def test_a_left_over_record_is_right_for_the_same_lockfile_without_hooks(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    give_up(hooked)
    hooked.commit("--no-verify")
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_new_record_that_was_left_over_goes_with_its_folder(hooked: Hooked) -> None:
    hooked.lock("version = 1\n", "sub/uv.lock")
    give_up(hooked)
    hooked.repo.git("rm", "--cached", "-q", "sub/uv.lock")
    commit_other(hooked)
    assert files(hooked) == first(other="words\n")
    assert not (hooked.repo.path / ".envtrack/snapshots/testbed/sub").exists()
    settled(hooked, status="?? sub/")


def test_a_refused_commit_of_a_path_is_followed_by_one_of_all(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    give_up(hooked, "uv.lock")
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.repo.git("add", "--all")
    hooked.commit()
    assert files(hooked) == version(3)
    settled(hooked)


def test_commit_path_after_a_refused_commit_leaves_a_clean_status(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    give_up(hooked)
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit("uv.lock")
    assert files(hooked) == version(3)
    settled(hooked)


def test_a_refused_deletion_gives_the_record_back(hooked: Hooked) -> None:
    hooked.repo.git("rm", "-q", "uv.lock")
    give_up(hooked)
    hooked.repo.git("checkout", "HEAD", "--", "uv.lock")
    commit_other(hooked)
    assert files(hooked) == first(other="words\n")
    settled(hooked)


def test_a_hard_reset_after_a_refused_commit_leaves_nothing(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    give_up(hooked)
    hooked.repo.git("reset", "-q", "--hard")
    assert hooked.status() == ""
    commit_other(hooked)
    assert files(hooked) == first(other="words\n")
    settled(hooked)
