"""The probe's tree: nothing of the last probe in it, submodules and the smoke test's files in it.

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
from envtrack.files import remove_tree
from envtrack.git.environ import elsewhere
from envtrack.model.oid import Oid
from envtrack.process import Completed, run

_TIMEOUT_S = 600.0
_GITLINK = "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A working tree with a commit checked out.

    Attributes:
        top: its top level.
        environ: our own environment.
    """

    top: Path
    environ: Mapping[str, str]

    def git(self, *arguments: str, check: bool = True) -> Completed:
        """A git command in this tree, its hooks off.

        Raises:
            CommandFailed: it failed and `check` is set.
        """
        return run(
            ("git", "-c", "core.hooksPath=/dev/null", *arguments),
            timeout_s=_TIMEOUT_S,
            env=elsewhere(self.environ),
            cwd=self.top,
            check=check,
        )

    def read_head(self) -> Oid:
        """The commit that is checked out."""
        return Oid(self.git("rev-parse", "--verify", "HEAD^{commit}").line)

    def scour(self) -> None:
        """Throws away all that is not committed: only ever in a worktree of our own."""
        self.git("reset", "--hard", "--quiet", "HEAD")
        done = self.git("clean", "-ffdxq", check=False)
        if done.code != 0:
            self._scour_by_hand()

    def _scour_by_hand(self) -> None:
        # git gives up at folders without write permission; we may change that.
        for row in self.git("ls-files", "-z", "--others", "--directory").fields:
            remove_tree(self.top / row.rstrip("/"))

    def is_whole(self, path: str) -> bool:
        """Whether a file that the commit has is really there.

        git leaves out what is missing in a partial clone or outside a sparse checkout, and still
        ends in 0.
        """
        listed = self.git("ls-tree", "-z", "--full-tree", "HEAD", "--", path).fields
        return not listed or (self.top / path).exists()

    def hash_besides(self, *left_out: str) -> str:
        """A hash of the commit's whole tree but for some paths and envtrack's own records."""
        from hashlib import sha256

        from envtrack.model.paths import is_snapshot

        digest = sha256()
        for row in self.git("ls-tree", "-r", "-z", "--full-tree", "HEAD").fields:
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
        remove_tree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, target)
        placed.append(name)
    return placed


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


def bring_submodules(tree: Tree, modules: Path) -> list[str]:
    """Checks out the submodules that the user's own repository has; gives notes on the others.

    Not by ``git submodule``: in a linked worktree that writes into the configuration that all
    working trees share. Nothing is fetched: what is not on this machine stays an empty folder.

    Args:
        tree: where.
        modules: the folder in which the user's repository keeps its submodules' repositories.
    """
    notes: list[str] = []
    if not (tree.top / ".gitmodules").is_file():
        return notes
    names = _read_names(tree)
    for row in tree.git("ls-files", "--stage", "-z").fields:
        head, _, path = row.partition("\t")
        mode, oid, _stage = head.split(" ")
        if mode == _GITLINK:
            source = modules / names.get(path, path)
            notes += _bring_one(tree, path, oid, source)
    return notes


def _bring_one(tree: Tree, path: str, oid: str, source: Path) -> list[str]:
    if not (source / "HEAD").exists():
        return [f"submodule {path}: not on this machine, left empty"]
    target = tree.top / path
    remove_tree(target)
    try:
        tree.git("clone", "--quiet", "--shared", "--no-checkout", str(source), str(target))
        inner = Tree(top=target, environ=tree.environ)
        inner.git("checkout", "--quiet", "--detach", oid)
    except CommandFailed as error:
        return [f"submodule {path}: {error.message}"]
    return bring_submodules(inner, source / "modules")


def _read_names(tree: Tree) -> dict[str, str]:
    """Submodule names by path, from ``.gitmodules``."""
    rows = tree.git(
        "config", "--file", ".gitmodules", "--null", "--get-regexp", r"^submodule\..*\.path$",
        check=False,
    ).fields  # fmt: skip
    pairs = (row.partition("\n") for row in rows)
    return {
        path: key.removeprefix("submodule.").removesuffix(".path") for key, _, path in pairs if path
    }
