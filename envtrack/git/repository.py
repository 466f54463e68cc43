"""A repository: where it is, what its revisions are, what they hold."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.errors import CommandFailed, ToolMissing, UsageProblem
from envtrack.git.environ import elsewhere, here
from envtrack.model.completed import Completed
from envtrack.model.oid import Commit, Oid
from envtrack.process import run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from git import Repo

_TIMEOUT_S = 120.0
# `rev-parse --path-format` came with 2.31.
_OLDEST_GIT = (2, 31)
_PLACES = ("--is-bare-repository", "--git-dir", "--git-common-dir", "--show-toplevel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """One repository, seen from one of its working trees.

    Attributes:
        root: the working tree's top level; in a bare repository its git folder.
        git_dir: this working tree's git folder.
        common_dir: the git folder that all working trees share.
        is_bare: it has no working tree.
        environ: the environment in which we were called.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    is_bare: bool
    environ: Mapping[str, str]

    def git(
        self,
        *arguments: str,
        check: bool = True,
        stdin: bytes = b"",
        timeout_s: float = _TIMEOUT_S,
    ) -> Completed:
        """A git command in this repository, in the environment that its hooks gave us.

        Raises:
            CommandFailed: it failed and `check` is set.
        """
        return run(
            ("git", *arguments),
            timeout_s=timeout_s,
            env=here(self.environ),
            cwd=self.root,
            stdin=stdin,
            check=check,
        )

    @property
    def is_shallow(self) -> bool:
        """Whether history was cut off when it was cloned."""
        return (self.common_dir / "shallow").exists()

    def find_commit(self, revision: str) -> Oid | None:
        """The commit that a revision names, or ``None``."""
        if not revision or revision.startswith("-"):
            return None
        done = self.git(
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{revision}^{{commit}}",
            check=False,
        )
        return Oid(done.line.strip()) if done.code == 0 else None

    def get_commit(self, revision: str) -> Oid:
        """The commit that a revision names.

        Raises:
            UsageProblem: it names none.
        """
        found = self.find_commit(revision)
        if found is not None:
            return found
        hint = "`git log --oneline` lists the revisions"
        if self.is_shallow:
            hint = "this clone is shallow; `git fetch --unshallow` brings the rest of the history"
        raise UsageProblem(f"`{revision}` names no commit in this repository", hint=hint)

    def read_commit(self, oid: Oid) -> Commit:
        """What is said of a commit."""
        commit = self._library().commit(oid.hex)
        raw = commit.summary
        subject = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
        return Commit(
            oid=oid,
            parents=tuple(Oid(parent.hexsha) for parent in commit.parents),
            subject=subject,
            author=commit.author.name or "",
            authored_at=commit.authored_datetime.isoformat(),
        )

    def is_ancestor(self, older: Oid, newer: Oid) -> bool:
        """Whether `older` can be reached from `newer`; a commit is its own ancestor."""
        done = self.git("merge-base", "--is-ancestor", older.hex, newer.hex, check=False)
        if done.code in (0, 1):
            return done.code == 0
        raise CommandFailed(done.command, done.code, done.error_text)

    def find_merge_base(self, one: Oid, other: Oid) -> Oid | None:
        """The best common ancestor, or ``None`` where histories have nothing in common."""
        done = self.git("merge-base", one.hex, other.hex, check=False)
        return Oid(done.line.strip()) if done.code == 0 else None

    def list_commits(self, good: Oid, bad: Oid, paths: Sequence[str] = ()) -> tuple[Oid, ...]:
        """The commits that `bad` has and `good` has not, oldest first; those on `paths` if given.

        The same commits that ``git bisect start bad good -- paths`` chooses from.
        """
        pathspecs = [f":(top,literal){path}" for path in paths]
        separator = ("--", *pathspecs) if pathspecs else ("--",)
        done = self.git(
            "rev-list", "--reverse", "--topo-order", bad.hex, f"^{good.hex}", *separator
        )
        return tuple(Oid(line) for line in done.text.split())

    def find_blob(self, commit: Oid, path: str) -> Oid | None:
        """The blob at a path (relative to the top level, forward slashes), or ``None``."""
        done = self.git(
            "--literal-pathspecs",
            "ls-tree",
            "-z",
            "--full-tree",
            commit.hex,
            "--",
            path,
            check=False,
        )
        for row in done.fields:
            head, _, name = row.partition("\t")
            mode, kind, oid = head.split(" ")
            if name == path and kind == "blob" and mode != "120000":
                return Oid(oid)
        return None

    def read_blob(self, blob: Oid) -> bytes:
        """A blob's content."""
        return self.git("cat-file", "blob", blob.hex).stdout

    def read_file(self, commit: Oid, path: str) -> bytes | None:
        """A file's content in a commit, or ``None`` where there is no such file."""
        blob = self.find_blob(commit, path)
        return None if blob is None else self.read_blob(blob)

    def list_files(self, commit: Oid) -> tuple[str, ...]:
        """All paths of a commit's tree, relative to the top level."""
        return self.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit.hex).fields

    def _library(self) -> Repo:
        from git import Repo

        # A folder may well be called `$HOME`; GitPython 3.2 still takes it for a variable where it
        # starts git.
        made = Repo(self.git_dir if self.is_bare else self.root, expand_vars=False)
        made.git._working_dir = str(self.root)  # noqa: SLF001 - there is no other way in
        return made


