"""Feeds texts that are nearly lockfiles to everything that reads, selects, compares and shows them.

    python -m tests.lockfiles.fuzz [--seconds 600] [--rounds N] [--seed 1] [FOLDER…]

Takes every file below the folders (by default the tests' own fixtures), changes it, and reads it.
What comes of it must be a lock or one `LockfileProblem` whose line the text has; a lock is then
selected from for Linux, compared with the file it came from in both directions and as one machine
sees it, and shown in each form. Any other exception, a run of over five seconds of processor time,
and memory beyond a hundred times the file's size (and 200 MB) are findings: printed with the seed
that makes them again.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from envtrack.compare.locks import compare_locks
from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.select import explain_selection, identity
from envtrack.model.comparison import Comparison
from envtrack.model.lock import Lock
from envtrack.model.selection import Selection
from envtrack.report.comparison import render_comparison_json, render_comparison_text
from envtrack.report.comparison_markdown import render_comparison_markdown
from envtrack.report.look import Look
from tests.lockfiles.texts import FIXTURES, LINUX

_LIMIT_S: Final = 5.0
_MEMORY_FLOOR: Final = 200_000_000
_MEMORY_FACTOR: Final = 100
_LARGEST: Final = 300_000
_ODD: Final = (
    *("[", "]", "{", "}", '"', "'", '"""', "=", ":", ",", "#", "\\", "\0", "\r", "\x85", "\u2028"),
    *("\ufeff", "\ud7ff", "é", "  ", "\t", "- ", "\n", "\n\n", "\n[[package]]\n", "\n[metadata]\n"),
    *("9" * 5000, "[" * 3000, "(" * 3000, " " * 20_000, "\n" * 5000, '"' * 5001, "\\" * 5001),
    *("= 1", '= ""', "= []", "= {}", "= [{}]", "= true", "= nan", "null", "~", "1e999", "-1"),
    *("&a [*a]", "*a", "<<: *a", "!!python/object:os.system", "&a", "%YAML 9", "---\n", "...\n"),
    *("<<<<<<< HEAD\n", "=======\n", ">>>>>>> x\n", "@EXPLICIT\n", "-r x.txt\n", "-e .\n", " ; "),
    *("extra == 'x'", "python_version < '3'", "'x' in extras", "not ", " and ", " or ", ">=", "=="),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What must not be.

    Attributes:
        path: the file that was changed.
        seed: with it the change is made again.
        said: what happened.
    """

    path: Path
    seed: str
    said: str


def mutate(text: str, dice: random.Random) -> str:
    """The text with a few changes of one to some thousand characters, or of whole lines."""
    for _ in range(dice.randint(1, 4)):
        text = dice.choice(_CHANGES)(text, dice)
    return text


def _put(text: str, dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(_ODD) + text[at + dice.choice((0, 0, 1, 5, 40)) :]


def _cut(text: str, dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] if dice.random() < 0.2 else text[:at] + text[at + dice.randint(1, 400) :]


def _move_lines(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    at, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    some = lines[at : at + dice.randint(1, 12)]
    if dice.random() < 0.5:
        del lines[at : at + len(some)]
    return "\n".join([*lines[:other], *some, *lines[other:]])


def _swap_words(text: str, dice: random.Random) -> str:
    """A name, a version or a value becomes another one of the file: loops, ends that lead nowhere."""
    words = text.split('"')
    if len(words) < 2:
        return text
    words[dice.randrange(len(words))] = words[dice.randrange(len(words))]
    return '"'.join(words)


def _change_value(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    at = dice.randrange(len(lines))
    for sign in (" = ", ": "):
        key, found, _ = lines[at].partition(sign)
        if found:
            lines[at] = key + sign + dice.choice(_ODD).strip("= ")
            break
    return "\n".join(lines)


def _change_ends(text: str, dice: random.Random) -> str:
    return dice.choice((text.replace("\n", "\r\n"), f"\ufeff{text}", text.replace("\n", "\r")))


_CHANGES: Final = (
    _put,
    _cut,
    _move_lines,
    _swap_words,
    _change_value,
    _put,
    _swap_words,
    _change_ends,
)


def use(text: str, path: str, original: Lock | None) -> None:
    """Everything that is done with a lockfile's text.

    Raises:
        AssertionError: a problem names a line that the text does not have.
    """
    lock: Lock | None = None
    line: int | None = None
    try:
        lock = parse_lock(text, path=path, include=lambda _: None)
    except LockfileProblem as problem:
        line = problem.line
    # A file that ends too early is wrong at its end.
    assert line is None or 0 < line <= text.count("\n") + 2
    if lock is None:
        return
    assert all(package.name for package in lock.packages)
    chosen = explain_selection(lock, Selection(all_extras=True, all_groups=True), LINUX)
    identity(chosen.packages)
    explain_selection(lock, Selection(), {})
    for before, after in ((original, lock), (lock, original), (None, lock)):
        for environment in (None, LINUX):
            changes = compare_locks(before, after, environment=environment)
            told = Comparison(before="a", after="b", changes=changes)
            render_comparison_text(told, Look(is_full=True))
            render_comparison_json(told)
            render_comparison_markdown(told)
    assert compare_locks(lock, parse_lock(text, path=path, include=lambda _: None)) == ()


def list_files(folders: Sequence[Path]) -> list[Path]:
    """The files of bearable size below the folders, in the same order each time."""
    found = (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in found if path.stat().st_size <= _LARGEST and path.suffix != ".py"]


def run_rounds(files: Sequence[Path], seed: int, rounds: Iterator[int]) -> Iterator[Finding | None]:
    """One file changed and used a round; what must not be, or `None`."""
    originals: dict[Path, tuple[str, Lock | None]] = {}
    for number in rounds:
        dice = random.Random(f"{seed}:{number}")
        path = dice.choice(files)
        if path not in originals:
            originals[path] = _read(path)
        text, original = originals[path]
        changed = mutate(text, dice)
        spent, held = time.process_time(), _peak_bytes()
        said = ""
        try:
            use(changed, path.name, original)
        except Exception:  # noqa: BLE001 - that none comes is what is looked for
            said = traceback.format_exc()
        if time.process_time() - spent > _LIMIT_S:
            said += f"\n{time.process_time() - spent:.1f} s for {len(changed)} characters"
        if _peak_bytes() - held > max(_MEMORY_FLOOR, _MEMORY_FACTOR * len(changed)):
            said += f"\n{_peak_bytes() - held} bytes for {len(changed)} characters"
        yield Finding(path=path, seed=f"{seed}:{number}", said=said) if said else None


def _read(path: Path) -> tuple[str, Lock | None]:
    text = path.read_text("utf-8", "backslashreplace")
    try:
        return text, parse_lock(text, path=path.name)
    except LockfileProblem:
        return text, None


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Runs until the time is over, and ends with 1 if there was a finding."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", type=Path, default=[FIXTURES])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    done = found = 0
    for finding in run_rounds(
        list_files(options.folders), options.seed, iter(range(options.rounds))
    ):
        done += 1
        if finding is not None:
            found += 1
            sys.stdout.write(f"{finding.path} {finding.seed}\n{finding.said}\n")
        if time.monotonic() > end:
            break
    sys.stdout.write(f"{done} rounds, {found} findings\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
