"""Searches on real git histories whose probes are looked up: hundreds in the time of one real one.

Everything is real but the probe itself: git, the worktree's `git bisect`, the session's search, its
store. What ``git bisect run`` does with the script's exit code is done here.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from envtrack.bisect.rig import Rig
from envtrack.bisect.search import Found, search
from envtrack.git.repository import Repository, open_repository
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.crossing import Crossing
from envtrack.probe.plan import Plan, SessionFiles
from envtrack.probe.step import CROSSING, FRESH
from envtrack.probe.store import Store
from envtrack.probe.tree import Tree

_STAGES = {Verdict.UNTESTABLE: ("sync", "lock-corrupt"), Verdict.ABORTED: ("rig", "rig")}
CORRUPT = "this is no lockfile"


class Step(NamedTuple):
    """One commit of a simulated history.

    Attributes:
        env: what its lockfile holds.
        code: what its code holds.
    """

    env: str
    code: str


class World(NamedTuple):
    """What a probe would say.

    Attributes:
        verdicts: by environment and code.
        default: what is said of all others.
    """

    verdicts: Mapping[Step, Verdict]
    default: Verdict = Verdict.GOOD

    def judge(self, step: Step) -> Verdict:
        """The verdict on an environment with a code."""
        return self.verdicts.get(step, self.default)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRig(Rig):
    """A rig that looks its probes up.

    Attributes:
        steps: what each commit holds.
        world: what is said of that.
        aborts: numbers of the probes, counted from 0, at which the rig fails.
        tried: how often each environment with a code was really tried.
    """

    steps: Mapping[Oid, Step]
    world: World
    aborts: set[int] = field(default_factory=set)
    tried: Counter[Step] = field(default_factory=Counter)

    def run(self, *command: str, more: Mapping[str, str] | None = None) -> int:
        if "bisect" not in command:
            asked = more or {}
            return self._probe(asked.get(CROSSING, ""), is_fresh=FRESH in asked)
        while True:
            code = self._probe("")
            if code not in (0, 1):
                return 200 if code == 125 else 128
            word = "bad" if code else "good"
            self.tree.git("--no-literal-pathspecs", "bisect", word, check=False)
            path = self.tree.git("rev-parse", "--git-path", "BISECT_LOG").line
            log = (self.tree.top / path).read_text()
            if "first bad commit" in log:
                return 0
            if not self.tree.git("rev-list", "-1", "refs/bisect/bad", *self._goods(), "--",
                                 *self._names()).text:  # fmt: skip
                return 4

    def _goods(self) -> Sequence[str]:
        done = self.tree.git("for-each-ref", "--format=^%(objectname)", "refs/bisect/good-*")
        return done.text.split()

    def _names(self) -> Sequence[str]:
        path = self.tree.git("rev-parse", "--git-path", "BISECT_NAMES").line
        has_names = (self.tree.top / path).read_text().strip()
        return self.plan.paths if has_names else ()

    def _probe(self, crossing: str, *, is_fresh: bool = False) -> int:
        head = self.tree.read_head()
        step, subject = self.steps[head], head
        if crossing:
            crossed = Crossing.parse(crossing)
            step = Step(env=self.steps[crossed.env].env, code=self.steps[crossed.code].code)
            subject = crossed.name
        known = self.store.find_known(self.plan.id, subject)
        if not is_fresh and known is not None and known.judgement is not None:
            return known.judgement.verdict.bisect_code
        key = f"{step.env}\0{step.code}"
        number = len(self.store.list(self.plan.id))
        probe = self.store.begin(self.plan.id, subject, log=self.files.logs / "none", at=0.0)
        self.store.set_key(probe, key)
        same = self.store.find_same(self.plan.id, key)
        if not is_fresh and same is not None and same.judgement is not None:
            self.store.finish(probe, same.judgement, seconds=0.0, same_as=same.commit)
            return same.judgement.verdict.bisect_code
        verdict = self.world.judge(step)
        if number in self.aborts:
            self.aborts.remove(number)
            verdict = Verdict.ABORTED
        else:
            self.tried[step] += 1
        stage, kind = _STAGES.get(verdict, ("smoke", "exit"))
        judgement = Judgement(verdict=verdict, stage=stage, kind=kind, reason=f"it is {verdict}")
        self.store.finish(probe, judgement, seconds=0.0)
        return verdict.bisect_code


class Lab(NamedTuple):
    """A simulated history and the session on it."""

    rig: SimulatedRig
    repository: Repository
    commits: tuple[Oid, ...]

    def search(self) -> Found:
        """What the real search comes to."""
        return search(self.rig, self.repository)

    def read_log(self) -> str:
        """The bisect log as the session keeps it."""
        return self.rig.files.bisect_log.read_text()


@contextmanager
def simulate(
    folder: Path, steps: Sequence[Step], world: World, *, aborts: set[int] | None = None,
    **settings: object,
) -> Iterator[Lab]:  # fmt: skip
    """A linear history of these steps; the first is the good end, the last the bad one."""
    commits = _build(folder / "repo", steps)
    repository = open_repository(folder / "repo", dict(os.environ))
    top = folder / "tree"
    repository.git("worktree", "add", "--quiet", "--detach", str(top), commits[0].hex)
    git_dir = Path(repository.git("-C", str(top), "rev-parse", "--absolute-git-dir").line)
    files = SessionFiles(repository.common_dir / "envtrack" / "sessions" / "simulated")
    files.folder.mkdir(parents=True)
    files.script.touch()
    plan = Plan.of(**{"trust_ends": False, "machine": "testbed", **settings})
    plan = _fill_in(plan, repository, commits)
    yield Lab(
        SimulatedRig(
            plan=plan,
            files=files,
            store=Store(files.store),
            tree=Tree(top=top, environ=dict(os.environ), own_git_dir=git_dir),
            environ=dict(os.environ),
            keep_fds=(),
            watcher=lambda _rig: None,
            steps=dict(zip(commits, steps, strict=True)),
            world=world,
            aborts=aborts or set(),
        ),
        repository,
        commits,
    )


def _fill_in(plan: Plan, repository: Repository, commits: Sequence[Oid]) -> Plan:
    from dataclasses import replace

    return replace(
        plan,
        id="simulated",
        root=str(repository.root),
        common_dir=str(repository.common_dir),
        lockfile="uv.lock",
        paths=("uv.lock",),
        good=commits[0].hex,
        bad=commits[-1].hex,
    )


def _build(path: Path, steps: Sequence[Step]) -> tuple[Oid, ...]:
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(path)], check=True)
    stream = b""
    for number, step in enumerate(steps, start=1):
        stream += b"commit refs/heads/main\nmark :%d\ncommitter A <a@example.org> %d +0000\n" % (
            number, 1_767_000_000 + number,
        )  # fmt: skip
        message = str(number).encode()
        stream += b"data %d\n%s\n" % (len(message), message)
        # A counter, so that there is a commit even where nothing else moves.
        for name, text in (("uv.lock", step.env), ("code", step.code), ("n", str(number))):
            content = text.encode()
            stream += b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(content), content)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=path, input=stream, check=True)
    subprocess.run(["git", "symbolic-ref", "HEAD", "refs/heads/main"], cwd=path, check=True)
    subprocess.run(["git", "reset", "--quiet", "--hard"], cwd=path, check=True)
    listed = subprocess.run(
        ["git", "rev-list", "--reverse", "main"],
        cwd=path, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return tuple(map(Oid, listed.stdout.split()))
