"""Tracebacks, line by line: Python's own, notebooks', rich's boxes, and exception groups'."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from envtrack.triage.text import Line

HEADER: Final = "Traceback (most recent call last)"
_FRAME: Final = re.compile(
    r'\s*File "(?P<path>[^"\n]{1,400})", line (?P<line>\d+)(?:, in (?P<name>.{0,200}))?'
)
_NOTEBOOK_FRAME: Final = re.compile(
    r"(?:File )?(?P<path>[~/.\w<][^\s:]{0,400}?)(?::(?P<line>\d+))?,? in (?P<name>.{1,200})"
    r"|(?P<cell>(?:Cell |Input )In ?\[\d+\]|<ipython-input-[\w-]+>).{0,80}"
)
_BOX_FRAME: Final = re.compile(
    r"[\s│┃|❱]*(?P<path>[/~.\w][^\s:]{0,400}\.py):(?P<line>\d+) in (?P<name>\S{1,200})"
)
_EXCEPTION: Final = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w{0,80}\.){0,8}[A-Za-z_]\w{0,80})"
    r"(?P<colon>:)?(?(colon) ?(?P<message>.*)|$)"
)
_SUFFIXES: Final = (
    "Error", "Exception", "Interrupt", "Exit", "Failure", "Fault", "Timeout", "Unsupported",
    "Warning", "NotFound", "Denied", "Refused", "Expired", "Group", "Violation", "Cancelled",
    "Invalid", "Impossible", "Missing", "Conflict", "Forbidden", "Stopped", "Killed", "Empty",
)  # fmt: skip
_BOX_START: Final = re.compile(r"[╭┌╔]")
_BOX_END: Final = re.compile(r"\s*[╰└╚]")
_PATIENCE: Final = 200
_LONGEST: Final = 5_000
_KEPT_FRAMES: Final = 24


class Frame(NamedTuple):
    """One call of a traceback; its source line where that was printed."""

    path: str
    line: int
    name: str
    source: str = ""

    @property
    def is_installed(self) -> bool:
        """Whether the file belongs to an installed package or to Python, and not to a project."""
        path = self.path.replace("\\", "/")
        return any(part in path for part in _INSTALLED) or path.startswith("<frozen")

    @property
    def package(self) -> str:
        """The top-level package of an installed file; empty for Python's own and a project's."""
        path = self.path.replace("\\", "/")
        for folder in ("/site-packages/", "/dist-packages/"):
            if folder in path:
                return path.rpartition(folder)[2].partition("/")[0].removesuffix(".py")
        return ""


_INSTALLED: Final = (
    "site-packages/", "dist-packages/", "/lib/python3", "/lib/python2", "/lib64/python", "/Lib/",
    "/usr/lib/python", "/opt/pytorch/", "/bin/", "Scripts/",
)  # fmt: skip


class Link(StrEnum):
    """How a traceback follows the one before it."""

    NONE = ""
    CAUSE = "the direct cause of"
    DURING = "during the handling of"


@dataclass(slots=True, kw_only=True)
class Trace:
    """One traceback, while it is read and afterwards.

    Attributes:
        start: the line of its header.
        indent: how far the header is indented.
        style: how it is set.
        type: the exception's type as it is written; empty until it was read.
        message: what follows the colon on that line.
        frames: the first ones, and the last.
        count: how many frames there were.
        link: how it follows the traceback before it.
        is_ignored: whether Python only told of it and went on.
    """

    start: int
    indent: int
    style: str = "plain"
    type: str = ""
    message: str = ""
    frames: list[Frame] = field(default_factory=list)
    count: int = 0
    link: Link = Link.NONE
    is_ignored: bool = False
    length: int = 0
    strangers: int = 0

    @property
    def short_type(self) -> str:
        """The exception's name without its module."""
        return self.type.rpartition(".")[2]

    def add_frame(self, path: str, line: str | None, name: str | None) -> None:
        """Keeps a frame, or counts it where there are too many."""
        self.count += 1
        if len(self.frames) >= _KEPT_FRAMES:
            del self.frames[_KEPT_FRAMES // 2]
        self.frames.append(Frame(path, int(line or 0), (name or "").strip()))

    def note_source(self, text: str) -> None:
        """Keeps the source line below a frame."""
        if self.frames and not self.frames[-1].source:
            self.frames[-1] = self.frames[-1]._replace(source=text[:200])


class Taken(StrEnum):
    """What a traceback made of a line."""

    INSIDE = "inside"
    CLOSED = "closed"
    STRANGER = "stranger"
    GIVEN_UP = "given up"


def open_trace(line: Line) -> Trace | None:
    """The traceback that begins on a line, if one does."""
    at = line.text.find(HEADER)
    if at < 0:
        return None
    before = line.text[:at]
    indent = len(line.text) - len(line.text.lstrip())
    name = before.strip().split(" ")[0] if before.strip() else ""
    if _BOX_START.search(line.shown):
        return Trace(start=line.number, indent=indent, style="box")
    if name.isidentifier() and name.endswith(_SUFFIXES) and before.endswith(" "):
        return Trace(start=line.number, indent=indent, style="notebook", type=name)
    return Trace(start=line.number, indent=indent)


def take_line(trace: Trace, line: Line) -> Taken:
    """Reads one more line of a traceback."""
    trace.length += 1
    if trace.length > _LONGEST:
        return Taken.GIVEN_UP
    match trace.style:
        case "notebook":
            return _take_notebook(trace, line)
        case "box":
            return _take_box(trace, line)
        case _:
            return _take_plain(trace, line)


def _take_plain(trace: Trace, line: Line) -> Taken:
    text = line.text
    if not text.strip():
        return Taken.INSIDE
    frame = _FRAME.match(text)
    if frame:
        trace.add_frame(frame["path"], frame["line"], frame["name"])
        return Taken.INSIDE
    if len(text) - len(text.lstrip()) > trace.indent:
        trace.note_source(text.strip())
        return Taken.INSIDE
    if _close(trace, text.strip(), is_strict=False):
        return Taken.CLOSED
    trace.strangers += 1
    # Source lines whose indentation was lost on the way are no strangers for long.
    return Taken.GIVEN_UP if trace.strangers > _PATIENCE else Taken.STRANGER


def _take_notebook(trace: Trace, line: Line) -> Taken:
    text = line.text.strip()
    if text.startswith((f"{trace.type}:", f"{trace.type} :")) or text == trace.type:
        trace.message = text.partition(":")[2].strip()
        return Taken.CLOSED
    found = _NOTEBOOK_FRAME.match(text)
    if found:
        trace.add_frame(found["cell"] or found["path"], found["line"], found["name"])
    return Taken.INSIDE


def _take_box(trace: Trace, line: Line) -> Taken:
    if _BOX_END.match(line.shown):
        trace.style = "boxed"
        trace.indent = 0
        return Taken.INSIDE
    found = _BOX_FRAME.match(line.text)
    if found:
        trace.add_frame(found["path"], found["line"], found["name"])
    return Taken.INSIDE


def _close(trace: Trace, text: str, *, is_strict: bool) -> bool:
    named = read_exception(text, is_strict=is_strict)
    if named is None:
        return False
    trace.type, trace.message = named
    return True


def read_exception(text: str, *, is_strict: bool = True) -> tuple[str, str] | None:
    """Type and message of an exception's own line, if it is one.

    Args:
        text: the line, without blanks at its ends.
        is_strict: whether the name alone must tell an exception; below a traceback any may end it.
    """
    found = _EXCEPTION.fullmatch(text)
    if found is None:
        return None
    last = found["type"].rpartition(".")[2]
    is_named = last.endswith(_SUFFIXES) and last[:1].isupper()
    if not is_named and (is_strict or not last[:1].isupper()):
        return None
    return found["type"], (found["message"] or "").strip()
