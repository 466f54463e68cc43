"""One uv.lock out of two: some packages as the newer one has them, all others as the older one.

`uv sync --frozen` installs such a lockfile without resolving anything: it follows the edges from
the project down, checks each file's hash, and passes over entries that no edge leads to (seen with
uv 0.13.9). So an edge must lead to an entry that is there: what an edge says of its target beyond
the name (a version, a source, where several entries share the name) is said anew wherever the
target comes from the other side.

The project's own packages always come from the newer side, whose code is tried; what only the older
one asked for is asked for as well, as long as it comes from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from envtrack.lockfiles.group_markers import join_alternatives, join_markers
from envtrack.lockfiles.tables import load_toml
from envtrack.lockfiles.uv import parse
from envtrack.lockfiles.uv_source import parse_source
from envtrack.model.lock import Source
from envtrack.model.names import normalise

_Entry: TypeAlias = dict[str, Any]
_Edge: TypeAlias = dict[str, Any]
_Side: TypeAlias = dict[str, list[_Entry]]

_GROUPED: Final = ("optional-dependencies", "dev-dependencies", "dependency-groups")


class Pinned(NamedTuple):
    """A release that stands in neither lock.

    Attributes:
        name: the package's, normalised.
        version: of the release.
        files: its ``sdist`` and ``wheels``, as a uv.lock has them.
    """

    name: str
    version: str
    files: Mapping[str, Any]


class Composer:
    """Composes uv.locks out of two.

    Attributes:
        movable: the names of all packages whose entries differ and that can be taken from either
            side, sorted: everything that differs but the project's own packages.
    """

    movable: tuple[str, ...]

    def __init__(self, old: str, new: str) -> None:
        """Reads both.

        Args:
            old: the text of the older uv.lock.
            new: of the newer one.

        Raises:
            LockfileProblem: one of them is no uv.lock.
        """
        _, self._old = _read(old, "the older uv.lock")
        self._head, self._new = _read(new, "the newer uv.lock")
        names = self._old.keys() | self._new.keys()
        self._own = frozenset(name for name in names if self._is_own(name))
        self._same = frozenset(n for n in names if self._old.get(n) == self._new.get(n))
        self.movable = tuple(sorted(names - self._own - self._same))

    def compose(self, taken: frozenset[str], *, pinned: Pinned | None = None) -> str:
        """The text of a uv.lock in which these packages are as the newer one has them.

        Args:
            taken: of `movable`; a package that only the older lock has is gone with it, one that
                only the newer one has is there.
            pinned: one package in a release of its own.
        """
        # Parsing is a page of TOML, writing needs a library of its own that nothing else does.
        import tomli_w

        chosen = {name: rows for name in self._names() if (rows := self._choose(name, taken))}
        moved = "" if pinned is None else pinned.name
        if pinned is not None:
            chosen[moved] = [self._make_entry(pinned)]
        packages = [
            self._fit(name, entry, chosen, taken, moved)
            for name, rows in chosen.items()
            for entry in rows
        ]
        return tomli_w.dumps({**self._head, "package": packages})

    def find_source(self, name: str) -> Source | None:
        """Where both locks have a package from; `None` if from several places or in one only."""
        found = {
            parse_source(entry["source"])
            for side in (self._old, self._new)
            for entry in side.get(name, ({"source": {"virtual": name}},))
        }
        return found.pop() if len(found) == 1 else None

    def _names(self) -> list[str]:
        return sorted(self._old.keys() | self._new.keys())

    def _is_own(self, name: str) -> bool:
        return any(
            parse_source(entry.get("source", {})).kind.is_local_tree
            for entry in (*self._old.get(name, ()), *self._new.get(name, ()))
        )

    def _is_newer(self, name: str, taken: frozenset[str]) -> bool:
        return name in self._own or name in self._same or name in taken

    def _choose(self, name: str, taken: frozenset[str]) -> list[_Entry]:
        side = self._new if self._is_newer(name, taken) else self._old
        return side.get(name, [])

    def _make_entry(self, pinned: Pinned) -> _Entry:
        """The entry of a release that neither lock has.

        What it needs no lock says: it gets the edges of both, and whoever installs it looks whether
        that is enough.
        """
        both = (*self._old.get(pinned.name, ()), *self._new.get(pinned.name, ()))
        entry: _Entry = {
            "name": pinned.name,
            "version": pinned.version,
            "source": both[-1]["source"],
            **pinned.files,
        }
        if edges := [edge for one in both for edge in one.get("dependencies", ())]:
            entry["dependencies"] = edges
        extras: dict[str, list[_Edge]] = {}
        for one in both:
            for extra, edges in one.get("optional-dependencies", {}).items():
                extras.setdefault(extra, []).extend(edges)
        return entry | ({"optional-dependencies": extras} if extras else {})

    def _fit(
        self,
        name: str,
        entry: _Entry,
        chosen: Mapping[str, list[_Entry]],
        taken: frozenset[str],
        moved: str,
    ) -> _Entry:
        """An entry whose edges lead to what is there."""
        is_newer = self._is_newer(name, taken)

        def fit(edges: Sequence[_Edge]) -> list[_Edge]:
            fitting: list[_Edge] = []
            for target, some in _by_target(edges).items():
                # Both come from one side, or both sides say the same of it.
                is_plain = target in self._same or is_newer == self._is_newer(target, taken)
                is_plain = is_plain and moved not in {name, target}
                there = chosen.get(target, ())
                fitting += (some if there else ()) if is_plain else _point_at(there, some)
            return fitting

        added = self._find_left_behind(name, taken) if name in self._own else {}
        fitted = dict(entry)
        edges = (*entry.get("dependencies", ()), *added.get("dependencies", ()))
        if edges:
            fitted["dependencies"] = fit(edges)
        for kind in _GROUPED:
            if kind in entry:
                fitted[kind] = {
                    group: fit((*rows, *added.get(f"{kind}.{group}", ())))
                    for group, rows in entry[kind].items()
                }
        return fitted

    def _find_left_behind(self, name: str, taken: frozenset[str]) -> dict[str, list[_Edge]]:
        """What only the older state of a project asks for, and comes from the older lock."""
        found: dict[str, list[_Edge]] = {}
        newer: dict[str, set[str]] = {}
        for entry in self._new.get(name, ()):
            for place, edge in _edges(entry):
                newer.setdefault(place, set()).add(_target(edge))
        for entry in self._old.get(name, ()):
            for place, edge in _edges(entry):
                target = _target(edge)
                if target not in newer.get(place, ()) and not self._is_newer(target, taken):
                    found.setdefault(place, []).append(edge)
        return found


def _read(text: str, shown: str) -> tuple[dict[str, Any], _Side]:
    """What stands above the packages, and their entries by name."""
    parse(text, path=shown)  # says on which line it is not what uv writes
    document = load_toml(text, path=shown)
    entries = document.pop("package", None) or document.pop("distribution", [])
    side: _Side = {}
    for entry in entries:
        side.setdefault(normalise(entry["name"]), []).append(entry)
    return document, side


def _point_at(entries: Sequence[_Entry], edges: Sequence[_Edge]) -> Iterator[_Edge]:
    """The edges to one name, said anew for the entries that the composed lock has of it."""
    marker = join_alternatives(*(edge.get("marker", "") for edge in edges))
    extras = dict.fromkeys(extra for edge in edges for extra in edge.get("extra", ()))
    for entry in entries:
        fitted: _Edge = {"name": entry["name"]}
        condition = marker
        if len(entries) > 1:
            fitted |= {key: entry[key] for key in ("version", "source") if key in entry}
            forks = entry.get("resolution-markers", ())
            condition = join_markers(marker, join_alternatives(*forks) if forks else "")
        if known := [one for one in extras if one in entry.get("optional-dependencies", {})]:
            fitted["extra"] = known
        if condition:
            fitted["marker"] = condition
        yield fitted


def _target(edge: _Edge) -> str:
    return normalise(str(edge["name"]))


def _by_target(edges: Sequence[_Edge]) -> dict[str, list[_Edge]]:
    found: dict[str, list[_Edge]] = {}
    for edge in edges:
        found.setdefault(_target(edge), []).append(edge)
    return found


def _edges(entry: _Entry) -> Iterator[tuple[str, _Edge]]:
    """Every edge with the place where it stands: a section, and the extra or group in it."""
    for edge in entry.get("dependencies", ()):
        yield "dependencies", edge
    for kind in _GROUPED:
        for group, edges in entry.get(kind, {}).items():
            for edge in edges:
                yield f"{kind}.{group}", edge
