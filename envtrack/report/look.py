"""How text is to look, and the rows it is set in."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from envtrack.report.plain import show_plain

if TYPE_CHECKING:
    from rich.console import RenderableType

NARROWEST = 80
WIDEST = 200
_GAP = 2
_INDENT = 2
_LEAST = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How text is to look.

    Attributes:
        width: columns of the terminal; between 80 and 200 of them are used.
        is_coloured: whether terminal colours may be used.
        is_full: whether long lists are shown whole.
    """

    width: int = NARROWEST
    is_coloured: bool = False
    is_full: bool = False

    @property
    def columns(self) -> int:
        """The width that is used."""
        return min(max(self.width, NARROWEST), WIDEST)


@dataclass(frozen=True, slots=True)
class Line:
    """Text across all columns, wrapped by words; `indent` blanks stand before each line."""

    text: str
    style: str = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: each cell a text and a style (empty: none)."""

    cells: tuple[tuple[str, str], ...]


Block: TypeAlias = Line | Row


def render_blocks(blocks: Sequence[Block], look: Look) -> str:
    """The blocks one under the other; all rows share their columns' widths.

    A value that is too long for its column goes on in the next line. Nothing that a cell holds
    reaches the terminal raw.
    """
    from rich.console import Console

    sizes = _measure([block for block in blocks if isinstance(block, Row)], look.columns - _INDENT)
    sink = io.StringIO()
    # An environment of its own: what a report looks like depends on its arguments alone.
    console = Console(
        file=sink,
        width=look.columns,
        color_system="standard" if look.is_coloured else None,
        force_terminal=look.is_coloured,
        no_color=not look.is_coloured,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    for kind, group in groupby(blocks, type):
        if kind is Row:
            # One table for all of them: setting up a table costs more than its rows.
            console.print(_lay_out_rows([row for row in group if isinstance(row, Row)], sizes))
            continue
        for line in group:
            console.print(_lay_out_line(line) if isinstance(line, Line) and line.text else "")
    return "".join(f"{line.rstrip()}\n" for line in sink.getvalue().split("\n")[:-1])


def _measure(rows: Sequence[Row], room: int) -> list[int]:
    """Each column's width: as wide as its widest cell; the widest gives way, the names' last."""
    from rich.cells import cell_len

    count = max((len(row.cells) for row in rows), default=0)
    sizes = [
        max(
            (cell_len(show_plain(row.cells[i][0])) for row in rows if i < len(row.cells)), default=0
        )
        for i in range(count)
    ]
    while count and sum(sizes) + _GAP * (count - 1) > room:
        widest = max(sizes[1:], default=0)
        position = sizes.index(widest, 1) if widest > _LEAST else sizes.index(max(sizes))
        sizes[position] -= 1
    return sizes


def _lay_out_line(line: Line) -> RenderableType:
    from rich.padding import Padding
    from rich.text import Text

    text = Text(show_plain(line.text), style=line.style)
    return Padding(text, (0, 0, 0, line.indent), expand=False)


def _lay_out_rows(rows: Sequence[Row], sizes: Sequence[int]) -> RenderableType:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
    for size in sizes:
        table.add_column(width=size, overflow="fold")
    for row in rows:
        table.add_row(*(Text(show_plain(text), style=style) for text, style in row.cells))
    return Padding(table, (0, 0, 0, _INDENT), expand=False)
