from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from envtrack.errors import RigFailed, UsageProblem
from envtrack.files import lock_file, make_writable, read_text, remove_tree, write_whole
from tests.support.tiny import tiny_disk

NOBODY = 65534


def test_a_file_is_replaced_whole_with_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b"
    write_whole(target, "one")
    write_whole(target, b"two", mode=0o755)
    assert target.read_text() == "two"
    assert target.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in target.parent.iterdir()] == ["b"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("kept")
    (tmp_path / "link").symlink_to("old")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "old").read_text() == "kept"
    assert not (tmp_path / "link").is_symlink()


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", kib=64) as disk:
        write_whole(disk / "kept", "old")
        with pytest.raises(RigFailed, match="can't be written: No space left on device"):
            write_whole(disk / "kept", b"x" * 200_000)
        assert (disk / "kept").read_text() == "old"
        assert [path.name for path in disk.iterdir()] == ["kept"]


def test_a_folder_that_is_a_file_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RigFailed, match="can't be written"):
        write_whole(tmp_path / "file" / "below", "text")


def test_text_that_is_no_utf8_is_shown(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa\xff")
    assert read_text(tmp_path / "f") == "a\\xff"


def test_a_file_that_is_too_large_or_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(UsageProblem, match="larger than 1 MiB"):
        read_text(tmp_path / "f", limit_bytes=2**20)
    with pytest.raises(UsageProblem, match="can't be read: No such file"):
        read_text(tmp_path / "gone")


def test_a_lock_is_refused_while_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with (
        lock_file(path, wait_s=0, busy=""),
        pytest.raises(RigFailed, match="in use"),
        lock_file(path, wait_s=0.1, busy="in use"),
    ):
        pass
    with lock_file(path, wait_s=0, busy="in use"):
        pass


def test_a_child_that_inherits_a_lock_holds_it_until_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with lock_file(path, wait_s=0, busy="") as handle:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(handle,))
    try:
        with pytest.raises(RigFailed, match="in use"), lock_file(path, wait_s=0, busy="in use"):
            pass
    finally:
        child.communicate()
    with lock_file(path, wait_s=0, busy="in use"):
        pass


def test_a_child_that_does_not_inherit_a_lock_does_not_hold_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with lock_file(path, wait_s=0, busy=""):
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    with lock_file(path, wait_s=0, busy="in use"):
        pass
    child.communicate()


@pytest.fixture
def nobodys(tmp_path: Path) -> Iterator[Path]:
    """A folder of a user for whom permission bits count, which root's do not."""
    if os.geteuid() != 0:
        yield tmp_path
        return
    if shutil.which("setpriv") is None:
        pytest.skip("permission bits do not bind root, and there is no setpriv")
    folder = Path("/tmp") / f"envtrack-nobody-{os.getpid()}"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


def as_nobody(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", text, str(folder)]
    if os.geteuid() == 0:
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_folders_without_permissions_are_removed(nobodys: Path) -> None:
    # In one process: without root, a folder that can't be read is really in the way.
    source = Path(remove_tree.__code__.co_filename).read_text()
    text = (
        "import os, sys; from pathlib import Path\n"
        "root = Path(sys.argv[1]) / 'made'\n"
        "for name in ('shut/in', 'read/only', 'no/list'): (root / name).mkdir(parents=True)\n"
        "for name in ('shut/in/f', 'read/only/f', 'no/list/f'): (root / name).write_text('')\n"
        "os.chmod(root / 'shut', 0); os.chmod(root / 'read/only', 0o555)\n"
        "os.chmod(root / 'no/list', 0o311); os.symlink('/', root / 'link')\n"
        "import shutil\n"
        "try: shutil.rmtree(root)\n"
        "except PermissionError: print('in the way')\n"
        f"namespace = {{'__name__': 'files'}}; exec({source!r}, namespace)\n"
        "namespace['remove_tree'](root); print(root.exists())\n"
    )
    if os.geteuid() == 0 and not os.access(sys.executable, os.X_OK):
        pytest.skip("no interpreter that another user can start")
    done = as_nobody(text, nobodys)
    if "Permission denied" in done.stderr and "setpriv" in done.stderr:
        pytest.skip("no interpreter that another user can start")
    assert done.stdout == "in the way\nFalse\n", done.stderr


def test_a_link_is_removed_and_not_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "dangling")
    assert [path.name for path in tmp_path.iterdir()] == ["real"]


def test_links_keep_others_permissions(tmp_path: Path) -> None:
    (tmp_path / "others").mkdir(mode=0o500)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "link").symlink_to("../others")
    make_writable(tmp_path / "mine")
    assert (tmp_path / "others").stat().st_mode & 0o777 == 0o500
