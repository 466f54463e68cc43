"""Limits that control groups set, of both versions: see cgroup-v1 and cgroup-v2 in Linux's docs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.reading import Missing, read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MIB = 1024 * 1024
# Version 1 writes "no limit" as the largest number of whole pages that fits into 63 bits; the page
# size varies, so everything near that is none. No machine has 4 EiB.
_NO_LIMIT_BYTES = 1 << 62
_V2_FOLDERS = ("sys/fs/cgroup", "sys/fs/cgroup/unified")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cgroups:
    """The groups that this process is in, by ``/proc/self/cgroup``.

    Attributes:
        root: the root of the file system.
        by_controller: of version 1: ``memory`` → the group's path.
        unified: the path of the group of version 2; empty without one.
    """

    root: Path
    by_controller: dict[str, str]
    unified: str

    @property
    def version(self) -> str:
        """``v1``, ``v2``, or ``hybrid``: both, as systemd calls it."""
        if not self.by_controller:
            return "v2"
        return "hybrid" if self.unified else "v1"


def read_cgroups(root: Path) -> Cgroups | Missing:
    """The groups; absent where the kernel has none."""
    text = read_text(root / "proc/self/cgroup")
    if not isinstance(text, str):
        return text
    by_controller: dict[str, str] = {}
    unified = ""
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0":
            unified = path
        else:
            by_controller.update(dict.fromkeys(controllers.split(","), path))
    if not by_controller and not unified:
        return Absent()
    return Cgroups(root=root, by_controller=by_controller, unified=unified)


def read_memory_limit(groups: Cgroups) -> FactState:
    """In MiB, the lowest of the group's and its parents'; absent: no limit."""
    if "memory" in groups.by_controller:
        folders = _v1_folders(groups, "memory", ("memory",))
        return _lowest(folders, "memory.limit_in_bytes", _parse_bytes)
    return _lowest(_v2_folders(groups), "memory.max", _parse_bytes)


def read_cpu_quota(groups: Cgroups) -> FactState:
    """Processor time in percent of one processor (250: two and a half); absent: no limit."""
    if "cpu" in groups.by_controller:
        folders = _v1_folders(groups, "cpu", ("cpu", "cpu,cpuacct", "cpuacct,cpu"))
        return _lowest(folders, "cpu.cfs_quota_us", _parse_quota, period_file="cpu.cfs_period_us")
    return _lowest(_v2_folders(groups), "cpu.max", _parse_quota)


def _v1_folders(groups: Cgroups, controller: str, names: tuple[str, ...]) -> Iterator[Path]:
    for name in names:
        base = groups.root / "sys/fs/cgroup" / name
        yield from _ancestry(base, groups.by_controller[controller])


def _v2_folders(groups: Cgroups) -> Iterator[Path]:
    for name in _V2_FOLDERS:
        yield from _ancestry(groups.root / name, groups.unified)


def _ancestry(base: Path, path: str) -> Iterator[Path]:
    """The group's folder and those above it, as far as the mount's own.

    Inside a container the path may be the host's, of which nothing is to be seen: then only the
    mount's own folder exists, and it is the container's group.
    """
    parts = PurePosixPath(path.lstrip("/")).parts
    if ".." in parts:  # a process outside of its namespace's root
        parts = ()
    for count in range(len(parts), -1, -1):
        yield base.joinpath(*parts[:count])


def _lowest(
    folders: Iterator[Path],
    name: str,
    parse: Callable[[str], int | None],
    period_file: str = "",
) -> FactState:
    values = []
    fault: Unknown | None = None
    for folder in folders:
        text = read_text(folder / name)
        if isinstance(text, str) and period_file:
            period = read_text(folder / period_file)
            text = f"{text} {period}" if isinstance(period, str) else period
        match text:
            case Unknown():
                fault = text
            case str() if (value := parse(text)) is not None:
                values.append(value)
            case _:
                pass
    if values:
        return Known(min(values))
    return fault or Absent()


def _parse_bytes(text: str) -> int | None:
    word = text.strip()
    if not word.isdecimal() or int(word) >= _NO_LIMIT_BYTES:
        return None  # "max"
    return int(word) // _MIB


def _parse_quota(text: str) -> int | None:
    """``200000 100000``: microseconds of each period; ``max`` or -1: all that there is."""
    words = text.split()
    if len(words) != len(("quota", "period")) or not all(word.isdecimal() for word in words):
        return None
    quota, period = map(int, words)
    return round(100 * quota / period) if period else None
