#!/usr/bin/env python3
"""``envtrack log`` over a history against git streaming the same lockfiles, in one run.

    python benchmarks/log_against_cat_file.py REPOSITORY [--lockfile PATH] [--repeat N]

Prints, for the last 10, 100, 1,000… commits of the lockfile: seconds of ``envtrack log`` as a whole
process, the first time (nothing remembered) and later, of ``git cat-file --batch`` for the same
blobs, how many times longer envtrack takes (the aim is at most 3), and milliseconds a commit of the
first time, so that the growth can be seen. Medians; needs git, no network.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from envtrack.git.environ import without_git
from envtrack.process import run

_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where is measured, and how often."""

    repository: Path
    lockfile: str
    repeat: int

    def call(self, *command: str, stdin: bytes = b"") -> bytes:
        """What a command prints, which must succeed."""
        environ = without_git(os.environ)
        done = run(command, timeout_s=_TIMEOUT_S, env=environ, cwd=self.repository, stdin=stdin)
        return done.stdout

    def measure(
        self, *command: str, stdin: bytes = b"", before: Callable[[], None] = lambda: None
    ) -> float:
        """Seconds of a command, the median after a first run that is not counted."""
        self.call(*command, stdin=stdin)
        times = []
        for _ in range(self.repeat):
            before()
            begun = time.monotonic()
            self.call(*command, stdin=stdin)
            times.append(time.monotonic() - begun)
        return statistics.median(times)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=Path)
    parser.add_argument("--lockfile", default="uv.lock")
    parser.add_argument("--repeat", type=int, default=3)
    bench = Bench(**vars(parser.parse_args()))
    commits = bench.call("git", "log", "--format=%H", "--", bench.lockfile).decode().split()
    out = sys.stdout.write
    out(
        f"{'commits':>8} {'first':>10} {'later':>10} {'cat-file':>10} {'times':>7} {'times':>7} "
        f"{'ms/commit':>10}\n"
    )
    memory = bench.repository / ".git" / "envtrack" / "timeline.sqlite"
    size = 10
    while True:
        some = commits[:size]
        names = "".join(f"{one}:{bench.lockfile}\n" for one in some).encode()
        log = (sys.executable, "-m", "envtrack", "log", "--lockfile", bench.lockfile)
        line = (*log, "-n", str(len(some)))
        first = bench.measure(*line, before=lambda: memory.unlink(missing_ok=True))
        later = bench.measure(*line)
        theirs = bench.measure("git", "cat-file", "--batch", stdin=names)
        each = first / len(some) * 1000
        out(
            f"{len(some):>8} {first:>8.2f} s {later:>8.2f} s {theirs:>8.2f} s "
            f"{first / theirs:>7.1f} {later / theirs:>7.1f} {each:>10.1f}\n"
        )
        if size >= len(commits):
            return
        size *= 10


if __name__ == "__main__":
    main()
