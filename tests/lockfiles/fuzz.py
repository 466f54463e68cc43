"""Damages lockfiles without end and looks for what none of them may cause.

`python -m tests.lockfiles.fuzz --seconds 600 --seed 1 [--corpus DIR]…`

Whatever the bytes, a reader gives a `Lock` or one `LockfileProblem` with its line; what takes the
lock further takes that one too. Anything else, more than five seconds of processor time for a step,
or memory beyond a small multiple of the file, is a finding. Each is printed with the options that
do it again (`--seed 1 --only 4711`); `--keep DIR` also writes its file.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from envtrack.lockfiles.interface import find_format
from tests.lockfiles.damage import damage
from tests.lockfiles.damage_tree import shorten
from tests.lockfiles.fuzz_checks import Checker, FindingError, Original, limit_memory
from tests.lockfiles.samples import SAMPLES
from tests.lockfiles.texts import FIXTURES

# What a file of each format is called, where its own name in a corpus does not say it.
_NAMES: Final = {
    "conda explicit list": "conda-linux-64.lock",
    "environment.yml": "environment.yml",
    "requirements.txt": "requirements.txt",
}
_OTHERS: Final = frozenset({"README.md", "pair.json"})
_OTHER_NAME: Final = 0.1


@dataclass(slots=True)
class Findings:
    """What was found, the first of each kind in full.

    Attributes:
        counts: how often each kind was found.
        shown: one text for each kind.
        rounds: how many files were tried.
    """

    counts: Counter[str] = field(default_factory=Counter)
    shown: dict[str, str] = field(default_factory=dict)
    rounds: int = 0

    def add(self, finding: FindingError, where: str) -> bool:
        """Counts it; whether it is the first of its kind, which is printed."""
        self.counts[finding.kind] += 1
        if finding.kind in self.shown:
            return False
        self.shown[finding.kind] = f"{finding.kind}\n  {where}\n{finding}\n"
        sys.stdout.write(self.shown[finding.kind])
        sys.stdout.flush()
        return True


def load_corpus(folders: Sequence[Path]) -> list[Original]:
    """The lockfiles below these folders, or the repository's own; those of no format are left out."""
    found = [(path, text) for _, (path, text) in sorted(SAMPLES.items())] if not folders else []
    paths = [path for folder in folders or (FIXTURES,) for path in sorted(folder.rglob("*"))]
    found += [
        (path.name, path.read_text(encoding="utf-8", errors="replace"))
        for path in paths
        if path.is_file() and path.name not in _OTHERS and "pyproject" not in path.name
    ]
    return [original for name, text in found if (original := _as_original(name, text)) is not None]


def _as_original(name: str, text: str) -> Original | None:
    chosen = find_format("", text) or find_format(name, "")
    if chosen is None:
        return None
    return Original(name=name, path=_NAMES.get(chosen.name, chosen.name), text=text)


def run(
    corpus: Sequence[Original],
    rounds: Iterator[int],
    *,
    seed: int,
    scratch: Path,
    keep: Path | None = None,
) -> Findings:
    """Damages and checks one file a round.

    Args:
        corpus: what is damaged.
        rounds: their numbers; together with `seed` each decides all that happens in its round.
        seed: see `rounds`.
        scratch: a folder for files.
        keep: where the file of each kind of finding goes.
    """
    findings = Findings()
    checker = Checker(scratch)
    for number in rounds:
        findings.rounds += 1
        random = Random(f"{seed} {number}")
        whole = random.choice(corpus)
        original = replace(whole, text=shorten(whole.text, random))
        content = damage(original.text, random.choice(corpus).text, random)
        path = original.path
        if random.random() < _OTHER_NAME:
            path = random.choice((*(other.path for other in corpus), "x"))
        try:
            checker.check(original, content, path)
        except FindingError as finding:
            is_first = findings.add(
                finding, f"{original.name} as {path}, --seed {seed} --only {number}"
            )
            if is_first and keep is not None:
                (keep / f"{seed}-{number}-{path}").write_bytes(content)
    return findings


def _count(seconds: float, start: int) -> Iterator[int]:
    end = time.monotonic() + seconds
    number = start
    while time.monotonic() < end:
        yield number
        number += 1


def main() -> int:
    """Runs from the command line; 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="the number of the first round")
    parser.add_argument("--only", type=int, help="one round, to see it again")
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--keep", type=Path, help="where the files that found something go")
    asked = parser.parse_args()
    limit_memory()
    rounds = _count(asked.seconds, asked.start) if asked.only is None else iter([asked.only])
    started = time.monotonic()
    with TemporaryDirectory() as scratch:
        corpus = load_corpus(asked.corpus)
        findings = run(corpus, rounds, seed=asked.seed, scratch=Path(scratch), keep=asked.keep)
    took = time.monotonic() - started
    told = [f"{count:6} {kind}\n" for kind, count in findings.counts.most_common()]
    sum_ = f"{findings.rounds} rounds in {took:.0f} s on {len(corpus)} lockfiles"
    sys.stdout.write(f"{sum_}: {len(told)} kinds of findings\n{''.join(told)}")
    return 1 if findings.shown else 0


if __name__ == "__main__":
    sys.exit(main())
