"""A tree of our own in which uv locks."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from envtrack.bisect.rig import bring_neighbours
from envtrack.errors import RigFailed
from envtrack.files import lock_file, remove_tree
from envtrack.git.environ import without_git
from envtrack.git.worktree import add_worktree, cache_folder, find_worktree, remove_worktree
from envtrack.model.verdict import Verdict
from envtrack.probe.tree import Tree
from envtrack.process import run
from envtrack.split.state import Locked, State
from envtrack.uv import judge_sync_failure

if TYPE_CHECKING:
    from pathlib import Path

    from envtrack.git.repository import Repository
    from envtrack.model.completed import Completed
    from envtrack.model.oid import Oid

_TIMEOUT_S = 1800.0
_WAIT_FOR_EARLIER_S = 30.0
# What uv says when it would have to ask an index and may not (seen with uv 0.13.9).
_NOT_CACHED = re.compile(
    r"network connectivity is disabled|the network was disabled|was not found in the cache",
    re.IGNORECASE,
)
# A folder of wheels, or a file that a lockfile names, is not there: that says nothing of a state.
_GONE = re.compile(r"no such file or directory \(os error 2\)", re.IGNORECASE)
_PREAMBLE = re.compile(
    r"^(error: )?(No solution found when resolving dependencies[^:]*?:? )?(cause: )?"
)
_LONGEST = 600


class Bench(NamedTuple):
    """With what uv locks.

    Attributes:
        uv: its executable.
        python: the interpreter that is asked for; empty: what the project says.
        lockfile: its path from the top level.
    """

    uv: str
    python: str
    lockfile: str


class Scratch:
    """A worktree whose project files and lockfile are written for each trial."""

    def __init__(self, tree: Tree, bench: Bench, root: Path) -> None:
        self._tree = tree
        # Of an index that is a folder uv writes down where it is, and not only how to get there
        # (seen with uv 0.13.9: `requires-dist`). The longer one first.
        self._places = tuple(
            (f'"{users.as_uri()}/', f'"{ours.as_uri()}/')
            for users, ours in ((root, tree.top), (root.parent, tree.top.parent))
        )
        self._top = tree.top
        self._bench = bench
        self._environ = without_git(tree.environ)

    def __call__(
        self, wanted: State, *, pins: tuple[str, ...] = (), offline: bool
    ) -> Locked | None:
        """See `envtrack.split.state.Locks`."""
        if not offline and self._environ.get("UV_OFFLINE"):
            return None
        for path, text in wanted.projects.items():
            self._write(path, text)
        self._write_lock(wanted.text)
        done = self._lock(*(f"--upgrade-package={pin}" for pin in pins), offline=offline)
        if done.code == 0:
            # What was just written has to pass for what `uv sync --locked` takes.
            done = self._lock("--check", offline=offline)
        if done.code == 0:
            return Locked(self._read_lock())
        said = done.text + done.error_text
        if offline and _NOT_CACHED.search(said) and not self._environ.get("UV_OFFLINE"):
            return None
        self._require_answer(done, said)
        return Locked("", _tell(said))

    def find_fault(self, commit: Oid) -> str:
        """Why uv does not take a commit's lockfile as it is; empty if it does.

        Raises:
            RigFailed: the network, the disk or uv itself failed.
        """
        self.start_from(commit)
        done = self._lock("--check", offline=True)
        if done.code != 0 and not self._environ.get("UV_OFFLINE"):
            done = self._lock("--check", offline=False)
        if done.code == 0:
            return ""
        said = done.text + done.error_text
        self._require_answer(done, said)
        return _tell(said)

    def start_from(self, commit: Oid) -> None:
        """Lays a commit's tree out; the states are written into it."""
        self._tree.scour(commit)
        if (self._top / self._bench.lockfile).is_file():
            self._write_lock((self._top / self._bench.lockfile).read_text("utf-8"))

    def _require_answer(self, done: Completed, said: str) -> None:
        judgement = judge_sync_failure(said, done.code)
        is_rigs = judgement.verdict is Verdict.ABORTED
        if is_rigs or _NOT_CACHED.search(said) or _GONE.search(said):
            reason = judgement.reason if is_rigs else _tell(said)
            raise RigFailed(
                f"uv could not lock, and nothing was changed: {reason}",
                hint="try again when the index can be reached",
            )

    def _write(self, path: str, text: str) -> None:
        target = self._top / path
        remove_tree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="")

    def _write_lock(self, text: str) -> None:
        for users, ours in self._places:
            text = text.replace(users, ours)
        self._write(self._bench.lockfile, text)

    def _read_lock(self) -> str:
        text = (self._top / self._bench.lockfile).read_text("utf-8")
        for users, ours in self._places:
            text = text.replace(ours, users)
        return text

    def _lock(self, *more: str, offline: bool) -> Completed:
        options = [*more, *(["--offline"] if offline else [])]
        options += [f"--python={self._bench.python}"] if self._bench.python else []
        return run(
            (self._bench.uv, "lock", "--no-progress", "--color=never", *options),
            timeout_s=_TIMEOUT_S,
            env=self._environ,
            cwd=(self._top / self._bench.lockfile).parent,
            check=False,
        )


def _tell(said: str) -> str:
    """What uv gives as its reason, in one line."""
    lines = [re.sub(r"^[\s×│├╰─▶]+", "", line) for line in said.splitlines()]
    told = [
        line
        for line in lines
        if line and not line.startswith(("Using CPython", "Resolved ", "warning:", "hint:"))
    ]
    text = _PREAMBLE.sub("", " ".join(told))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@contextlib.contextmanager
def open_scratch(
    repository: Repository, base: Oid, bench: Bench, *, neighbours: tuple[str, ...]
) -> Iterator[Scratch]:
    """A scratch tree at a commit; it goes away again, also one that was left by a crash.

    Raises:
        RigFailed: another split is running in this repository, or no worktree can be made.
    """
    folder = repository.common_dir / "envtrack"
    marker = folder / "split.json"
    wait_s = _WAIT_FOR_EARLIER_S if marker.exists() else 0.0
    busy = "another `envtrack split` is running in this repository"
    with lock_file(folder / "split.lock", wait_s=wait_s, busy=busy) as lock:
        earlier = find_worktree(repository, marker)
        if earlier is not None:
            remove_worktree(earlier, marker=marker)
        name = f"split-{secrets.token_hex(4)}"
        made = add_worktree(
            repository,
            base,
            folder=cache_folder(repository.environ, repository.root) / "worktrees" / name,
            name=f"envtrack-{name}",
            marker=marker,
            keep_fds=(lock,),
        )
        try:
            bring_neighbours(repository.root, neighbours, made)
            tree = Tree(top=made.tree, environ=repository.environ, own_git_dir=made.admin)
            yield Scratch(tree, bench, repository.root)
        finally:
            remove_worktree(made, marker=marker)
