#!/usr/bin/env python3
"""What a search costs beside what it must cost, in ratios taken in one run on one machine.

    python benchmarks/bisect_probes.py [--repeat N] [--format text|json]

Builds the example repository, searches its culprit with ``envtrack bisect``, then does by hand, for
the commits that were really tried, what a probe can't do without: ``uv sync --locked`` into a fresh
environment, and the smoke test. Both find uv's cache warm. Needs git and uv, no network.

* probes / least: commits tried between the ends, over ceil(log2(candidates)). Commits that can't be
  tested cost a search by halves extra probes, and so does making sure that the culprit's parent is
  good: 1.0 is out of reach where there are any.
* probe / bare: one probe's time as envtrack's store has it, over the same by hand.
* run / bare: the whole command's time from start to exit, divided by all probes, over the same.
* overhead: the share of the probes' time that is neither ``uv sync`` nor the smoke test: reading
  the lockfile, looking at the environment, tidying the tree, starting Python for each step.

With ``--repeat`` the medians of the single runs' ratios are given.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from envtrack.git.environ import without_git
from envtrack.probe.plan import SessionFiles
from envtrack.probe.store import Store
from envtrack.process import run
from envtrack.resources import find_resource
from envtrack.uv import find_uv

_TIMEOUT_S = 1800.0
_SMOKE = "python smoke.py"
_GOOD = "demo-good"
_NANO = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """The figures of one run.

    Attributes:
        candidates: commits that change what is installed, between the ends.
        probes: commits tried between the ends.
        probes_to_least: `probes` over ceil(log2(candidates)).
        probe_to_bare: seconds of a probe over seconds of the same by hand.
        run_to_bare: seconds of the whole command for each probe, over the same.
        overhead: share of a probe's time outside ``uv sync`` and the smoke test, 0 to 1.
    """

    candidates: int
    probes: int
    probes_to_least: float
    probe_to_bare: float
    run_to_bare: float
    overhead: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The example repository, and how commands are run there.

    Attributes:
        repo: its top level.
        scratch: a folder for all else.
        environ: the environment of every command.
        uv: uv's executable.
    """

    repo: Path
    scratch: Path
    environ: Mapping[str, str]
    uv: Path

    def run(self, *command: str, cwd: Path | None = None, **more: str) -> str:
        """What a command prints, which must succeed; `more` is added to its environment."""
        return run(
            command,
            timeout_s=_TIMEOUT_S,
            env={**self.environ, **more},
            cwd=cwd or self.repo,
        ).text


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="runs (default: 1)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="bisect-probes-") as folder:
        bench = _set_up(Path(folder))
        runs = [_measure(bench, number) for number in range(max(1, options.repeat))]
    middle = _find_middle(runs)
    text = json.dumps(asdict(middle), indent=2) if options.format == "json" else _render(middle)
    sys.stdout.write(f"{text}\n")
    return 0


