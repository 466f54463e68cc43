#!/usr/bin/env python3
"""Processor time of small commands as whole processes, start-up included, in one run.

    python benchmarks/start_up.py OLD.lock NEW.lock [--repeat N] [--peer PROGRAM]

Prints milliseconds of processor time (user and system, the least of N runs after one that is not
counted) of Python's own start, of importing Typer and Rich, of ``envtrack --version``, ``--help``
and ``diff`` of the two lockfiles, and of ``envtrack.take_snapshot()`` in a fresh process, each also
as a multiple of Python's start; with ``--peer lockdiff`` also of the peer, called with the two
lockfiles. The aims: 50, 120 and 100 ms, where the peer lockdiff takes 40. Needs no network.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from envtrack.git.environ import without_git
from envtrack.process import run

_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """How often is measured.

    Attributes:
        repeat: of so many runs the least counts: what else the machine does only adds.
    """

    repeat: int

    def measure(self, *command: str) -> float:
        """Milliseconds of processor time of a command."""
        # Compiled modules are kept, as they are wherever the tool is installed.
        environ = {**without_git(os.environ), "PYTHONDONTWRITEBYTECODE": ""}
        times = []
        for _ in range(self.repeat + 1):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run(command, timeout_s=_TIMEOUT_S, env=environ)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times[1:]) * 1000


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--peer", default="", help="a program to be measured with the lockfiles")
    options = parser.parse_args()
    bench = Bench(repeat=options.repeat)
    program = "from envtrack.cli.main import run; run()"
    files = str(options.old.resolve()), str(options.new.resolve())
    rows = {
        "python -c pass": ("-c", "pass"),
        "import typer": ("-c", "import typer"),
        "import rich.table": ("-c", "import rich.console, rich.table"),
        "envtrack --version": ("-c", program, "--version"),
        "envtrack --help": ("-c", program, "--help"),
        "envtrack diff OLD NEW": ("-c", program, "diff", *files),
        "take_snapshot()": ("-c", "import envtrack; envtrack.take_snapshot()"),
    }
    commands = {name: (sys.executable, *arguments) for name, arguments in rows.items()}
    if options.peer:
        commands[f"{Path(options.peer).name} OLD NEW"] = (options.peer, *files)
    base = 0.0
    for name, command in commands.items():
        spent = bench.measure(*command)
        base = base or spent
        sys.stdout.write(f"{name:<24} {spent:>7.0f} ms {spent / base:>7.1f}\n")


if __name__ == "__main__":
    main()
