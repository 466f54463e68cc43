"""What must hold of any file whatever: the checks of `tests.lockfiles.fuzz`."""

from __future__ import annotations

import contextlib
import io
import json
import re
import resource
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final, TypeVar

from envtrack.cli.lockfiles import textconv
from envtrack.compare.locks import compare_locks
from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import find_format, parse_lock
from envtrack.lockfiles.select import explain_selection, identity
from envtrack.lockfiles.text import clean_text
from envtrack.lockfiles.uv import _parse_whole
from envtrack.model.comparison import Change, Comparison
from envtrack.model.lock import Lock
from envtrack.model.selection import Selection
from envtrack.record.lock_bytes import parse_lock_bytes
from envtrack.report.comparison import render_comparison_json, render_comparison_text
from envtrack.report.comparison_markdown import render_comparison_markdown
from envtrack.report.look import Look
from tests.lockfiles.texts import LINUX

T = TypeVar("T")

MOST_SECONDS: Final = 5.0
"""Of processor time, for one step on one file of at most some 400 KB."""
_MOST_MEMORY: Final = 3 << 30
# Peak of a step beyond what was there before: real files take about 20 bytes a byte.
_MOST_BYTES_A_BYTE: Final = 100
_MEMORY_LEEWAY: Final = 48 << 20

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
# Faults of a file as a whole: they stand on no line.
_NO_LINE = re.compile(
    r"the file is empty|no known lockfile format|there is no line `@EXPLICIT`|more than 50 aliases"
    r"|.*\bis missing\b|.*\bare missing\b"
)


class FindingError(Exception):
    """Something that no file may cause; `kind` is the same for findings of one cause."""

    def __init__(self, kind: str, text: str = "") -> None:
        super().__init__(text)
        self.kind = kind


class _TookTooLong(BaseException):
    """Nothing catches it on the way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A lockfile as it is.

    Attributes:
        name: which one, for people.
        path: a name that fits its format.
        text: what is in it.
    """

    name: str
    path: str
    text: str


