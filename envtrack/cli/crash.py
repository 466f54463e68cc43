"""The log of an unexpected error, written as a bug report."""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from envtrack import __version__
from envtrack.errors import RigFailed
from envtrack.files import write_whole
from envtrack.model.redact import redact_text

_WORD = re.compile(r"\w[\w\-]*(?:\.[\w\-]+)*")
_NAMES = frozenset({"/<user>", "/<host>"})


def write_crash_log(error: BaseException, arguments: Sequence[str]) -> Path:
    """The path of a Markdown file: versions, command line, traceback; no secrets and no names."""
    trace = "".join(traceback.format_exception(error))
    text = (
        f"# envtrack {__version__}: unexpected error\n\n"
        f"- command: `envtrack {' '.join(arguments)}`\n"
        f"- Python {platform.python_version()}, {platform.platform()}\n\n"
        f"```\n{trace}```\n"
    )
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = f"crash-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.md"
    text = _hide_names(redact_text(text.replace(sys.prefix, "<envtrack>")))
    for folder in (Path(home) / "envtrack", Path(tempfile.gettempdir())):
        try:
            write_whole(folder / name, text, mode=0o600)
        except RigFailed:
            continue
        return folder / name
    return Path("/dev/null")


def _hide_names(text: str) -> str:
    """Text without this home, without anybody's, and without the user's and the host's names.

    A snapshot hides those two in paths and addresses alone, where they would be mistaken for
    nothing else; a log has running text as well, and what is hidden too much there does no harm.
    """
    from envtrack.collect.interface import Machine
    from envtrack.collect.places import path_hider

    root = Path("/")  # as a project it is no place, and gets no label
    here = Machine(root=root, environ=os.environ, environment=None, project=root, home=Path.home())
    hide = path_hider(here)

    @cache
    def hide_word(word: str) -> str:
        hidden = hide(f"/{word}")
        return hidden[1:] if hidden in _NAMES else word

    return _WORD.sub(lambda found: hide_word(found.group()), hide(text))
