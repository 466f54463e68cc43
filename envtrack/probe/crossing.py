"""The code of one commit in the environment of another."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple, Self

from envtrack.files import write_whole
from envtrack.model.oid import Oid
from envtrack.probe.plan import Hold, Plan, SessionFiles
from envtrack.probe.tree import Tree


class Crossing(NamedTuple):
    """A tree that no commit has.

    Attributes:
        code: the commit of which all is taken but the environment's files.
        env: the commit of which those are taken: the lockfile, and what ``--locked`` compares it
            with.
    """

    code: Oid
    env: Oid

    @classmethod
    def parse(cls, text: str) -> Self:
        """From the form that `str` gives."""
        code, env = text.split()
        return cls(Oid(code), Oid(env))

    def __str__(self) -> str:
        """Both names, the code's first."""
        return f"{self.code.hex} {self.env.hex}"

    @property
    def name(self) -> Oid:
        """The name under which its verdict is kept; no object has it."""
        # As many digits as the repository's own names have: SHA-256 cut to the length of SHA-1.
        digits = hashlib.sha256(f"crossing {self}".encode()).hexdigest()
        return Oid(digits[: len(self.code.hex)])


def find_held(plan: Plan, commit: Oid) -> Crossing | None:
    """What is tried for a commit where a half is held; ``None`` where it is the commit itself."""
    bad = Oid(plan.bad)
    if plan.hold is Hold.CODE:
        return Crossing(code=bad, env=commit)
    return Crossing(code=commit, env=bad) if plan.hold is Hold.ENV else None


def read_crossings(files: SessionFiles) -> dict[Oid, Crossing]:
    """The crossings that a session has tried, by their names."""
    try:
        said = json.loads(files.crossings.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    return {(crossing := Crossing.parse(text)).name: crossing for text in said}


def keep_crossing(files: SessionFiles, crossing: Crossing) -> None:
    """Keeps a crossing, so that its name is never taken for a commit's."""
    known = read_crossings(files)
    if crossing.name not in known:
        write_whole(files.crossings, json.dumps([*map(str, known.values()), str(crossing)]))


def put_crossing(tree: Tree, crossing: Crossing, paths: tuple[str, ...]) -> None:
    """Makes a tree of our own that of the crossing; its HEAD stays where it is.

    Args:
        tree: a worktree of our own, as it was checked out.
        crossing: of which commits.
        paths: the files that belong to the environment.
    """
    tree.git("read-tree", "--reset", "-u", crossing.code.hex)
    listed = tree.git(
        "ls-tree", "-r", "-z", "--name-only", "--full-tree", crossing.env.hex, "--", *paths
    ).fields
    if absent := sorted(set(paths) - set(listed)):
        tree.git("rm", "--quiet", "--force", "--ignore-unmatch", "--", *absent)
    if listed:
        tree.git("checkout", "--quiet", crossing.env.hex, "--", *listed)
