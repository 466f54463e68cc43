"""What is installed of a lock on one machine under one selection, and its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from envtrack.lockfiles.flat import FlatSelection
from envtrack.lockfiles.markers import MarkerWorld
from envtrack.lockfiles.walk import Walk
from envtrack.model.lock import Artifact, Lock, LockedPackage, SourceKind
from envtrack.model.selection import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """What a selection comes to.

    Attributes:
        packages: what is installed, in file order.
        reached: the same, and projects that are walked but not installed (`virtual`).
        notes: what could not be decided or found, a line each; empty when all is well.
    """

    packages: tuple[LockedPackage, ...]
    reached: tuple[LockedPackage, ...]
    notes: tuple[str, ...]


def select(
    lock: Lock, selection: Selection, environment: Mapping[str, str]
) -> tuple[LockedPackage, ...]:
    """The packages that are installed under `selection` where `environment` holds.

    Args:
        lock: of any format; a uv.lock as `uv sync` takes it.
        selection: extras, groups and members.
        environment: PEP 508 variables (`python_full_version`, `sys_platform`…).

    Returns:
        In file order. A marker that can't be decided counts as holding; `explain_selection` also
        says which.
    """
    return explain_selection(lock, selection, environment).packages


def explain_selection(lock: Lock, selection: Selection, environment: Mapping[str, str]) -> Selected:
    """`select` with what could not be decided or found.

    A flat lock is asked entry by entry. A uv.lock takes two walks, as uv does it: markers of forks
    for conflicting extras (`extra == 'extra-3-lab-gpu'`) ask which extras are on anywhere, and that
    is only known after a first walk.
    """
    if lock.is_flat:
        flat = FlatSelection(lock, selection, environment)
        packages = flat.packages()
        own = _python_notes_of(packages, environment)
        notes = (*_python_notes(lock, environment), *own, *flat.notes())
        return Selected(packages=packages, reached=packages, notes=notes)
    walk = Walk(lock, selection, MarkerWorld(environment))
    if lock.conflicts:
        walk.run()
        walk.restart()
    walk.run()
    reached = tuple(lock.packages[position] for position in sorted(walk.reached))
    return Selected(
        packages=tuple(p for p in reached if p.source.kind is not SourceKind.VIRTUAL),
        reached=reached,
        notes=(*_python_notes(lock, environment), *walk.all_notes()),
    )


def _python_notes(lock: Lock, environment: Mapping[str, str]) -> Iterator[str]:
    # Markers in the lock take requires-python for granted; outside it they say nothing.
    version = environment.get("python_full_version", "")
    try:
        allowed = SpecifierSet(lock.requires_python)
        if version and not allowed.contains(version, prereleases=True):
            yield f"Python {version} is outside the lock's requires-python {lock.requires_python}"
    except ValueError:  # none, or one of thousands of digits
        yield f"requires-python can't be read: {lock.requires_python}"


def _python_notes_of(
    packages: Iterable[LockedPackage], environment: Mapping[str, str]
) -> Iterator[str]:
    version = environment.get("python_full_version", "")
    for package in packages:
        if not package.requires_python or not version:
            continue
        who = f"{package.name} {package.version or ''}".rstrip()
        try:
            if not SpecifierSet(package.requires_python).contains(version, prereleases=True):
                yield f"{who} is for Python {package.requires_python}, not {version}"
        except ValueError:
            yield f"requires-python of {who} can't be read: {package.requires_python}"


def identity(packages: Iterable[LockedPackage], *, tags: frozenset[str] | None = None) -> str:
    """A name for what these packages install: equal for locks that put the same files in place.

    Names, versions, sources and the hashes of the files count (a file without a hash: its name).
    The lockfile's form, order, markers, upload times, sizes and download hosts do not, nor the
    reference a git commit was asked for with. A local tree counts by name and path: its code is in
    the git tree beside the lock.

    Args:
        packages: what `select` returned.
        tags: the machine's wheel tags (`cp311-cp311-manylinux_2_17_x86_64`…). With them only the
            files that could be installed here count: the wheels that fit, or else the sdist, so
            that a wheel added upstream for another platform changes nothing.

    Returns:
        64 hexadecimal digits.
    """
    records = sorted(_identify(package, tags) for package in packages)
    return hashlib.sha256(json.dumps(["identity 1", records]).encode()).hexdigest()


def _identify(package: LockedPackage, tags: frozenset[str] | None) -> list[str]:
    kind, location, commit, subdirectory = package.source.key
    if package.source.kind.is_local_tree:
        return [package.name, location]
    chosen = package.artifacts if tags is None else _installable(package.artifacts, tags)
    files = sorted(artifact.hash or artifact.filename for artifact in chosen)
    if package.source.kind is SourceKind.URL and chosen and all(a.hash for a in chosen):
        # The hash says which file it is, wherever it was fetched from.
        location = ""
    record = [package.name, package.version or "", kind, location, commit, subdirectory, *files]
    # A conda build without hashes is told apart by its build string alone.
    return [*record, f"{package.ecosystem} {package.build}"] if package.build else record


def _installable(artifacts: Sequence[Artifact], tags: frozenset[str]) -> Sequence[Artifact]:
    fitting = tuple(a for a in artifacts if a.is_wheel and _fits(a.filename, tags))
    return fitting or tuple(artifact for artifact in artifacts if not artifact.is_wheel)


def _fits(filename: str, tags: frozenset[str]) -> bool:
    """Whether one of the tags of a wheel's name, which it writes compressed, is among `tags`."""
    parts = filename.removesuffix(".whl").rsplit("-", 3)
    is_wheel = filename.endswith(".whl")  # what conda installs has no tags
    if not is_wheel or len(parts) != len(("name and version", "python", "abi", "platform")):
        return True
    _, pythons, abis, platforms = parts
    return any(
        f"{python}-{abi}-{platform}" in tags
        for python in pythons.split(".")
        for abi in abis.split(".")
        for platform in platforms.split(".")
    )
