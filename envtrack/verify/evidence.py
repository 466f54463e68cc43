"""What shows that a dependence is one, and what to do about it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.model.fresh import Hidden, HiddenKind
from envtrack.verify.factors import Factor, find_setting, show_home
from envtrack.verify.trial import list_installed

if TYPE_CHECKING:
    from envtrack.verify.trial import Attempt

_HINTS = {
    HiddenKind.SHELL: "set it where the project is set up, or say in the README that it is needed "
    "and list it under `verify: keep:`",
    HiddenKind.VARIABLE: "set it where the project is set up, or say in the README that it is "
    "needed and list it under `verify: keep:`",
    HiddenKind.LOCAL: "make it a dependency in pyproject.toml, or install it in the set-up",
    HiddenKind.INDEX_CONFIG: "put the index into pyproject.toml (`[[tool.uv.index]]`)",
    HiddenKind.GIT_CONFIG: "set it in the repository (`.gitattributes`, `git config --local` in "
    "the set-up), or do without",
    HiddenKind.HOME: "commit it, or make it in the set-up",
    HiddenKind.PROGRAM: "make it a dependency, or say in the README that it has to be installed",
    HiddenKind.FILE: "`git add` it, or make it in the set-up",
    HiddenKind.LIBRARY: "depend on a wheel that brings the library, or say in the README which "
    "system package has to be installed",
    HiddenKind.CACHE: "the index no longer has what is locked: lock again, or keep a copy of it",
    HiddenKind.INSTALLED: "add what is needed to pyproject.toml: `uv add NAME`",
}


def describe(factor: Factor, first: Attempt, home: Path, *, is_one_of: int) -> Hidden:
    """A factor that decides, as a finding.

    Args:
        factor: which.
        first: the trial without it.
        home: the user's home.
        is_one_of: how many ways there are; with more than one, each alone is enough.
    """
    evidence = [
        f"without it: {first.judgement.verdict}: {first.judgement.reason}",
        *(f"  {line}" for line in first.output.splitlines()[-2:]),
        "with it, and nothing else of yours: good"
        if is_one_of == 1
        else f"with it: good; so it is with the others named ({is_one_of} ways)",
    ]
    kind, what = factor.kind, factor.what
    if factor.variable is not None:
        where = find_setting(factor.variable[0], home)
        if where and factor.variable[0] != "PATH":
            evidence.append(f"set in {where}")
    held = _find_library(first.library, factor)
    if held is not None:
        kind, what = HiddenKind.LIBRARY, first.library
        evidence.append(f"found by {factor.what}: {show_home(str(held), home)}")
    return Hidden(kind, what, tuple(evidence), _HINTS[kind])


def _find_library(library: str, factor: Factor) -> Path | None:
    """The file that a factor lets the loader find; ``None``: it is not a matter of libraries."""
    if not library:
        return None
    places = [] if factor.variable is None else factor.variable[1].split(os.pathsep)
    if factor.source is not None:
        places.append(str(factor.source))
    found = (Path(place) / Path(library).name for place in places if place)
    return next((path for path in found if path.exists()), None)


def find_extras(first: Attempt, environment: Path | None) -> Hidden | None:
    """What the user's environment holds and a new one does not; ``None``: nothing."""
    if environment is None or first.judgement.stage != "smoke":
        return None
    extras = sorted(list_installed(environment) - first.installed)
    if not extras:
        return None
    evidence = (
        f"without it: {first.judgement.verdict}: {first.judgement.reason}",
        "in your environment, and not in one that was set up anew: " + ", ".join(extras[:10]),
    )
    what = ", ".join(extras[:3]) + (" …" if len(extras) > 3 else "")  # noqa: PLR2004 - a line
    return Hidden(HiddenKind.INSTALLED, what, evidence, _HINTS[HiddenKind.INSTALLED])
