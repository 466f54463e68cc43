"""The Typer app: commands grouped by what a person wants."""

from __future__ import annotations

from typing import Annotated

import typer

from envtrack.cli import sessions  # noqa: F401 - registers `bisect resume` and its sisters
from envtrack.cli.bisect import bisect_app
from envtrack.cli.demo import demo
from envtrack.cli.diff import diff
from envtrack.cli.init import init
from envtrack.cli.show import show
from envtrack.cli.smoke import smoke
from envtrack.cli.snapshot import snapshot

_FIND = "Find what broke it"
_SEE = "See what changed"
_RECORD = "Record"
_START = "Start"

app = typer.Typer(
    name="envtrack",
    help="What changed in the environment, and which change broke it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """What changed in the environment, and which change broke it."""


app.add_typer(bisect_app, name="bisect", rich_help_panel=_FIND)
app.command("diff", rich_help_panel=_SEE)(diff)
app.command("show", rich_help_panel=_SEE)(show)
app.command("snapshot", rich_help_panel=_RECORD)(snapshot)
app.command("smoke", rich_help_panel=_RECORD)(smoke)
app.command("init", rich_help_panel=_START)(init)
app.command("demo", rich_help_panel=_START)(demo)
