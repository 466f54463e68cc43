"""Whether an environment is what the lockfile says: looked at after the sync, not believed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from envtrack.collect.layout import Layout, read_layout, site_folders
from envtrack.model.lock import Lock, LockedPackage, SourceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """One way in which an environment is not what was locked.

    Attributes:
        package: normalised name.
        what: a few words.
        is_absence: the package is not there at all; whether it should be rests on our own reading
            of markers, so uv is asked before this counts.
        is_lost_file: a file of it is missing; if it still is after everything was installed anew,
            its wheel lists a file that it does not hold.
    """

    package: str
    what: str
    is_absence: bool = False
    is_lost_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """Where the project's own packages may come from.

    Attributes:
        top: the probe's tree: from there.
        project: the lockfile's folder in it.
        users: the user's own tree: not from there.
    """

    top: Path
    project: Path
    users: Path


def find_misfits(
    environment: Path, lock: Lock, selected: Iterable[LockedPackage], *, trees: Trees
) -> tuple[Misfit, ...]:
    """The misfits of an environment that was just synced; empty: it is exactly the lock's.

    Args:
        environment: its folder.
        lock: the lock it was made from.
        selected: what of the lock should be there on this machine.
        trees: where the project's own packages may come from.
    """
    layout = read_layout(environment)
    if not isinstance(layout, Layout):
        return (Misfit(package="", what=f"there is no environment at {environment}"),)
    found = list(distributions(path=[str(site) for site in site_folders(layout)]))
    installed = {_normal(one.metadata["Name"] or ""): one for one in found}
    versions: dict[str, list[str | None]] = {}
    for package in lock.packages:
        # A project's own version is what its tree says: the lockfile's falls behind at every
        # release (`--stale frozen` is for just that).
        version = None if package.source.kind.is_local_tree else package.version
        versions.setdefault(package.name, []).append(version)
    own = {package.name for package in lock.local_trees if _is_own(package, trees)}
    misfits: list[Misfit] = []
    for name, distribution in installed.items():
        misfits += _check_one(name, distribution, versions)
        place = _local_origin(distribution) if name in own else None
        if place is not None and not place.resolve().is_relative_to(trees.top.resolve()):
            misfits.append(
                Misfit(package=name, what=f"comes from {place}, not from the probe's tree")
            )
    misfits += [
        Misfit(package=name, what="is locked and not installed", is_absence=True)
        for package in selected
        if (name := package.name) not in installed and package.source.kind is not SourceKind.VIRTUAL
    ]
    return tuple(misfits)


def _check_one(
    name: str, one: Distribution, versions: dict[str, list[str | None]]
) -> Iterator[Misfit]:
    if name not in versions:
        yield Misfit(package=name, what=f"{one.version} is installed and not locked")
        return
    locked = versions[name]
    if None not in locked and not is_one_of(one.version, locked):
        shown = " or ".join(sorted(version or "" for version in locked))
        yield Misfit(package=name, what=f"{one.version} is installed, {shown} is locked")
    missing = _first_missing_file(one)
    if missing:
        yield Misfit(package=name, what=f"its file {missing} is gone", is_lost_file=True)


def is_one_of(version: str, locked: Sequence[str | None]) -> bool:
    """Whether a version is among those that are locked, however either is written."""
    # A wheel's own metadata may write it in another way: 1.0.0-rc.1 for 1.0.0rc1.
    if version in locked:
        return True
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version) in {Version(one) for one in locked if one}
    except (InvalidVersion, TypeError):
        return False


def _first_missing_file(one: Distribution) -> str:
    """The first recorded file that is not there; byte code may come and go."""
    for path in one.files or ():
        if path.suffix != ".pyc" and not Path(str(path.locate())).exists():
            return str(path)
    return ""


def _local_origin(one: Distribution) -> Path | None:
    """The folder a package was built from, by its ``direct_url.json`` (PEP 610)."""
    try:
        document = json.loads(one.read_text("direct_url.json") or "")
    except ValueError:
        return None
    url = document.get("url", "") if isinstance(document, dict) else ""
    if "dir_info" not in document or not url.startswith("file://"):
        return None
    from urllib.parse import unquote, urlsplit

    return Path(unquote(urlsplit(url).path))


def _is_own(package: LockedPackage, trees: Trees) -> bool:
    # A folder elsewhere on the machine has no copy in the probe's tree. An absolute path into the
    # user's tree has one, and uv installs the other.
    place = Path(os.path.normpath(trees.project / package.source.location))
    return place.is_relative_to(trees.top) or place.resolve().is_relative_to(trees.users.resolve())


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
