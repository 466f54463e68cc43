"""What differs between two sets of installed packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.model.comparison import Change, ChangeKind
from envtrack.model.layer import find_package_layer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from packaging.version import Version

    from envtrack.model.snapshot import InstalledPackage

_FROM_INDEX = "index"


def compare_installed(
    before: Mapping[str, InstalledPackage],
    after: Mapping[str, InstalledPackage],
    unread: Mapping[str, str],
) -> Iterator[Change]:
    """The changes, in no particular order.

    Args:
        before: by normalised name.
        after: likewise.
        unread: packages that are there afterwards but can't be read, with the reason: known
            before, they are changed to ``unknown (reason)`` and not removed.
    """
    for name in before.keys() | after.keys():
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if old is not None and new is not None:
            yield _compare_one(old, new)
        elif new is not None:
            yield _change(name, ChangeKind.ADDED, None, new.version, new.origin)
        elif old is not None and name in unread:
            reason = f"unknown ({unread[name]})"
            yield _change(name, ChangeKind.CHANGED, old.version, reason)
        elif old is not None:
            yield _change(name, ChangeKind.REMOVED, old.version, None)


def find_version_change(before: str, after: str) -> ChangeKind:
    """In which way two versions that are written differently differ.

    Up or down by the public part; *variant* if only the local part moved (``+cu124`` to ``+cpu``:
    PEP 440 orders them, but neither is newer); *changed* if they can't be ordered, or are one
    version in two spellings.
    """
    old, new = _parse(before), _parse(after)
    if old is None or new is None:
        return ChangeKind.CHANGED
    public = _public(old), _public(new)
    if public[0] != public[1]:
        return ChangeKind.UPGRADED if public[1] > public[0] else ChangeKind.DOWNGRADED
    return ChangeKind.VARIANT if old.local != new.local else ChangeKind.CHANGED


def _compare_one(old: InstalledPackage, new: InstalledPackage) -> Change:
    moved = f"{old.origin or _FROM_INDEX} → {new.origin or _FROM_INDEX}"
    if old.version != new.version:
        kind = find_version_change(old.version, new.version)
        detail = "" if old.origin == new.origin or _is_build(old, new) else f"source: {moved}"
        return _change(new.name, kind, old.version, new.version, detail)
    kind = ChangeKind.REBUILD if _is_build(old, new) else ChangeKind.SOURCE
    return Change(
        layer=find_package_layer(new.name),
        name=new.name,
        kind=kind,
        before=old.origin or _FROM_INDEX,
        after=new.origin or _FROM_INDEX,
        detail=new.version,
    )


def _is_build(old: InstalledPackage, new: InstalledPackage) -> bool:
    """Whether both are conda's, whose origin is the build string."""
    return old.origin.startswith("conda") and new.origin.startswith("conda")


def _change(
    name: str, kind: ChangeKind, before: str | None, after: str | None, detail: str = ""
) -> Change:
    return Change(
        layer=find_package_layer(name),
        name=name,
        kind=kind,
        before=before,
        after=after,
        detail=detail,
    )


def _parse(text: str) -> Version | None:
    from packaging.version import Version

    try:
        return Version(text)
    except ValueError:  # none, or one of thousands of digits
        return None


def _public(version: Version) -> Version:
    from packaging.version import Version

    return Version(version.public)
