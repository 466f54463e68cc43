#!/usr/bin/env python3
"""The growth of ``envtrack log`` with the length of a history that is made for it, in one run.

    python benchmarks/long_history.py [--commits 10000] [--packages 100]

Makes a repository in a temporary folder in which each commit moves one package of a uv.lock (a
tenth of them another one that needs it, too), and prints what ``log_against_cat_file.py`` prints
for its last 10, 100, 1,000… commits. Needs git and some 100 MB of disk, no network.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess  # noqa: TID251 - a stream of any length goes into git
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from envtrack.git.environ import without_git

_HEAD = 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n'
_INDEX = 'source = { registry = "https://registry.example/simple" }'


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _render(versions: list[int]) -> str:
    parts = [_HEAD]
    for number, version in enumerate(versions):
        name = f"package-{number:03}"
        needs = f"package-{number + 1:03}" if number + 1 < len(versions) else ""
        edges = f'dependencies = [\n    {{ name = "{needs}" }},\n]\n' if needs else ""
        wheels = "".join(
            f'    {{ url = "https://files.example/{file}", hash = "sha256:{_digest(file)}", '
            "size = 1000 },\n"
            for file in (f"{name}-1.{version}-cp3{python}.whl" for python in range(10, 14))
        )
        parts.append(
            f'[[package]]\nname = "{name}"\nversion = "1.{version}"\n{_INDEX}\n'
            f"{edges}wheels = [\n{wheels}]\n"
        )
    parts.append(
        '[[package]]\nname = "project"\nversion = "0"\nsource = { virtual = "." }\n'
        'dependencies = [\n    { name = "package-000" },\n]\n\n[package.metadata]\n'
        'requires-dist = [{ name = "package-000" }]\n'
    )
    return "\n".join(parts)


def _stream(commits: int, packages: int) -> Iterator[bytes]:
    """What ``git fast-import`` reads."""
    dice = random.Random(1)  # noqa: S311 - the same history each time
    versions = [0] * packages
    for at in range(commits):
        moved = dice.randrange(packages - 1)
        versions[moved] += 1
        if not at % 10:
            versions[moved + 1] += 1
        content = _render(versions).encode()
        stamp = f"committer a <a@b.example> {1_700_000_000 + at * 3600} +0000\n"
        yield f"commit refs/heads/main\n{stamp}data 4\nstep\nM 100644 inline uv.lock\n".encode()
        yield b"data %d\n" % len(content) + content + b"\n"


def _make(folder: Path, commits: int, packages: int) -> None:
    environ = without_git(os.environ)
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, env=environ)
    command = ["git", "-C", str(folder), "fast-import", "--quiet"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environ) as git:
        if git.stdin is None:
            raise RuntimeError("git takes no input")
        for piece in _stream(commits, packages):
            git.stdin.write(piece)
    subprocess.run(["git", "-C", str(folder), "reset", "-q", "--hard"], check=True, env=environ)


def main() -> None:
    """Makes the history and measures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--packages", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "history"
        _make(folder, options.commits, options.packages)
        script = Path(__file__).with_name("log_against_cat_file.py")
        subprocess.run([sys.executable, str(script), str(folder), "--repeat", "1"], check=True)


if __name__ == "__main__":
    main()
