"""A lockfile's content, as git or a disk has it, read."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import parse_lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from envtrack.lockfiles.text import Include
    from envtrack.model.lock import Lock

_NO_TEXT = "not UTF-8"


def parse_lock_bytes(
    content: bytes, path: str, *, name: str = "", include: Include | None = None
) -> Lock:
    """What a lockfile's content pins; messages name it as ``name:path`` if it has a name."""
    try:
        return parse_lock(content.decode("utf-8-sig"), path=path, include=include)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LockfileProblem(f"{name}:{path}" if name else path, line, _NO_TEXT) from error
    except LockfileProblem as error:
        if not name:
            raise
        where = f"{name}:{path}"
        raise LockfileProblem(where, error.line, error.reason, hint=error.hint) from error


def make_include(lockfile: str, read: Callable[[str], bytes | None]) -> Include:
    """Reads the files that a lockfile names, by their path from its folder.

    Args:
        lockfile: its path from the top level.
        read: the content of a file by its path from the top level; ``None``: there is none.

    Returns:
        What gives their text; ``None`` for one that is outside the repository.
    """

    def include(path: str) -> str | None:
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(lockfile), path))
        if inside.startswith(("/", "../")):
            return None
        content = read(inside)
        return None if content is None else content.decode("utf-8-sig", "backslashreplace")

    return include