def open_repository(start: Path, environ: Mapping[str, str]) -> Repository:
    """The repository around a folder.

    Raises:
        UsageProblem: there is none, or git does not trust it (another owner).
        ToolMissing: git is missing or too old.
    """
    if not start.is_dir():
        raise UsageProblem(f"{start}: there is no such folder")

    def ask(*arguments: str, check: bool = True) -> Completed:
        return run(
            ("git", "rev-parse", "--path-format=absolute", *arguments),
            timeout_s=_TIMEOUT_S,
            env=here(environ),
            cwd=start,
            check=check,
        )

    return _find_at_once(ask, environ) or _find_one_by_one(ask, start, environ)


def _find_at_once(ask: Callable[..., Completed], environ: Mapping[str, str]) -> Repository | None:
    """The repository by one question: three processes less in every hook.

    ``None`` where the answer is not clear: a path with a line feed in it, a bare repository, a git
    too old to know the question (it says the option back as a line), none at all.
    """
    said = ask(*_PLACES, check=False)
    lines = os.fsdecode(said.stdout).split("\n")[:-1]
    if said.code != 0 or len(lines) != len(_PLACES) or lines[0] != "false":
        return None
    _, git_dir, common_dir, root = lines
    return Repository(
        root=Path(root),
        git_dir=Path(git_dir),
        common_dir=Path(common_dir),
        is_bare=False,
        environ=environ,
    )


def _find_one_by_one(
    ask: Callable[..., Completed], start: Path, environ: Mapping[str, str]
) -> Repository:
    require_git(environ)
    found = ask("--git-dir", check=False)
    if found.code != 0:
        raise _no_repository(start, found.error_text)
    is_bare = ask("--is-bare-repository").line == "true"
    git_dir = Path(found.line)
    return Repository(
        root=git_dir if is_bare else Path(ask("--show-toplevel").line),
        git_dir=git_dir,
        common_dir=Path(ask("--git-common-dir").line),
        is_bare=is_bare,
        environ=environ,
    )


def _no_repository(start: Path, said: str) -> UsageProblem:
    if "dubious ownership" in said:
        return UsageProblem(
            f"{start}: git does not trust this repository, another user owns it",
            hint="`git config --global --add safe.directory <its path>` if you trust it",
        )
    return UsageProblem(f"{start}: not inside a git repository", hint="`git init` makes one")


def require_git(environ: Mapping[str, str]) -> None:
    """Makes sure that git is there and new enough.

    Raises:
        ToolMissing: it is not.
    """
    said = run(("git", "--version"), timeout_s=20, env=elsewhere(environ)).text
    numbers = re.search(r"(\d+)\.(\d+)", said)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < _OLDEST_GIT:
        wanted = ".".join(map(str, _OLDEST_GIT))
        raise ToolMissing(f"{said.strip() or 'git'} is too old: {wanted} or newer is needed")
