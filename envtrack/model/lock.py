"""A pinned, resolved set of packages, whatever file it came from."""

from __future__ import annotations

import posixpath
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NO_TEXT: Final[Mapping[str, str]] = {}
_NO_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {}


class Knowledge(StrEnum):
    """What a lockfile can say beyond names and versions."""

    HASHES = "hashes"
    """Of the files that are installed."""
    MARKERS = "markers"
    """On which Pythons and platforms a package is installed."""
    GROUPS = "groups"
    """To which dependency group, category or environment it belongs."""
    GRAPH = "graph"
    """Which package needs which."""
    REQUESTS = "requests"
    """What the project itself asked for."""


class SourceKind(StrEnum):
    """Where a package comes from."""

    REGISTRY = "registry"
    GIT = "git"
    URL = "url"
    PATH = "path"
    DIRECTORY = "directory"
    EDITABLE = "editable"
    VIRTUAL = "virtual"
    UNKNOWN = "unknown"

    @property
    def is_local_tree(self) -> bool:
        """Whether it is built from a folder that can change under the same version."""
        return self in _TREES


_TREES = frozenset({SourceKind.DIRECTORY, SourceKind.EDITABLE, SourceKind.VIRTUAL})
_HERE = frozenset({".", "./", ""})


class Source(NamedTuple):
    """A package's origin.

    Attributes:
        kind: which kind.
        location: index address, repository address, URL, or path, as the lockfile says it
            (credentials and all: never print it without `redact`).
        commit: the locked commit of a git source; empty otherwise.
        subdirectory: where in the repository or archive; empty at its root.
        reference: what a git source was asked for with: ``rev=main``, ``tag=v1``, ``branch=dev``;
            it says nothing of what is installed, `commit` does.
    """

    kind: SourceKind
    location: str
    commit: str = ""
    subdirectory: str = ""
    reference: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Kind, location, commit, subdirectory: what two sources must share to be the same.

        The reference, credentials, and the spelling of the location do not count.
        """
        return self.kind.value, _plain_location(self.location), self.commit, self.subdirectory


@lru_cache(maxsize=10_000)
def _plain_location(location: str) -> str:
    from urllib.parse import urlsplit, urlunsplit

    try:
        parts = urlsplit(location)
    except ValueError:
        return location
    if not parts.netloc:
        return posixpath.normpath(location.replace("\\", "/"))
    host = parts.netloc.rpartition("@")[2].lower()
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), parts.query, ""))


class Artifact(NamedTuple):
    """A file that can be installed.

    Attributes:
        filename: its last path part, percent-decoded.
        location: URL or path.
        hash: ``sha256:…``; empty where the lockfile has none.
        size: bytes; ``None`` where the lockfile does not say.
        is_wheel: a wheel rather than a source distribution.
        uploaded_at: when the index got it, ISO 8601; empty where the lockfile does not say.
    """

    filename: str
    location: str
    hash: str = ""
    size: int | None = None
    is_wheel: bool = True
    uploaded_at: str = ""


class Dependency(NamedTuple):
    """An edge of the lock's own graph.

    Attributes:
        name: normalised.
        version: set where the name alone is ambiguous in the lock.
        source: likewise.
        extras: of the target.
        marker: PEP 508; empty where it always holds.
    """

    name: str
    version: str | None = None
    source: Source | None = None
    extras: tuple[str, ...] = ()
    marker: str = ""


_NO_DEPENDENCIES: Final[Mapping[str, tuple[Dependency, ...]]] = {}


class LockedPackage(NamedTuple):
    """One ``[[package]]``: name and version alone are no key, see `resolution_markers`.

    Attributes:
        name: normalised.
        version: ``None`` where it is dynamic (the project's own, mostly).
        source: its origin.
        resolution_markers: it is installed where one of these holds: the forks of the resolution,
            or the package's own marker in a format that is a flat list; empty: everywhere.
        dependencies: what it always needs.
        optional_dependencies: by extra.
        groups: by dependency group (its own, for a project).
        artifacts: what can be installed, sdist first.
        requirements: what it was asked for with, PEP 508 strings or tables rendered as such, where
            the lockfile keeps them (the root packages and members); ``None`` where it does not.
        provides_extras: names of its extras, where the lockfile says so.
        ecosystem: ``pypi`` or ``conda``: one name can be locked in both.
        build: conda's build string, such as ``py311_cuda12.6_0``; empty elsewhere.
        platforms: conda's names of the platforms that the entry is for (``linux-64``, ``noarch``);
            empty: all that the markers allow.
        requires_python: the Pythons that it is for, in a format whose installers refuse all others;
            empty where not said.
        belongs_to: the groups, categories or environments that hold it, in a format that is a flat
            list; the one that is installed without being asked for is always named ``main``;
            empty: it is always installed.
        line: one-based line of the file where it stands; 0 if not known, as in a uv.lock, whose
            packages are shared between its states. Not part of equality.
    """

    name: str
    version: str | None
    source: Source
    resolution_markers: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    optional_dependencies: Mapping[str, tuple[Dependency, ...]] = _NO_DEPENDENCIES
    groups: Mapping[str, tuple[Dependency, ...]] = _NO_DEPENDENCIES
    artifacts: Sequence[Artifact] = ()
    requirements: tuple[str, ...] | None = None
    group_requirements: Mapping[str, tuple[str, ...]] = _NO_TEXTS
    provides_extras: tuple[str, ...] = ()
    ecosystem: str = "pypi"
    build: str = ""
    platforms: tuple[str, ...] = ()
    requires_python: str = ""
    belongs_to: tuple[str, ...] = ()
    line: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LockedPackage) and self[:-1] == other[:-1]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.name, self.version, self.source))

    @property
    def is_root(self) -> bool:
        """Whether it is the project itself: a local tree at the lockfile's own folder."""
        return self.source.location in _HERE and self.source.kind in _TREES


class Lock(NamedTuple):
    """What a lockfile pins.

    Attributes:
        format: ``uv.lock``…
        path: how it was named when it was read.
        schema: the file format's own version number; of ``2.1`` the first part; 0 where the format
            has none.
        revision: compatible additions of the format; of ``2.1`` the second part; 0 where there is
            none.
        knows: what this file says beyond names and versions.
        requires_python: a specifier set; empty where not said.
        resolution_markers: the forks of the whole resolution.
        supported_markers: the environments it was resolved for; empty: all.
        required_markers: the environments for which wheels must exist.
        conflicts: sets of extras and groups that exclude each other, each as ``package[extra]``
            or ``package:group`` strings.
        members: names of the workspace's members; empty for a single project.
        group_names: the groups that can be asked for, in a format that is a flat list; ``None``
            where the file does not list them.
        default_groups: those of its groups that are installed without being asked for, and that
            markers ask for by name.
        extra_names: likewise the extras; ``None`` where the file does not list them.
        manifest_groups: dependency groups of a workspace root that is no project.
        manifest_requirements: what a script, or a root that is no project, asks for.
        constraints: limits on versions that ask for nothing themselves.
        overrides: requirements that replace what packages say of their own.
        excludes: names that were kept out of the resolution.
        build_constraints: limits on what builds may use.
        dependency_metadata: metadata given by hand, a line a package: ``name==1.0: torch, ninja``.
        options: settings of the resolver by dotted name, as text.
        packages: in file order.
        unpinned: what is asked for without being pinned, as PEP 508 or conda text: the file does
            not decide what is installed there.
        notes: what the reader passed over, and why, a line each.
        unknown_keys: dotted names of keys that were passed over.
    """

    format: str
    path: str
    schema: int
    revision: int = 0
    knows: frozenset[Knowledge] = frozenset(Knowledge)
    requires_python: str = ""
    resolution_markers: tuple[str, ...] = ()
    supported_markers: tuple[str, ...] = ()
    required_markers: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, ...], ...] = ()
    members: tuple[str, ...] = ()
    group_names: tuple[str, ...] | None = None
    default_groups: tuple[str, ...] = ()
    extra_names: tuple[str, ...] | None = None
    manifest_groups: Mapping[str, tuple[str, ...]] = _NO_TEXTS
    manifest_requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    build_constraints: tuple[str, ...] = ()
    dependency_metadata: tuple[str, ...] = ()
    options: Mapping[str, str] = _NO_TEXT
    packages: tuple[LockedPackage, ...] = ()
    unpinned: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unknown_keys: tuple[str, ...] = ()

    @property
    def is_flat(self) -> bool:
        """Whether each entry says itself where it is installed; a uv.lock is walked instead."""
        return self.format != "uv.lock"

    @property
    def has_environments(self) -> bool:
        """Whether its groups are environments, of which one is installed and not all together."""
        return self.format == "pixi.lock"

    @property
    def roots(self) -> tuple[LockedPackage, ...]:
        """The packages that the lock was made for: the root project and the members."""
        members = frozenset(self.members)
        # Written out: this is asked of every package of every state of a history.
        return tuple(
            p
            for p in self.packages
            if p.name in members or (p.source.location in _HERE and p.source.kind in _TREES)
        )

    @property
    def local_trees(self) -> tuple[LockedPackage, ...]:
        """The packages built from folders, whose code can change under one version."""
        return tuple(p for p in self.packages if p.source.kind.is_local_tree)