def _set_up(folder: Path) -> Bench:
    environ = {
        **without_git(os.environ),
        "UV_CACHE_DIR": str(folder / "uv-cache"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "UV_OFFLINE": "1",
        "UV_PYTHON": sys.executable,
    }
    bench = Bench(
        repo=folder / "repo",
        scratch=folder,
        environ=environ,
        uv=find_uv(os.environ),
    )
    build = find_resource("example") / "build.py"
    bench.run(sys.executable, str(build), str(bench.repo), "--uv", str(bench.uv), cwd=folder)
    return bench


def _measure(bench: Bench, number: int) -> Ratios:
    times = bench.scratch / f"times-{number}"
    begun = time.monotonic()
    done = bench.run(
        sys.executable, "-m", "envtrack", "bisect", _GOOD, "--format", "json",
        "--smoke", _timed(_SMOKE, times, "smoke"),
        ENVTRACK_UV=str(_write_timed_uv(bench, times)),
    )  # fmt: skip
    whole_s = time.monotonic() - begun
    answer = json.loads(done)
    effort = answer["effort"]
    files = SessionFiles(Path(answer["folder"]))
    tried = [
        seen for seen in Store(files.store).list(answer["session"])
        if seen.judgement and seen.same_as is None
    ]  # fmt: skip
    judged = [seen for seen in tried if seen.judgement and seen.judgement.stage == "smoke"]
    bare_s = [_time_by_hand(bench, seen.commit.hex) for seen in judged]
    # A commit that can't be installed has no smoke test to compare: only whole probes count here.
    probe_s = [seen.seconds for seen in judged]
    inside_s = _read_times(times)
    all_s = sum(seen.seconds for seen in tried)
    return Ratios(
        candidates=effort["candidates"],
        probes=effort["probes"] - effort["end_probes"],
        probes_to_least=(effort["probes"] - effort["end_probes"]) / max(1, effort["least"]),
        probe_to_bare=statistics.mean(probe_s) / statistics.mean(bare_s),
        run_to_bare=whole_s / len(tried) / statistics.mean(bare_s),
        overhead=max(0.0, 1 - inside_s / all_s),
    )


def _timed(command: str, times: Path, word: str) -> str:
    """A command for ``sh -c`` that also writes down how many nanoseconds it took."""
    record = f'echo "{word} $(($(date +%s%N) - t))" >>{shlex.quote(str(times))}'
    return f"t=$(date +%s%N); {command}; c=$?; {record}; exit $c"


def _write_timed_uv(bench: Bench, times: Path) -> Path:
    """A uv that writes down its time when it syncs."""
    program = bench.scratch / "timed-uv"
    real = shlex.quote(str(bench.uv))
    sync = _timed(f'{real} "$@"', times, "sync")
    # `sync --check` is envtrack's own question, no part of the installing.
    program.write_text(
        f'#!/bin/sh\ncase " $* " in *" --check "*) ;; " sync "*) {sync} ;; esac\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    return program


def _read_times(times: Path) -> float:
    """Seconds inside ``uv sync`` and the smoke test, all together."""
    lines = times.read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines) / _NANO


def _time_by_hand(bench: Bench, commit: str) -> float:
    """Seconds of ``uv sync --locked`` and the smoke test at a commit, in a fresh environment."""
    with tempfile.TemporaryDirectory(dir=bench.scratch, prefix="by-hand-") as name:
        tree, env = Path(name) / "tree", Path(name) / "env"
        bench.run("git", "worktree", "add", "--detach", "--quiet", str(tree), commit)
        try:
            # The smoke test as it is today, as envtrack takes it.
            (tree / "smoke.py").write_bytes((bench.repo / "smoke.py").read_bytes())
            begun = time.monotonic()
            more = {"UV_PROJECT_ENVIRONMENT": str(env)}
            bench.run(str(bench.uv), "sync", "--locked", "--no-progress", cwd=tree, **more)
            run(
                (str(env / "bin" / "python"), *_SMOKE.split()[1:]),
                timeout_s=_TIMEOUT_S,
                env=bench.environ,
                cwd=tree,
                check=False,
            )
            return time.monotonic() - begun
        finally:
            bench.run("git", "worktree", "remove", "--force", str(tree))


def _find_middle(runs: Sequence[Ratios]) -> Ratios:
    def middle(values: Sequence[float]) -> float:
        return round(statistics.median(values), 3)

    first = runs[0]
    return Ratios(
        candidates=first.candidates,
        probes=first.probes,
        probes_to_least=middle([one.probes_to_least for one in runs]),
        probe_to_bare=middle([one.probe_to_bare for one in runs]),
        run_to_bare=middle([one.run_to_bare for one in runs]),
        overhead=middle([one.overhead for one in runs]),
    )


def _render(ratios: Ratios) -> str:
    return "\n".join(
        (
            f"{ratios.candidates} candidates, {ratios.probes} probes between the ends",
            f"probes / least     {ratios.probes_to_least:.2f}",
            f"probe / bare       {ratios.probe_to_bare:.2f}",
            f"run / bare         {ratios.run_to_bare:.2f}",
            f"overhead           {ratios.overhead:.0%}",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
