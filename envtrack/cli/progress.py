"""What is shown on stderr while a search runs."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.model.verdict import Observation
from envtrack.probe.crossing import read_crossings
from envtrack.report.plain import show_plain

if TYPE_CHECKING:
    from envtrack.bisect.rig import Rig
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid

_TAIL_LINES = 3
_BETWEEN_LOOKS_S = 0.25


class Progress:
    """One line for every verdict as it falls; on a terminal also what is going on just now.

    Attributes:
        is_verbose: the end of the running probe's log is shown too.
        names: what is probed, in words, where that is no commit; whoever tries it says so here.
        has_ends: whether the ends of the session are those of a search.
    """

    def __init__(
        self,
        repository: Repository,
        *,
        is_verbose: bool,
        has_ends: bool = True,
    ) -> None:
        self.is_verbose = is_verbose
        self.has_ends = has_ends
        self.names: dict[Oid, str] = {}
        self._repository = repository
        self._said: set[int] = set()
        self._told = 0
        self._is_terminal = sys.stderr.isatty()
        self._has_status = False
        self._shown_tail = ""
        self._next_look = 0.0

    def __call__(self, rig: Rig) -> None:
        """Looks at the session and says what is new."""
        observations = rig.store.list(rig.plan.id)
        new = [seen for seen in observations if seen.judgement and seen.id not in self._said]
        self._said.update(seen.id for seen in new)
        for seen in new:
            if not _is_installed_alike(seen):
                self._say_verdict(seen, rig)
        if alike := [seen for seen in new if _is_installed_alike(seen)]:
            self._clear()
            line = f"  [=] {len(alike)} more with an environment that can't be installed: skipped"
            print(line, file=sys.stderr, flush=True)
        # A run's last verdict must not fall into the gap between two looks: only the rest waits.
        if time.monotonic() < self._next_look:
            return
        if self._is_terminal or self.is_verbose:
            self._say_running(next((s for s in observations if s.judgement is None), None))
        self._next_look = time.monotonic() + _BETWEEN_LOOKS_S

    def finish(self) -> None:
        """Leaves a clean line behind."""
        self._clear()

    def _say_verdict(self, seen: Observation, rig: Rig) -> None:
        if seen.judgement is None:
            return
        self._clear()
        self._told += seen.same_as is None
        number = f"[{self._told}]" if seen.same_as is None else "[=]"
        line = f"{number:>5} {seen.commit.short}  {seen.judgement.verdict:<10}"
        line += f" {seen.seconds:6.1f} s  {self._name(seen.commit, rig)}"
        if seen.same_as is not None:
            line += f"  (the same environment and code as {seen.same_as.short})"
        elif seen.judgement.verdict not in ("good", "bad") or self.is_verbose:
            line += f"  ({seen.judgement.reason})"
        line += self._say_rest(rig, seen)
        print(show_plain(line), file=sys.stderr, flush=True)

    def _name(self, subject: Oid, rig: Rig) -> str:
        if rig.plan.is_composed:
            return self.names.get(subject, "")
        if crossing := read_crossings(rig.files).get(subject):
            return f"code of {crossing.code.short} in the environment of {crossing.env.short}"
        ends = {rig.plan.good: "good end: ", rig.plan.bad: "bad end: "} if self.has_ends else {}
        role = ends.get(subject.hex, "")
        return f"{role}{self._repository.read_commit(subject).subject}"

    def _say_rest(self, rig: Rig, seen: Observation) -> str:
        from envtrack.bisect.git_search import count_steps_left

        steps = None if rig.plan.is_composed else count_steps_left(rig)
        if not steps:
            return ""
        times = [s.seconds for s in rig.store.list(rig.plan.id) if s.judgement and not s.same_as]
        mean = sum(times) / len(times) if times else seen.seconds
        return f"  · about {steps} left, {_say_duration(steps * mean)}"

    def _say_running(self, running: Observation | None) -> None:
        if running is None:
            return
        log = Path(running.log)
        stage = "smoke test" if (log / "smoke.log").exists() else "uv sync"
        if self._is_terminal:
            seconds = time.time() - running.started_at
            text = f"      {running.commit.short}  {stage} … {seconds:.0f} s"
            columns = shutil.get_terminal_size().columns
            print(f"\r\x1b[K{show_plain(text)[: columns - 1]}", end="", file=sys.stderr, flush=True)
            self._has_status = True
        if self.is_verbose:
            self._say_tail(log)

    def _say_tail(self, log: Path) -> None:
        for name in ("smoke.log", "sync.log"):
            path = log / name
            if path.is_file() and path.stat().st_size:
                lines = path.read_text("utf-8", "backslashreplace").splitlines()[-_TAIL_LINES:]
                tail = "".join(f"        | {show_plain(line)}\n" for line in lines)
                if tail != self._shown_tail:
                    self._clear()
                    print(tail, end="", file=sys.stderr, flush=True)
                    self._shown_tail = tail
                return

    def _clear(self) -> None:
        if self._has_status:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._has_status = False


def _is_installed_alike(seen: Observation) -> bool:
    """Whether it was never looked at: its environment can't be installed, as is known."""
    return seen.same_as is not None and seen.judgement is not None and not seen.log


def _say_duration(seconds: float) -> str:
    if seconds < 90:  # noqa: PLR2004 - up to here seconds are easier to grasp than minutes
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min"
