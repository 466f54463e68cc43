"""A requirements file's text in logical lines, each with its options and its `# via` comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# pip: a comment begins with `#` at the start of a line or after white space.
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_OPTION = re.compile(
    r" --(hash|config-settings?|global-option|install-option|build-option)(?: ?= ?| )"
    r"(\"[^\"]*\"|'[^']*'|\S+)"
)
_VIA = re.compile(r"#\s*via\b\s*(.*)")


@dataclass(slots=True)
class LogicalLine:
    """One requirement or option of a requirements file.

    Attributes:
        number: one-based line on which it begins.
        text: without options of the requirement's own and without comments.
        hashes: of its ``--hash`` options.
        via: who asks for it, as pip-compile and uv note it; ``None``: not noted.
        before: the comment line just above.
    """

    number: int
    text: str
    hashes: tuple[str, ...] = ()
    via: list[str] | None = None
    before: str = ""
    _parts: list[str] = field(default_factory=list)


def split_lines(text: str) -> Iterator[LogicalLine]:
    """The logical lines: continued ones joined, comments taken off."""
    waiting: LogicalLine | None = None  # its via comments may still follow
    open_line: LogicalLine | None = None  # it ended in a backslash
    comment, is_via = "", False
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if line.startswith("#") and open_line is None:
            comment = line
            is_via = _note_via(waiting, line, is_open=is_via)
            continue
        is_via = False
        if not line and open_line is None:
            comment = ""
            continue
        if open_line is None:
            if waiting is not None:
                yield _close(waiting)
            open_line = waiting = LogicalLine(number, "", before=comment)
            comment = ""
        is_continued = line.endswith("\\")
        body = line.removesuffix("\\") if is_continued else line
        via = _VIA.search(body) if "#" in body else None
        open_line._parts.append(_COMMENT.sub("", body))  # noqa: SLF001 - this module's own value
        if via:
            _note_via(open_line, via[0], is_open=False)
        if not is_continued:
            open_line = None
    if waiting is not None:
        yield _close(waiting)


def _note_via(line: LogicalLine | None, comment: str, *, is_open: bool) -> bool:
    """Takes a comment as who asks for a line; whether the next comment may go on with it."""
    if line is None:
        return False
    found = _VIA.match(comment)
    if found:
        line.via = line.via or []
        if found[1]:
            line.via += [one.strip() for one in found[1].split(",") if one.strip()]
        return not found[1]
    if not is_open:
        return False
    name = comment.lstrip("#").strip()
    if name and line.via is not None:
        line.via.append(name)
    return bool(name)


def _close(line: LogicalLine) -> LogicalLine:
    # Blanks are made one first: what looks for runs of them takes time that grows with the square.
    text = " " + " ".join(" ".join(line._parts).split())  # noqa: SLF001 - this module's own value
    options = _OPTION.findall(text)
    line.hashes = tuple(value.strip("\"'") for name, value in options if name == "hash")
    line.text = _OPTION.sub("", text).strip()
    return line
