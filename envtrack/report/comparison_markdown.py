"""A comparison as Markdown for a pull request: what counts is open, what is long is folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from envtrack.report.choice import choose_shown, count_changes, count_origins, say_origin, say_sum
from envtrack.report.plain import show_markdown
from envtrack.report.suspects import suspicion_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envtrack.model.comparison import Change, Comparison
    from envtrack.model.suspect import Suspicion

# A comment on GitHub may have 65,536 characters (its API refuses more); GitLab allows a million.
_MOST_CHARACTERS: Final = 60_000
_LONGEST_CELL: Final = 300
_NOTHING: Final = "–"
_HEAD: Final = (
    "| name | before | after | kind | origin | detail |",
    "|---|---|---|---|---|---|",
)


def render_comparison_markdown(
    comparison: Comparison, suspicion: Suspicion | None = None, *, is_full: bool = False
) -> str:
    """A table a layer; every value renders as itself.

    Args:
        comparison: what differs.
        suspicion: what verdicts say of it.
        is_full: nothing is folded or left out. Otherwise what follows from other changes, and the
            end of a long table, is folded, and the whole fits into a comment.
    """
    before, after = show_markdown(comparison.before), show_markdown(comparison.after)
    tail: list[str] = []
    if comparison.notes:
        tail += ["", *(f"- {show_markdown(note)}" for note in comparison.notes)]
    if suspicion is not None:
        tail += suspicion_markdown(suspicion)
    head = [f"## {before} → {after}", "", f"{show_markdown(say_sum(comparison))}."]
    tables = [
        _Table(f"{layer}: {count_changes(changes)}", changes, is_full=is_full)
        for layer, changes in comparison.by_layer()
    ]
    if comparison.apart:
        title = f"between the machines {' and '.join(comparison.machines)}"
        tables.append(_Table(title, comparison.apart, is_full=is_full))
    open_lines = [line for table in tables for line in table.shown]
    room = _MOST_CHARACTERS - sum(len(line) + 1 for line in (*head, *tail, *open_lines))
    lines = head
    for table in tables:
        folded = list(table.fold(room))
        room -= sum(len(line) + 1 for line in folded)
        lines += [*table.shown, *folded]
    return "\n".join([*lines, *tail, ""])


class _Table:
    """One layer's changes: some of them shown, the others folded."""

    def __init__(self, title: str, changes: Sequence[Change], *, is_full: bool) -> None:
        shown = changes if is_full else choose_shown(changes)
        seen = {id(change) for change in shown}
        self._rest = [change for change in changes if id(change) not in seen]
        self.shown = ["", f"### {show_markdown(title)}", "", *_HEAD, *map(_row, shown)]

    def fold(self, room: int) -> Iterator[str]:
        """The rows that are not shown, as many of them as fit into so many characters."""
        if not self._rest:
            return
        origins = ", ".join(count_origins(self._rest))
        more = f"{len(self._rest)} more{f' ({origins})' if origins else ''}"
        yield from ("", f"<details><summary>{more}</summary>", "", *_HEAD)
        for at, change in enumerate(self._rest):
            row = _row(change)
            room -= len(row) + 1
            if room < len(more) * 4:
                yield from ("", f"{len(self._rest) - at} of them do not fit here.")
                break
            yield row
        yield from ("", "</details>")


def _row(change: Change) -> str:
    cells = (
        change.name,
        _NOTHING if change.before is None else change.before,
        _NOTHING if change.after is None else change.after,
        change.kind,
        say_origin(change),
        change.detail,
    )
    return f"| {' | '.join(show_markdown(_cut(cell)) for cell in cells)} |"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"
