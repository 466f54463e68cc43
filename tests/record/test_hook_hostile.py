"""Odd names, folders that can't be written, filters, sparse trees, an interpreter that is gone."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked, install, make_python, write_script
from tests.support.repo import RepoBuilder

WARNING = "envtrack: no record of this machine was taken: "


def is_one_warning(said: str) -> bool:
    return said.startswith(WARNING) and said.count("\n") == 1


@pytest.mark.parametrize(
    "folder",
    ["with space", "new\nline", "tab\tquote\"'", "ünï", os.fsdecode(b"caf\xe9"), "-dash", "[a]*"],
)
def test_a_lockfile_in_an_oddly_named_folder_has_its_record(hooked: Hooked, folder: str) -> None:
    lockfile = f"{folder}/uv.lock"
    hooked.repo.write(lockfile, "version = 1\n")
    hooked.repo.git("add", "--all")
    assert hooked.commit() == ""
    path = f".envtrack/snapshots/testbed/{lockfile}.json"
    assert hooked.belongs(lockfile=lockfile, path=path)
    assert hooked.status() == ""
    hooked.repo.git("rm", "-q", "--", f":(literal){lockfile}")
    hooked.commit()
    assert not hooked.has("HEAD", path)
    assert hooked.status() == ""


def test_commit_path_works_for_an_oddly_named_lockfile(hooked: Hooked) -> None:
    lockfile = os.fsdecode(b"caf\xe9\n/uv.lock")
    hooked.lock("version = 1\n", lockfile)
    hooked.commit()
    hooked.repo.write(lockfile, "version = 2\n")
    hooked.commit(lockfile)
    assert hooked.belongs(lockfile=lockfile, path=f".envtrack/snapshots/testbed/{lockfile}.json")
    assert hooked.status() == ""


def test_an_ignored_folder_is_recorded_all_the_same(hooked: Hooked) -> None:
    hooked.repo.write(".gitignore", ".envtrack/\n*.json\n")
    hooked.repo.git("add", ".gitignore")
    hooked.lock("version = 1\n", "sub/uv.lock")
    assert hooked.commit() == ""
    assert hooked.has("HEAD", ".envtrack/snapshots/testbed/sub/uv.lock.json")
    assert hooked.status() == ""


def test_a_sparse_checkout_without_our_folder_records_and_stays_clean(hooked: Hooked) -> None:
    hooked.lock_commit("version = 1\n", "sub/uv.lock")
    hooked.repo.git("sparse-checkout", "set", "--no-cone", "/sub/")
    assert not (hooked.repo.path / RECORD).exists()
    hooked.lock("version = 2\n", "sub/uv.lock")
    assert hooked.commit() == ""
    path = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    assert hooked.belongs(lockfile="sub/uv.lock", path=path)
    assert hooked.status() == ""
    hooked.repo.write("sub/uv.lock", "version = 3\n")
    assert hooked.commit("sub/uv.lock") == ""
    assert hooked.belongs(lockfile="sub/uv.lock", path=path)
    assert hooked.status() == ""


@pytest.mark.parametrize("value", ["true", "input"])
def test_line_end_conversion_changes_neither_blob_nor_status(hooked: Hooked, value: str) -> None:
    hooked.repo.git("config", "core.autocrlf", value)
    hooked.repo.write("uv.lock", "version = 2\r\n")
    hooked.repo.git("add", "uv.lock")
    hooked.commit()
    assert hooked.belongs()
    assert "\r" not in hooked.repo.run(["git", "show", f"HEAD:{RECORD}"]).stdout
    assert hooked.status() == ""


def test_a_filter_on_the_lockfile_does_not_hide_its_blob(hooked: Hooked) -> None:
    hooked.repo.git("config", "filter.upper.clean", "tr a-z A-Z")
    hooked.repo.git("config", "filter.upper.smudge", "tr A-Z a-z")
    hooked.repo.write(".gitattributes", "uv.lock filter=upper -diff binary\n")
    hooked.lock_commit("version = 2\n")
    assert hooked.repo.git("show", "HEAD:uv.lock") == "VERSION = 2"
    assert hooked.belongs()


def test_an_external_diff_and_a_text_conversion_are_not_started(
    hooked: Hooked, tmp_path: Path
) -> None:
    spy = write_script(tmp_path / "spy", f"#!/bin/sh\ntouch '{tmp_path}/spied'\n")
    hooked.repo.git("config", "diff.external", str(spy))
    hooked.repo.git("config", "diff.lock.textconv", str(spy))
    hooked.repo.git("config", "diff.relative", "true")
    hooked.repo.write(".gitattributes", "uv.lock diff=lock\n")
    hooked.lock_commit("version = 2\n")
    assert hooked.belongs()
    assert not (tmp_path / "spied").exists()


def test_an_object_format_of_longer_names_is_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.mkdir()
    repo = RepoBuilder(path)
    repo.git("init", "-q", "--object-format=sha256")
    hooked = Hooked.create(repo, tmp_path)
    hooked.lock_commit("version = 1\n")
    repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    assert hooked.belongs()
    repo.git("rm", "-q", "uv.lock")
    hooked.commit()
    assert not hooked.has("HEAD")


# Root may write everywhere, unless it gives that up.
AS_ANYONE = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override"]


@pytest.mark.skipif(bool(AS_ANYONE) and not shutil.which("setpriv"), reason="root, no setpriv")
def test_a_folder_that_cannot_be_written_lets_the_commit_through(hooked: Hooked) -> None:
    folder = (hooked.repo.path / RECORD).parent
    hooked.lock("version = 2\n")
    folder.chmod(0o500)
    done = hooked.repo.run([*AS_ANYONE, "git", "commit", "-qm", "change"])
    folder.chmod(0o700)
    assert is_one_warning(done.stderr)
    assert "ermission denied" in done.stderr
    assert hooked.changed() == ["uv.lock"]
    assert hooked.status() == ""


def test_a_file_where_our_folder_should_be_lets_the_commit_through(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    hooked = Hooked.create(repo, tmp_path)
    repo.write(".envtrack", "not a folder\n")
    repo.git("add", ".envtrack")
    hooked.lock("version = 1\n")
    assert is_one_warning(hooked.commit())
    assert hooked.repo.git("show", "HEAD:.envtrack") == "not a folder"


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
    assert hooked.changed() == ["uv.lock"]


def test_a_locked_index_lets_the_commit_through(hooked: Hooked) -> None:
    write_script(
        hooked.repo.path / ".git/hooks/pre-commit.envtrack-legacy",
        "#!/bin/sh\ntouch .git/index.lock\n",
    )
    write_script(hooked.repo.path / ".git/hooks/commit-msg", "#!/bin/sh\nrm -f .git/index.lock\n")
    hooked.lock("version = 2\n")
    assert is_one_warning(hooked.commit())
    assert hooked.changed() == ["uv.lock"]


def test_a_machine_name_that_cannot_be_one_is_said(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    done = hooked.repo.run(
        ["git", "commit", "-qm", "change"], env={"ENVTRACK_MACHINE": "../../etc"}
    )
    assert is_one_warning(done.stderr)
    assert hooked.changed() == ["uv.lock"]


def test_without_its_interpreter_the_hook_says_one_line(hooked: Hooked, seal: Path) -> None:
    hooked.python.unlink()
    hooked.lock("version = 2\n")
    done = hooked.repo.run(
        ["env", "-i", "PATH=/usr/bin:/bin", f"HOME={seal}", "git", "commit", "-qm", "change"]
    )
    assert is_one_warning(done.stderr)
    assert "envtrack hooks install" in done.stderr
    assert hooked.changed() == ["uv.lock"]


def test_without_its_interpreter_the_hook_takes_the_envtrack_on_the_path(
    hooked: Hooked, tmp_path: Path
) -> None:
    python = make_python(tmp_path / "another", hooked.mark)
    hooked.python.unlink()
    write_script(
        tmp_path / "bin/envtrack", f"#!/bin/sh\nexec '{python}' -P -m envtrack.record.hook \"$3\"\n"
    )
    hooked.lock("version = 2\n")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    hooked.repo.git("commit", "-qm", "change", env={"PATH": path})
    assert hooked.belongs()


def test_an_interpreter_without_envtrack_is_said_in_one_line(hooked: Hooked) -> None:
    write_script(
        hooked.python, "#!/bin/sh\necho one >&2\necho No module named envtrack >&2\nexit 1"
    )
    hooked.lock("version = 2\n")
    assert hooked.commit() == f"{WARNING}No module named envtrack\n"


def test_an_interpreter_that_dies_silently_is_still_said(hooked: Hooked) -> None:
    write_script(hooked.python, "#!/bin/sh\nkill -9 $$\n")
    hooked.lock("version = 2\n")
    assert is_one_warning(hooked.commit())


def test_a_repository_of_another_owner_is_said_in_one_line(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hook = str(hooked.repo.path / ".git/hooks/pre-commit")
    done = hooked.repo.run([hook], env={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert is_one_warning(done.stderr)
    assert "another user owns it" in done.stderr


def test_a_partial_clone_fetches_nothing(hooked: Hooked, tmp_path: Path) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("config", "uploadpack.allowFilter", "true")
    source = hooked.repo.path.as_uri()
    subprocess.run(
        ["git", "clone", "-q", "--filter=blob:none", source, tmp_path / "clone"], check=True
    )
    clone = hooked.at(tmp_path / "clone")
    install(clone.repo, hooked.python)
    spy = write_script(tmp_path / "spy", f"#!/bin/sh\ntouch '{tmp_path}/fetched'\nexit 1\n")
    clone.repo.git("config", "remote.origin.uploadpack", str(spy))
    clone.lock("version = 3\n")
    assert clone.commit() == ""
    assert clone.belongs()
    assert clone.status() == ""
    assert not (tmp_path / "fetched").exists()
    assert clone.repo.run(["git", "show", f"HEAD~2:{RECORD}"], check=False).returncode != 0
    assert (tmp_path / "fetched").exists()


def test_a_shallow_clone_is_no_hindrance(hooked: Hooked, tmp_path: Path) -> None:
    hooked.lock_commit("version = 2\n")
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", hooked.repo.path.as_uri(), tmp_path / "clone"],
        check=True,
    )
    clone = hooked.at(tmp_path / "clone")
    install(clone.repo, hooked.python)
    clone.repo.write("uv.lock", "version = 3\n")
    assert clone.commit("uv.lock") == ""
    assert clone.belongs()
    assert clone.status() == ""


def test_a_hook_with_windows_line_ends_is_put_right_by_installing(hooked: Hooked) -> None:
    hook = hooked.repo.path / ".git/hooks/pre-commit"
    hook.write_bytes(hook.read_bytes().replace(b"\n", b"\r\n"))
    install(hooked.repo, hooked.python)
    assert b"\r" not in hook.read_bytes()
    hooked.lock_commit("version = 2\n")
    assert hooked.belongs()


def test_a_bare_repository_is_left_alone(hooked: Hooked, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "-q", "--bare", hooked.repo.path, bare], check=True)
    hook = hooked.repo.path / ".git/hooks/pre-commit"
    done = subprocess.run([hook], cwd=bare, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
