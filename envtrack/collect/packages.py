"""What is installed in the project's environment, read from its metadata files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.collect.distributions import Distribution, normalise_name, read_distributions
from envtrack.collect.layout import Layout, read_layout, site_folders
from envtrack.collect.places import describe_place
from envtrack.model.fact import Absent, Fact, FactState, Known
from envtrack.model.layer import Layer
from envtrack.model.snapshot import InstalledPackage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from envtrack.collect.interface import Machine, Record


class PackagesCollector:
    """Reads ``*.dist-info``, ``*.egg-info``, ``*.egg-link`` and ``conda-meta``."""

    layer = Layer.PACKAGES

    def collect(self, machine: Machine) -> Iterator[Record]:
        """The distributions, and facts about them.

        ``packages.environment`` is where they are; ``packages.count`` how many;
        ``packages.duplicates`` the names that are there twice; ``packages.installed.<name>`` is
        unknown for one whose metadata can't be read, and there is no such line for the others.

        Raises:
            OSError: site-packages can't be listed.

        Cost: one file a package, two for those with a ``direct_url.json``.
        """
        layout = read_layout(machine.environment)
        if not isinstance(layout, Layout):
            yield Fact(name="packages.environment", state=layout)
            return
        folder = describe_place(layout.folder, machine)
        yield Fact(name="packages.environment", state=Known(folder))
        found = [one for site in site_folders(layout) for one in read_distributions(site)]
        if layout.is_conda:
            found = _with_conda(found, dict(_read_conda(layout.folder)))
        yield from _report(found)


def _report(found: Iterable[Distribution]) -> Iterator[Record]:
    by_name: dict[str, list[Distribution]] = {}
    for one in found:
        by_name.setdefault(one.name, []).append(one)
    doubled = []
    count = 0
    for name, ones in sorted(by_name.items()):
        readable = [one for one in ones if one.version]
        if not readable:
            yield Fact(name=f"packages.installed.{name}", state=ones[0].fault)
            continue
        if len(ones) > 1:
            doubled.append(f"{name} {' | '.join(sorted(one.version or '?' for one in ones))}")
        count += 1
        best = _choose(readable)
        yield InstalledPackage(name=name, version=best.version, origin=best.origin)
    yield Fact(name="packages.count", state=Known(count))
    state: FactState = Known(", ".join(doubled)) if doubled else Absent()
    yield Fact(name="packages.duplicates", state=state)


def _choose(ones: Sequence[Distribution]) -> Distribution:
    """The highest version of several: which one Python imports depends on the folder's order."""
    if len(ones) == 1:
        return ones[0]
    from packaging.version import InvalidVersion, Version

    def rank(one: Distribution) -> tuple[bool, Version, str]:
        try:
            return True, Version(one.version), one.origin
        except InvalidVersion:
            return False, Version("0"), one.version

    return max(ones, key=rank)


def _read_conda(environment: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name, version and build string by the records' file names; the texts are megabytes."""
    for path in (environment / "conda-meta").glob("*-*-*.json"):
        name, version, build = path.stem.rsplit("-", 2)
        if name != "python":  # the python layer tells of it
            yield normalise_name(name).strip("-"), (version, build)  # _libgcc_mutex


def _with_conda(
    found: Sequence[Distribution], records: dict[str, tuple[str, str]]
) -> list[Distribution]:
    """Both views of a conda environment as one.

    A Python distribution of a conda package is told by both: it gets the build string. One that
    pip put in its place, of another version, is what Python sees and stays. What conda alone knows
    (``cuda-nvcc``, ``libblas``) is added.
    """
    merged = []
    for one in found:
        version, build = records.pop(one.name, ("", ""))
        same = one.is_condas or (bool(version) and version == one.version and not one.origin)
        origin = (f"conda {build}" if build else "conda") if same else one.origin
        merged.append(Distribution(one.name, one.version, origin, fault=one.fault))
    for name, (version, build) in records.items():
        merged.append(Distribution(name, version, f"conda {build}"))
    return merged
