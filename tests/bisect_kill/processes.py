"""The processes of one run, found in /proc by a mark in their environment, and killed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

MARK = "SIGKILL_TEST_RUN"


class Aim(StrEnum):
    """Whom a kill hits."""

    DRIVER = "driver"
    """Only the process that the user started: git, sh, steps, uv and smoke test are orphans."""
    TREE = "tree"
    """Everything at once, as a power cut or the kernel's out-of-memory killer would."""
    WATCHERS = "watchers"
    """All but what runs within limits: uv or the smoke test lives on with nobody to end it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One line of /proc."""

    pid: int
    parent: int
    command: str

    @property
    def is_watcher(self) -> bool:
        """Whether it is one of the processes that run uv and the smoke test within limits."""
        return "envtrack.probe." in self.command


def find_processes(mark: str) -> tuple[Process, ...]:
    """Every living process that was started with `mark` in its environment.

    Parent links are lost when a parent dies; the environment is handed on whatever happens.
    """
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        # A process may be gone before it is read; one that is a zombie has no environment.
        with contextlib.suppress(OSError, IndexError, ValueError):
            if wanted not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            found.append(Process(pid=int(folder.name), parent=int(fields[1]), command=command))
    return tuple(found)


def kill(mark: str, driver: int, aim: Aim) -> None:
    """SIGKILL for those that `aim` means; gives back when they are gone, zombies not counted."""
    if aim is Aim.DRIVER:
        _kill_one(driver)
        return
    spared = _find_watched(find_processes(mark)) if aim is Aim.WATCHERS else frozenset[int]()
    # Until none is left: one that was forked while /proc was read is found the next time.
    while victims := [p for p in find_processes(mark) if p.pid not in spared]:
        for victim in victims:
            _kill_one(victim.pid)
        time.sleep(0.005)


def wait_until_gone(mark: str, *, within_s: float) -> tuple[Process, ...]:
    """Those that still live after some seconds; empty as soon as there are none."""
    deadline = time.monotonic() + within_s
    while (left := find_processes(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def _find_watched(processes: tuple[Process, ...]) -> frozenset[int]:
    spared = {p.pid for p in processes if p.is_watcher}
    watchers = frozenset(spared)
    while more := {p.pid for p in processes if p.parent in spared} - spared:
        spared |= more
    return frozenset(spared - watchers)


def _kill_one(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
