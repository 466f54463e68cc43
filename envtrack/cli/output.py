"""Where results go and how they look: ``--format``, ``--output``, ``--color``, ``--full``."""

import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Self

from envtrack.report.look import Look

# A pipe has no width; wide enough that values are seldom broken, narrow enough to be read.
_PIPE_WIDTH = 120


class Format(StrEnum):
    """The forms in which a result is given."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class Colour(StrEnum):
    """When text is coloured."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Output(NamedTuple):
    """What was asked for.

    Attributes:
        format: the form.
        path: the file it is written to; ``None``: stdout.
        colour: when it is coloured.
        is_full: whether long lists are shown whole.
    """

    format: Format = Format.TEXT
    path: Path | None = None
    colour: Colour = Colour.AUTO
    is_full: bool = False


class Rendering(NamedTuple):
    """A result in each of its forms; only the one that is wanted is made."""

    text: Callable[[Look], str]
    json: Callable[[], str]
    markdown: Callable[[], str]

    @classmethod
    def same(cls, text: str) -> Self:
        """One text, whatever form is asked for."""
        return cls(text=lambda _: text, json=lambda: text, markdown=lambda: text)


def put_out(rendering: Rendering, output: Output) -> None:
    """Writes a result to stdout, or whole to a file.

    Raises:
        RigFailed: the file can't be written.
    """
    text = _render(rendering, output)
    if output.path is None:
        sys.stdout.write(text)
        return
    from envtrack.files import write_whole

    write_whole(output.path, text)
    say(f"written to {output.path}")


def _render(rendering: Rendering, output: Output) -> str:
    match output.format:
        case Format.TEXT:
            return rendering.text(choose_look(output))
        case Format.JSON:
            return rendering.json()
        case Format.MARKDOWN:
            return rendering.markdown()


def say(line: str) -> None:
    """One line of progress or of what to do next: stderr, never among the results."""
    print(f"envtrack: {line}", file=sys.stderr)


def choose_look(output: Output) -> Look:
    """How text looks where it goes to."""
    return Look(width=_find_width(), is_coloured=_is_coloured(output), is_full=output.is_full)


def _find_width() -> int:
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return _PIPE_WIDTH
    import shutil

    return shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns


def _is_coloured(output: Output) -> bool:
    if output.colour is not Colour.AUTO:
        return output.colour is Colour.ALWAYS
    # https://no-color.org: set and not empty, whatever the value.
    is_refused = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "") == "dumb"
    return output.path is None and sys.stdout.isatty() and not is_refused
