"""Installed files against what their distributions' ``RECORD`` says of them."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from envtrack.collect.reading import missing_state
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

# What people patch in place: source, and a library put in another's place. Headers, data and
# compiled caches, half of all files, are not looked at.
_SUFFIXES = (".py", ".so")
_TRACES = (".py,", ".so")
_VERSIONED = ".so."
# Scripts stand outside of site-packages: installers rewrite their first line. A name with a comma
# stands in quotes.
_PASSED_OVER = ("../", '"', "/")
_HASH = "sha256="
_RECORD_LIMIT_BYTES = 16 * 1024 * 1024
# Installers write RECORD last; file systems count time in steps of up to two seconds.
_SLACK_NS = 3 * 10**9
_SHOWN = 5
_FACTS = ("edited", "missing-files", "file-clashes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may be looked at before it is given up; a half look would differ every time.

    Attributes:
        record_bytes: of all RECORDs together, a hundred a file: a count that costs nothing.
        seconds: for all of them: a network file system takes a hundred times as long as a disk.
        hash_bytes: of files that are newer than their installation and as large as recorded.
    """

    record_bytes: int
    seconds: float
    hash_bytes: int


QUICK = Bounds(record_bytes=4 * 1024**2, seconds=0.5, hash_bytes=32 * 1024**2)
THOROUGH = Bounds(record_bytes=1024**3, seconds=120, hash_bytes=8 * 1024**3)


class _File(NamedTuple):
    """One line of a RECORD; a light thing, for there are tens of thousands."""

    owner: str
    site: str
    path: str
    sha256: str
    size: str
    installed_ns: int


@dataclass(slots=True)
class _Findings:
    edited: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    doubtful: list[tuple[str, _File]] = field(default_factory=list)


class _GaveUp(Exception):
    """A bound was reached; its text says which."""


def check_files(
    infos: Sequence[Path], bounds: Bounds, clock: Callable[[], float] = time.monotonic
) -> dict[str, FactState]:
    """``edited``, ``missing-files``, ``file-clashes``: how many, and the first by their names.

    A file counts as edited if its size differs, or if it is newer than its installation and its
    hash differs. A clash is one path that two distributions installed with different content.

    Args:
        infos: ``.dist-info`` folders.
        bounds: beyond which the facts are unknown.
        clock: seconds.

    Cost: a read a distribution, 2 µs a line of it, a look (stat) a module.
    """
    end = clock() + bounds.seconds
    try:
        _weigh(infos, bounds.record_bytes)
        owned, clashes = _read_owned(infos)
        shown = [f"{owned.pop(f).path} ({' | '.join(sorted(who))})" for f, who in clashes.items()]
        findings = _look(owned, lambda: clock() > end)
        findings.edited += _find_changed(findings.doubtful, bounds.hash_bytes)
    except _GaveUp as reason:
        return dict.fromkeys(_FACTS, Unknown(str(reason)))
    found = (findings.edited, findings.missing, shown)
    return dict(zip(_FACTS, map(_summary, found), strict=True))


def _weigh(infos: Sequence[Path], most_bytes: int) -> None:
    total = 0
    for info in infos:
        with contextlib.suppress(OSError):
            total += (info / "RECORD").stat().st_size
    if total > most_bytes:
        raise _GaveUp("so many files that only --deep looks at each")


def _read_owned(infos: Sequence[Path]) -> tuple[dict[str, _File], dict[str, set[str]]]:
    """The files, and the owners of those that two distributions have; by their full path."""
    owned: dict[str, _File] = {}
    clashes: dict[str, set[str]] = {}
    for info in infos:
        for one in _read_record(info):
            full = f"{one.site}/{one.path}"
            other = owned.setdefault(full, one)
            if other.sha256 != one.sha256:
                clashes.setdefault(full, {other.owner}).add(one.owner)
    return owned, clashes


def _read_record(info: Path) -> Iterator[_File]:
    try:
        with (info / "RECORD").open("rb") as source:
            installed_ns = os.fstat(source.fileno()).st_mtime_ns
            raw = source.read(_RECORD_LIMIT_BYTES)
    except OSError:  # distributions' packages leave it out; what can't be read tells nothing
        return
    owner, site = info.name.removesuffix(".dist-info"), str(info.parent)
    first, second = _TRACES
    for line in raw.decode("utf-8", "surrogateescape").split("\n"):
        if first not in line and second not in line:  # most lines; the rest is for certain
            continue
        path, _, rest = line.partition(",")
        is_looked_at = path.endswith(_SUFFIXES) or _VERSIONED in path
        if is_looked_at and rest.startswith(_HASH) and not path.startswith(_PASSED_OVER):
            sha256, _, size = rest[len(_HASH) :].partition(",")
            yield _File(owner, site, path, sha256, size.rstrip("\r"), installed_ns)


def _look(owned: dict[str, _File], is_late: Callable[[], bool]) -> _Findings:
    findings = _Findings()
    for count, (full, one) in enumerate(owned.items()):
        if count % 256 == 0 and is_late():
            raise _GaveUp("the file system is too slow: only --deep takes the time")
        try:
            seen = os.stat(full)  # noqa: PTH116 - a Path each would double the time
        except OSError as error:
            if isinstance(missing_state(error), Absent):
                findings.missing.append(one.path)
            continue
        if str(seen.st_size) != one.size:
            findings.edited.append(one.path)
        elif seen.st_mtime_ns > one.installed_ns + _SLACK_NS:
            findings.doubtful.append((full, one))
    return findings


def _find_changed(doubtful: list[tuple[str, _File]], limit_bytes: int) -> list[str]:
    if sum(int(one.size) for _, one in doubtful) > limit_bytes:
        raise _GaveUp("too much is newer than its installation: only --deep compares it")
    return [one.path for full, one in doubtful if _hash(full) not in {one.sha256, ""}]


def _hash(path: str) -> str:
    """As RECORD writes it: base64 for URLs, without padding; empty: it can't be read."""
    try:
        with open(path, "rb") as source:  # noqa: PTH123 - it is text already
            digest = hashlib.file_digest(source, "sha256").digest()
    except OSError:
        return ""
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def _summary(names: list[str]) -> FactState:
    """``2 files: a.py, b.py``; absent: none."""
    if not names:
        return Absent()
    shown = ", ".join(sorted(names)[:_SHOWN])
    more = ", …" if len(names) > _SHOWN else ""
    return Known(f"{len(names)} file{'' if len(names) == 1 else 's'}: {shown}{more}")