def limit_memory() -> None:
    """Lets this process fail with `MemoryError` before the machine does."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


class Checker:
    """Takes one file through all that lockfiles go through.

    Args:
        scratch: a folder for files.
    """

    def __init__(self, scratch: Path) -> None:
        self._file = scratch / "mutant"
        self._size = 0

    def check(self, original: Original, content: bytes, path: str) -> None:
        """Reads, selects, compares and shows.

        Args:
            original: what the file was made of.
            content: the file.
            path: how it is called.

        Raises:
            FindingError: something that may not be.
        """
        self._size = len(content)
        lock = self._step("read", lambda: self._read(content, path))
        self._check_uv(content, path, lock)
        if not isinstance(lock, Lock):
            return
        self._step("select", lambda: _select(lock))
        self._step("textconv", lambda: self._textconv(content, path))
        again = self._step("read again", lambda: self._read(content, path))
        if again != lock:
            raise FindingError("two readings of a file differ")
        if not isinstance(again, Lock):
            return
        if self._step("compare with itself", lambda: compare_locks(lock, again)):
            raise FindingError("a file differs from itself")
        first = _read_or_none(original)
        for environment in (None, LINUX):
            there = self._compare(first, lock, environment)
            back = self._compare(lock, first, environment)
            if {change.name for change in there} != {change.name for change in back}:
                odd = {change.name for change in there} ^ {change.name for change in back}
                raise FindingError("the two directions differ", f"{sorted(odd)[:3]}")

    def _read(self, content: bytes, path: str) -> Lock | LockfileProblem:
        try:
            lock = parse_lock_bytes(content, path)
        except LockfileProblem as problem:
            _check_problem(problem, content)
            return problem
        if not all(package.name for package in lock.packages):
            raise FindingError(f"{lock.format}: a package without a name")
        lines = len(content.decode().splitlines())
        if not all(0 <= package.line <= lines for package in lock.packages):
            raise FindingError(f"{lock.format}: a package on a line that is not there")
        return lock

    def _check_uv(self, content: bytes, path: str, found: Lock | LockfileProblem) -> None:
        """A uv.lock that is cut into pieces reads as the whole document does."""
        try:
            text = clean_text(content.decode("utf-8-sig"), path=path)
        except (UnicodeDecodeError, LockfileProblem):
            return
        chosen = find_format(path, text)
        if chosen is None or chosen.name != "uv.lock":
            return

        def read_whole() -> Lock | LockfileProblem:
            try:
                return _parse_whole(text, path)
            except LockfileProblem as problem:
                return problem

        whole = self._step("read whole", read_whole)
        if isinstance(found, Lock) is not isinstance(whole, Lock):
            raise FindingError("uv.lock: cut and whole differ", f"{found!s:.300} / {whole!s:.300}")
        if isinstance(found, Lock) and found != whole:
            raise FindingError("uv.lock: cut and whole are two locks")

    def _compare(
        self, before: Lock | None, after: Lock | None, environment: dict[str, str] | None
    ) -> tuple[Change, ...]:
        changes = self._step(
            "compare", lambda: compare_locks(before, after, environment=environment)
        )
        self._step("report", lambda: _report(changes))
        return changes

    def _textconv(self, content: bytes, path: str) -> None:
        file = self._file.with_name(path)
        file.write_bytes(content)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            textconv(file)
        file.unlink()
        _check_shown(shown.getvalue(), "textconv")

    def _step(self, name: str, work: Callable[[], T]) -> T:
        before = _reset_peak()
        try:
            with _limit_time():
                done = work()
        except FindingError:
            raise
        except _TookTooLong as error:
            where = _own_frame(error)
            raise FindingError(f"{name}: too slow in {where}", f"{self._size} bytes") from error
        except Exception as error:
            where = _own_frame(error)
            last = "".join(traceback.format_exception(error, limit=-6))
            kind = f"{name}: {type(error).__name__} in {where}"
            raise FindingError(kind, last[:3000]) from error
        grown = _peak() - before
        if grown > self._size * _MOST_BYTES_A_BYTE + _MEMORY_LEEWAY:
            raise FindingError(f"{name}: too much memory", f"{grown >> 20} MB, {self._size} bytes")
        return done


def _read_or_none(original: Original) -> Lock | None:
    try:
        return parse_lock(original.text, path=original.path)
    except LockfileProblem:
        return None


def _check_problem(problem: LockfileProblem, content: bytes) -> None:
    if not problem.message.isprintable():
        raise FindingError("a problem that is not one plain line", repr(problem.message)[:500])
    if problem.line is None:
        if not _NO_LINE.match(problem.reason):
            shape = re.sub(r"`[^`]*`?", "`…`", problem.reason)[:90]
            raise FindingError(f"no line: {shape}", problem.message[:500])
        return
    # A file that ends too early is wrong at its end.
    lines = content.decode("utf-8", "replace").splitlines()
    if not 0 < problem.line <= len(lines) + 1:
        raise FindingError("a line that is not there", f"{problem.message[:300]}, {len(lines)}")


def _select(lock: Lock) -> None:
    for selection in (Selection(), Selection(all_extras=True, all_groups=True, all_packages=True)):
        found = explain_selection(lock, selection, LINUX)
        identity(found.packages)
        identity(found.packages, tags=frozenset({"cp312-cp312-manylinux_2_17_x86_64"}))


def _report(changes: tuple[Change, ...]) -> None:
    comparison = Comparison(before="one", after="two", changes=changes)
    for is_full in (False, True):
        _check_shown(render_comparison_text(comparison, Look(width=100, is_full=is_full)), "text")
    _check_shown(render_comparison_markdown(comparison), "markdown")
    shown = render_comparison_json(comparison)
    _check_shown(shown, "JSON")
    if len(json.loads(shown)["changes"]) != len(changes):
        raise FindingError("the JSON report lost a change")


def _check_shown(text: str, what: str) -> None:
    text.encode()
    if found := _UNSAFE.search(text):
        raise FindingError(f"{what}: a character that may not be shown", repr(found[0]))


def _own_frame(error: BaseException) -> str:
    """The innermost place in our own code: findings of one cause share it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/envtrack/" in frame.filename]
    if not ours:
        return f"{frames[-1].filename}:{frames[-1].lineno}"
    return f"{Path(ours[-1].filename).name}:{ours[-1].name}:{ours[-1].lineno}"


@contextlib.contextmanager
def _limit_time() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TookTooLong

    old = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)


def _reset_peak() -> int:
    """Forgets the peak of this process's memory; what it is now. Linux only, elsewhere zero."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _peak()


def _peak() -> int:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = _PEAK.search(status)
    return int(found[1]) * 1024 if found else 0
