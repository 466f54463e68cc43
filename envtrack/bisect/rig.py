"""A worktree in which the session's script runs: under ``git bisect run``, or for one commit."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from envtrack.errors import RigFailed
from envtrack.files import lock_file, write_whole
from envtrack.git.environ import without_git
from envtrack.git.repository import Repository
from envtrack.git.worktree import (
    Worktree,
    add_worktree,
    cache_folder,
    find_worktree,
    remove_worktree,
)
from envtrack.model.oid import Oid
from envtrack.model.verdict import Observation, Verdict
from envtrack.probe.bounded import LIFELINE
from envtrack.probe.composed import name_composed
from envtrack.probe.crossing import Crossing, keep_crossing, read_crossings
from envtrack.probe.leftovers import end_leftovers
from envtrack.probe.plan import Plan, SessionFiles
from envtrack.probe.step import CROSSING, FRESH, GIT_FOLDER, SCRATCH
from envtrack.probe.store import Store
from envtrack.probe.tree import Tree
from envtrack.process import Child, undisturbed

_POLL_S = 0.1
# How long an earlier run's processes may take to notice that their driver is gone.
_WAIT_FOR_EARLIER_S = 30.0

Watcher = Callable[["Rig"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """Everything a running session holds.

    Attributes:
        plan: its plan.
        files: its files.
        store: the verdicts.
        tree: the worktree.
        environ: the environment of the script.
        keep_fds: descriptors that every process of the run inherits: while one of them lives the
            session is locked, and when we are gone they notice.
        watcher: is called while something runs, several times a second.
    """

    plan: Plan
    files: SessionFiles
    store: Store
    tree: Tree
    environ: Mapping[str, str]
    keep_fds: tuple[int, ...]
    watcher: Watcher

    def probe(self, commit: Oid, *, fresh: bool = False) -> Observation:
        """The verdict of one commit, from the store or by a trial.

        Args:
            commit: which.
            fresh: try it, whatever is known of it.

        Raises:
            RigFailed: the rig failed; nothing is said about the commit.
        """
        before = self.store.find_known(self.plan.id, commit)
        if before is not None and not fresh:
            return before
        self.tree.git("checkout", "--quiet", "--force", "--detach", commit.hex)
        self.run("sh", str(self.files.script), more={FRESH: "1"} if fresh else {})
        known = self.store.find_known(self.plan.id, commit)
        if known is None or (before is not None and known.id == before.id):
            raise self.failure()
        return known

    def probe_crossing(self, crossing: Crossing) -> Observation:
        """The verdict of one commit's code in another one's environment.

        Raises:
            RigFailed: the rig failed; nothing is said about it.
        """
        keep_crossing(self.files, crossing)
        if (known := self.store.find_known(self.plan.id, crossing.name)) is not None:
            return known
        self.tree.git("checkout", "--quiet", "--force", "--detach", crossing.code.hex)
        self.run("sh", str(self.files.script), more={CROSSING: str(crossing)})
        known = self.store.find_known(self.plan.id, crossing.name)
        if known is None:
            raise self.failure()
        return known

    def list_seen(self) -> tuple[Observation, ...]:
        """The finished probes of commits as they are, in order."""
        crossings = read_crossings(self.files)
        return tuple(
            seen
            for seen in self.store.list(self.plan.id)
            if seen.judgement is not None and seen.commit not in crossings
        )

    def name_composed(self, text: str) -> Oid:
        """The name under which verdicts on a composed lockfile are kept; it is the next to try."""
        write_whole(self.files.composed, text)
        return name_composed(self.tree, self.files)

    def probe_composed(self, text: str, *, fresh: bool = False) -> Observation:
        """The verdict of a composed lockfile in the tree of the bad end.

        Args:
            text: the lockfile.
            fresh: try it, whatever is known of it.

        Raises:
            RigFailed: the rig failed; nothing is said about the lockfile.
        """
        name = self.name_composed(text)
        before = self.store.find_known(self.plan.id, name)
        if before is not None and not fresh:
            return before
        self.tree.git("checkout", "--quiet", "--force", "--detach", self.plan.bad)
        more = {FRESH: "1"} if fresh else {}
        self.run("sh", str(self.files.script), more=more)
        known = self.store.find_known(self.plan.id, name)
        if known is None or (before is not None and known.id == before.id):
            raise self.failure()
        return known

    def failure(self) -> RigFailed:
        """What went wrong, by the last thing that the run said."""
        observed = self.store.list(self.plan.id)
        last = observed[-1] if observed else None
        hint = f"all is kept: `envtrack bisect resume {self.plan.id}` goes on from here"
        if last and last.judgement and last.judgement.verdict is Verdict.ABORTED:
            return RigFailed(
                f"stopped at {last.commit.short}, nothing is concluded about it: "
                f"{last.judgement.reason}",
                hint=f"logs: {last.log}\n  {hint}",
            )
        return RigFailed(
            f"git bisect stopped: {_last_line(self.files.git_log)}",
            hint=f"log: {self.files.git_log}\n  {hint}",
        )

    def run(self, *command: str, more: Mapping[str, str] | None = None) -> int:
        """The exit code of a command in the worktree; what it says goes into the session's log.

        Args:
            command: the script, or a git that runs it.
            more: is added to its environment.
        """
        with Child(
            command,
            env={**self.environ, **(more or {})},
            cwd=self.tree.top,
            output=self.files.git_log,
            keep_fds=self.keep_fds,
        ) as child:
            while (code := child.wait(_POLL_S)) is None:
                self.watcher(self)
        self.watcher(self)
        return code


@contextlib.contextmanager
def open_rig(
    repository: Repository, plan: Plan, files: SessionFiles, *, watcher: Watcher
) -> Iterator[Rig]:
    """A rig; its worktree goes away with it, unless the plan keeps it.

    Raises:
        RigFailed: another process runs this session, or no worktree can be made.
    """
    busy = f"session {plan.id} is running in another process"
    wait_s = _WAIT_FOR_EARLIER_S if files.worktree.exists() else 0.0
    with (
        # Held by the driver alone, so that a run that goes on elsewhere is told at once from what
        # a killed one has left behind.
        lock_file(files.driver_lock, wait_s=0, busy=busy),
        lock_file(files.lock, wait_s=wait_s, busy=busy) as lock,
        _lifeline() as lifeline,
    ):
        end_leftovers(files.logs)
        store = Store(files.store)
        store.forget_unfinished(plan.id)
        earlier = find_worktree(repository, files.worktree)
        if earlier is not None:
            remove_worktree(earlier, marker=files.worktree)
        try:
            worktree = _make_worktree(repository, plan, files, keep_fds=(lock,))
            environ = {
                **without_git(repository.environ),
                LIFELINE: str(lifeline),
                SCRATCH: str(worktree.folder),
                GIT_FOLDER: str(worktree.admin),
            }
            yield Rig(
                plan=plan,
                files=files,
                store=store,
                tree=Tree(
                    top=worktree.tree,
                    environ=repository.environ,
                    own_git_dir=worktree.admin,
                    keep_fds=(lock,),
                ),
                environ=environ,
                keep_fds=(lock, lifeline),
                watcher=watcher,
            )
        finally:
            _clear_away(repository, plan, files)


def _clear_away(repository: Repository, plan: Plan, files: SessionFiles) -> None:
    """Ends what may still run in the worktree, and removes it."""
    with undisturbed():
        end_leftovers(files.logs)
        # By its marker: an interruption can come before the worktree has a name here.
        worktree = find_worktree(repository, files.worktree)
        if worktree is not None and not plan.keep:
            remove_worktree(worktree, marker=files.worktree)


def _make_worktree(
    repository: Repository, plan: Plan, files: SessionFiles, *, keep_fds: tuple[int, ...]
) -> Worktree:
    # A name of its own for every run: whoever is left over from an earlier one can't be in it.
    run_name = f"{plan.id}-{secrets.token_hex(2)}"
    folder = cache_folder(repository.environ, repository.root) / "worktrees" / run_name
    made = add_worktree(
        repository,
        Oid(plan.bad),
        folder=folder,
        name=f"envtrack-{run_name}",
        marker=files.worktree,
        keep_fds=keep_fds,
    )
    bring_neighbours(Path(plan.root), plan.neighbours, made)
    return made


def bring_neighbours(root: Path, names: tuple[str, ...], worktree: Worktree) -> None:
    """Links what stands beside the user's repository to where the probe's tree looks for it."""
    for name in names:
        place, link = root.parent / name, worktree.folder / name
        if place.exists() and not os.path.lexists(link):
            link.symlink_to(place)


@contextlib.contextmanager
def _lifeline() -> Iterator[int]:
    """A pipe whose writing end only we hold: its reading end closes when we die, however we do."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(writing)
        os.close(reading)


def _last_line(path: Path) -> str:
    text = path.read_text("utf-8", "backslashreplace") if path.exists() else ""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
