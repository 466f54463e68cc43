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
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from envtrack.lockfiles.interface import find_format, parse_lock
from envtrack.model.lock import Lock
from tests.lockfiles.damage import damage
from tests.lockfiles.fuzz_checks import Checker, FindingError, Original
from tests.lockfiles.samples import SAMPLES
from tests.lockfiles.texts import FIXTURES

# What a file of each format is called, where its own name in a corpus does not say it.
_NAMES: Final = {
    "conda explicit list": "conda-linux-64.lock",
    "environment.yml": "environment.yml",
    "requirements.txt": "requirements.txt",
}
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


def load_corpus(folders: Sequence[Path]) -> list[Original]:
    """The lockfiles below these folders, or the repository's own; those of no format are left out."""
    found = [(path, text) for _, (path, text) in sorted(SAMPLES.items())] if not folders else []
    for folder in folders or (FIXTURES,):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            if path.name not in {"README.md", "pair.json"} and "pyproject" not in path.name:
                found.append((path.name, path.read_text(encoding="utf-8", errors="replace")))
    return [original for name, text in found if (original := _as_original(name, text)) is not None]


def _as_original(name: str, text: str) -> Original | None:
    chosen = find_format("", text) or find_format(name, "")
    if chosen is None:
        return None
    path = _NAMES.get(chosen.name, chosen.name)
    try:
        lock: Lock | None = parse_lock(text, path=path)
    except ValueError:
        lock = None
    except Exception:  # noqa: BLE001 - a broken one is as good a beginning as any
        lock = None
    return Original(name=name, path=path, text=text, lock=lock)


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
        original = random.choice(corpus)
        content = damage(original.text, lambda r=random: r.choice(corpus).text, random)  # type: ignore[misc]
        path = original.path
        if random.random() < _OTHER_NAME:
            path = random.choice((*(other.path for other in corpus[:20]), "x"))
        try:
            checker.check(original, content, path)
        except FindingError as finding:
            kind = finding.kind
            findings.counts[kind] += 1
            if kind not in findings.shown:
                again = f"--seed {seed} --only {number}"
                findings.shown[kind] = f"{kind}\n  {original.name} as {path}, {again}\n{finding}"
                print(findings.shown[kind], flush=True)
                if keep is not None:
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
    from tempfile import TemporaryDirectory

    from tests.lockfiles.fuzz_checks import limit_memory

    limit_memory()
    rounds = _count(asked.seconds, asked.start) if asked.only is None else iter([asked.only])
    started = time.monotonic()
    with TemporaryDirectory() as scratch:
        corpus = load_corpus(asked.corpus)
        print(f"{len(corpus)} lockfiles", flush=True)
        findings = run(corpus, rounds, seed=asked.seed, scratch=Path(scratch), keep=asked.keep)
    took = time.monotonic() - started
    print(f"{findings.rounds} rounds in {took:.0f} s, {len(findings.shown)} kinds of findings")
    for kind, count in findings.counts.most_common():
        print(f"{count:6} {kind}")
    return 1 if findings.shown else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        traceback.print_exc(limit=-1)
        sys.exit(130)
