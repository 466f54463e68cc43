"""The list of all commands: what `envtrack --help` prints, without importing any of them."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

from envtrack.cli.commands import PANELS, SUMMARY

_WIDEST = 100
_OPTIONS = (
    ("-h, --help", "Show this list; after a command, its own help."),
    ("-V, --version", "Show the version."),
    ("--debug", "Show tracebacks."),
    ("--install-completion", "Install completion for the current shell."),
    ("--show-completion", "Show completion for the current shell, to copy it or adapt it."),
)


def render_overview() -> str:
    """Usage, the commands by what a person wants, and the options that stand before them."""
    lines = ["Usage: envtrack [OPTIONS] COMMAND [ARGS]...", "", f"  {SUMMARY}"]
    for title, entries in PANELS:
        lines += ["", f"{title}:", *_rows([(entry.name, entry.summary) for entry in entries])]
    lines += ["", "Options:", *_rows(_OPTIONS)]
    return "\n".join([*lines, ""])


def _rows(rows: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Iterator[str]:
    names = [entry.name for _, entries in PANELS for entry in entries]
    column = max(len(name) for name in [*names, *(name for name, _ in rows)]) + 4
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    for name, text in rows:
        yield from textwrap.wrap(
            text,
            max(width - 1, column + 20),
            initial_indent=f"  {name}".ljust(column),
            subsequent_indent=" " * column,
            break_on_hyphens=False,
        )
