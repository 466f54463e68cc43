"""When a package is installed that several groups ask for, each under a marker of its own."""

from __future__ import annotations

from collections.abc import Mapping

from envtrack.lockfiles.flat import MAIN
from envtrack.model.names import normalise


def combine_group_markers(by_group: Mapping[str, str]) -> tuple[str, ...]:
    """What `LockedPackage.resolution_markers` is for these markers by group.

    The package is installed where the marker of a group holds that is asked for; `main` always is.

    Args:
        by_group: PEP 508 markers; an empty one always holds.

    Returns:
        One marker for each that differs, the groups named in it as PEP 751 does
        (``'dev' in dependency_groups``); empty: wherever one of the groups is asked for.
    """
    if len(set(by_group.values())) == 1 or not by_group.get(MAIN, "x"):
        marker = next(iter(by_group.values()))
        return (marker,) if marker and by_group.get(MAIN, "x") else ()
    groups: dict[str, list[str]] = {}
    for name, marker in by_group.items():
        groups.setdefault(marker, []).append(name)
    return tuple(_say(marker, names) for marker, names in groups.items())


def join_markers(*markers: str) -> str:
    """All of these at once; empty ones always hold."""
    parts = [marker for marker in markers if marker]
    return parts[0] if len(parts) == 1 else " and ".join(map(_enclose, parts))


def join_alternatives(*markers: str) -> str:
    """At least one of these; one that is empty always holds."""
    if not all(markers):
        return ""
    return " or ".join(dict.fromkeys(markers))


def _say(marker: str, names: list[str]) -> str:
    if MAIN in names:
        return marker
    return join_markers(
        " or ".join(f"{_quote(name)} in dependency_groups" for name in names), marker
    )


def _quote(name: str) -> str:
    name = normalise(name)
    return f'"{name}"' if "'" in name else f"'{name}'"


def _enclose(marker: str) -> str:
    return f"({marker})" if " or " in marker else marker
