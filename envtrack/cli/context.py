"""The only place where things are put together: repository, settings, lockfile, machine."""

from __future__ import annotations

import os
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from envtrack.errors import UsageProblem
from envtrack.model.paths import LOCKFILE_NAMES, LOOSE_NAMES

if TYPE_CHECKING:
    from envtrack.config.settings import Settings
    from envtrack.git.repository import Repository
    from envtrack.record.bench import Bench


class Place(NamedTuple):
    """What the command line says about where.

    Attributes:
        directory: the folder to start from; ``None``: the current one.
        lockfile: the lockfile that is meant; ``None``: find it.
        machine: the machine that is meant; ``None``: this one.
    """

    directory: Path | None = None
    lockfile: Path | None = None
    machine: str | None = None

    @property
    def folder(self) -> Path:
        """Where relative paths start."""
        return (Path.cwd() / (self.directory or "")).resolve()


class Context(NamedTuple):
    """Everything that a command works with.

    Attributes:
        repository: the repository around the folder.
        settings: its configuration.
        bench: its lockfile on the machine that is meant.
        folder: where relative paths start.
    """

    repository: Repository
    settings: Settings
    bench: Bench
    folder: Path


def open_context(place: Place) -> Context:
    """Repository, settings, lockfile and machine of a place.

    Raises:
        UsageProblem: no repository, no lockfile, or several and none is nearer than the others.
        ConfigProblem: the configuration is broken.
    """
    from envtrack.config.settings import read_settings

    repository = open_here(place)
    settings = read_settings(repository.root)
    return Context(
        repository=repository,
        settings=settings,
        bench=make_bench(repository, settings, place),
        folder=place.folder,
    )


def open_here(place: Place) -> Repository:
    """The repository around a place.

    Raises:
        UsageProblem: there is none, or it has no working tree.
    """
    from envtrack.git.repository import open_repository

    repository = open_repository(place.folder, dict(os.environ))
    if repository.is_bare:
        raise UsageProblem(
            f"{repository.root}: a bare repository has no working tree",
            hint="`git worktree add <folder>` makes one",
        )
    return repository


def make_bench(repository: Repository, settings: Settings, place: Place) -> Bench:
    """The lockfile and the machine that are meant.

    Raises:
        UsageProblem: no lockfile, or several; or the machine's name can't be one.
    """
    from envtrack.collect.machine_name import check_machine_name, find_machine_name
    from envtrack.record.bench import Bench

    environ = dict(os.environ)
    here = find_machine_name(environ, configured=settings.machine or None, salt=settings.salt)
    machine = here
    if place.machine is not None:
        machine = check_machine_name(place.machine, said_by="--machine")
    return Bench(
        repository=repository,
        lockfile=choose_lockfile(repository, settings, place),
        machine=machine,
        here=here,
        salt=settings.salt,
        environ=environ,
    )


def choose_lockfile(repository: Repository, settings: Settings, place: Place) -> str:
    """The lockfile that is meant, from the top level.

    ``--lockfile``; else the nearest one beside or above the folder; else the only one.

    Raises:
        UsageProblem: there is none, or several; lists them.
    """
    if place.lockfile is not None:
        return _read_option(repository, place.folder / place.lockfile, str(place.lockfile))
    found = list_lockfiles(repository, settings)
    if not found:
        raise UsageProblem(
            f"{repository.root}: no lockfile in this repository ({', '.join(LOCKFILE_NAMES)}, …)",
            hint="`uv lock` makes one; `--lockfile PATH` names one that is elsewhere",
        )
    nearest = _find_nearest(found, _from_top(repository, place.folder) or PurePosixPath())
    if nearest:
        return nearest
    if len(found) == 1:
        return found[0]
    listed = "\n".join(f"  {path}" for path in found)
    raise UsageProblem(
        f"{len(found)} lockfiles, none of them beside or above this folder:\n{listed}",
        hint=f"`--lockfile {found[0]}` says which, or start in its folder",
    )


def list_lockfiles(repository: Repository, settings: Settings) -> tuple[str, ...]:
    """The configured lockfiles; else the tracked ones; else those that git does not know yet.

    Files that may be lockfiles or mere wishes (requirements.txt) count where there is none else.
    """
    from envtrack.git.working_tree import list_named

    found = settings.lockfiles
    for names in (LOCKFILE_NAMES, LOOSE_NAMES):
        found = found or list_named(repository, names)
        found = found or list_named(repository, names, with_untracked=True)
    return found


def _read_option(repository: Repository, path: Path, said: str) -> str:
    inside = _from_top(repository, path.parent.resolve() / path.name)
    if inside is None:
        raise UsageProblem(f"{said}: outside the repository {repository.root}")
    lockfile = str(inside)
    history = ("rev-list", "-n", "1", "--all", "--", f":(top,literal){lockfile}")
    # One that was removed long ago can still be looked at in older revisions.
    if not path.is_file() and not repository.git(*history, check=False).stdout.strip():
        raise UsageProblem(f"{said}: there is no such lockfile, now or in any commit")
    return lockfile


def _from_top(repository: Repository, path: Path) -> PurePosixPath | None:
    root = repository.root.resolve()
    return PurePosixPath(path.relative_to(root)) if path.is_relative_to(root) else None


def _find_nearest(found: tuple[str, ...], folder: PurePosixPath) -> str:
    for around in (folder, *folder.parents):
        beside = [path for path in found if PurePosixPath(path).parent == around]
        if beside:
            # While a project moves from one tool to another it has both.
            best = min(map(_rank, beside))
            meant = [path for path in beside if _rank(path) == best]
            return meant[0] if len(meant) == 1 else _refuse_several(meant)
    return ""


def _refuse_several(paths: list[str]) -> NoReturn:
    listed = "\n".join(f"  {path}" for path in paths)
    raise UsageProblem(
        f"{len(paths)} lockfiles in one folder, and none is meant more than the others:\n{listed}",
        hint=f"`--lockfile {paths[0]}` says which",
    )


def _rank(path: str) -> int:
    """The place of a lockfile's name in the order of preference."""
    name = PurePosixPath(path).name
    names = (*LOCKFILE_NAMES, *LOOSE_NAMES)
    ranks = (at for at, pattern in enumerate(names) if fnmatch(name, pattern))
    return next(ranks, len(names))
