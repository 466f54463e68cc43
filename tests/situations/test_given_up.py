"""Commits that never come about after pre-commit has run: nothing harmful is left lying."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked, make_python, write_script
from tests.situations.after import FITS, files, first, settled, version

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


def start_commit(hooked: Hooked, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["git", "commit", "-m", "change", *arguments],
        cwd=hooked.repo.path,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


def wait_for_end(group: int) -> None:
    """Until the commit and all that it started in its terminal is gone."""
    try:
        while True:
            os.killpg(group, 0)
            time.sleep(0.02)
    except ProcessLookupError:
        return


def slow_git(hooked: Hooked, tmp_path: Path, command: str, body: str) -> None:
    """Lets one command of our hook's git do something else, in which `$git` is the real one."""
    script = f'#!/bin/sh\ngit={shutil.which("git")}\n[ "$1" = {command} ] || exec $git "$@"\n{body}\n'
    write_script(tmp_path / "slow/git", script)
    make_python(hooked.python, hooked.mark, before=f"PATH={tmp_path}/slow:$PATH")


def hold_staging(hooked: Hooked, tmp_path: Path) -> None:
    """Lets our hook's git stand still while it holds the index."""
    slow_git(hooked, tmp_path, "update-index", 'sleep 60 | $git "$@"')


@pytest.mark.parametrize("arguments", [[], ["--all"], ["uv.lock"]])
def test_ctrl_c_while_the_record_is_staged_leaves_no_lock(
    hooked: Hooked, tmp_path: Path, arguments: list[str]
) -> None:
    hold_staging(hooked, tmp_path)
    hooked.repo.write("uv.lock", "version = 2\n")
    if not arguments:
        hooked.repo.git("add", "uv.lock")
    commit = start_commit(hooked, *arguments)
    git_dir = hooked.repo.path / ".git"
    while not list(git_dir.glob("*.lock.lock" if arguments else "index.lock")):
        time.sleep(0.02)
    os.killpg(commit.pid, signal.SIGINT)
    assert commit.wait() != 0
    wait_for_end(commit.pid)
    assert list(git_dir.glob("*.lock*")) == []
    make_python(hooked.python, hooked.mark)
    hooked.commit(*arguments)
    assert files(hooked) == version(2)
    settled(hooked)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_anything_is_recorded_leaves_things_as_they_were(
    hooked: Hooked, tmp_path: Path, number: signal.Signals
) -> None:
    make_python(hooked.python, hooked.mark, before=f"touch '{tmp_path}/there'; sleep 60")
    hooked.repo.write("uv.lock", "version = 2\n")
    commit = start_commit(hooked, "--all")
    wait_for(tmp_path / "there")
    os.killpg(commit.pid, number)
    assert commit.wait() != 0
    wait_for_end(commit.pid)
    settled(hooked, status=" M uv.lock")


@pytest.mark.parametrize("arguments", [["--all"], ["uv.lock"]])
def test_a_commit_that_a_client_ended_alone_leaves_no_lock(
    hooked: Hooked, tmp_path: Path, arguments: list[str]
) -> None:
    wait = f"touch '{tmp_path}/there'; until [ -e '{tmp_path}/on' ]; do sleep 0.02; done"
    slow_git(hooked, tmp_path, "hash-object", f'{wait}; exec $git "$@"')
    hooked.repo.write("uv.lock", "version = 2\n")
    commit = start_commit(hooked, *arguments)
    wait_for(tmp_path / "there")
    commit.terminate()
    commit.wait()
    (tmp_path / "on").touch()
    wait_for_end(commit.pid)
    assert list((hooked.repo.path / ".git").glob("*.lock*")) == []
    make_python(hooked.python, hooked.mark)
    hooked.commit(*arguments)
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_lockfile_added_after_ctrl_c_has_its_record(hooked: Hooked, tmp_path: Path) -> None:
    hold_staging(hooked, tmp_path)
    hooked.lock("version = 1\n", "sub/uv.lock")
    commit = start_commit(hooked)
    wait_for(hooked.repo.path / ".git/index.lock")
    os.killpg(commit.pid, signal.SIGINT)
    commit.wait()
    wait_for_end(commit.pid)
    make_python(hooked.python, hooked.mark)
    hooked.repo.git("add", "--all")
    hooked.commit()
    record = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert files(hooked) == first(**{"sub/uv.lock": "version = 1\n", record: FITS})
    settled(hooked)
