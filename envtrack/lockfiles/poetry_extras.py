"""Which extras of the project lead to a package, in a poetry.lock that does not say it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from envtrack.lockfiles.group_markers import join_markers
from envtrack.model.lock import LockedPackage
from envtrack.model.names import normalise

# Optional, and in no extra: poetry locks such a package and never installs it.
_NEVER: Final = 'python_version < "0"'
_NAME = re.compile(r"[\w.-]+", re.ASCII)
# So that a file that names every package in each of thousands of extras takes no gigabytes.
_MOST_PAIRS: Final = 200_000


class TooManyExtrasError(Exception):
    """More pairs of an extra and a package than any project has."""


def mark_optional(
    packages: Sequence[LockedPackage],
    optional: Collection[int],
    extras: Mapping[str, tuple[str, ...]],
) -> tuple[LockedPackage, ...]:
    """The packages, those that are there for extras with a marker for each of these.

    Args:
        packages: of the lock.
        optional: positions of the packages that the file calls optional.
        extras: `[extras]` of the file: names of the packages that each asks for.

    Raises:
        TooManyExtrasError: there are too many to be told.
    """
    leading = _find_leading(packages, extras)
    return tuple(
        _mark(package, leading.get(package.name, ())) if position in optional else package
        for position, package in enumerate(packages)
    )


def _mark(package: LockedPackage, extras: Sequence[str]) -> LockedPackage:
    own = package.resolution_markers[0] if package.resolution_markers else ""
    markers = tuple(f'extra == "{extra}"' for extra in sorted(extras)) or (_NEVER,)
    if own:
        markers = (join_markers(" or ".join(markers), own),)
    return package._replace(resolution_markers=markers)


def _find_leading(
    packages: Iterable[LockedPackage], extras: Mapping[str, tuple[str, ...]]
) -> dict[str, list[str]]:
    """The extras that lead to each package through the lock's own graph, as poetry 1 walks it."""
    edges: dict[str, set[str]] = {}
    for package in packages:
        some = (package.dependencies, *package.optional_dependencies.values())
        edges.setdefault(package.name, set()).update(edge.name for row in some for edge in row)
    found: dict[str, list[str]] = {}
    pairs = 0
    for extra, texts in extras.items():
        # 2018's files have `name (>=1)` there.
        names = (_NAME.match(text.strip()) for text in texts)
        reached = _reach({normalise(name[0]) for name in names if name}, edges)
        pairs += len(reached)
        if pairs > _MOST_PAIRS:
            raise TooManyExtrasError
        for name in reached:
            found.setdefault(name, []).append(normalise(extra).replace('"', ""))
    return found


def _reach(names: set[str], edges: Mapping[str, set[str]]) -> set[str]:
    reached, waiting = set(names), list(names)
    while waiting:
        fresh = edges.get(waiting.pop(), set()) - reached
        reached |= fresh
        waiting += fresh
    return reached
