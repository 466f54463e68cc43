"""The swim lanes: where each mark of the timeline stands."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.model.layer import Layer
from envtrack.report.line import NAMED, name_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envtrack.model.comparison import Change
    from envtrack.model.lanes import Column, Lanes
    from envtrack.model.timeline import Verdicts

_STEP: Final = 16
_LANE: Final = 30
_TOP: Final = 30
_SMALLEST: Final = 3.2
_LARGEST: Final = 8.5
# Two dates on the axis stand at least so far apart.
_BETWEEN_DATES: Final = 74
_MONTH: Final = 7


class Mark(NamedTuple):
    """One change of one layer, or one verdict.

    Attributes:
        x: of its middle.
        y: of its middle.
        kind: a layer's name, or a verdict.
        radius: larger where more moved.
        machine: number of the machine it is of; ``None``: of the lockfile.
        commit: the commit's short name.
        said: what it says, in words.
    """

    x: int
    y: int
    kind: str
    radius: float
    machine: int | None
    commit: str
    said: str


class Lane(NamedTuple):
    """One lane of the picture.

    Attributes:
        title: a layer, or a machine.
        y: of its middle.
        machine: the number of its machine, where it is the lane of one's verdicts.
    """

    title: str
    y: int
    machine: int | None = None


class Swim(NamedTuple):
    """The whole picture.

    Attributes:
        width: of the drawing.
        height: of the drawing.
        lanes: from top to bottom.
        marks: in the order of time.
        dates: where a month begins, and its name.
        step: the width of a column.
        top: where the lanes begin.
    """

    width: int
    height: int
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    dates: tuple[tuple[int, str], ...]
    step: int = _STEP
    top: int = _TOP


def draw_swim(lanes: Lanes) -> Swim:
    """The picture of a history: a lane a layer that moved, the ground below, verdicts on top."""
    columns = lanes.columns[::-1]
    rows = tuple(_list_lanes(lanes))
    heights = {(lane.title, lane.machine is None): lane.y for lane in rows}
    marks: list[Mark] = []
    for at, column in enumerate(columns, start=1):
        marks += _list_marks(column, _STEP * at, heights, lanes.machines)
        for one in column.verdicts:
            number = lanes.machines.index(one.machine)
            y = heights[one.machine, False]
            marks.append(_make_verdict(column, (_STEP * at, y), one, number))
    return Swim(
        width=_STEP * (len(columns) + 2),
        height=_TOP + _LANE * len(rows) + 6,
        lanes=rows,
        marks=tuple(marks),
        dates=tuple(_list_dates(columns)),
    )


def _list_lanes(lanes: Lanes) -> Iterator[Lane]:
    judged = {one.machine for column in lanes.columns for one in column.verdicts}
    moved = {change.layer for column in lanes.columns for _, change in column.all_changes}
    titles = [
        *((one, number) for number, one in enumerate(lanes.machines) if one in judged),
        *((str(layer), None) for layer in reversed(Layer) if layer in moved),
    ]
    for at, (title, machine) in enumerate(titles):
        yield Lane(title=title, y=_TOP + _LANE * at + _LANE // 2, machine=machine)


def _make_verdict(column: Column, place: tuple[int, int], said: Verdicts, number: int) -> Mark:
    commit = column.commit
    words = f"{said.last} on {said.machine}: {commit.oid.short} {commit.subject}"
    return Mark(*place, said.last, _LARGEST - 2, number, commit.oid.short, words)


def _list_marks(
    column: Column, x: int, heights: Mapping[tuple[str, bool], int], machines: Sequence[str]
) -> Iterator[Mark]:
    by_place: dict[tuple[str, Layer], list[Change]] = {}
    for machine, change in column.all_changes:
        by_place.setdefault((machine, change.layer), []).append(change)
    for (machine, layer), changes in by_place.items():
        where = f" on {machine}" if machine else ""
        named = ", ".join(name_changes(changes, NAMED))
        yield Mark(
            x=x,
            y=heights[str(layer), True],
            kind=str(layer),
            radius=round(min(_SMALLEST + 1.4 * math.log2(len(changes)), _LARGEST), 1),
            machine=machines.index(machine) if machine else None,
            commit=column.commit.oid.short,
            said=f"{layer}{where}, {column.commit.oid.short}: {named}",
        )


def _list_dates(columns: Sequence[Column]) -> Iterator[tuple[int, str]]:
    last, free = "", 0
    for at, column in enumerate(columns):
        month = column.commit.authored_at[:_MONTH]
        x = _STEP * at + _STEP
        if month != last and x >= free:
            yield x, month
            free = x + _BETWEEN_DATES
        last = month


def count_layers(column: Column) -> str:
    """``driver 1, packages 5``."""
    counted = Counter(str(change.layer) for _, change in column.all_changes)
    return ", ".join(f"{layer} {count}" for layer, count in counted.items())
