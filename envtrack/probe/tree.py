"""The probe's tree: nothing of the last probe in it, the smoke test's files in it.

In the session's own worktree everything that is not committed is thrown away. In any other tree
(the script run by hand) nothing of the user's is touched: files are added where there are none, and
replaced only where git can bring them back.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envtrack.errors import CommandFailed, RigFailed
from envtrack.files import make_writable, remove_tree
from envtrack.git.environ import PLAIN, elsewhere
from envtrack.model.completed import Completed
from envtrack.model.oid import Oid
from envtrack.process import run

_TIMEOUT_S = 600.0
_GITLINK = "160000"
_GIT_LOCKS = ("index.lock", "HEAD.lock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A working tree with a commit checked out.

    Attributes:
        top: its top level.
        environ: our own environment.
        own_git_dir: the git folder of a linked worktree of our own; ``None`` for any other tree.
        keep_fds: descriptors that git inherits: a lock among them is held until git has ended, even
            if we are killed.
    """

    top: Path
    environ: Mapping[str, str]
    own_git_dir: Path | None = None
    keep_fds: tuple[int, ...] = ()

    def git(self, *arguments: str, check: bool = True, stdin: bytes = b"") -> Completed:
        """A git command in this tree, its hooks off, paths meant as they are written.

        Raises:
            CommandFailed: it failed and `check` is set.
        """
        place: tuple[str, ...] = ()
        if self.own_git_dir is not None:
            # Named, since a smoke test can remove the `.git` that points there: git would then take
            # the next repository above, and that is somebody's.
            place = (f"--git-dir={self.own_git_dir}", f"--work-tree={self.top}")
        done = run(
            ("git", *place, *PLAIN, "--literal-pathspecs", *arguments),
            timeout_s=_TIMEOUT_S,
            env=elsewhere(self.environ),
            cwd=self.top,
            stdin=stdin,
            check=False,
            keep_fds=self.keep_fds,
        )
        if check and done.code != 0:
            # What was asked for, not how we ask.
            raise CommandFailed(("git", *arguments), done.code, done.text + done.error_text)
        return done

    def read_head(self) -> Oid:
        """The commit that is checked out."""
        return Oid(self.git("rev-parse", "--verify", "HEAD^{commit}").line)

    def scour(self, commit: Oid) -> None:
        """Makes the tree exactly the commit again: only ever in a worktree of our own.

        Whatever a smoke test did to it with git, too: git bisect takes the commit that is checked
        out afterwards for the one that was judged.

        Raises:
            RigFailed: it is no tree of our own, or can't be brought back.
        """
        if self.own_git_dir is None:
            raise RigFailed(f"{self.top}: only a worktree of our own may be cleaned")
        for name in _GIT_LOCKS:
            # Of a git that was killed with the smoke test: nobody else works in this tree.
            (self.own_git_dir / name).unlink(missing_ok=True)
        pointer, said = self.top / ".git", f"gitdir: {self.own_git_dir}\n"
        if not pointer.is_file() or os.fsdecode(pointer.read_bytes()) != said:
            remove_tree(pointer)
            pointer.write_bytes(os.fsencode(said))
        try:
            self._restore(commit)
        except CommandFailed:
            # git gives up at folders without write permission; we may change that.
            make_writable(self.top)
            self._restore(commit)

    def _restore(self, commit: Oid) -> None:
        self.git("checkout", "--quiet", "--force", "--detach", commit.hex)
        if (self.top / ".gitmodules").is_file():
            # To git the inside of a submodule is somebody else's affair.
            for _, path in self.list_gitlinks():
                remove_tree(self.top / path)
                (self.top / path).mkdir(parents=True)
        self.git("clean", "-ffdxq")

    def list_gitlinks(self) -> tuple[tuple[Oid, str], ...]:
        """The submodules that the commit has: commit and path of each."""
        rows = (row.partition("\t") for row in self.git("ls-files", "--stage", "-z").fields)
        return tuple(
            (Oid(head.split(" ")[1]), path) for head, _, path in rows if head.startswith(_GITLINK)
        )

    def is_whole(self, path: str) -> bool:
        """Whether a file that the commit has is really there.

        git leaves out what is missing in a partial clone or outside a sparse checkout, and still
        ends in 0.
        """
        listed = self.git("ls-tree", "-z", "--full-tree", "HEAD", "--", path).fields
        return not listed or (self.top / path).exists()

    def hash_besides(self, *left_out: str) -> str:
        """A hash of all that is checked out but for some paths and envtrack's own records."""
        from hashlib import sha256

        from envtrack.model.paths import is_snapshot

        digest = sha256()
        for row in self.git("ls-files", "--stage", "--full-name", "-z").fields:
            path = row.partition("\t")[2]
            if path not in left_out and not is_snapshot(path):
                digest.update(os.fsencode(row) + b"\0")
        return digest.hexdigest()


def put_smoke_files(tree: Tree, source: Path, names: tuple[str, ...], *, ours: bool) -> list[str]:
    """Puts the smoke test's files in place; gives the names that must be taken back afterwards.

    Raises:
        RigFailed: in a tree that is not ours, one of them has changes of the user's.
    """
    placed = []
    for name in names:
        target = tree.top / name
        if target.is_file() and target.read_bytes() == (source / name).read_bytes():
            continue
        if not ours and target.exists() and not _is_clean(tree, name):
            raise RigFailed(
                f"{target}: has changes that git does not know", hint="run this in a clean worktree"
            )
        _make_room(tree.top, target, ours=ours)
        shutil.copy2(source / name, target)
        placed.append(name)
    return placed


def _make_room(top: Path, target: Path, *, ours: bool) -> None:
    """Makes the folder for a file; what this commit has in its place goes away.

    A link on the way there too: it could lead out of the tree.
    """
    for folder in reversed(target.relative_to(top).parents[:-1]):
        way = top / folder
        if way.is_symlink() or way.is_file():
            if not ours:
                raise RigFailed(f"{way}: stands in the way of {target.name}")
            remove_tree(way)
        way.mkdir(exist_ok=True)
    remove_tree(target)


def take_back(tree: Tree, names: Sequence[str]) -> None:
    """Undoes `put_smoke_files` in a tree that is not ours."""
    for name in names:
        if tree.git("cat-file", "-e", f"HEAD:{name}", check=False).code == 0:
            tree.git("checkout", "--quiet", "HEAD", "--", name)
        else:
            (tree.top / name).unlink(missing_ok=True)


def _is_clean(tree: Tree, name: str) -> bool:
    return (
        tree.git("cat-file", "-e", f"HEAD:{name}", check=False).code == 0
        and tree.git("diff", "--quiet", "HEAD", "--", name, check=False).code == 0
    )
