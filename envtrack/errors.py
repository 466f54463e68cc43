"""The ways in which a command can end other than well; each owns its exit code.

Exit codes: 0 done, 1 found and bad (a result, not an error), 2 wrong usage or bad input,
3 inconclusive, 4 the rig failed, 130 interrupted.
"""

from __future__ import annotations


class EnvtrackError(Exception):
    """An expected end: one line that says what and where, and a hint that says what to do.

    Attributes:
        message: what happened and where (``file:line``, commit, command); one line.
        hint: what to do about it, as a command where there is one; may be empty.
        exit_code: the process's exit code.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageProblem(EnvtrackError):
    """Wrong usage or bad input: exit 2."""

    exit_code = 2


class Inconclusive(EnvtrackError):
    """What was asked can't be decided with what is there: exit 3."""

    exit_code = 3


class RigFailed(EnvtrackError):
    """Network, disk, or a missing tool: nothing may be concluded. Exit 4."""

    exit_code = 4


class Interrupted(EnvtrackError):
    """The user stopped it; what was learnt is kept. Exit 130."""

    exit_code = 130


_SHOWN_WORDS = 6


def shown_command(command: tuple[str, ...]) -> str:
    """The first words of a command, for a message."""
    return " ".join(command[:_SHOWN_WORDS]) + (" …" if len(command) > _SHOWN_WORDS else "")


class CommandFailed(RigFailed):
    """A subprocess ended with a code nobody expected.

    Attributes:
        command: the argument list.
        code: its exit code; negative: killed by that signal.
        output: what it printed last, both pipes, at most 40 lines.
    """

    def __init__(self, command: tuple[str, ...], code: int, output: str) -> None:
        last = next((line for line in reversed(output.splitlines()) if line.strip()), "no output")
        shown = shown_command(command)
        super().__init__(f"`{shown}` ended with {code}: {last.strip()}")
        self.command = command
        self.code = code
        self.output = output


class CommandTimedOut(RigFailed):
    """A subprocess was still running at its limit and was killed with its whole group.

    Attributes:
        command: the argument list.
        timeout_s: the limit, in seconds.
        output: what it had printed last.
    """

    def __init__(self, command: tuple[str, ...], timeout_s: float, output: str = "") -> None:
        super().__init__(f"`{shown_command(command)}` did not end within {timeout_s:g} s")
        self.command = command
        self.timeout_s = timeout_s
        self.output = output


class ToolMissing(RigFailed):
    """A program that is needed is not on PATH, or is too old."""


class LockfileProblem(UsageProblem):
    """A lockfile that can't be read: ``uv.lock:47: what``.

    Attributes:
        path: the lockfile, as it was named.
        line: one-based line, or ``None`` where the fault has no place.
        reason: what is wrong there.
    """

    def __init__(self, path: str, line: int | None, reason: str, *, hint: str = "") -> None:
        reason = _one_line(reason)
        where = path if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {reason}", hint=hint)
        self.path = path
        self.line = line
        self.reason = reason


def _one_line(text: str) -> str:
    """The text with whatever would break its line, or steer a terminal, as an escape.

    A reason quotes names and versions as the lockfile has them.
    """
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text
    )


class SnapshotProblem(UsageProblem):
    """A snapshot file that can't be read, or that a newer envtrack wrote."""
