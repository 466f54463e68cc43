"""A command that has ended, and what it said."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A command that has ended.

    Attributes:
        command: the argument list.
        code: the exit code; negative: killed by that signal.
        stdout: bytes, whole.
        stderr: bytes, whole.
    """

    command: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        r"""Stdout as text; bytes that are no UTF-8 show as ``\xNN``."""
        return self.stdout.decode("utf-8", "backslashreplace")

    @property
    def error_text(self) -> str:
        """Stderr as text, likewise."""
        return self.stderr.decode("utf-8", "backslashreplace")

    @property
    def line(self) -> str:
        """Stdout without its final newline, in the file system's encoding: fit for one path."""
        return os.fsdecode(self.stdout.removesuffix(b"\n"))

    @property
    def fields(self) -> tuple[str, ...]:
        """NUL-terminated fields of stdout, in the file system's encoding: fit for paths."""
        return tuple(os.fsdecode(part) for part in self.stdout.split(b"\0") if part)
