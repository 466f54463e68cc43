"""A search as a picture: after each probe, what was still open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from envtrack.model.oid import Commit, Oid
    from envtrack.model.story import Probed, Story

_LEFT: Final = 12
_WIDTH: Final = 720
_ROW: Final = 26
_TOP: Final = 8


class Bar(NamedTuple):
    """A run of commits that are still open."""

    x: float
    width: float


class Row(NamedTuple):
    """One probe.

    Attributes:
        number: from 1.
        y: of its middle.
        x: where its commit stands; ``None``: it is none of the candidates.
        verdict: what was said; empty while it runs.
        bars: what was open when it was over.
        left: how many commits that are.
        probed: the probe.
    """

    number: int
    y: int
    x: float | None
    verdict: str
    bars: tuple[Bar, ...]
    left: int
    probed: Probed


class Narrowing(NamedTuple):
    """The whole picture.

    Attributes:
        width: of the drawing.
        height: of the drawing.
        rows: a probe each, in order.
        culprit: where the first bad commit stands, if it was found.
    """

    width: int
    height: int
    rows: tuple[Row, ...]
    culprit: float | None


def draw_narrowing(story: Story) -> Narrowing | None:
    """The picture of a search; ``None`` where there is nothing to draw."""
    if not story.candidates or not story.probes:
        return None
    scale = _Scale(story)
    rows = []
    for (probed, left), number in zip(
        follow(story.candidates, story.probes), range(1, len(story.probes) + 1), strict=True
    ):
        seen = probed.observation
        rows.append(
            Row(
                number=number,
                y=_TOP + _ROW * number - _ROW // 2,
                x=scale.find(seen.commit),
                verdict=str(seen.judgement.verdict) if seen.judgement else "",
                bars=tuple(scale.list_bars(left)),
                left=len(left),
                probed=probed,
            )
        )
    last = follow_to_end(story)
    found = last if len(last) == 1 and story.answer and story.answer.get("culprit") else ()
    return Narrowing(
        width=_WIDTH + 2 * _LEFT,
        height=_TOP + _ROW * len(rows) + _TOP,
        rows=tuple(rows),
        culprit=scale.find(next(iter(found))) if found else None,
    )


def follow(
    candidates: Sequence[Commit], probes: Sequence[Probed]
) -> Iterator[tuple[Probed, frozenset[Oid]]]:
    """Each probe with the commits of which one may be the first bad one afterwards.

    A good commit clears itself and all that it stands on; a bad one leaves only these. What can't
    be tested, or fails in another way, leaves all as it was.
    """
    parents = {commit.oid: commit.parents for commit in candidates}
    left = frozenset(parents)
    for probed in probes:
        seen = probed.observation
        verdict = seen.judgement.verdict if seen.judgement else None
        if verdict in (Verdict.GOOD, Verdict.BAD) and seen.commit in parents:
            below = _list_below(seen.commit, parents)
            left = left - below if verdict is Verdict.GOOD else left & below
        yield probed, left


def follow_to_end(story: Story) -> frozenset[Oid]:
    """What is open after the last probe."""
    left: frozenset[Oid] = frozenset(commit.oid for commit in story.candidates)
    for _, after in follow(story.candidates, story.probes):
        left = after
    return left


def _list_below(commit: Oid, parents: Mapping[Oid, tuple[Oid, ...]]) -> frozenset[Oid]:
    """A commit and all that it stands on, of the candidates."""
    found: set[Oid] = set()
    coming = [commit]
    while coming:
        one = coming.pop()
        if one in parents and one not in found:
            found.add(one)
            coming += parents[one]
    return frozenset(found)


class _Scale:
    """Where each commit stands: the good end at the left, candidates, the bad end at the right."""

    def __init__(self, story: Story) -> None:
        names = [commit.oid for commit in story.candidates]
        order = list(dict.fromkeys((story.good, *names, story.bad)))
        self._places = {oid: at for at, oid in enumerate(order)}
        self._step = _WIDTH / len(order)

    def find(self, commit: Oid) -> float | None:
        at = self._places.get(commit)
        return None if at is None else round(_LEFT + self._step * (at + 0.5), 1)

    def list_bars(self, commits: Iterable[Oid]) -> Iterator[Bar]:
        """Neighbours are one bar."""
        start = end = -2
        for at in [*sorted(self._places[oid] for oid in commits), -2]:
            if at == end + 1:
                end = at
                continue
            if start >= 0:
                x = _LEFT + self._step * start
                yield Bar(round(x, 1), round(self._step * (end + 1 - start), 1))
            start = end = at
