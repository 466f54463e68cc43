"""A log to what it says of failures: one event a message, in the order of the log; bounded."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from envtrack.triage.rules import Hit, Role, RuleBook
from envtrack.triage.text import Line, Segment, clean, is_binary, read_segments, tidy
from envtrack.triage.traces import Link, Taken, Trace, open_trace, read_exception, take_line

_ERROR_WORDS: Final = frozenset(
    {
        b"fatal", b"failed", b"failure", b"fail", b"traceback", b"panic", b"abort", b"aborted",
        b"killed", b"cannot", b"unable", b"invalid", b"denied", b"refused", b"handling", b"direct",
        b"terminate", b"warning", b"conflict", b"rank", b"caught", b"ignored", b"solution",
    }
)  # fmt: skip
_ERROR_PIECES: Final = (b"error", b"exception", b"interrupt", b"can't", b"could not", b"couldn't")
_LETTERS: Final = re.compile(rb"[a-z]{4,}")
_SAME_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MOST_BORING: Final = 20_000
_LONGEST_BORING: Final = 300
_ERROR_LIKE: Final = re.compile(
    r"\b(?:error|fatal|failed|failure|exception|panic|aborted|killed|cannot|can't|unable to"
    r"|could not)\b",
    re.IGNORECASE,
)
_LINKS: Final = {
    "The above exception was the direct cause of the following exception": Link.CAUSE,
    "During handling of the above exception, another exception occurred": Link.DURING,
}
_RESOLVER: Final = re.compile(
    r"No solution found when resolving|no solution found|version solving failed", re.IGNORECASE
)
_TREE: Final = re.compile(r"\s*[│╰├─▶>└|]|\s{2,}\S|And because|Because|we can conclude|hint:")
_ROOT_RANK: Final = re.compile(r"^\s*rank\s*:\s*(?P<rank>\d{1,6})\b")
_INLINE: Final = re.compile(
    r"\b(?P<type>KeyError|TypeError|IndexError|NameError|AttributeError|AssertionError|ValueError"
    r"|ZeroDivisionError|NotImplementedError|FileNotFoundError|UnboundLocalError)\b:? ?"
    r"(?P<message>.{0,400})"
)
_FOLLOWING: Final = 25
_SHOWN_AFTER: Final = 4
_TREE_LINES: Final = 120
_FIRST: Final = 200
_LOOSE: Final = 8
_LAST: Final = 200
_MARK_SPAN: Final = 40
_MOST_MARKS: Final = 100_000
_MOST_STREAMS: Final = 512


@dataclass(slots=True, kw_only=True)
class Event:
    """One message.

    Attributes:
        line: where its deciding line stands, from 1.
        text: that line, as a person reads it.
        stream: the process that wrote it; empty: not said.
        hits: the rules that fit it, the one that says most first.
        trace: its traceback or exception.
        is_warning: whether it was said to be a warning.
        is_joined: whether the rules were found in what follows the line.
        excerpt: the lines to show.
        chain: the event before it in one chain of exceptions.
        times: how often it was said.
        last_line: where it was said last.
    """

    line: int
    text: str
    stream: str = ""
    hits: tuple[Hit, ...] = ()
    trace: Trace | None = None
    is_warning: bool = False
    excerpt: list[str] = field(default_factory=list)
    chain: Event | None = None
    times: int = 1
    last_line: int = 0


@dataclass(slots=True)
class Scan:
    """What was read of a log.

    Attributes:
        events: in the order of the log; of too many the first and the last.
        loose: lines that look like errors, of which nothing is known: the first and the last.
        marks: where each mark was seen, in spans of lines.
        lines: how many lines the log has.
        root_rank: the rank that torchrun says failed first; empty: it does not say.
        dropped: how many different events were not kept.
    """

    events: list[Event] = field(default_factory=list)
    loose: list[Event] = field(default_factory=list)
    marks: dict[str, set[int]] = field(default_factory=dict)
    lines: int = 0
    root_rank: str = ""
    dropped: int = 0

    def has_mark(self, name: str, line: int) -> bool:
        """Whether a mark was seen near a line."""
        span = line // _MARK_SPAN
        seen = self.marks.get(name, ())
        return any(near in seen for near in range(span - 3, span + 4))


def scan_log(chunks: Iterable[bytes], book: RuleBook) -> Scan:
    """What a log says of failures.

    Memory is bounded whatever the log's size: of each different message the first is kept.
    """
    scanner = _Scanner(book)
    for segment in read_segments(chunks):
        scanner.feed(segment)
    return scanner.finish()


class _Stream:
    """What is open in the output of one process."""

    __slots__ = (
        "after",
        "before",
        "event",
        "ignored",
        "joined",
        "link",
        "previous",
        "trace",
        "tree",
    )

    def __init__(self) -> None:
        self.trace: Trace | None = None
        self.link = Link.NONE
        self.ignored = False
        self.event: Event | None = None
        self.after = 0
        self.joined = ""
        self.previous: Event | None = None
        self.tree: list[str] = []
        self.before = ""


class _Scanner:
    def __init__(self, book: RuleBook) -> None:
        self._book = book
        self._words = book.trigger_words | _ERROR_WORDS
        self._pieces = (*book.trigger_pieces, *_ERROR_PIECES)
        self._boring: set[bytes] = set()
        self._scan = Scan()
        self._streams: dict[str, _Stream] = {}
        self._seen: dict[tuple[str, str], Event] = {}
        self._last: deque[Event] = deque()
        self._loose: deque[Event] = deque(maxlen=_LOOSE)
        self._busy = 0
        self._root_lines = 0

    def feed(self, segment: Segment) -> None:
        """Reads one more segment."""
        self._scan.lines = segment.number
        if not self._busy and self._is_boring(segment.raw):
            return
        if is_binary(segment.raw):
            return
        line = clean(segment)
        stream = self._stream(line.stream)
        self._take(stream, line)
        self._busy = self._busy - 1 if self._busy else 0
        if stream.trace is not None or stream.tree:
            self._busy = max(self._busy, 60)
        elif stream.event is not None:
            self._busy = max(self._busy, _FOLLOWING)

    def _is_boring(self, raw: bytes) -> bool:
        """Whether nothing in a line can be part of any message; most lines of most logs are so.

        Lines that differ in digits alone are looked at once.
        """
        key = raw.translate(_SAME_DIGITS) if len(raw) <= _LONGEST_BORING else b""
        if key and key in self._boring:
            return True
        lowered = raw.lower()
        if not self._words.isdisjoint(_LETTERS.findall(lowered)):
            return False
        if any(piece in lowered for piece in self._pieces):
            return False
        if key and len(self._boring) < _MOST_BORING:
            self._boring.add(key)
        return True

    def finish(self) -> Scan:
        """What was read, whole."""
        for stream in self._streams.values():
            if stream.tree:
                self._close_tree(stream)
        self._scan.events += self._last
        self._scan.loose += self._loose
        return self._scan

    def _stream(self, name: str) -> _Stream:
        if name not in self._streams and len(self._streams) >= _MOST_STREAMS:
            name = ""
        return self._streams.setdefault(name, _Stream())

    def _take(self, stream: _Stream, line: Line) -> None:
        self._note_root_rank(line)
        opened = open_trace(line)
        if opened is not None:
            self._open(stream, opened, line)
            return
        if stream.trace is not None and self._continue(stream, stream.trace, line):
            return
        if stream.tree and self._grow(stream, line):
            return
        self._take_plain(stream, line)

    def _open(self, stream: _Stream, trace: Trace, line: Line) -> None:
        trace.link, stream.link = stream.link, Link.NONE
        trace.is_ignored, stream.ignored = stream.ignored, False
        if (
            "Original Traceback" in line.text
            and trace.link is Link.NONE
            and stream.event is not None
        ):
            # A worker's own traceback stands inside the message of what was raised again from it.
            trace.link = Link.DURING
            stream.previous = stream.event
        stream.trace, stream.event = trace, None

    def _continue(self, stream: _Stream, trace: Trace, line: Line) -> bool:
        match take_line(trace, line):
            case Taken.INSIDE:
                if "File " in line.text:
                    self._note_marks(self._book.find_hits(tidy(line.text)), line.number)
                return True
            case Taken.CLOSED:
                stream.trace = None
                self._raise(stream, trace, line)
                return True
            case Taken.STRANGER:
                return False
            case Taken.GIVEN_UP:
                stream.trace = None
                return False

    def _raise(self, stream: _Stream, trace: Trace, line: Line) -> None:
        text = tidy(f"{trace.type}: {trace.message}")
        hits = self._book.find_hits(text)
        self._note_marks(hits, line.number)
        event = Event(
            line=line.number,
            text=line.shown,
            stream=line.stream,
            hits=tuple(hit for hit in hits if hit.rule.role is not Role.MARK),
            trace=trace,
            is_warning=trace.is_ignored,
            chain=stream.previous if trace.link is not Link.NONE else None,
            excerpt=[*_show_frames(trace), line.shown],
        )
        self._keep(stream, event, text)

    def _take_plain(self, stream: _Stream, line: Line) -> None:
        text = tidy(line.text)
        if not text:
            stream.joined = ""
            return
        for words, link in _LINKS.items():
            if words in line.text:
                stream.link, stream.event = link, None
                return
        if "Exception ignored in" in line.text:
            stream.ignored = True
        if _RESOLVER.search(text):
            stream.tree = [line.shown]
            stream.before = str(line.number)
            return
        self._judge(stream, line, text)

    def _judge(self, stream: _Stream, line: Line, text: str) -> None:
        hits = self._book.find_hits(text)
        self._note_marks(hits, line.number)
        hits = tuple(hit for hit in hits if hit.rule.role is not Role.MARK)
        if self._follow(stream, line, text, hits):
            return
        named = read_exception(text)
        if hits or named:
            trace = None
            if named:
                trace = Trace(start=line.number, indent=0, type=named[0], message=named[1])
                trace.link, stream.link = stream.link, Link.NONE
            event = Event(
                line=line.number,
                text=line.shown,
                stream=line.stream,
                hits=hits,
                trace=trace,
                is_warning=line.is_warning,
                chain=stream.previous if trace and trace.link is not Link.NONE else None,
                excerpt=[line.shown],
            )
            self._keep(stream, event, text)
        elif not line.is_warning:
            self._note_loose(line, text)

    def _follow(self, stream: _Stream, line: Line, text: str, hits: tuple[Hit, ...]) -> bool:
        """Whether a line belongs to the message before it, and says more of it."""
        event = stream.event
        if event is None:
            return False
        stream.after += 1
        if stream.after > _FOLLOWING or read_exception(text):
            stream.event = None
            return False
        if stream.after <= _SHOWN_AFTER and not hits:
            event.excerpt.append(line.shown)
        if event.hits or not event.trace or event.trace.short_type in CODE_TYPES:
            return not hits and stream.after <= _SHOWN_AFTER and not _ERROR_LIKE.search(text)
        joined = self._book.find_hits(tidy(f"{stream.joined} {text}")) if stream.joined else ()
        stream.joined = text
        found = [h for h in (hits or joined) if h.rule.role in (Role.CAUSE, Role.NOTICE)]
        if found:
            event.hits = tuple(found)
            if stream.after > _SHOWN_AFTER or hits:
                event.excerpt.append(line.shown)
            return True
        return not hits and not _ERROR_LIKE.search(text)

    def _grow(self, stream: _Stream, line: Line) -> bool:
        """Whether a line belongs to a resolver's explanation."""
        is_more = bool(_TREE.match(line.shown)) and len(stream.tree) < _TREE_LINES
        if is_more:
            stream.tree.append(line.shown)
            return True
        self._close_tree(stream)
        return False

    def _close_tree(self, stream: _Stream) -> None:
        lines, stream.tree = stream.tree, []
        text = tidy(re.sub(r"[│╰├─▶└×]", " ", " ".join(lines)))
        event = Event(
            line=int(stream.before),
            text=lines[0],
            hits=tuple(
                h for h in self._book.find_hits(text[:8000]) if h.rule.role is not Role.MARK
            ),
            excerpt=lines[:40],
        )
        self._keep(stream, event, text)
        stream.event = None

    def _keep(self, stream: _Stream, event: Event, text: str) -> None:
        stream.event = stream.previous = event
        stream.after, stream.joined = 0, text
        event.last_line = event.line
        name = event.hits[0].rule.id if event.hits else event.trace.type if event.trace else ""
        key = (name, _DIGITS.sub("#", text[:200]))
        first = self._seen.get(key)
        if first is not None and event.chain is None:
            first.times += 1
            first.last_line = event.line
            # What follows it was shown the first time; a log may say it a million times.
            stream.previous, stream.event = first, None
            return
        if len(self._scan.events) < _FIRST:
            self._seen[key] = event
            self._scan.events.append(event)
            return
        self._last.append(event)
        if len(self._last) > _LAST:
            self._last.popleft()
            self._scan.dropped += 1

    def _note_loose(self, line: Line, text: str) -> None:
        if _ERROR_LIKE.search(text):
            inline = _INLINE.search(text)
            event = Event(
                line=line.number, text=line.shown, stream=line.stream, excerpt=[line.shown]
            )
            if inline:
                event.trace = Trace(
                    start=line.number, indent=0, type=inline["type"], message=inline["message"]
                )
            if len(self._scan.loose) < _LOOSE:
                self._scan.loose.append(event)
            else:
                self._loose.append(event)

    def _note_marks(self, hits: Iterable[Hit], number: int) -> None:
        for hit in hits:
            seen = self._scan.marks.setdefault(hit.rule.id, set())
            if len(seen) < _MOST_MARKS:
                seen.add(number // _MARK_SPAN)

    def _note_root_rank(self, line: Line) -> None:
        if "Root Cause (first observed failure)" in line.text:
            self._root_lines = 10
            self._busy = max(self._busy, 12)
        elif self._root_lines:
            self._root_lines -= 1
            found = _ROOT_RANK.match(line.text)
            if found and not self._scan.root_rank:
                self._scan.root_rank = found["rank"]


CODE_TYPES: Final = frozenset(
    {
        "KeyError", "IndexError", "TypeError", "AttributeError", "NameError", "UnboundLocalError",
        "ZeroDivisionError", "NotImplementedError", "SyntaxError", "IndentationError", "TabError",
        "StopIteration", "OverflowError", "LookupError", "FloatingPointError", "RecursionError",
    }
)  # fmt: skip
_DIGITS: Final = re.compile(r"\d+|0x[0-9a-f]+")


def _show_frames(trace: Trace) -> Iterator[str]:
    if not trace.frames:
        return
    yield "Traceback (most recent call last):"
    if trace.count > 3:  # noqa: PLR2004 - more than are shown
        yield f"  … {trace.count - 3} frames"
    for frame in trace.frames[-3:]:
        yield f'  File "{frame.path}", line {frame.line}, in {frame.name}'
