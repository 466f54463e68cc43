"""Asks the programs of this machine: no shell, no input, a limit, and what hangs is left behind."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from envtrack.collect.interface import Said
from envtrack.collect.reading import Missing, error_reason, missing_state
from envtrack.model.fact import Absent, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LIMIT_BYTES = 1024 * 1024
# Less time than this is none: a program that was never given a chance did not hang.
_LEAST_S = 0.05
_NOT_EXECUTABLE = Unknown("not permitted to execute it")

_Answer: TypeAlias = Said | Absent | Unknown


class _Slot:
    """The answer to one command; who asks the same meanwhile waits for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.answer: _Answer | None = None


class Programs:
    """Asks programs that are looked up on the ``PATH`` of an environment; see `Asks`.

    The same command is asked once: a snapshot is one moment. A program that hung is not started
    again, whatever its arguments, and all of them together have one limit: a machine on which
    every command hangs costs that limit and no more.

    Args:
        environ: the environment that programs get; ``LC_ALL`` becomes ``C``.
        folder: where they run: version managers (pyenv, asdf) choose by the current folder.
        limit_s: seconds from the first question on, after which nothing is asked any more.
    """

    def __init__(self, environ: Mapping[str, str], *, folder: Path, limit_s: float) -> None:
        # GNU gettext passes over LANGUAGE where the locale is C.
        self._environ = {**environ, "LC_ALL": "C"}
        self._folder = folder
        self._limit_s = limit_s
        self._deadline: float | None = None
        self._lock = threading.Lock()
        self._slots: dict[tuple[str, ...], _Slot] = {}
        self._hung: set[str] = set()

    def __call__(self, command: Sequence[str], *, timeout_s: float = 3.0) -> _Answer:
        """What it said; absent: there is no such program; unknown: it hung or can't be run."""
        with self._lock:
            slot = self._slots.setdefault(tuple(command), _Slot())
        with slot.lock:
            if slot.answer is None:
                slot.answer = self._ask(tuple(command), timeout_s)
            return slot.answer

    def _ask(self, command: tuple[str, ...], timeout_s: float) -> _Answer:
        name = Path(command[0]).name
        program = find_program(command[0], self._environ.get("PATH", ""))
        if not isinstance(program, str):
            return program
        if program in self._hung:
            return Unknown(f"`{name}` hangs")
        left_s = min(timeout_s, self._left_s())
        if left_s < _LEAST_S:
            return Unknown(f"no time was left to ask `{name}`")
        return self._run((program, *command[1:]), name, left_s)

    def _left_s(self) -> float:
        with self._lock:
            now = time.monotonic()
            if self._deadline is None:
                self._deadline = now + self._limit_s
            return self._deadline - now

    def _run(self, command: tuple[str, ...], name: str, timeout_s: float) -> _Answer:
        from envtrack.abandon import run_or_abandon
        from envtrack.errors import RigFailed, ToolMissing

        try:
            done = run_or_abandon(
                command,
                timeout_s=timeout_s,
                env=self._environ,
                cwd=self._folder if self._folder.is_dir() else Path("/"),
                limit_bytes=_LIMIT_BYTES,
            )
        except (
            ToolMissing
        ):  # it was there a moment ago: what its first line or its ELF names is not
            return Unknown(f"`{name}` can't be started: its interpreter is missing")
        except RigFailed as error:
            cause = error.__cause__
            why = error_reason(cause) if isinstance(cause, OSError) else error.message
            return Unknown(f"`{name}` can't be started: {why}")
        if done is None:
            self._hung.add(command[0])
            return Unknown(f"`{name}` timed out")
        return Said(code=done.code, out=done.text, err=done.error_text)


def find_program(name: str, search: str) -> str | Missing:
    """The path of a program: as a shell finds it, but never in the current folder.

    A folder of that name is no program, and a folder of the ``PATH`` that may not be searched has
    none for us. A file that may not be executed is unknown where nothing better is found:
    something is there.

    Args:
        name: a bare name, or a path.
        search: ``PATH``.
    """
    if os.sep in name:
        return _judge(name)
    found: str | Missing = Absent()
    for folder in filter(os.path.isabs, search.split(os.pathsep)):
        state = _judge(f"{folder}{os.sep}{name}")
        if isinstance(state, str):
            return state
        if state == _NOT_EXECUTABLE:
            found = state
    return found


def _judge(path: str) -> str | Missing:
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        return missing_state(error)
    if stat.S_ISDIR(mode):
        return Unknown("is a directory")
    return path if os.access(path, os.X_OK) else _NOT_EXECUTABLE
