#!/usr/bin/env python3
"""What ``envtrack report`` costs on a history: seconds of processor time, and the size of its file.

    python benchmarks/report.py REPOSITORY [--repeat 3]

The first run of a history reads every state of its lockfile; what it finds is remembered in the
repository's git folder, and each later run reads only what is new. Both are measured, the first in
a copy that remembers nothing. Processor time is that of the command with all its processes.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess  # noqa: TID251 - the command is measured from outside
import sys
import tempfile
import time
from pathlib import Path

from envtrack.git.environ import without_git


def _measure(repository: Path, output: Path) -> tuple[float, float]:
    """Seconds of processor time and seconds on the clock."""
    command = [sys.executable, "-m", "envtrack", "report", "-C", str(repository), "-o", str(output)]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=without_git(os.environ))
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, ended - began


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        copy, output = Path(scratch) / "copy", Path(scratch) / "report.html"
        clone = ["git", "clone", "--quiet", str(options.repository.resolve()), str(copy)]
        subprocess.run(clone, check=True, env=without_git(os.environ))
        rows = [("first", [_measure(copy, output)])]
        rows.append(("later", [_measure(copy, output) for _ in range(options.repeat)]))
        size = output.stat().st_size
    sys.stdout.write(f"{'run':<8}{'processor':>12}{'clock':>10}\n")
    for name, runs in rows:
        spent, taken = (statistics.median(column) for column in zip(*runs, strict=True))
        sys.stdout.write(f"{name:<8}{spent:>10.2f} s{taken:>8.2f} s\n")
    sys.stdout.write(f"file: {size / 1e6:.2f} MB\n")


if __name__ == "__main__":
    main()
