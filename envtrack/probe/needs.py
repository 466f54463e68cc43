"""Whether what is installed together is made for each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from envtrack.collect.broken_requirements import list_broken_requirements
from envtrack.collect.distributions import Distribution, read_distributions
from envtrack.collect.layout import Layout, read_layout, site_folders


def find_broken_needs(environment: Path, *, own: frozenset[str]) -> tuple[str, ...]:
    """What installed packages need and is not there, a line each: what ``uv pip check`` finds.

    Args:
        environment: its folder.
        own: names of packages whose needs don't count: the project's own, whose code is that of one
            side while its packages come from both.
    """
    layout = read_layout(environment)
    if not isinstance(layout, Layout):
        return ()
    installed: dict[str, Distribution] = {}
    for site in site_folders(layout):
        for one in read_distributions(site):
            installed.setdefault(one.name, one)
    others = {
        name: replace(one, requires=()) if name in own else one for name, one in installed.items()
    }
    return tuple(list_broken_requirements(others, layout))
