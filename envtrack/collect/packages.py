"""What is installed in the project's environment, read from its metadata files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.broken_requirements import find_broken_requirements
from envtrack.collect.distributions import (
    Distribution,
    is_condas,
    normalise_name,
    read_distributions,
)
from envtrack.collect.git_revision import find_repository, read_revision
from envtrack.collect.layout import Layout, read_layout, site_folders
from envtrack.collect.places import describe_place
from envtrack.collect.record_files import QUICK, THOROUGH, check_files
from envtrack.collect.shadowing import find_shadowed
from envtrack.model.fact import Absent, Fact, FactState, Known
from envtrack.model.layer import Layer
from envtrack.model.snapshot import InstalledPackage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envtrack.collect.interface import Machine, Record

_EDITABLE = "editable /"


class PackagesCollector:
    """Reads ``*.dist-info``, ``*.egg-info``, ``*.egg-link`` and ``conda-meta``."""

    layer = Layer.PACKAGES

    def collect(self, machine: Machine) -> Iterator[Record]:
        """The distributions, and facts about them.

        ``packages.environment`` is where they are; ``packages.count`` how many;
        ``packages.duplicates`` the names that are there twice; ``packages.installed.<name>`` is
        unknown for one whose metadata can't be read, and there is no such line for the others.
        What is broken by itself: ``packages.broken-requirements``, ``edited``, ``missing-files``,
        ``file-clashes``, ``shadowed``; absent: nothing is. ``packages.editable-revision.<name>``
        is a commit.

        Raises:
            OSError: site-packages can't be listed.

        Cost: one file a package, two for those with a ``direct_url.json``; its RECORD, and a look
        at each module (`check_files`).
        """
        layout = read_layout(machine.environment)
        if not isinstance(layout, Layout):
            yield Fact(name="packages.environment", state=layout)
            return
        folder = describe_place(layout.folder, machine)
        yield Fact(name="packages.environment", state=Known(folder))
        sites = site_folders(layout)
        found = [one for site in sites for one in read_distributions(site)]
        everything = found
        if layout.is_conda:
            everything = _with_conda(found, dict(_read_conda(layout.folder)))
        by_name = _group(everything)
        installed = _choose_each(by_name)
        yield from _report(by_name, installed)
        states = {
            "broken-requirements": find_broken_requirements(installed, layout),
            **check_files(_info_folders(found, layout), THOROUGH if machine.deep else QUICK),
            "shadowed": find_shadowed(machine, sites),
            **_read_revisions(machine, installed),
        }
        yield from (Fact(name=f"packages.{part}", state=state) for part, state in states.items())


def _info_folders(found: Iterable[Distribution], layout: Layout) -> list[Path]:
    """Those whose RECORD holds: conda writes its own prefix into files after theirs was made."""
    infos = sorted(one.info for one in found if one.info)
    return [info for info in infos if not is_condas(info)] if layout.is_conda else infos


def _group(found: Iterable[Distribution]) -> dict[str, list[Distribution]]:
    by_name: dict[str, list[Distribution]] = {}
    for one in found:
        by_name.setdefault(one.name, []).append(one)
    return by_name


def _choose_each(by_name: Mapping[str, Sequence[Distribution]]) -> dict[str, Distribution]:
    readable = {name: [one for one in ones if one.version] for name, ones in by_name.items()}
    return {name: _choose(ones) for name, ones in readable.items() if ones}


def _report(
    by_name: Mapping[str, Sequence[Distribution]], installed: Mapping[str, Distribution]
) -> Iterator[Record]:
    doubled = []
    for name, ones in sorted(by_name.items()):
        if name not in installed:
            yield Fact(name=f"packages.installed.{name}", state=ones[0].fault)
            continue
        if len(ones) > 1:
            doubled.append(f"{name} {' | '.join(sorted(one.version or '?' for one in ones))}")
        best = installed[name]
        yield InstalledPackage(name=name, version=best.version, origin=best.origin)
    yield Fact(name="packages.count", state=Known(len(installed)))
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


def _read_revisions(
    machine: Machine, installed: Mapping[str, Distribution]
) -> dict[str, FactState]:
    """Of each editable install from a git repository other than the project's own.

    The project's own commit is no part of its environment: it would change with every record.
    """
    own = find_repository(machine.project)
    states: dict[str, FactState] = {}
    for name, one in installed.items():
        if not one.origin.startswith(_EDITABLE):
            continue
        source = machine.root / one.origin.removeprefix(_EDITABLE)
        repository = find_repository(source)
        if repository is None:
            states[f"editable-revision.{name}"] = Absent()
        elif own is None or not _is_same(repository, own):
            states[f"editable-revision.{name}"] = read_revision(repository)
    return states


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


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
        same = (
            one.is_condas
            or (bool(version) and version == one.version and not one.origin)
            # conda's package of torch is called pytorch: only who installed it tells.
            or (not version and not one.origin and one.info is not None and is_condas(one.info))
        )
        origin = (f"conda {build}" if build else "conda") if same else one.origin
        merged.append(replace(one, origin=origin))
    for name, (version, build) in records.items():
        merged.append(Distribution(name, version, f"conda {build}"))
    return merged
