"""The way from the roots of a lock through its own graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from packaging.requirements import InvalidRequirement, Requirement

from envtrack.lockfiles.markers import MarkerWorld
from envtrack.model.lock import Dependency, Lock, LockedPackage
from envtrack.model.names import normalise
from envtrack.model.selection import Selection


class Walk:
    """One walk from the roots over all edges whose markers hold.

    Attributes:
        reached: positions in `Lock.packages`.
    """

    def __init__(self, lock: Lock, selection: Selection, world: MarkerWorld) -> None:
        self._lock = lock
        self._selection = selection
        self._by_name: dict[str, list[int]] = {}
        for position, package in enumerate(lock.packages):
            self._by_name.setdefault(package.name, []).append(position)
        self._extras_wanted = frozenset(normalise(name) for name in selection.extras)
        self._groups_wanted = _wanted_groups(selection)
        self._groups_unwanted = frozenset(normalise(n) for n in selection.without_groups)
        self._roots = self._find_roots()
        self._active = set(self._root_activations())
        self._world = world.with_extras(self._active_markers())
        self._queue: deque[tuple[int, str]] = deque()
        self._seen: set[tuple[int, str]] = set()
        self.reached: set[int] = set()
        self._notes: dict[str, None] = {}

    def restart(self) -> None:
        """Forgets the way, keeps the extras that it turned on."""
        self._world = self._world.with_extras(self._active_markers())
        self._world.undecided.clear()
        self._queue.clear()
        self._seen.clear()
        self.reached.clear()
        self._notes.clear()

    def run(self) -> None:
        """Walks from the roots to the end."""
        for root in self._roots:
            self._enqueue_root(root)
        self._enqueue_manifest()
        if not self._has_graph():
            # A format that is a flat list: each package says itself where it belongs.
            self.reached.update(
                at for at, package in enumerate(self._lock.packages) if self._fork_holds(package)
            )
        while self._queue:
            position, extra = self._queue.popleft()
            package = self._lock.packages[position]
            edges = package.optional_dependencies.get(extra, ()) if extra else package.dependencies
            self._follow(edges)

    def all_notes(self) -> Iterator[str]:
        """What could not be decided, found, or had at once."""
        yield from self._missing_names()
        yield from self._notes
        for text in sorted(self._world.undecided):
            yield f"a marker can't be decided and counts as holding: {text}"
        active = {name for name, _ in self._active}
        for group in self._lock.conflicts:
            together = [name for name in group if name in active]
            if len(together) > 1:
                yield f"{' and '.join(together)} exclude each other: uv refuses this selection"

    def _find_roots(self) -> list[int]:
        if self._selection.package:
            names: list[str] = [normalise(self._selection.package)]
        else:
            project = [p.name for p in self._lock.packages if p.is_root][:1]
            # A root that is no project stands for all its members; a script has neither.
            every = list(self._lock.members) or project
            names = every if self._selection.all_packages or not project else project
        return [self._find_project(name) for name in names if name in self._by_name]

    def _find_project(self, name: str) -> int:
        """The member of that name, even if a release of it is locked as well."""
        found = self._by_name[name]
        trees = (at for at in found if self._lock.packages[at].source.kind.is_local_tree)
        return next(trees, found[0])

    def _has_graph(self) -> bool:
        lock = self._lock
        asked = lock.members or lock.manifest_requirements or lock.manifest_groups
        return bool(self._roots or asked or self._selection.package)

    def _root_activations(self) -> Iterator[tuple[str, str]]:
        """What conflict markers can ask of the roots: (as `Lock.conflicts` says it, encoded)."""
        for position in self._roots:
            root = self._lock.packages[position]
            yield root.name, f"project-{len(root.name)}-{root.name}"
            for extra in self._root_extras(root):
                yield encode_extra(root.name, extra)
            for group in filter(self._has_group, root.groups):
                yield f"{root.name}:{group}", f"group-{len(root.name)}-{root.name}-{group}"

    def _active_markers(self) -> frozenset[str]:
        return frozenset(encoded for _, encoded in self._active)

    def _root_extras(self, root: LockedPackage) -> list[str]:
        wanted = self._extras_wanted
        everything = self._selection.all_extras
        return [name for name in root.optional_dependencies if everything or name in wanted]

    def _has_group(self, name: str) -> bool:
        if name in self._groups_unwanted:
            return False
        return self._selection.all_groups or name in self._groups_wanted

    def _enqueue_root(self, position: int) -> None:
        root = self._lock.packages[position]
        self._enqueue(position, ("", *self._root_extras(root)))
        for name, edges in root.groups.items():
            if self._has_group(name):
                self._follow(edges)

    def _enqueue_manifest(self) -> None:
        groups: Mapping[str, tuple[str, ...]] = self._lock.manifest_groups
        asked = list(self._lock.manifest_requirements)
        if self._selection.package:
            # uv 0.13: `--package` leaves the groups of a root that is no project out.
            groups = {}
        for name in filter(self._has_group, groups):
            asked += groups[name]
        for text in asked:
            self._follow_requirement(text)

    def _follow_requirement(self, text: str) -> None:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            self._notes[f"a requirement can't be read and is passed over: {text}"] = None
            return
        if requirement.marker is not None and not self._world.holds(str(requirement.marker)):
            return
        extras = tuple(sorted(normalise(extra) for extra in requirement.extras))
        self._reach(Dependency(name=normalise(requirement.name), extras=extras))

    def _follow(self, edges: Iterable[Dependency]) -> None:
        for edge in edges:
            # `pkg[all]` within pkg turns extras on that the edge's own marker may ask for.
            fresh = [
                pair
                for extra in edge.extras
                if (pair := encode_extra(edge.name, extra)) not in self._active
            ]
            world = self._world
            if fresh and self._lock.conflicts:
                world = world.with_extras(self._active_markers() | {code for _, code in fresh})
            if edge.marker and not world.holds(edge.marker):
                continue
            self._activate(fresh)
            self._reach(edge)

    def _activate(self, fresh: list[tuple[str, str]]) -> None:
        if fresh and self._lock.conflicts:
            self._active.update(fresh)
            self._world = self._world.with_extras(self._active_markers())

    def _reach(self, edge: Dependency) -> None:
        position = self._find(edge)
        if position is not None:
            self._enqueue(position, ("", *edge.extras))

    def _enqueue(self, position: int, extras: Iterable[str]) -> None:
        self.reached.add(position)
        for extra in extras:
            if (position, extra) not in self._seen:
                self._seen.add((position, extra))
                self._queue.append((position, extra))

    def _find(self, edge: Dependency) -> int | None:
        """The package that an edge means: of a name that is one, uv writes no version or source."""
        packages = self._lock.packages
        found = self._by_name.get(edge.name, [])
        if edge.version is not None:
            found = [at for at in found if packages[at].version == edge.version]
        if edge.source is not None and len(found) > 1:
            found = [at for at in found if packages[at].source == edge.source]
        if len(found) > 1:
            found = [at for at in found if self._fork_holds(packages[at])] or found
        if not found:
            self._notes[f"a dependency is not in the lock: {_shown(edge)}"] = None
            return None
        if len(found) > 1:
            self._notes[f"{_shown(edge)} means {len(found)} packages; the first is taken"] = None
        return found[0]

    def _fork_holds(self, package: LockedPackage) -> bool:
        forks = package.resolution_markers
        return not forks or any(self._world.holds(fork) for fork in forks)

    def _missing_names(self) -> Iterator[str]:
        """Extras, groups and members that were asked for and are nowhere: uv refuses them."""
        roots = [self._lock.packages[position] for position in self._roots]
        extras = {
            name for root in roots for name in (*root.provides_extras, *root.optional_dependencies)
        }
        groups = {name for root in roots for name in (*root.groups, *root.group_requirements)}
        groups |= set(self._lock.manifest_groups)
        package = self._selection.package
        if package and not roots:
            yield f"no package {package} in the lock"
        for name in sorted(self._extras_wanted - extras):
            yield f"no extra {name} in the lock"
        named = (*self._selection.groups, *self._selection.without_groups)
        for name in sorted({normalise(n) for n in named} - groups):
            yield f"no group {name} in the lock"


def _wanted_groups(selection: Selection) -> frozenset[str]:
    return frozenset(normalise(n) for n in (*selection.default_groups, *selection.groups))


def encode_extra(package: str, extra: str) -> tuple[str, str]:
    """An extra as `Lock.conflicts` says it, and as markers in the lock do."""
    # uv puts the name's length before it, since both names may hold hyphens.
    return f"{package}[{extra}]", f"extra-{len(package)}-{package}-{extra}"


def _shown(edge: Dependency) -> str:
    return edge.name + (f" {edge.version}" if edge.version else "")
