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
            (*selection.default_groups, *selection.groups),
            everything=selection.all_groups,
            but=self._unwanted,
        )
        self._extras = _wanted(selection.extras, everything=selection.all_extras, but=())
        self._world = MarkerWorld(environment, self._extras, self._groups)
        place = environment.get("sys_platform", ""), environment.get("platform_machine", "")
        self._subdir = _SUBDIRS.get(place)
        self._asked = tuple(normalise(name) for name in selection.groups)

    def packages(self) -> tuple[LockedPackage, ...]:
        """The entries that are installed, in file order."""
        return tuple(package for package in self._lock.packages if self._takes(package))

    def notes(self) -> Iterator[str]:
        """What could not be decided, and groups that were asked for and are nowhere."""
        yield from self._lock.notes
        for text in sorted(self._world.undecided):
            yield f"a marker can't be decided and counts as holding: {text}"
        there = {name for package in self._lock.packages for name in package.belongs_to}
        if there:
            for name in sorted({*self._asked, *self._unwanted} - set(map(normalise, there))):
                yield f"no group {name} in the lock"

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
        return name not in self._unwanted and (group == MAIN or name in self._groups)


def _wanted(names: tuple[str, ...], *, everything: bool, but: Collection[str]) -> Collection[str]:
    if everything:
        return _Everything(but)
    return {normalise(name) for name in names}.difference(but)
