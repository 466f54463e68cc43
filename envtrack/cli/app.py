"""Typer's side of the command line: help, completion, and every line that is not plain."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from envtrack.cli.commands import ENTRIES, SUMMARY, Command, Group
from envtrack.cli.grammar import Argument
from envtrack.cli.overview import render_overview
from envtrack.cli.quick import split_annotation

_SETTINGS = {"help_option_names": ["-h", "--help"]}


_RUN = "--run"


class _Panelled(TyperCommand):
    """A command whose help lists its options under their headings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's or Typer's own
        """With an option `--run`, what follows `--` is a command, and `--run` need not be said."""
        parameters: list[Any] = list(self.get_params(ctx))
        if "--" in args and any(_RUN in parameter.opts for parameter in parameters):
            at = args.index("--")
            args = [*(word for word in args[:at] if word != _RUN), _RUN, *args[at:]]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - click's or Typer's own
        """Arguments first, then the options by heading, the general ones first."""
        panels: dict[str, list[tuple[str, str]]] = {}
        parameters: list[Any] = list(self.get_params(ctx))
        for parameter in parameters:
            is_argument = parameter.param_type_name == "argument"
            title = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None)
            if record := parameter.get_help_record(ctx):
                # Of an argument Typer shows the type too, which is text for all of ours.
                name = parameter.metavar if is_argument else record[0]
                panels.setdefault(title or "Options", []).append((name, record[1]))
        first = [title for title in ("Arguments", "Options") if title in panels]
        for title in (*first, *(title for title in panels if title not in first)):
            with formatter.section(title):
                formatter.write_dl(panels[title])


class _Lazy(TyperGroup):
    """A group that imports a command when it is called."""

    entries: dict[str, Command | Group]
    default = ""

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - Typer's own
        """The names alone, from which Typer makes its suggestions."""
        super().__init__(**values)
        names: Any = dict.fromkeys(self.entries)
        self.commands = names

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - click's or Typer's own
        """The names, in the order of the table."""
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - the same
        """The command of that name, made now."""
        entry = self.entries.get(cmd_name)
        return None if entry is None else _make(entry)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - the same
        """With a default command, `bisect GOOD BAD` is `bisect start GOOD BAD`."""
        first = next(iter(args), "")
        if self.default and first not in self.entries and first not in {"-h", "--help"}:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class _Root(_Lazy):
    """All commands; its help needs none of them."""

    entries = ENTRIES

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - the same
        """The overview."""
        formatter.write(render_overview())


def run_with_typer(arguments: list[str]) -> None:
    """Runs a command line; ends with `SystemExit`."""
    app = typer.Typer(
        name="envtrack",
        cls=_Root,
        help=SUMMARY,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=_SETTINGS,
    )
    app.callback()(_options)
    app(args=arguments, prog_name="envtrack")


def _options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """What stands before the command."""


def _make(entry: Command | Group) -> Any:  # noqa: ANN401 - click's or Typer's own
    if isinstance(entry, Group):
        inner = {command.name: command for command in entry.commands}
        cls = type("_Inner", (_Lazy,), {"entries": inner, "default": entry.default})
        return cls(
            name=entry.name,
            help=entry.help,
            short_help=entry.summary,
            no_args_is_help=not entry.default,
            rich_markup_mode=None,
            context_settings=_SETTINGS,
        )
    app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=_SETTINGS)
    register = app.command(
        entry.name, cls=_Panelled, short_help=entry.summary, hidden=entry.is_hidden
    )
    register(_declare(entry.load()))
    return typer.main.get_command(app)


def _declare(function: Callable[..., None]) -> Callable[..., None]:
    """The function with its parameters declared in Typer's words."""
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=_translate(parameter))
        for parameter in signature.parameters.values()
    ]

    @functools.wraps(function)
    def call(*arguments: object, **values: object) -> None:
        function(*arguments, **values)

    del call.__wrapped__  # Typer would look at the original's
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _translate(parameter: inspect.Parameter) -> object:
    base, mark = split_annotation(parameter.annotation)
    if isinstance(mark, Argument):
        return Annotated[
            base,
            typer.Argument(
                metavar=mark.metavar, help=mark.help, show_default=mark.default or False
            ),
        ]
    return Annotated[
        base,
        typer.Option(
            *mark.names,
            help=mark.help,
            metavar=mark.metavar or None,
            rich_help_panel=mark.panel or None,
        ),
    ]
