"""The Typer app: commands grouped by what a person wants."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from envtrack.cli import sessions  # noqa: F401 - registers `bisect resume` and its sisters
from envtrack.cli.bisect import bisect_app
from envtrack.cli.demo import demo
from envtrack.cli.diff import diff
from envtrack.cli.doctor import doctor
from envtrack.cli.hooks import hooks_app
from envtrack.cli.init import init
from envtrack.cli.show import show
from envtrack.cli.smoke import smoke
from envtrack.cli.snapshot import snapshot

_FIND = "Find what broke it"
_SEE = "See what changed"
_RECORD = "Record"
_JUDGE = "Judge the stack"
_START = "Start"

# The order in which `--help` lists them; their groups follow it.
_ORDER = ("bisect", "diff", "show", "snapshot", "smoke", "hooks", "doctor", "init", "demo")


class _Ordered(TyperGroup):
    """Lists its commands in `_ORDER`: Typer itself puts groups of commands last."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - click's own or Typer's copy
        """The commands' names; those that `_ORDER` does not know come last."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


app = typer.Typer(
    name="envtrack",
    cls=_Ordered,
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
app.add_typer(hooks_app, name="hooks", rich_help_panel=_RECORD)
app.command("doctor", rich_help_panel=_JUDGE)(doctor)
app.command("init", rich_help_panel=_START)(init)
app.command("demo", rich_help_panel=_START)(demo)
