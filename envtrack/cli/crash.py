"""The log of an unexpected error, written as a bug report."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from envtrack import __version__
from envtrack.errors import RigFailed
from envtrack.files import write_whole
from envtrack.model.redact import redact_text


def write_crash_log(error: BaseException, arguments: Sequence[str]) -> Path:
    """The path of a Markdown file with versions, command line and traceback, secrets removed."""
    trace = "".join(traceback.format_exception(error))
    text = (
        f"# envtrack {__version__}: unexpected error\n\n"
        f"- command: `envtrack {' '.join(arguments)}`\n"
        f"- Python {platform.python_version()}, {platform.platform()}\n\n"
        f"```\n{trace}```\n"
    )
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = f"crash-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.md"
    text = redact_text(text).replace(str(Path.home()), "~").replace(sys.prefix, "<envtrack>")
    for folder in (Path(home) / "envtrack", Path(tempfile.gettempdir())):
        try:
            write_whole(folder / name, text, mode=0o600)
        except RigFailed:
            continue
        return folder / name
    return Path("/dev/null")
