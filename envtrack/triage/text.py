r"""Lines of a log of any size: decoded, without colour, progress bars and prefixes.

Never more than one line is held, and of a line no more than `LONGEST` bytes. A carriage return
inside a line begins a new segment of the same line, as a terminal shows it: progress bars write so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from envtrack.triage.prefixes import strip_prefixes

LONGEST: Final = 16 * 1024
"""Bytes of a line that are read; the rest of a longer one is passed over."""

# ECMA-48: control sequences, operating system commands, and other escapes; then what is left of
# them where a notebook or a web page has lost or written out the escape character.
_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b]{0,400}+(?:\x07|\x1b\\)?|\x1b[@-_a-z]"
    r"|\\u001b\[[\d;]*+m|\\x1b\[[\d;]*+m|\\033\[[\d;]*+m|\[(?:\d{1,3};){0,4}\d{1,3}m(?![\w\]])"
    r"|\[[01](?:;\d{1,3}){1,4}m|\[0m"
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_NOTEBOOK: Final = re.compile(r'^\s*"(?P<text>.*?)(?:\\n)?",?$')
_BAR: Final = re.compile(r"\d%\|")
_BAR_END: Final = re.compile(r"(?:it/s|s/it|B/s|\?)(?:[^\]]{0,200})\]")
_ODD_SHARE: Final = 0.3
_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "´": "'"})


class Segment(NamedTuple):
    r"""A piece of a log as it was read.

    Attributes:
        number: the line it stands on, from 1; lines end where `\n` does.
        raw: its bytes, UTF-8 where the log's encoding was known.
    """

    number: int
    raw: bytes


class Line(NamedTuple):
    """A segment, cleaned.

    Attributes:
        number: the line it stands on, from 1.
        shown: what a person reads: no colour, no control characters, prefixes kept.
        text: without the prefixes of loggers and launchers; its indentation is kept.
        stream: which process wrote it, as its prefix says: `rank3`; empty: not said.
        is_warning: whether its prefix says that it is no error.
    """

    number: int
    shown: str
    text: str
    stream: str = ""
    is_warning: bool = False


def read_segments(chunks: Iterable[bytes]) -> Iterator[Segment]:
    """The pieces of a log, in order; empty ones too, for the line they stand on.

    UTF-16 is told by its byte order mark (PowerShell writes it when output is redirected).
    """
    number, rest, dropped = 1, b"", False
    for chunk in _decode_wide(chunks):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield from () if dropped else _split_line(number, line)
            number, dropped = number + 1, False
        if len(rest) > LONGEST:
            # One line without an end: what comes up to the next newline belongs to it.
            yield from () if dropped else _split_line(number, rest)
            rest, dropped = b"", True
    if rest and not dropped:
        yield from _split_line(number, rest)


def _split_line(number: int, line: bytes) -> Iterator[Segment]:
    line = line[:LONGEST].rstrip(b"\r")
    if b"\r" not in line:
        yield Segment(number, line)
        return
    for part in line.split(b"\r"):
        if part.strip():
            yield Segment(number, part)


def _decode_wide(chunks: Iterable[bytes]) -> Iterator[bytes]:
    import codecs

    decoder = None
    for position, chunk in enumerate(chunks):
        if position == 0 and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            decoder = codecs.getincrementaldecoder("utf-16")("replace")
        elif position == 0:
            chunk = chunk.removeprefix(codecs.BOM_UTF8)  # noqa: PLW2901 - the first only
        yield chunk if decoder is None else decoder.decode(chunk).encode("utf-8", "replace")


def is_binary(raw: bytes) -> bool:
    """Whether a segment is no text: core dumps and images that were printed into a log."""
    if not raw:
        return False
    odd = len(raw.translate(None, _TEXT_BYTES))
    return odd > _ODD_SHARE * len(raw)


_TEXT_BYTES: Final = bytes(
    {7, 8, 9, 10, 12, 13, 27} | set(range(0x20, 0x7F)) | set(range(0x80, 256))
)


def clean(segment: Segment) -> Line:
    r"""The segment as a line; bytes that are no UTF-8 show as ``\xNN``."""
    text = segment.raw.decode("utf-8", "backslashreplace")
    if "\x1b" in text or "[" in text:
        text = _ESCAPES.sub("", text)
    notebook = _NOTEBOOK.match(text)
    if notebook and ("\\u001b" in text or "Error" in text or "Traceback" in text):
        text = notebook["text"]
    text = _drop_bar(_CONTROLS.sub("", text.expandtabs(8)).rstrip())
    bare, stream, is_warning = strip_prefixes(text)
    return Line(segment.number, text, bare, stream, is_warning)


def _drop_bar(text: str) -> str:
    """What stands behind a progress bar on its line, if anything does."""
    if not _BAR.search(text):
        return text
    end = _BAR_END.search(text)
    return text[end.end() :].strip() if end else text


def tidy(text: str) -> str:
    """A line's text as phrases are compared with it: one kind of quote, single blanks."""
    return " ".join(text.translate(_QUOTES).split())
