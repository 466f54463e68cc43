"""The two ends of a search, and the files between them that count."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from envtrack.errors import LockfileProblem, UsageProblem
from envtrack.git.repository import Repository
from envtrack.lockfiles.interface import parse_lock
from envtrack.model.lock import Lock
from envtrack.model.oid import Oid


def require_range(repository: Repository, good: Oid, bad: Oid, *, names: tuple[str, str]) -> None:
    """Makes sure that one can get from `bad` back to `good`.

    Args:
        repository: whose.
        good: the good end.
        bad: the bad end.
        names: how the user named them.

    Raises:
        UsageProblem: one commit, the wrong way round, or on different branches.
    """
    if good == bad:
        raise UsageProblem(f"`{names[0]}` and `{names[1]}` are the same commit, {good.short}")
    if repository.is_ancestor(good, bad):
        return
    if repository.is_ancestor(bad, good):
        raise UsageProblem(
            f"`{names[0]}` (good) comes after `{names[1]}` (bad)",
            hint=f"the good end is the older one: `envtrack bisect {names[1]} {names[0]}` looks the"
            " other way round",
        )
    base = repository.find_merge_base(good, bad)
    if base is None:
        hint = "they have no common history"
        if repository.is_shallow:
            hint = "this clone is shallow; `git fetch --unshallow` brings the rest of the history"
    else:
        hint = f"their merge base is {base.short}: `envtrack bisect {base.short} {names[1]}`"
    raise UsageProblem(f"`{names[0]}` (good) is not an ancestor of `{names[1]}` (bad)", hint=hint)


def require_lockfile(
    repository: Repository, lockfile: str, good: Oid, bad: Oid, *, names: tuple[str, str]
) -> None:
    """Makes sure that both ends have the lockfile.

    Raises:
        UsageProblem: one has not; says where it was born or removed.
    """
    if repository.find_blob(bad, lockfile) is None:
        raise UsageProblem(f"{lockfile}: there is no such lockfile at `{names[1]}` ({bad.short})")
    if repository.find_blob(good, lockfile) is not None:
        return
    born = next(
        (
            commit
            for commit in repository.list_commits(good, bad, (lockfile,))
            if repository.find_blob(commit, lockfile) is not None
        ),
        None,
    )
    hint = f"it appears in {born.short}: `envtrack bisect {born.short} {names[1]}`" if born else ""
    raise UsageProblem(
        f"{lockfile}: there is no such lockfile at `{names[0]}` ({good.short})", hint=hint
    )


def find_environment_paths(
    repository: Repository, lockfile: str, good: Oid, bad: Oid
) -> tuple[str, ...]:
    """The files that decide an environment: the lockfile, its projects' files, what names a Python.

    The pyproject files of workspace members are those that the lockfiles of both ends name, as far
    as they lie in the repository.
    """
    folder = posixpath.dirname(lockfile)
    names = ("pyproject.toml", "uv.toml", ".python-version", ".python-versions")
    wanted = {posixpath.join(folder, name) for name in names}
    # uv looks for these two in the folders above as well.
    above = [folder[:end] for end, sign in enumerate(folder) if sign == "/"] + [""]
    wanted |= {posixpath.join(place, name) for place in above for name in names[-2:]}
    for commit in (good, bad):
        for member in _local_folders(_read_lock(repository, commit, lockfile)):
            wanted.add(posixpath.normpath(posixpath.join(folder, member, "pyproject.toml")))
    inside = {path for path in wanted if not path.startswith(("../", "/"))}
    known = set(repository.list_files(good)) | set(repository.list_files(bad))
    return (lockfile, *sorted((inside & known) - {lockfile}))


def find_neighbours(repository: Repository, lockfile: str, good: Oid, bad: Oid) -> tuple[str, ...]:
    """Names of what lies beside the repository and is used by it: ``x`` for ``../x/lib``.

    Editable members, folders, files and local indexes that the lockfiles of both ends name.
    """
    locks = (_read_lock(repository, commit, lockfile) for commit in (good, bad))
    return name_neighbours(lockfile, (lock for lock in locks if lock is not None))


def name_neighbours(lockfile: str, locks: Iterable[Lock]) -> tuple[str, ...]:
    """The same for locks that are read already."""
    folder = posixpath.dirname(lockfile)
    found = set()
    for location in {place for lock in locks for place in _local_paths(lock)}:
        above, name, *_ = [*posixpath.normpath(posixpath.join(folder, location)).split("/"), ""]
        if above == ".." and name not in {"", ".."}:
            found.add(name)
    return tuple(sorted(found))


def _local_paths(lock: Lock) -> set[str]:
    sources = {package.source.location for package in lock.packages}
    files = {artifact.location for package in lock.packages for artifact in package.artifacts}
    return {place for place in sources | files if place.startswith("../")}


def _local_folders(lock: Lock | None) -> tuple[str, ...]:
    return () if lock is None else tuple(p.source.location for p in lock.local_trees)


def _read_lock(repository: Repository, commit: Oid, lockfile: str) -> Lock | None:
    content = repository.read_file(commit, lockfile)
    if content is None:
        return None
    try:
        return parse_lock(content.decode("utf-8-sig", "backslashreplace"), path=lockfile)
    except LockfileProblem:
        return None
