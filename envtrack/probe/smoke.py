"""What the end of a smoke test means."""

from __future__ import annotations

import re

from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.bounded import Ended

_SKIP = 125
_NOT_EXECUTABLE = 126
_NOT_FOUND = 127
_FIRST_SIGNAL, _LAST_SIGNAL = 129, 128 + 64
_PYTEST = re.compile(r"(^|[\s;&|/])(pytest|py\.test)(\s|$)")
# pytest ends in 2 when it was interrupted, and also when a test file can't be imported; the latter
# is the very thing that is hunted (pytest 9: "Interrupted: 1 error during collection").
_COLLECTION = re.compile(r"Interrupted: \d+ errors? during collection")
# Likewise 4: a command line it does not understand, or a conftest.py that can't be imported.
_CONFTEST = re.compile(r"ImportError while loading conftest|ConftestImportFailure")
# What befalls the machine and not the commit. A driver that is too old for a new CUDA is not among
# them: that is a finding. (NVIDIA: Xid and NVML messages; glibc's words for name resolution.)
_RIG = {
    "disk-full": (
        re.compile(r"No space left on device|\[Errno 28\]|Disk quota exceeded"),
        "the disk is full",
    ),
    "driver-mismatch": (
        re.compile(r"Failed to initialize NVML: |Driver/library version mismatch"),
        "the driver's kernel module and library differ: reload it, or reboot",
    ),
    "gpu-lost": (
        re.compile(
            r"uncorrectable ECC error|GPU (?:has fallen off|is lost)|system not yet initialized"
            r"|all CUDA-capable devices are busy or unavailable"
        ),
        "the GPU can't be used just now",
    ),
    "name-resolution": (
        re.compile(r"Temporary failure in name resolution|Name or service not known"),
        "a name can't be resolved",
    ),
}


def judge_smoke(  # noqa: PLR0911 - a line a case
    ended: Ended, *, command: str, output: str, timeout_is: Verdict, timeout_s: float
) -> Judgement:
    """The verdict of an ended smoke test.

    0 is good; 125 untestable; 126 and 127 abort, the command itself is missing; a signal is bad;
    anything else is bad. If the command is pytest, its own codes count: 4 (usage) and 5 (no tests)
    untestable, 2 (interrupted) and 3 (internal error) abort, but a test file that can't be imported
    is bad (https://docs.pytest.org/en/stable/reference/exit-codes.html). Where the machine failed
    (a full disk, a lost GPU, no name resolution), nothing is said of the commit.

    Args:
        ended: how it ended.
        command: the smoke test as written.
        output: what it printed, both pipes.
        timeout_is: what passing the limit means.
        timeout_s: the limit in seconds, for the message.
    """
    code = ended.code
    if code is None:
        reason = f"the smoke test was still running after {timeout_s:g} s"
        return _say(timeout_is, "timeout", reason, None)
    if code == 0:
        return _say(Verdict.GOOD, "exit", "the smoke test passed", 0)
    for kind, (pattern, said) in _RIG.items():
        if pattern.search(output):
            return _say(Verdict.ABORTED, kind, said, code)
    if code < 0 or _FIRST_SIGNAL <= code <= _LAST_SIGNAL:
        number = -code if code < 0 else code - 128
        return _say(Verdict.BAD, "signal", f"the smoke test died of {_signal_name(number)}", code)
    if code == _SKIP:
        return _say(Verdict.UNTESTABLE, "skip", "the smoke test ended with 125 (skip)", code)
    if code in (_NOT_EXECUTABLE, _NOT_FOUND):
        said = _last_line(output) or f"exit code {code}"
        return _say(Verdict.ABORTED, "command-missing", f"the smoke test can't run: {said}", code)
    if _PYTEST.search(command):
        return _judge_pytest(code, output)
    return _say(Verdict.BAD, "exit", f"the smoke test ended with {code}", code)


def _judge_pytest(code: int, output: str) -> Judgement:
    match code:
        case 4 if _CONFTEST.search(output):
            return _say(Verdict.BAD, "collection", "pytest can't import a conftest.py", code)
        case 2 if _COLLECTION.search(output):
            return _say(Verdict.BAD, "collection", "pytest can't import the tests", code)
        case 2 | 3:
            word = "interrupted" if code == 2 else "an internal error"  # noqa: PLR2004 - pytest's
            return _say(Verdict.ABORTED, "pytest", f"pytest ended with {code} ({word})", code)
        case 4 | 5:
            word = "usage" if code == 4 else "no tests"  # noqa: PLR2004 - pytest's codes
            return _say(Verdict.UNTESTABLE, "pytest", f"pytest ended with {code} ({word})", code)
        case _:
            return _say(Verdict.BAD, "exit", f"pytest ended with {code}", code)


def _say(verdict: Verdict, kind: str, reason: str, code: int | None) -> Judgement:
    return Judgement(verdict=verdict, stage="smoke", reason=reason, kind=kind, exit_code=code)


def _signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
