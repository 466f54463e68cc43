"""Which package of one lock became which of another, where a name alone does not say it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from packaging.version import Version

from envtrack.model.lock import LockedPackage, SourceKind

_Likeness: TypeAlias = Callable[[LockedPackage], Hashable]
Pair: TypeAlias = tuple[LockedPackage | None, LockedPackage | None]


def pair_packages(
    before: Iterable[LockedPackage], after: Iterable[LockedPackage]
) -> dict[str, list[Pair]]:
    """The packages of two locks side by side, by name.

    Where a lock holds a name several times (a version a Python, a build a platform), those that
    are most alike are paired: the same version, source and fork before the same version and
    platform, before the same fork. What is left is added or removed, highest versions paired first.
    """
    old, new = _by_name(before), _by_name(after)
    return {name: _pair(old.get(name, []), new.get(name, [])) for name in sorted({*old, *new})}


def version_key(version: str | None) -> tuple[int, Version | str]:
    """A version's place in PEP 440's order; what is none comes first, as text."""
    parsed = parse_version(version or "")
    return (0, version or "") if parsed is None else (1, parsed)


@lru_cache(maxsize=20_000)
def parse_version(version: str) -> Version | None:
    """The PEP 440 version, or `None` if it is none."""
    try:
        return Version(version)
    except ValueError:  # none, or one of thousands of digits
        return None


def _by_name(packages: Iterable[LockedPackage]) -> dict[str, list[LockedPackage]]:
    found: dict[str, list[LockedPackage]] = {}
    for package in packages:
        found.setdefault(package.name, []).append(package)
    return found


def _pair(old: Sequence[LockedPackage], new: Sequence[LockedPackage]) -> list[Pair]:
    if len(old) == 1 and len(new) == 1:
        return [(old[0], new[0])]
    left = sorted(old, key=_order, reverse=True)
    right = sorted(new, key=_order, reverse=True)
    pairs: list[Pair] = []
    # What conda locks for one platform never became what it locks for another.
    for likeness in (*map(_at_one_place, _LIKENESSES), *_LIKENESSES):
        _match(left, right, likeness, pairs)
    pairs += [(package, None) for package in left]
    pairs += [(None, package) for package in right]
    return pairs


def _match(
    left: list[LockedPackage],
    right: list[LockedPackage],
    likeness: _Likeness,
    pairs: list[Pair],
) -> None:
    """Moves those that are alike out of both lists, into `pairs`."""
    for package in list(left):
        own = likeness(package)
        other = next((candidate for candidate in right if likeness(candidate) == own), None)
        if other is not None:
            left.remove(package)
            right.remove(other)
            pairs.append((package, other))


def find_place(package: LockedPackage) -> tuple[str, ...]:
    """The ecosystem and the platforms that an entry is for: one lock can hold all of them."""
    return package.ecosystem, *package.platforms


def _at_one_place(likeness: _Likeness) -> _Likeness:
    return lambda package: (find_place(package), likeness(package))


def _order(package: LockedPackage) -> tuple[tuple[int, Version | str], tuple[str, ...]]:
    return version_key(package.version), package.source.key


def _forks(package: LockedPackage) -> frozenset[str]:
    return frozenset(package.resolution_markers)


def _public(package: LockedPackage) -> str | None:
    version = parse_version(package.version or "")
    return package.version if version is None else version.public


def _platform(package: LockedPackage) -> frozenset[str]:
    """For a wheel by URL: which platform it is for, the only thing that sets two builds apart."""
    if package.source.kind not in {SourceKind.URL, SourceKind.PATH}:
        return frozenset()
    return frozenset(a.filename.rpartition("-")[2] for a in package.artifacts if a.is_wheel)


_LIKENESSES: tuple[_Likeness, ...] = (
    lambda package: (package.version, package.source.key, _forks(package)),
    lambda package: (package.version, package.source.key),
    lambda package: (package.version, _platform(package), _forks(package)),
    lambda package: (package.version, _platform(package)),
    lambda package: (_public(package), _platform(package), _forks(package)),
    lambda package: (_public(package), _platform(package)),
    lambda package: (_forks(package), _platform(package), package.source.kind),
    lambda package: (_platform(package), package.source.key),
    _platform,
    lambda _: None,
)
