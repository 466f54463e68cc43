#!/usr/bin/env python3
"""``envtrack snapshot`` against ``python -m torch.utils.collect_env``, in one run on one machine.

    python benchmarks/snapshot_against_collect_env.py --python ENV/bin/python [--repeat N]

Both look at the same environment, which must have torch. Each is measured as a whole process, from
start to exit, the two taking turns after a first run of each that is not counted, so that both find
their files in memory and compiled, in a scratch folder. envtrack is the one of the interpreter that
runs this. Needs git, no network.

Prints the medians in seconds, how many times faster envtrack is (the aim is at least 5), and what
each records: the table of ``docs/collect-env.md`` with the values that both found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envtrack.git.environ import without_git
from envtrack.process import run

_TIMEOUT_S = 600.0
_AIM = 5.0
_DOCS = Path(__file__).parents[1] / "docs" / "collect-env.md"
_ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", re.MULTILINE)
_NAME = re.compile(r"`([^`]+)`")
_LOCKFILE = 'version = 1\nrequires-python = ">=3.8"\n'
_PROJECT = '[project]\nname = "scratch"\nversion = "0"\n'
# The fields as they are, one JSON object; for the table, not for the clock.
_FIELDS = """
import json
from torch.utils.collect_env import get_env_info
print(json.dumps({name: str(value) for name, value in get_env_info()._asdict().items()}))
"""
_WIDTH = 44


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What is measured, and where.

    Attributes:
        python: the interpreter whose environment is looked at.
        project: a scratch project, a git repository with an empty lockfile.
        environ: the environment of every command.
    """

    python: Path
    project: Path
    environ: Mapping[str, str]

    @property
    def ours(self) -> tuple[str, ...]:
        """The command of envtrack."""
        return (sys.executable, "-m", "envtrack", "snapshot")

    @property
    def theirs(self) -> tuple[str, ...]:
        """The command of PyTorch."""
        return (str(self.python), "-m", "torch.utils.collect_env")

    def run(self, *command: str) -> str:
        """What a command prints, which must succeed."""
        return run(command, timeout_s=_TIMEOUT_S, env=self.environ, cwd=self.project).text

    def time(self, command: Sequence[str]) -> float:
        """Seconds from its start to its exit."""
        begun = time.monotonic()
        self.run(*command)
        return time.monotonic() - begun


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; 0, or 1 if the aim is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--python", type=Path, required=True, metavar="PATH",
        help="an interpreter whose environment has torch",
    )  # fmt: skip
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs (default: 5)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="against-collect-env-") as folder:
        bench = _set_up(Path(folder), options.python.absolute())
        ours_s, theirs_s = _measure(bench, max(1, options.repeat))
        ratio = theirs_s / ours_s
        table = "\n".join(_tell_both(bench))
    sys.stdout.write(
        f"envtrack snapshot   {ours_s:7.2f} s\n"
        f"collect_env         {theirs_s:7.2f} s\n"
        f"times faster        {ratio:7.2f}   (aim: at least {_AIM:.0f})\n\n{table}\n"
    )
    return 0 if ratio >= _AIM else 1


def _set_up(folder: Path, python: Path) -> Bench:
    inherited = without_git(os.environ)
    inherited.pop("UV_PROJECT_ENVIRONMENT", None)  # it would go before VIRTUAL_ENV
    # Neither may have to compile its sources at each run: that would measure how it was installed.
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    inherited["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    ask = (str(python), "-c", "import sys; print(sys.prefix)")
    prefix = run(ask, timeout_s=_TIMEOUT_S, env=inherited).text.strip()
    (folder / "pyproject.toml").write_text(_PROJECT)
    (folder / "uv.lock").write_text(_LOCKFILE)
    bench = Bench(python=python, project=folder, environ={**inherited, "VIRTUAL_ENV": prefix})
    bench.run("git", "init", "--quiet")
    return bench


def _measure(bench: Bench, repeat: int) -> tuple[float, float]:
    """The medians of both in seconds, envtrack's first."""
    for command in (bench.ours, bench.theirs):
        bench.run(*command)
    times = [(bench.time(bench.ours), bench.time(bench.theirs)) for _ in range(repeat)]
    ours, theirs = zip(*times, strict=True)
    return statistics.median(ours), statistics.median(theirs)


def _tell_both(bench: Bench) -> Iterator[str]:
    """A row for each field of collect_env, then how many facts a snapshot has of each layer."""
    snapshot = json.loads(bench.run(*bench.ours, "--format", "json"))
    facts, installed = snapshot["facts"], snapshot["installed"]
    fields = json.loads(bench.run(str(bench.python), "-c", _FIELDS).splitlines()[-1])
    shown = {**facts, "installed": f"{len(installed)} distributions"}
    yield f"{'field of collect_env':26} {'its value':{_WIDTH}} envtrack's facts"
    for field, names in _ROW.findall(_DOCS.read_text(encoding="utf-8")):
        told = ", ".join(_describe(shown, name) for name in _NAME.findall(names))
        yield f"{field:26} {_shorten(fields.pop(field, '(no such field)')):{_WIDTH}} {told}"
    for field, value in fields.items():
        yield f"{field:26} {_shorten(value):{_WIDTH}} (not in docs/collect-env.md)"
    counts = Counter(name.partition(".")[0] for name in facts)
    layers = ", ".join(f"{layer} {count}" for layer, count in counts.items())
    yield f"\na snapshot has {len(facts)} facts ({layers}) and {len(installed)} distributions"


def _describe(facts: Mapping[str, object], name: str) -> str:
    """``name=value``; patterns with the first that fits; what was not told is marked by a dash."""
    pattern = re.compile(re.sub(r"<\w+>", r"[\\w-]+", re.escape(name)))
    found = next((fact for fact in facts if pattern.fullmatch(fact)), None)
    if found is None:
        return f"{name}=–"
    value = facts[found]
    return f"{found}={'absent' if value is None else _shorten(str(value))}"


def _shorten(text: str) -> str:
    """The first line, cut, with the number of those that follow."""
    first, *rest = text.strip().splitlines() or [""]
    more = f" (+{len(rest)} lines)" if rest else ""
    room = _WIDTH - len(more)
    return f"{first if len(first) <= room else first[: room - 1] + '…'}{more}"


if __name__ == "__main__":
    sys.exit(main())
