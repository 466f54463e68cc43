"""Whether an environment is what its lockfile says: read from files, nothing is started."""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.collect.distributions import read_distributions
from envtrack.collect.layout import Layout, read_layout, site_folders
from envtrack.compare.installed import find_version_change
from envtrack.compare.records import SEEDS
from envtrack.model.comparison import Change, ChangeKind, sort_changes
from envtrack.model.layer import find_package_layer
from envtrack.model.lock import Lock, LockedPackage, SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from envtrack.model.selection import Selection

# What brings an environment to what a lockfile says, by the lockfile's name.
_COMMANDS: Final = {
    "uv.lock": "uv sync --locked",
    "poetry.lock": "poetry sync",
    "pdm.lock": "pdm sync",
    "Pipfile.lock": "pipenv sync",
}
_OTHERS: Final = "uv pip sync"


class Behind(NamedTuple):
    """How an environment stands to a lockfile.

    Attributes:
        changes: from what is installed to what is locked; empty: nothing is amiss.
        site: the first folder in which packages are installed.
    """

    changes: tuple[Change, ...]
    site: Path


def find_behind(
    environment: Path, lock: Lock, *, before: Lock | None, selection: Selection
) -> Behind | None:
    """How an environment differs from a lock; ``None`` where there is none that could be read.

    A package counts that is installed in another version than is locked; one that is locked,
    selected and not there; and one that the lock before had, this one has not, and is still there.
    What else is installed was put there by hand and is nobody's business.

    Args:
        environment: its folder.
        lock: what should be there.
        before: the lock that was there until now.
        selection: what of a lock is installed; default groups included.
    """
    layout = read_layout(environment)
    sites = site_folders(layout) if isinstance(layout, Layout) else ()
    if not sites or not isinstance(layout, Layout):
        return None
    installed: dict[str, str] = {}
    try:
        for site in sites:
            for one in read_distributions(site):
                installed.setdefault(one.name, one.version)
    except OSError:
        return None
    selected = _select(lock, selection, layout)
    wanted = {package.name: package for package in selected}
    former = set() if before is None else {package.name for package in before.packages}
    changes = [
        *_list_moved(installed, lock, wanted),
        *_list_missing(installed, selected),
        *_list_left(installed, lock, former),
    ]
    return Behind(sort_changes(changes), sites[0])


def _select(lock: Lock, selection: Selection, layout: Layout) -> tuple[LockedPackage, ...]:
    """What should be there; nothing where that can't be told from the lock alone."""
    from packaging.markers import default_environment

    from envtrack.collect.requirement_lines import target_environment
    from envtrack.lockfiles.select import explain_selection

    ours = {key: str(value) for key, value in default_environment().items()}
    try:
        found = explain_selection(lock, selection, {**ours, **target_environment(layout)})
    except (ValueError, LookupError):
        return ()
    return () if found.notes else found.packages


def _list_moved(
    installed: Mapping[str, str], lock: Lock, wanted: Mapping[str, LockedPackage]
) -> Iterator[Change]:
    from envtrack.probe.verify import is_one_of

    versions: dict[str, list[str]] = {}
    moving = set()
    for package in _list_plain(lock):
        # A project's own version is what its tree says: the lockfile's falls behind at every
        # release.
        if package.version is None or package.source.kind.is_local_tree:
            moving.add(package.name)
        else:
            versions.setdefault(package.name, []).append(package.version)
    for name, version in installed.items():
        locked = versions.get(name)
        if locked is None or name in moving or not version or is_one_of(version, locked):
            continue
        chosen = wanted.get(name)
        after = (chosen and chosen.version) or " or ".join(sorted(set(locked)))
        yield _change(name, find_version_change(version, after), version, after)


def _list_missing(
    installed: Mapping[str, str], selected: tuple[LockedPackage, ...]
) -> Iterator[Change]:
    for package in selected:
        is_installed = package.source.kind is not SourceKind.VIRTUAL
        if is_installed and package.ecosystem == "pypi" and package.name not in installed:
            yield _change(package.name, ChangeKind.ADDED, None, package.version)


def _list_left(installed: Mapping[str, str], lock: Lock, former: set[str]) -> Iterator[Change]:
    names = {package.name for package in lock.packages} | SEEDS
    for name in (former & installed.keys()) - names:
        yield _change(name, ChangeKind.REMOVED, installed[name], None)


def _list_plain(lock: Lock) -> Iterator[LockedPackage]:
    return (package for package in lock.packages if package.ecosystem == "pypi")


def _change(name: str, kind: ChangeKind, before: str | None, after: str | None) -> Change:
    layer = find_package_layer(name)
    return Change(layer=layer, name=name, kind=kind, before=before, after=after)


def name_command(lockfile: str, selection: Selection) -> str:
    """The command that brings an environment to what a lockfile says, from the top level."""
    path = PurePosixPath(lockfile)
    command = _COMMANDS.get(path.name)
    if command is None:
        return f"{_OTHERS} {shlex.quote(lockfile)}"
    if path.name == "uv.lock":
        command = shlex.join([*command.split(), *selection.as_uv_arguments()])
    folder = str(path.parent)
    return command if folder == "." else f"(cd {shlex.quote(folder)} && {command})"
