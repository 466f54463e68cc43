"""A composed lockfile in the tree of a commit."""

from __future__ import annotations

import shutil

from envtrack.model.oid import Oid
from envtrack.probe.plan import SessionFiles
from envtrack.probe.tree import Tree


def name_composed(tree: Tree, files: SessionFiles) -> Oid:
    """The name under which verdicts on the session's composed lockfile are kept: git's for it.

    Raises:
        CommandFailed: there is none.
    """
    return Oid(tree.git("hash-object", "--no-filters", "--", str(files.composed)).line)


def put_composed(tree: Tree, files: SessionFiles, lockfile: str) -> None:
    """Puts it in the place of the commit's own lockfile."""
    target = tree.top / lockfile
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copyfile(files.composed, target)
