"""How a smoke test fails, in so few words that two failures can be told apart.

Another failure says nothing of the one that is hunted: an older release may lack what today's code
imports. What counts is the type of the exception that ended it and the innermost frame of the
project's own code, the tests that failed, or the signal; or whatever the user says it is, as a
regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_FRAME = re.compile(r'^[ \t]+File "(?P<path>[^"\n]+)", line \d+(?:, in (?P<where>[^\n]+))?$')
_TRACEBACK: Final = "Traceback (most recent call last):"
# The last line of a traceback: `package.Error: text`, or the type alone.
_ENDING = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?::(?: |$)|$)")
# pytest's short summary: `FAILED tests/test_a.py::test_b - AssertionError: …`.
_FAILED = re.compile(r"^(?:FAILED|ERROR) (?P<test>\S+\.py(?:::\S+)?)(?: - (?P<type>[\w.]+))?")
# Of very long output the end counts.
_MOST_LINES: Final = 20_000


class Fingerprint(NamedTuple):
    """What marks one failure.

    Attributes:
        kind: ``exit``, ``signal``, ``timeout``…, as the verdict has it.
        signal: the signal's number; 0 without one.
        exception: the type that ended it, without its module; empty if there was no traceback.
        place: ``file:function`` of the innermost frame in the project's code; empty likewise.
        tests: names of failed tests, sorted.
    """

    kind: str
    signal: int = 0
    exception: str = ""
    place: str = ""
    tests: tuple[str, ...] = ()


class Hunted(NamedTuple):
    """The failure that is looked for.

    Attributes:
        fingerprint: as it was seen at the bad end.
        match: a regular expression that its output has; empty: the fingerprint decides.
    """

    fingerprint: Fingerprint
    match: str = ""


def find_fingerprint(
    output: str, *, kind: str, code: int | None, top: str, outside: str
) -> Fingerprint:
    """The fingerprint of one failure.

    Args:
        output: what was printed, both pipes.
        kind: the verdict's.
        code: the exit code; negative for a signal.
        top: the folder of the project's tree.
        outside: the folder of the environment, whose code is not the project's.
    """
    lines = output.splitlines()[-_MOST_LINES:]
    exception, place = _read_traceback(lines, top=top, outside=outside)
    tests = {
        found["test"]: found["type"] or "" for found in filter(None, map(_FAILED.match, lines))
    }
    if not exception and tests:
        exception = next(filter(None, tests.values()), "").rpartition(".")[2]
    number = 0
    if kind == "signal" and code is not None:
        number = -code if code < 0 else code - 128
    return Fingerprint(
        kind=kind, signal=number, exception=exception, place=place, tests=tuple(sorted(tests))
    )


def _read_traceback(lines: list[str], *, top: str, outside: str) -> tuple[str, str]:
    """Exception and place of the last traceback: what earlier ones led to."""
    starts = [at for at, line in enumerate(lines) if line.strip() == _TRACEBACK]
    if not starts:
        return "", ""
    start = starts[-1]
    indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
    place, exception = "", ""
    for line in lines[start + 1 :]:
        inner = line.removeprefix(indent)
        if frame := _FRAME.match(inner):
            place = _name_place(frame, top=top, outside=outside) or place
        elif ending := _ENDING.match(inner):
            exception = ending["type"].rpartition(".")[2]
            break
    return exception, place


def _name_place(frame: re.Match[str], *, top: str, outside: str) -> str:
    path = frame["path"]
    if path.startswith((f"{outside}/", "<")):
        return ""
    if path.startswith("/"):
        if not path.startswith(f"{top}/"):
            return ""
        path = path[len(top) + 1 :]
    return f"{path.removeprefix('./')}:{frame['where'] or ''}"


def tell_difference(hunted: Hunted, seen: Fingerprint, output: str) -> str:
    """In what a failure differs from the hunted one; empty if it is the same.

    Where nothing marks the hunted failure, every failure is it.
    """
    if hunted.match:
        found = re.search(hunted.match, output, re.MULTILINE)
        return "" if found else f"its output has nothing like {hunted.match!r}"
    return next(_differences(hunted.fingerprint, seen), "")


def _differences(hunted: Fingerprint, seen: Fingerprint) -> Iterator[str]:
    if hunted.kind != seen.kind or hunted.signal != seen.signal:
        yield f"it fails by {_say_kind(seen)}, not by {_say_kind(hunted)}"
    if hunted.tests:
        if not set(hunted.tests) & set(seen.tests):
            yield f"{_say_tests(seen)}, not {hunted.tests[0]}"
        return
    if hunted.exception and hunted.exception != seen.exception:
        yield f"{seen.exception or 'no exception'}, not {hunted.exception}"
    elif hunted.exception and hunted.place and hunted.place != seen.place:
        yield f"{seen.exception} in {seen.place or 'other code'}, not in {hunted.place}"


def _say_kind(fingerprint: Fingerprint) -> str:
    return f"signal {fingerprint.signal}" if fingerprint.signal else fingerprint.kind


def _say_tests(fingerprint: Fingerprint) -> str:
    return f"{fingerprint.tests[0]} fails" if fingerprint.tests else "no test is said to fail"
