"""The last thing that a probe printed, fit to be shown."""

from __future__ import annotations

import re
from pathlib import Path

from envtrack.model.redact import redact_text

_LAST_LINES = 12


def read_last_lines(log: str, session: str) -> tuple[str, ...]:
    """What the smoke test (or else uv) printed last; nothing where nothing was kept.

    Args:
        log: the folder of a probe's logs; may be empty.
        session: the session's id.
    """
    for name in ("smoke.log", "sync.log") if log else ():
        path = Path(log) / name
        if path.is_file():
            lines = path.read_text("utf-8", "backslashreplace").rstrip().splitlines()
            if lines:
                return tuple(_show_line(line, session) for line in lines[-_LAST_LINES:])
    return ()


def _show_line(line: str, session: str) -> str:
    """A line without secrets, and without the folders of a worktree that is gone by now."""
    run = rf"{re.escape(session)}-[0-9a-f]+"
    line = re.sub(rf"[^\s\"'`(]*/worktrees/{run}/envtrack-{run}/", "", line)
    line = re.sub(rf"[^\s\"'`(]*/worktrees/{run}/env/", "<environment>/", line)
    return redact_text(line)
