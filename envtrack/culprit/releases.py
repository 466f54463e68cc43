"""Which releases lie between a good and a bad one, in the order of their versions."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.version import InvalidVersion, Version


def order_releases(known: Mapping[str, bool], good: str, bad: str) -> tuple[str, ...]:
    """The versions from the good to the bad one, both included; either may be the newer.

    Pre-releases and development releases count only if one of the ends is one; a local part
    (``+cu126``) only if it is that of one of the ends; what was yanked does not count.

    Args:
        known: by version, as the index spells it, whether it was yanked.
        good: the version that works.
        bad: the version that does not.

    Returns:
        Without what is no version (PEP 440); only the ends, if one of them is none.
    """
    try:
        first, last = Version(good), Version(bad)
    except InvalidVersion:
        return good, bad
    low, high = sorted((first, last))
    with_early = first.is_prerelease or last.is_prerelease
    between = []
    for text, is_yanked in known.items():
        try:
            version = Version(text)
        except InvalidVersion:
            continue
        is_early = version.is_prerelease and not with_early
        is_between = low < version < high and version.local in {first.local, last.local}
        if is_between and not is_yanked and not is_early:
            between.append(version)
    ordered = [str(version) for version in sorted(between)]
    return (good, *(ordered if first < last else ordered[::-1]), bad)
