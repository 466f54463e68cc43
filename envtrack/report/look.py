"""How text is to look, and the rows it is set in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias
from unicodedata import category, east_asian_width

from envtrack.report.plain import show_plain

NARROWEST = 80
WIDEST = 200
_GAP = 2
_INDENT = 2
_LEAST = 18

# ECMA-48, Select Graphic Rendition.
_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_NO_WIDTH: Final = frozenset({"Mn", "Me", "Cf"})
# Beyond ASCII and our own signs Unicode has to be asked, which takes long.
_OWN_SIGNS: Final = dict.fromkeys(map(ord, "–→…×·"))
_WORD = re.compile(r" *[^ ]+")


class Look(NamedTuple):
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


class Line(NamedTuple):
    """Text across all columns, wrapped by words; `indent` blanks stand before each line."""

    text: str
    style: str = ""
    indent: int = 0


class Row(NamedTuple):
    """One line of the table: each cell a text and a style (empty: none)."""

    cells: tuple[tuple[str, str], ...]


Block: TypeAlias = Line | Row


def render_blocks(blocks: Sequence[Block], look: Look) -> str:
    """The blocks one under the other; all rows share their columns' widths.

    A value that is too long for its column goes on in the next line. Nothing that a cell holds
    reaches the terminal raw.

    Rich would do it too, but its import and its tables take longer than all the rest of `diff`.
    """
    sizes = _measure([block for block in blocks if isinstance(block, Row)], look.columns - _INDENT)
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Row):
            lines += _lay_out_row(block, sizes, look)
        else:
            lines += _lay_out_line(block, look)
    return "".join(f"{line}\n" for line in lines)


def _measure(rows: Sequence[Row], room: int) -> list[int]:
    """Each column's width: as wide as its widest cell; the widest gives way, the names' last."""
    count = max((len(row.cells) for row in rows), default=0)
    sizes = [
        max((_width(show_plain(row.cells[i][0])) for row in rows if i < len(row.cells)), default=0)
        for i in range(count)
    ]
    sizes = [min(size, room) for size in sizes]
    while count and sum(sizes) + _GAP * (count - 1) > room:
        widest = max(sizes[1:], default=0)
        position = sizes.index(widest, 1) if widest > _LEAST else sizes.index(max(sizes))
        sizes[position] -= 1
    return sizes


def _lay_out_line(line: Line, look: Look) -> Iterator[str]:
    wrapped = wrap(show_plain(line.text), look.columns - line.indent)
    for part in wrapped:
        yield " " * line.indent + _paint(part, line.style, look) if part else ""


def _lay_out_row(row: Row, sizes: Sequence[int], look: Look) -> Iterator[str]:
    cells = [
        (wrap(show_plain(text), size), style, size)
        for (text, style), size in zip(row.cells, sizes, strict=False)
    ]
    for at in range(max((len(lines) for lines, _, _ in cells), default=0)):
        shown, column, end = "", _INDENT, 0
        for lines, style, size in cells:
            if part := lines[at] if at < len(lines) else "":
                shown += " " * (column - end) + _paint(part, style, look)
                end = column + _width(part)
            column += size + _GAP
        yield shown


def _paint(text: str, style: str, look: Look) -> str:
    if not (style and look.is_coloured):
        return text
    codes = ";".join(_CODES[word] for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m"


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken between words, within those that are too long.

    Returns:
        At least one line; blanks at a break are dropped.
    """
    width = max(width, 1)
    if _width(text) <= width:
        return [text.rstrip()]
    lines: list[str] = []
    line = ""
    # Blanks at the end are no word, and a search through many of them takes their square.
    for word in _WORD.findall(text.rstrip(" ")):
        if _width(line + word) <= width:
            line += word
            continue
        if line:
            lines.append(line)
        *whole, line = _chop(word.lstrip(), width)
        lines += whole
    return [*lines, line]


def _chop(word: str, width: int) -> list[str]:
    """A word in parts of at most `width` columns."""
    if _width(word) <= width:
        return [word]
    parts = []
    start, used = 0, 0
    for at, character in enumerate(word):
        size = _width(character)
        if at > start and used + size > width:
            parts.append(word[start:at])
            start, used = at, 0
        used += size
    return [*parts, word[start:]]


def _width(text: str) -> int:
    """How many columns a text takes: a wide character (UAX #11) two, a combining mark none."""
    if text.isascii() or text.translate(_OWN_SIGNS).isascii():
        return len(text)
    return sum(
        0 if category(character) in _NO_WIDTH else 1 + (east_asian_width(character) in "WF")
        for character in text
    )
