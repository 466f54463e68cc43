#!/usr/bin/env python3
"""Trials that it takes to find which of many changes are to blame, beside plain delta debugging.

    python benchmarks/change_sets.py [--cases N] [--seed N]

For 12, 40, 120 and 300 changes, one to three of which are to blame (all needed together, or each
alone), with and without mixtures that can't be judged: how often what was found is right (what was
planted; with unjudged mixtures: fails, and no set that is smaller by one change is known to fail),
and the median number of trials of the search, the two fresh trials of its proof left out, of the
proof, and of ddmin with its pass for single removals (Zeller and Hildebrandt 2002), for the same
cases. No environment is made: a trial is a look at the planted sets. Needs no network.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from envtrack.culprit.changes import Ask, Guilt, Taken, find_change_sets, run_search
from envtrack.culprit.said import Said

_SIZES: Final = (12, 40, 120, 300)
_UNJUDGED: Final = 0.2
"""The share of changes that need another one, as packages that pin each other do."""


class World:
    """Environments of which some are planted to fail; counts what is asked for."""

    def __init__(self, count: int, guilty: Sequence[Taken], needs: dict[int, Taken]) -> None:
        self.count = count
        self.guilty = guilty
        self.needs = needs
        self.plain = 0
        self.fresh = 0

    def judge(self, taken: Taken) -> Said:
        """What a trial would say."""
        if any(change in taken and not wanted <= taken for change, wanted in self.needs.items()):
            return Said.UNRESOLVED
        return Said.FAILS if any(one <= taken for one in self.guilty) else Said.PASSES

    def answer(self, ask: Ask) -> Said:
        """The same, counted."""
        self.fresh += ask.fresh
        self.plain += not ask.fresh
        return self.judge(ask.taken)

    def is_right(self, found: Sequence[Guilt]) -> bool:
        """Whether what was found is what was planted, or as near as the trials can tell."""
        if not self.needs:
            return {guilt.changes for guilt in found} == set(self.guilty)
        return all(
            self.judge(guilt.changes) is Said.FAILS
            and all(self.judge(guilt.changes - {one}) is not Said.FAILS for one in guilt.changes)
            for guilt in found
        )


def ddmin(world: World) -> int:
    """How many trials plain delta debugging takes for one minimal set, single removals included."""
    known: dict[Taken, Said] = {}

    def fails(taken: Sequence[int]) -> bool:
        key = frozenset(taken)
        if key not in known:
            known[key] = world.judge(key)
        return known[key] is Said.FAILS

    current, parts = list(range(world.count)), 2
    while len(current) > 1:
        size = -(-len(current) // parts)
        pieces = [current[at : at + size] for at in range(0, len(current), size)]
        piece = next((one for one in pieces if fails(one)), None)
        if piece is not None:
            current, parts = piece, 2
            continue
        rests = ([c for c in current if c not in piece] for piece in pieces)
        rest = next((one for one in rests if fails(one)), None)
        if rest is not None:
            current, parts = rest, max(parts - 1, 2)
        elif size == 1:
            break
        else:
            parts = min(len(current), 2 * parts)
    return len(known)


class Row(NamedTuple):
    """One line of the table."""

    right: float
    search: float
    proof: float
    peer: float


def measure(count: int, culprits: int, *, joint: bool, unjudged: bool, cases: int) -> Row:
    """The line for one kind of case."""
    right, search, proof, peer = 0, [], [], []
    for _ in range(cases):
        chosen = random.sample(range(count), culprits)
        guilty = [frozenset(chosen)] if joint else [frozenset({one}) for one in chosen]
        needs: dict[int, Taken] = {}
        if unjudged:
            some = random.sample(range(count), int(count * _UNJUDGED))
            steps = (random.choice((-1, 1)) for _ in some)  # noqa: S311 - no secret
            needs = {
                one: frozenset({(one + by) % count}) for one, by in zip(some, steps, strict=True)
            }
        world = World(count, guilty, needs)
        found = run_search(find_change_sets(count), world.answer)
        right += world.is_right(found)
        search.append(world.plain)
        proof.append(world.fresh)
        peer.append(ddmin(world))
    medians = (statistics.median(each) for each in (search, proof, peer))
    return Row(right / cases, *medians)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    head = ("changes", "culprits", "kind", "unjudged", "right", "search", "proof", "ddmin")
    sys.stdout.write(" ".join(f"{word:>9}" for word in head) + "\n")
    kinds = [(1, True), (2, True), (2, False), (3, True), (3, False)]
    for count in _SIZES:
        for culprits, joint in kinds:
            for unjudged in (False, True):
                row = measure(count, culprits, joint=joint, unjudged=unjudged, cases=options.cases)
                kind = "one" if culprits == 1 else "joint" if joint else "alone"
                words = (count, culprits, kind, "20 %" if unjudged else "none", f"{row.right:.1%}")
                numbers = (f"{row.search:g}", f"{row.proof:g}", f"{row.peer:g}")
                sys.stdout.write(" ".join(f"{word!s:>9}" for word in (*words, *numbers)) + "\n")


if __name__ == "__main__":
    main()
