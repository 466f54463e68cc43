#!/usr/bin/env python3
"""What the hooks add to a commit, in one run.

    python benchmarks/commit_hooks.py OLD.lock NEW.lock [--repeat N]

Makes two repositories in a temporary folder with the policy that ``envtrack init`` writes, one with
hooks and one without, and prints milliseconds (the least of 2 N) of ``git commit`` of another file
and of the two lockfiles in turn, and what the hooks add. The aims: 6 ms, and 500 ms with record and
check included. Needs git, no network.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from envtrack.git.environ import without_git
from envtrack.process import run

_TIMEOUT_S = 60.0
_AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.example"}
_COMMITTER = {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.example"}


@dataclass(frozen=True, slots=True)
class Bench:
    """One repository."""

    folder: Path

    def call(self, *command: str) -> None:
        """Runs a command in it, which must succeed."""
        environ = {
            **without_git(os.environ),
            **_AUTHOR,
            **_COMMITTER,
            "PYTHONDONTWRITEBYTECODE": "",
        }
        run(command, timeout_s=_TIMEOUT_S, env=environ, cwd=self.folder)

    def begin(self, lock: str, *, has_hooks: bool) -> None:
        """Makes its first commit."""
        self.folder.mkdir()
        self.call("git", "init", "--quiet")
        (self.folder / "uv.lock").write_text(lock, encoding="utf-8")
        hooks = ("--hooks",) if has_hooks else ()
        self.call(sys.executable, "-m", "envtrack", "init", "--yes", *hooks)
        self.call("git", "add", "--all")
        self.call("git", "commit", "--quiet", "--message", "begin")

    def time_commit(self, path: str, content: str) -> float:
        """Milliseconds of a commit that changes a file."""
        (self.folder / path).write_text(content, encoding="utf-8")
        self.call("git", "add", path)
        begun = time.monotonic()
        self.call("git", "commit", "--quiet", "--message", "step")
        return (time.monotonic() - begun) * 1000


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    locks = options.old.read_text(encoding="utf-8"), options.new.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        benches = Bench(Path(scratch, "bare")), Bench(Path(scratch, "hooked"))
        for bench in benches:
            bench.begin(locks[0], has_hooks=bench is benches[1])
        for name, path, contents in (
            ("another file", "notes.txt", ("one\n", "two\n")),
            ("a lockfile", "uv.lock", (locks[1], locks[0])),
        ):
            # In turn, so that a busy moment of the machine meets both.
            times = [
                [bench.time_commit(path, contents[number % 2]) for bench in benches]
                for number in range(options.repeat * 2)
            ]
            bare, hooked = (min(column) for column in zip(*times, strict=True))
            sys.stdout.write(
                f"{name:<14} bare {bare:>6.1f} ms   with hooks {hooked:>6.1f} ms   "
                f"added {hooked - bare:>6.1f} ms\n"
            )


if __name__ == "__main__":
    main()
