"""Needs of installed distributions that nothing installed meets: what ``uv pip check`` finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.collect.requirement_lines import Judge, Need, parse_needs, target_environment
from envtrack.model.fact import Absent, FactState, Known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envtrack.collect.distributions import Distribution
    from envtrack.collect.layout import Layout

_SHOWN = 10


def find_broken_requirements(installed: Mapping[str, Distribution], layout: Layout) -> FactState:
    """``2: jax 0.4.30 needs numpy<2, not 2.1.0; …``; absent: none."""
    problems = list_broken_requirements(installed, layout)
    if not problems:
        return Absent()
    more = "; …" if len(problems) > _SHOWN else ""
    return Known(f"{len(problems)}: {'; '.join(problems[:_SHOWN])}{more}")


def list_broken_requirements(installed: Mapping[str, Distribution], layout: Layout) -> list[str]:
    """A line each, by the name of the distribution that needs something.

    As ``uv pip check`` does it: for this Python and platform, without extras, the version that
    stands in the metadata. An environment that sees the system's packages may find there what it
    lacks itself.

    Cost: 0.1 ms a distribution.
    """
    judge = Judge(target_environment(layout))
    sees_base = layout.config.get("include-system-site-packages", "").lower() == "true"
    problems: list[str] = []
    for _, one in sorted(installed.items()):
        problems += _check_python(one, judge)
        # Most lines are for extras; they are passed over before they are taken apart.
        lines = [line for line in one.requires if "extra" not in line.partition(";")[2]]
        for need in parse_needs(lines):
            if judge.is_needed(need):
                problems += _check_need(one, need, installed, judge, sees_base=sees_base)
    return problems


def _check_python(one: Distribution, judge: Judge) -> Iterator[str]:
    version = judge.environment.get("python_full_version", "")
    if version and not judge.fits(one.requires_python, version):
        yield f"{one.name} {one.version} needs Python {one.requires_python}, not {version}"


def _check_need(
    one: Distribution,
    need: Need,
    installed: Mapping[str, Distribution],
    judge: Judge,
    *,
    sees_base: bool,
) -> Iterator[str]:
    wanted = f"{need.name}{need.specifier}"
    found = installed.get(need.name)
    if found is None:
        if not sees_base:
            yield f"{one.name} {one.version} needs {wanted}, which is not installed"
    elif not judge.fits(need.specifier, found.version):
        yield f"{one.name} {one.version} needs {wanted}, not {found.version}"
