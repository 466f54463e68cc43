"""Where the commit is made from, and what is missing there: a path, a terminal, rights, envtrack."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked, make_python
from tests.situations.after import FITS, OTHER, files, first, settled, version
from tests.support.repo import RepoBuilder

WARNING = "envtrack: no record of this machine was taken: "
GONE = "`envtrack hooks install` puts it right"
# Root may write everywhere, unless it gives that up.
AS_ANYONE = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override"]
needs_rights_to_lose = pytest.mark.skipif(
    bool(AS_ANYONE) and not shutil.which("setpriv"), reason="root, no setpriv"
)
NOT_RECORDED = {RECORD: OTHER}


def is_one_warning(said: str) -> bool:
    return said.startswith(WARNING) and said.count("\n") == 1


def run_bare(hooked: Hooked, seal: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A commit with no more around it than a program started from a desktop has."""
    bare = ["env", "-i", "PATH=/usr/bin:/bin", f"HOME={seal}", "ENVTRACK_MACHINE=testbed"]
    return hooked.repo.run([*bare, "git", "commit", "-qm", "change", *arguments], check=False)


@pytest.mark.parametrize("arguments", [["--all"], ["uv.lock"]])
def test_the_bare_path_of_a_desktop_program_is_enough(
    hooked: Hooked, seal: Path, arguments: list[str]
) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    done = run_bare(hooked, seal, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert files(hooked) == version(2)
    settled(hooked)


def test_closed_standard_streams_are_no_hindrance(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.repo.run(["sh", "-c", "git commit -qm change uv.lock <&- >&- 2>&-"])
    assert files(hooked) == version(2)
    settled(hooked)


def test_without_a_terminal_nothing_waits_for_one(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    command = ["setsid", "git", "commit", "-qm", "change", "--all"]
    assert hooked.repo.run(command, env={"TERM": "dumb"}).stderr == ""
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_terminal_changes_nothing(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    command = ["script", "-qec", "git commit -qm change --all", "/dev/null"]
    if shutil.which("script") is None:
        pytest.skip("no `script` here")
    assert hooked.repo.run(command).stdout == ""
    assert files(hooked) == version(2)
    settled(hooked)


@pytest.mark.parametrize("umask", ["077", "002", "777"])
def test_the_umask_is_no_hindrance(hooked: Hooked, umask: str) -> None:
    hooked.lock("version = 2\n")
    hooked.lock("version = 1\n", "sub/uv.lock")
    if umask == "777" and os.geteuid() != 0:
        pytest.skip("nothing can be written then")
    hooked.repo.run(["sh", "-c", f"umask {umask} && git commit -qm change"])
    record = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert files(hooked) == version(2, **{"sub/uv.lock": "version = 1\n", record: FITS})
    settled(hooked)


def test_a_file_that_may_not_be_changed_is_replaced(hooked: Hooked) -> None:
    (hooked.repo.path / RECORD).chmod(0o444)
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    settled(hooked)


def forbid(folder: Path) -> None:
    folder.chmod(0o500)


def allow(folder: Path) -> None:
    folder.chmod(0o700)


@needs_rights_to_lose
def test_a_folder_of_records_that_cannot_be_written_lets_the_commit_through(
    hooked: Hooked,
) -> None:
    folder = (hooked.repo.path / RECORD).parent
    hooked.lock("version = 2\n")
    forbid(folder)
    done = hooked.repo.run([*AS_ANYONE, "git", "commit", "-qm", "change"])
    allow(folder)
    assert is_one_warning(done.stderr)
    assert "ermission denied" in done.stderr
    assert files(hooked) == version(2, **NOT_RECORDED)
    settled(hooked)


@needs_rights_to_lose
@pytest.mark.parametrize("arguments", [[], ["uv.lock"], ["--all"]])
def test_a_memory_that_cannot_be_written_lets_the_commit_through(
    hooked: Hooked, arguments: list[str]
) -> None:
    folder = hooked.repo.path / ".git/envtrack/hook"
    hooked.lock("version = 2\n")
    forbid(folder)
    done = hooked.repo.run([*AS_ANYONE, "git", "commit", "-qm", "change", *arguments])
    allow(folder)
    assert done.returncode == 0
    assert files(hooked)["uv.lock"] == "version = 2\n"
    settled(hooked)


@needs_rights_to_lose
def test_a_git_folder_that_cannot_be_written_is_for_git_to_refuse(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    git_dir = hooked.repo.path / ".git"
    forbid(git_dir)
    done = hooked.repo.run([*AS_ANYONE, "git", "commit", "-qm", "change"], check=False)
    allow(git_dir)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert files(hooked) == first()
    hooked.commit()
    assert files(hooked) == version(2)
    settled(hooked)


@needs_rights_to_lose
def test_objects_that_cannot_be_written_are_for_git_to_refuse(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    folders = [hooked.repo.path / ".git/objects", *(hooked.repo.path / ".git/objects").iterdir()]
    for folder in folders:
        forbid(folder)
    done = hooked.repo.run([*AS_ANYONE, "git", "commit", "-qm", "change"], check=False)
    for folder in folders:
        allow(folder)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    hooked.commit()
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_file_where_our_folder_should_be_lets_the_commit_through(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    hooked = Hooked.create(repo, tmp_path)
    repo.write(".envtrack", "not a folder\n")
    repo.git("add", ".envtrack")
    hooked.lock("version = 1\n")
    assert is_one_warning(hooked.commit())
    assert files(hooked) == {".envtrack": "not a folder\n", "uv.lock": "version = 1\n"}
    settled(hooked)


def test_a_link_out_of_the_repository_is_not_followed(hooked: Hooked, tmp_path: Path) -> None:
    away = tmp_path / "away"
    shutil.move(hooked.repo.path / ".envtrack", away)
    (hooked.repo.path / ".envtrack").symlink_to(away)
    before = sorted(path.name for path in away.rglob("*"))
    hooked.lock("version = 2\n")
    said = hooked.commit()
    assert is_one_warning(said)
    assert "symbolic link" in said
    assert sorted(path.name for path in away.rglob("*")) == before


def test_a_full_disk_lets_the_commit_through(hooked: Hooked) -> None:
    # A limit on the size of files is the nearest thing to a full disk that needs no rights.
    make_python(hooked.python, hooked.mark, before="trap '' XFSZ; ulimit -f 0")
    hooked.lock("version = 2\n")
    assert is_one_warning(hooked.commit())
    assert files(hooked) == version(2, **NOT_RECORDED)
    settled(hooked)


@pytest.mark.parametrize(
    ("said", "is_stopped", "is_moved"),
    [(None, False, False), ("pass", False, True), ("stop", True, False), ("stop", True, True)],
)
def test_without_envtrack_a_commit_passes_or_not_as_the_configuration_says(
    hooked: Hooked, seal: Path, said: str | None, *, is_stopped: bool, is_moved: bool
) -> None:
    if said is not None:
        hooked.repo.write(".envtrack/config.yaml", f"hooks:\n  on-missing: {said}\n")
        hooked.repo.git("add", ".envtrack")
        hooked.commit()
    hooked.python.unlink()
    if is_moved:  # the interpreter of the environment that is gone
        hooked.python.symlink_to(seal / "gone/bin/python")
    hooked.lock("version = 2\n")
    done = run_bare(hooked, seal)
    assert done.returncode == int(is_stopped)
    assert done.stderr.count("\n") == 1
    assert GONE in done.stderr
    shown = files(hooked)
    assert shown["uv.lock"] == ("version = 1\n" if is_stopped else "version = 2\n")
    settled(hooked, status="M  uv.lock" if is_stopped else "")
    make_python(hooked.python.with_name("new"), hooked.mark).replace(hooked.python)
    hooked.lock_commit("version = 3\n")
    assert hooked.belongs()
    settled(hooked)


def test_a_repository_of_another_owner_is_said_in_one_line(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hook = str(hooked.repo.path / ".git/hooks/pre-commit")
    done = hooked.repo.run([hook], env={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert is_one_warning(done.stderr)
    assert "another user owns it" in done.stderr
    settled(hooked, status="M  uv.lock")


def test_a_hook_with_windows_line_ends_is_put_right_by_installing(hooked: Hooked) -> None:
    hook = hooked.repo.path / ".git/hooks/pre-commit"
    hook.write_bytes(hook.read_bytes().replace(b"\n", b"\r\n"))
    Hooked.create(hooked.repo, hooked.python.parent)
    assert b"\r" not in hook.read_bytes()
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    settled(hooked)


def test_a_hook_that_is_not_executable_is_skipped_by_git(hooked: Hooked) -> None:
    for hook in (hooked.repo.path / ".git/hooks").iterdir():
        hook.chmod(hook.stat().st_mode & ~(stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2, **NOT_RECORDED)
    settled(hooked)
