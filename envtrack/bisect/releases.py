"""Which release of a package that is to blame is the first bad one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from envtrack.bisect.parts import Parts
from envtrack.culprit.line import Edge, find_edge
from envtrack.culprit.releases import order_releases
from envtrack.culprit.said import Said
from envtrack.errors import RigFailed
from envtrack.lockfiles.compose import Pinned
from envtrack.model.comparison import Change, ChangeKind
from envtrack.model.isolation import Turn, Unit
from envtrack.model.lock import SourceKind
from envtrack.model.verdict import Judgement, Verdict
from envtrack.package_index import Release, list_releases

Try = Callable[[str, str], Judgement]
"""Tries a composed lockfile: its text, and in words what is tried."""

_SAYS: Final = {Verdict.BAD: Said.FAILS, Verdict.GOOD: Said.PASSES}
_KINDS: Final = frozenset({ChangeKind.UPGRADED, ChangeKind.DOWNGRADED})


def find_turns(
    parts: Parts, guilty: frozenset[int], attempt: Try, *, folder: Path
) -> tuple[Turn, ...]:
    """The releases with which it turns, of every package of a blamed set that was asked for.

    All else is held: what belongs to the set is as in the newer lockfile, the rest as in the older.

    Args:
        parts: what lies between the lockfiles.
        guilty: the set, by position.
        attempt: tries one.
        folder: of the lockfile, from where the path of an index counts.

    Raises:
        RigFailed: the rig failed during a trial.
    """
    moves = (_find_move(parts.units[position]) for position in sorted(guilty))
    return tuple(
        _find_turn(parts, guilty, move, attempt, folder=folder)
        for move in moves
        if move is not None
    )


def _find_move(unit: Unit) -> Change | None:
    """How the first of a unit's packages went from one release to another; `None` if it did not."""
    moves = [change for change in unit.changes if change.name == unit.names[0]]
    return moves[0] if len(moves) == 1 and moves[0].kind in _KINDS else None


def _find_turn(
    parts: Parts, guilty: frozenset[int], change: Change, attempt: Try, *, folder: Path
) -> Turn:
    good, bad = change.before or "", change.after or ""
    source = parts.composer.find_source(change.name)
    if source is None or source.kind is not SourceKind.REGISTRY:
        return Turn(change.name, good, bad, note="it does not come from an index")
    try:
        releases = list_releases(source.location, change.name, folder=folder)
    except RigFailed as error:
        return Turn(change.name, good, bad, note=f"its releases are not known: {error.message}")
    by_version = {release.version: release for release in releases}
    order = order_releases({r.version: r.is_yanked for r in releases}, good, bad)
    tried: dict[str, Judgement] = {}

    def say(position: int) -> Said:
        version = order[position]
        pinned = Pinned(change.name, version, render_files(by_version[version]))
        for text in _compose(parts, guilty, pinned):
            tried[version] = attempt(text, f"{change.name} {version}")
            said = _SAYS.get(tried[version].verdict, Said.UNRESOLVED)
            if said is not Said.UNRESOLVED:
                return said
        return Said.UNRESOLVED

    edge = _run(find_edge(0, len(order) - 1), say)
    return Turn(
        name=change.name,
        last_good=order[edge.low],
        first_bad=order[edge.high],
        unjudged=order[edge.low + 1 : edge.high],
        trials=tuple(tried.items()),
    )


def _run(search: Generator[int, Said, Edge], say: Callable[[int], Said]) -> Edge:
    try:
        position = next(search)
        while True:
            position = search.send(say(position))
    except StopIteration as ended:
        edge: Edge = ended.value
        return edge


def _compose(parts: Parts, guilty: frozenset[int], pinned: Pinned) -> Iterator[str]:
    """The release with all else of its set as in the newer lockfile; then as in the older one.

    What came or moved with the newest release may be too new for one in between.
    """
    names = frozenset(name for position in guilty for name in parts.units[position].names)
    own = next(frozenset(unit.names) for unit in parts.units if pinned.name in unit.names)
    yield parts.composer.compose(parts.idle | names, pinned=pinned)
    if own - {pinned.name}:
        yield parts.composer.compose(parts.idle | (names - own), pinned=pinned)


def render_files(release: Release) -> Mapping[str, Any]:
    """The files of a release as a uv.lock has them: by URL, or by path in a folder."""
    wheels: list[dict[str, Any]] = []
    sdists: list[dict[str, Any]] = []
    for file in release.files:
        row: dict[str, Any] = {"url" if "://" in file.location else "path": file.location}
        if file.hash:
            row["hash"] = file.hash
        if file.size is not None:
            row["size"] = file.size
        (wheels if file.filename.endswith(".whl") else sdists).append(row)
    files: dict[str, Any] = {"wheels": wheels} if wheels else {}
    return {"sdist": sdists[0], **files} if sdists else files
