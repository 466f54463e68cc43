"""Which commits share an environment that can't be installed: told from git's objects alone.

Two grounds. Files: where the lockfile and the files of its projects are the same, uv refuses them
for the same reason. Packages: where a locked file is gone, has another hash or none for this
machine, that holds for every lockfile that installs the same.
"""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from envtrack.bisect.rig import Rig
from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import parse_lock
from envtrack.model.lock import Lock
from envtrack.model.oid import Oid
from envtrack.model.verdict import Observation
from envtrack.probe.identity import read_environment
from envtrack.probe.tree import Tree

# The kinds of `envtrack.uv`. A build, or what is not understood, may lie in the code of a package
# that the commit holds itself; a stale lockfile in a member whose files are not looked at.
_BY_PACKAGES: Final = frozenset({"hash-mismatch", "no-wheel", "artifact-gone", "commit-gone"})
_BY_FILES: Final = _BY_PACKAGES | {
    "lock-schema", "lock-corrupt", "uv-version", "python-missing", "python-conflict",
    "project-broken",
}  # fmt: skip
_MAYBE_BY_CODE: Final = frozenset({"build-failed", "sync-failed", "environment"})
_ABSENT: Final = ""


def record_alike(rig: Rig, seen: Observation, among: Iterable[Oid]) -> tuple[Oid, ...]:
    """The commits that need no trial of their own, after one that can't be installed.

    Their verdict is recorded.

    Args:
        rig: where.
        seen: the one that was tried.
        among: commits of the search; those that are known already are left out.
    """
    judgement = seen.judgement
    if judgement is None or judgement.stage not in {"sync", "environment"}:
        return ()
    known = {one.commit for one in rig.list_seen()}
    rest = [commit for commit in among if commit not in known]
    if not rest or any("\n" in path for path in rig.plan.paths):
        return ()
    alike = _find_alike(rig, seen.commit, judgement.kind, rest)
    if alike:
        rig.store.record_alike(rig.plan.id, alike, judgement, same_as=seen.commit, at=time.time())
    return alike


def has_same_environment(rig: Rig, one: Oid, other: Oid) -> bool:
    """Whether two commits install the same, as far as that can be told."""
    if any("\n" in path for path in rig.plan.paths):
        return False
    first, second = _list_files(rig, (one, other))
    environment = _identify(rig, first) if first != second else ""
    return first == second or (environment != "" and environment == _identify(rig, second))


def _find_alike(rig: Rig, tried: Oid, kind: str, rest: Sequence[Oid]) -> tuple[Oid, ...]:
    files = dict(zip((tried, *rest), _list_files(rig, (tried, *rest)), strict=True))
    lock = _read_lock(rig, files[tried][0])
    if not _is_by_files(rig, lock, kind):
        return ()
    mine = files[tried]
    alike = {blobs for blobs in files.values() if blobs == mine}
    if kind in _BY_PACKAGES:
        environment = _identify(rig, mine)
        others = set(files.values()) - alike if environment else ()
        alike |= {blobs for blobs in others if _identify(rig, blobs) == environment}
    return tuple(commit for commit in rest if files[commit] in alike)


def _is_by_files(rig: Rig, lock: Lock | None, kind: str) -> bool:
    """Whether a failure of this kind comes from the files that are looked at, and no others."""
    if kind in _BY_FILES or kind == "lock-missing":
        return True
    trees = lock.local_trees if lock is not None else ()
    if kind in _MAYBE_BY_CODE:
        # A virtual project is not built.
        return lock is not None and not any(tree.source.kind.value != "virtual" for tree in trees)
    folder = posixpath.dirname(rig.plan.lockfile)
    members = {
        posixpath.normpath(posixpath.join(folder, tree.source.location, "pyproject.toml"))
        for tree in trees
    }
    return kind == "lock-stale" and members <= set(rig.plan.paths)


def _list_files(rig: Rig, commits: Sequence[Oid]) -> list[tuple[str, ...]]:
    """The blobs of the environment's files at each commit, the lockfile's first."""
    paths = rig.plan.paths
    asked = b"".join(
        b"%s:%s\n" % (commit.hex.encode(), os.fsencode(path))
        for commit in commits
        for path in paths
    )
    done = rig.tree.git("cat-file", "--batch-check=%(objectname)", stdin=asked)
    said = [_ABSENT if line.endswith(b" missing") else line.decode()
            for line in done.stdout.splitlines()]  # fmt: skip
    return [tuple(said[at : at + len(paths)]) for at in range(0, len(said), len(paths))]


def _read_lock(rig: Rig, blob: str) -> Lock | None:
    if blob == _ABSENT:
        return None
    try:
        content = rig.tree.git("cat-file", "blob", blob).stdout
        return parse_lock(content.decode("utf-8-sig", "backslashreplace"), path=rig.plan.lockfile)
    except LockfileProblem:
        return None


def _identify(rig: Rig, blobs: Sequence[str]) -> str:
    """What is installed of an environment's files; empty where that can't be told."""
    with TemporaryDirectory(prefix="envtrack-") as name:
        top = Path(name)
        for path, blob in zip(rig.plan.paths, blobs, strict=True):
            if blob != _ABSENT:
                target = top / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(rig.tree.git("cat-file", "blob", blob).stdout)
        (top / rig.plan.project).mkdir(parents=True, exist_ok=True)
        sketch = Tree(top=top, environ=rig.tree.environ)
        environment = read_environment(sketch, rig.plan, rig.files)
    return (
        "" if environment is None else "\0".join((environment.identity, *environment.interpreter))
    )
