"""``envtrack triage -- COMMAND``: what a command prints is passed on, and read while it runs."""

import os
import queue
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from envtrack.cli.context import Place
from envtrack.cli.output import Format, Output, choose_look, put_out
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.triage.findings import Triage
    from envtrack.triage.rules import RuleBook

# What the reader may lag behind before the command has to wait for it.
_WAITING_CHUNKS = 64


def run_and_triage(words: Sequence[str], place: Place, wanted: Output, *, is_probed: bool) -> None:
    """Runs a command, reads its output, and ends as it ended.

    Raises:
        UsageProblem: no command was named.
        ToolMissing: there is no such program.
        SystemExit: with the command's exit code.
    """
    from envtrack.cli.triage_reading import find_root, look, read_book
    from envtrack.process import end_by_signal

    if not words:
        raise UsageProblem("no command is named", hint="`envtrack triage -- COMMAND…`")
    book = read_book(find_root(place))
    code, found = _run(words, place, book)
    if code != 0:
        _put_out(look(found, place, is_probed=is_probed), wanted)
    if code < 0:
        sys.stdout.flush()
        sys.stderr.flush()
        end_by_signal(-code)
    raise SystemExit(code if code >= 0 else 128 - code)


def _put_out(found: "Triage", wanted: Output) -> None:
    from envtrack.cli.triage_reading import render

    rendering = render(found)
    if wanted.path is not None:
        put_out(rendering, wanted)
        return
    # What the command said on stdout is the command's, and may be data.
    text = {
        Format.TEXT: lambda: rendering.text(choose_look(wanted)),
        Format.JSON: rendering.json,
        Format.MARKDOWN: rendering.markdown,
    }[wanted.format]()
    sys.stderr.write(text)


def _run(words: Sequence[str], place: Place, book: "RuleBook") -> "tuple[int, Triage]":
    from envtrack.process import run_watched
    from envtrack.triage.root import triage_log

    reading = _Reading()
    results: list[Triage] = []
    shown = " ".join(words[:6])

    def read() -> None:
        results.append(triage_log(reading.chunks(), book, source=f"`{shown}`"))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        code = run_watched(words, env=dict(os.environ), cwd=place.folder, watch=reading.take)
        reading.say_end(code)
    finally:
        reading.close()
        reader.join()
    return code, results[0]


class _Reading:
    """Passes on what a command writes, and hands whole lines to the reader."""

    def __init__(self) -> None:
        self._queue: queue.Queue[bytes] = queue.Queue(_WAITING_CHUNKS)
        self._rest = {1: b"", 2: b""}

    def take(self, pipe: int, chunk: bytes) -> None:
        """One piece of output."""
        stream = sys.stdout if pipe == 1 else sys.stderr
        stream.flush()
        os.write(stream.fileno(), chunk)
        whole, newline, self._rest[pipe] = (self._rest[pipe] + chunk).rpartition(b"\n")
        if newline:
            self._queue.put(whole + newline)
        elif len(self._rest[pipe]) > 1 << 20:
            # A line without an end is passed on in pieces.
            self._queue.put(self._rest[pipe])
            self._rest[pipe] = b""

    def say_end(self, code: int) -> None:
        """How the command ended, where that itself says something."""
        if code < 0 or code > 128:  # noqa: PLR2004 - a shell's way to tell of a signal
            self._rest[2] += f"\nexit code {code}\n".encode()

    def close(self) -> None:
        """There is no more."""
        for rest in self._rest.values():
            if rest:
                self._queue.put(rest + b"\n")
        self._queue.put(b"")

    def chunks(self) -> Iterator[bytes]:
        """What was written, until the command has ended."""
        return iter(self._queue.get, b"")
