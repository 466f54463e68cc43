"""``Requires-Dist`` lines taken apart, thousands of them in a moment.

``packaging`` reads them too, at a tenth of a millisecond each; it is asked here only for what needs
it: markers and version specifiers, each distinct one once.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from envtrack.collect.distributions import normalise_name
from envtrack.collect.plain_requirements import fits_plainly, holds_plainly

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from packaging.markers import Marker
    from packaging.specifiers import SpecifierSet

    from envtrack.collect.layout import Layout

# PEP 508, and the older "name (==1.0) ; marker" that many wheels still have.
_LINE = re.compile(
    r"\s*(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._\-]*[A-Za-z0-9])?)\s*"
    r"(?:\[(?P<extras>[^\]]*)\])?\s*(?P<rest>.*)",
    re.DOTALL,
)
_EXTRA = re.compile(r"\bextra\b")
_FAMILIES = {"python": "cpython", "pypy": "pypy", "graalpy": "graalpy"}
_FAMILY_NAMES = {"cpython": "CPython", "pypy": "PyPy", "graalpy": "GraalVM"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one distribution needs of another.

    Attributes:
        name: normalised.
        extras: of the needed one.
        specifier: ``>=1.26,<3``; empty: any version.
        marker: where it is needed; empty: everywhere.
        has_url: whether it must come from one place, whatever its version.
    """

    name: str
    extras: tuple[str, ...] = ()
    specifier: str = ""
    marker: str = ""
    has_url: bool = False

    @property
    def asks_extra(self) -> bool:
        """Whether it is needed for an extra only."""
        return bool(self.marker) and _EXTRA.search(self.marker) is not None


def parse_need(line: str) -> Need | None:
    """One line; ``None`` for what can't be understood."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    rest = found["rest"].strip()
    if rest.startswith("@"):  # a URL may hold a semicolon: a marker's has a blank before it
        _, _, marker = rest.partition(" ;")
        specifier = ""
    else:
        specifier, _, marker = rest.partition(";")
    specifier = specifier.strip().removeprefix("(").removesuffix(")").strip()
    extras = tuple(
        normalise_name(e.strip()) for e in (found["extras"] or "").split(",") if e.strip()
    )
    return Need(
        name=normalise_name(found["name"]),
        extras=tuple(filter(None, extras)),
        specifier=specifier,
        marker=marker.strip(),
        has_url=rest.startswith("@"),
    )


def target_environment(layout: Layout) -> dict[str, str]:
    """The marker variables of the environment's Python, as far as files tell; the rest is ours.

    Platform and machine are those of the Python that envtrack runs in: the same machine.
    """
    library = next(iter(layout.libraries), None)
    version = layout.version or (library.version if library else "")
    values: dict[str, str] = {}
    if version:
        values["python_full_version"] = version if version.count(".") > 1 else f"{version}.0"
        values["python_version"] = ".".join(version.split(".")[:2])
    if library:
        family = _FAMILIES[library.family]
        values["implementation_name"] = family
        values["platform_python_implementation"] = _FAMILY_NAMES[family]
    return values


@dataclass(frozen=True)
class Judge:
    """Says whether markers hold and versions fit; remembers each distinct question.

    Attributes:
        environment: marker variables other than our own Python's.
    """

    environment: Mapping[str, str]
    _markers: dict[tuple[str, str], bool] = field(default_factory=dict)
    _specifiers: dict[tuple[str, str], bool] = field(default_factory=dict)

    def is_needed(self, need: Need, extras: Sequence[str] = ()) -> bool:
        """Whether its marker holds without an extra, or with one of these."""
        if not need.marker:
            return True
        if not need.asks_extra:
            return self._marker_holds(need.marker, "")
        # Evaluated only with what it speaks of: a list of all of CUDA has hundreds of them.
        text = normalise_name(need.marker)
        return any(self._marker_holds(need.marker, extra) for extra in extras if extra in text)

    def fits(self, specifier: str, version: str) -> bool:
        """Whether an installed version satisfies a specifier; pre-releases do like others."""
        if not specifier:
            return True
        key = (specifier, version)
        if key not in self._specifiers:
            self._specifiers[key] = _contains(specifier, version)
        return self._specifiers[key]

    def _marker_holds(self, marker: str, extra: str) -> bool:
        key = (marker, extra)
        if key not in self._markers:
            self._markers[key] = self._evaluate(marker, extra)
        return self._markers[key]

    def _evaluate(self, text: str, extra: str) -> bool:
        plain = None if extra else holds_plainly(text, {**_here(), **self.environment})
        return self._evaluate_any(text, extra) if plain is None else plain

    def _evaluate_any(self, text: str, extra: str) -> bool:
        from packaging.markers import InvalidMarker, Marker, UndefinedEnvironmentName

        try:
            marker: Marker = Marker(text)
            return marker.evaluate({**self._variables, "extra": extra})
        except (InvalidMarker, UndefinedEnvironmentName):
            return False

    @cached_property
    def _variables(self) -> dict[str, str]:
        from packaging.markers import default_environment

        ours = {key: str(value) for key, value in default_environment().items()}
        return {**ours, **self.environment}


def _contains(specifier: str, version: str) -> bool:
    """What can't be understood counts as fitting: only a sure misfit is one."""
    plain = fits_plainly(specifier, version)
    if plain is not None:
        return plain
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    try:
        wanted: SpecifierSet = SpecifierSet(specifier)
        return wanted.contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return True


def _here() -> dict[str, str]:
    """The marker variables that our own Python shares with every other on this machine."""
    return {
        "os_name": os.name,
        "sys_platform": sys.platform,
        "platform_machine": platform.machine(),
        "platform_system": platform.system(),
    }


def parse_needs(lines: Sequence[str]) -> Iterator[Need]:
    """Those of the lines that can be understood."""
    for line in lines:
        if need := parse_need(line):
            yield need
