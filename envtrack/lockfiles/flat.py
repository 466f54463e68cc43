"""What of a lock is installed whose entries say themselves where: all formats but uv.lock."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from envtrack.lockfiles.markers import MarkerWorld
from envtrack.model.lock import Lock, LockedPackage
from envtrack.model.names import normalise
from envtrack.model.selection import Selection

MAIN: Final = "main"

# conda's name of a platform by (sys_platform, platform_machine).
_SUBDIRS: Final = {
    ("linux", "x86_64"): "linux-64",
    ("linux", "aarch64"): "linux-aarch64",
    ("linux", "ppc64le"): "linux-ppc64le",
    ("linux", "s390x"): "linux-s390x",
    ("linux", "riscv64"): "linux-riscv64",
    ("darwin", "x86_64"): "osx-64",
    ("darwin", "arm64"): "osx-arm64",
    ("win32", "AMD64"): "win-64",
    ("win32", "ARM64"): "win-arm64",
}
_ANY_PLATFORM: Final = "noarch"
# Formats that write the project's extras as groups, beside the others.
_EXTRAS_AS_GROUPS: Final = frozenset({"pdm.lock"})


class _Everything(Collection[str]):
    """A set that holds every name but some: `--all-extras`, `--all-groups`."""

    def __init__(self, but: Collection[str]) -> None:
        self._but = but

    def __contains__(self, name: object) -> bool:
        return name not in self._but

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class FlatSelection:
    """Which entries of one lock are installed.

    Args:
        lock: of a flat format.
        selection: extras and groups; `Selection.package` means nothing here.
        environment: PEP 508 variables; a platform that they do not tell allows every entry.
    """

    def __init__(self, lock: Lock, selection: Selection, environment: Mapping[str, str]) -> None:
        self._lock = lock
        self._unwanted = {normalise(name) for name in selection.without_groups}
        self._groups = _wanted(
            _ask_groups(lock, selection), everything=selection.all_groups, but=self._unwanted
        )
        self._takes_main = not lock.has_environments or MAIN in self._groups
        self._extras = _wanted(selection.extras, everything=selection.all_extras, but=())
        self._world = MarkerWorld(environment, self._extras, self._groups)
        place = environment.get("sys_platform", ""), environment.get("platform_machine", "")
        self._subdir = _SUBDIRS.get(place)
        self._asked = {normalise(name) for name in selection.groups}
        self._asked_extras = {normalise(name) for name in selection.extras}

    def packages(self) -> tuple[LockedPackage, ...]:
        """The entries that are installed, in file order."""
        return tuple(package for package in self._lock.packages if self._takes(package))

    def notes(self) -> Iterator[str]:
        """What could not be decided, what was asked for and is nowhere, what does not fit."""
        yield from self._lock.notes
        for text in sorted(self._world.undecided):
            yield f"a marker can't be decided and counts as holding: {text}"
        groups = self._group_names()
        if groups:
            for name in sorted({*self._asked, *self._unwanted} - groups):
                yield f"no group {name} in the lock"
        if self._lock.extra_names is not None:
            for name in sorted(self._asked_extras - set(map(normalise, self._lock.extra_names))):
                yield f"no extra {name} in the lock"
        places = self._lock.supported_markers
        # `ask`: what can't be decided is no reason to say anything.
        if places and all(self._world.ask(marker) is False for marker in places):
            yield f"this machine is none of those that the lock is for: {'; '.join(places)}"

    def _group_names(self) -> set[str]:
        """All that can be asked for; empty if the lock does not say it."""
        listed = (*(self._lock.group_names or ()), *self._lock.default_groups)
        there = {name for package in self._lock.packages for name in package.belongs_to}
        return {normalise(name) for name in (*listed, *there)}

    def _takes(self, package: LockedPackage) -> bool:
        return (
            self._is_for_here(package)
            and (not package.belongs_to or any(map(self._wants, package.belongs_to)))
            and (
                not package.resolution_markers
                or any(self._world.holds(marker) for marker in package.resolution_markers)
            )
        )

    def _is_for_here(self, package: LockedPackage) -> bool:
        known = self._subdir is None or not package.platforms
        return known or bool({self._subdir, _ANY_PLATFORM} & set(package.platforms))

    def _wants(self, group: str) -> bool:
        name = normalise(group)
        if group == MAIN:
            return self._takes_main and name not in self._unwanted
        return name not in self._unwanted and name in self._groups


def _ask_groups(lock: Lock, selection: Selection) -> tuple[str, ...]:
    if not lock.has_environments:
        extras = selection.extras if lock.format in _EXTRAS_AS_GROUPS else ()
        return *selection.default_groups, *lock.default_groups, *selection.groups, *extras
    # One environment instead of another, not on top of it; `main` here is its `default`.
    return tuple(MAIN if name == "default" else name for name in selection.groups) or (MAIN,)


def _wanted(names: tuple[str, ...], *, everything: bool, but: Collection[str]) -> Collection[str]:
    if everything:
        return _Everything(but)
    return {normalise(name) for name in names}.difference(but)
