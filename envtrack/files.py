"""The one door to durable writes, and to reading what may be too large or no text at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.errors import RigFailed, UsageProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT_LIMIT_BYTES = 64 * 1024 * 1024


def write_whole(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Puts a file in place whole or not at all: temporary name, sync, rename, sync of the folder.

    Missing folders are made. A symbolic link at `path` is replaced, never followed.

    Raises:
        RigFailed: the folder can't be written or the disk is full.
    """
    raw = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
    except OSError as error:
        raise RigFailed(f"{path}: can't be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as sink:
            sink.write(raw)
            sink.flush()
            os.fchmod(sink.fileno(), mode)
            os.fsync(sink.fileno())
        Path(name).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise RigFailed(f"{path}: can't be written: {error.strerror}") from error
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    # Some file systems (FUSE, NFS) refuse to sync a folder; the rename is still whole.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_text(path: Path, *, limit_bytes: int = _TEXT_LIMIT_BYTES) -> str:
    r"""A file's text; bytes that are no UTF-8 show as ``\xNN``, a byte order mark is dropped.

    Raises:
        UsageProblem: there is no such file, it can't be read, or it is larger than `limit_bytes`.
    """
    try:
        with path.open("rb") as source:
            raw = source.read(limit_bytes + 1)
    except OSError as error:
        raise UsageProblem(f"{path}: can't be read: {error.strerror}") from error
    if len(raw) > limit_bytes:
        raise UsageProblem(f"{path}: larger than {limit_bytes // 2**20} MiB")
    return raw.decode("utf-8-sig", "backslashreplace")


@contextlib.contextmanager
def lock_file(path: Path, *, wait_s: float, busy: str) -> Iterator[int]:
    """Holds an exclusive lock on a file; gives its descriptor.

    A child that inherits the descriptor holds the lock too, until it ends.

    Args:
        path: made if missing; stays in place afterwards.
        wait_s: how long to wait for another holder, in seconds.
        busy: what to say if it is still held then.

    Raises:
        RigFailed: still held after `wait_s`, or the file can't be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise RigFailed(f"{path}: can't be written: {error.strerror}") from error
    try:
        _take_lock(handle, wait_s=wait_s, busy=busy)
        yield handle
    finally:
        os.close(handle)


def _take_lock(handle: int, *, wait_s: float, busy: str) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise RigFailed(busy) from error
            time.sleep(0.05)
        else:
            return


def remove_tree(path: Path) -> None:
    """Removes a folder of ours with all it holds, read-only ones included; a link only itself.

    Raises:
        RigFailed: something in it can't be removed.
    """
    try:
        if path.is_dir() and not path.is_symlink():
            _remove_folder(path)
        else:
            with contextlib.suppress(NotADirectoryError):
                path.unlink(missing_ok=True)
    except OSError as error:
        raise RigFailed(f"{path}: can't be removed: {error.strerror}") from error


def _remove_folder(path: Path) -> None:
    try:
        shutil.rmtree(path)
    except OSError:
        # A package manager's cache (Go's, Bazel's) leaves folders without write permission; and a
        # process that is just ending may have put one more file into a folder.
        make_writable(path)
        shutil.rmtree(path)


def make_writable(root: Path) -> None:
    """Gives us every permission on a folder of ours and on all folders in it; links stay."""
    root.chmod(stat.S_IRWXU)
    for folder, names, _ in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(stat.S_IRWXU)
