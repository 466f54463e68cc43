#!/usr/bin/env python3
"""What untestable commits cost a search: envtrack's beside git's own, on real git repositories.

    PYTHONPATH=. python benchmarks/untestable_blocks.py [BUNDLE]

First a table: 128 commits, of which a run can't be judged; git's column is ``git bisect`` told
*skip*, envtrack's its real search with probes that are looked up. Every commit has an environment
of its own: if a run shares one, it costs a single probe. Both count probes between the ends.

With a BUNDLE (a git bundle of a history of one ``uv.lock``): how many of its commits change what is
installed here, and the probes of a search by halves for every possible culprit, with one probe for
a commit and with one for an environment identity.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from envtrack.culprit.blocks import choose_next
from envtrack.errors import CommandFailed, LockfileProblem
from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.select import identity, select
from envtrack.model.selection import Selection
from envtrack.model.verdict import Verdict
from envtrack.process import run
from tests.support.simulated import Step, World, simulate

_COUNT = 128
_TIMEOUT_S = 600.0


class Row(NamedTuple):
    """One row of the table: first and last commit that can't be judged, and the first bad one."""

    first: int
    last: int
    guilty: int


_ROWS = (
    Row(0, -1, 100), Row(50, 80, 100), Row(40, 90, 20), Row(40, 90, 120), Row(30, 100, 65),
    Row(60, 70, 65), Row(20, 120, 124),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Measures and prints; 1 if envtrack's search is more than two probes worse anywhere."""
    worst = -_COUNT
    _say("untestable / first bad    git           envtrack")
    for row in _ROWS:
        theirs, their_left = _count_git(row)
        ours, our_left = _count_ours(row)
        worst = max(worst, ours - theirs)
        block = f"{row.first}-{row.last}" if row.first <= row.last else "none"
        _say(f"{block:>8} / {row.guilty:<12}{theirs:>6} of {their_left:<4}{ours:>8} of {our_left}")
    for name in arguments[:1]:
        _measure_bundle(Path(name))
    return int(worst > 2)  # noqa: PLR2004 - the two probes that a safe choice may cost


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _verdict(row: Row, number: int) -> Verdict:
    if row.first <= number <= row.last:
        return Verdict.UNTESTABLE
    return Verdict.BAD if number >= row.guilty else Verdict.GOOD


def _make_world(row: Row) -> tuple[list[Step], World]:
    # Different failures: envtrack can't tell them from the files of the environment.
    steps = [Step(f"env {number}", "") for number in range(1, _COUNT + 1)]
    said = (_verdict(row, number) for number in range(1, _COUNT + 1))
    return steps, World(
        {
            step: Verdict.DIFFERENT if verdict is Verdict.UNTESTABLE else verdict
            for step, verdict in zip(steps, said, strict=True)
        }
    )


def _count_ours(row: Row) -> tuple[int, int]:
    """Probes, and how many commits are left."""
    steps, world = _make_world(row)
    with (
        tempfile.TemporaryDirectory() as name,
        simulate(Path(name), steps, world, trust_ends=True) as lab,
    ):
        found = lab.search()
        return lab.rig.tried.total(), len(found.possible) or 1


def _count_git(row: Row) -> tuple[int, int]:
    steps, world = _make_world(row)
    with tempfile.TemporaryDirectory() as name, simulate(Path(name), steps, world) as lab:
        top = str(lab.repository.root)

        def git(*words: str) -> str:
            command = ("git", "-C", top, *words)
            return run(command, timeout_s=_TIMEOUT_S, env=os.environ, check=False).text

        git("bisect", "start", lab.commits[-1].hex, lab.commits[0].hex)
        places = {oid.hex: number for number, oid in enumerate(lab.commits, start=1)}
        words = {Verdict.GOOD: "good", Verdict.BAD: "bad", Verdict.UNTESTABLE: "skip"}
        for probes in range(1, 2 * _COUNT):
            said = git("bisect", words[_verdict(row, places[git("rev-parse", "HEAD").strip()])])
            if "is the first bad commit" in said:
                return probes, 1
            if "could be any of" in said:
                return probes, sum(line.strip() in places for line in said.splitlines())
    raise AssertionError("git bisect came to no end")


def _measure_bundle(bundle: Path) -> None:
    names = _identify_all(bundle)
    turns = [at for at in range(1, len(names)) if names[at] != names[at - 1]]
    _say(f"\n{len(names)} lockfile commits, {len(set(names))} environments installed here;")
    _say(f"{len(names) - 1 - len(turns)} commits install the same as the one before")
    for what, keys in (("commits", list(map(str, range(len(names))))), ("environments", names)):
        probes = [_count_probes(keys, guilty) for guilty in turns]
        mean = statistics.mean(probes)
        _say(f"one probe for each of the {what:<13} mean {mean:.2f}, most {max(probes)}")


def _count_probes(keys: Sequence[str], guilty: int) -> int:
    """Environments tried between the ends, which are known."""
    low, high = 0, len(keys) - 1
    tried = {keys[low], keys[high]}
    count = 0
    while (place := choose_next(range(1, high - low + 1), ())) is not None:
        at = low + 1 + place
        count += keys[at] not in tried
        tried.add(keys[at])
        low, high = (low, at) if at >= guilty else (at, high)
    return count


def _identify_all(bundle: Path) -> list[str]:
    """What each lockfile commit installs here, oldest first."""
    from packaging.markers import default_environment

    found = []
    with tempfile.TemporaryDirectory() as folder:

        def git(*words: str) -> str:
            command = ("git", "-C", folder, *words)
            return run(command, timeout_s=_TIMEOUT_S, env=os.environ).text

        git("clone", "--quiet", "--no-checkout", str(bundle.resolve()), folder)
        for commit in git("rev-list", "--reverse", "--all", "--", "uv.lock").split():
            try:
                lock = parse_lock(git("show", f"{commit}:uv.lock"), path="uv.lock")
            except (LockfileProblem, CommandFailed):
                found.append(f"can't be read at {commit}")
                continue
            markers = {key: str(value) for key, value in default_environment().items()}
            found.append(identity(select(lock, Selection(), markers)))
    return found


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_NOSYSTEM", "1")
    sys.exit(main(sys.argv[1:]))
