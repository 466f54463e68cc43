"""One grammar, two readers: a line that is read without Typer means what Typer makes of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.cli import app as typer_side
from envtrack.cli.commands import ENTRIES, Command, Group, find_command
from envtrack.cli.grammar import Option
from envtrack.cli.output import Format
from envtrack.cli.quick import list_parameters, read_quickly

COMMANDS = {
    " ".join((entry.name, command.name) if isinstance(entry, Group) else (entry.name,)): command
    for entry in ENTRIES.values()
    for command in (entry.commands if isinstance(entry, Group) else (entry,))
}


def defaults(function: Callable[..., None]) -> dict[str, Any]:
    return {p.name: p.default for p in inspect.signature(function).parameters.values()}


def read_with_typer(command: Command, words: list[str]) -> dict[str, Any] | None:
    """The arguments that Typer calls the function with; `None` if it refuses the line."""
    called: list[dict[str, Any]] = []
    function = command.load()

    def take(*arguments: object, **values: object) -> None:
        assert not arguments
        called.append(values)

    take.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    take.__name__ = function.__name__

    class Stub(Command):
        def load(self) -> Callable[..., None]:
            return take

    made = typer_side._make(Stub(name=command.name, summary=command.summary, module=command.module))
    try:
        made.main(args=list(words), prog_name="envtrack", standalone_mode=False)
    except Exception:  # noqa: BLE001 - whatever way it refuses
        return None
    return called[0] if called else None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_read_quickly(name: str) -> None:
    assert list_parameters(COMMANDS[name].load()) is not None


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_the_first_sentence_of_a_commands_own_help(name: str) -> None:
    text = inspect.getdoc(COMMANDS[name].load())
    assert text is not None
    assert re.sub(r"\s+", " ", text.partition("\n\n")[0]) == COMMANDS[name].summary


@pytest.mark.parametrize("name", COMMANDS)
def test_no_two_options_of_a_command_share_a_spelling(name: str) -> None:
    parameters = list_parameters(COMMANDS[name].load()) or ()
    spellings = [s for p in parameters if isinstance(p.mark, Option) for s in p.mark.names]
    assert len(set(spellings)) == len(spellings)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ([], {}),
        (["HEAD~3", "now"], {"before": "HEAD~3", "after": "now"}),
        (["-f", "json", "HEAD"], {"form": Format.JSON, "before": "HEAD"}),
        (["--format=json"], {"form": Format.JSON}),
        (["HEAD", "--full", "-o", "x y"], {"before": "HEAD", "full": True, "output": Path("x y")}),
    ],
)
def test_plain_lines_are_read(words: list[str], values: dict[str, Any]) -> None:
    function = COMMANDS["diff"].load()
    assert read_quickly(function, words) == values
    assert read_with_typer(COMMANDS["diff"], words) == {**defaults(function), **values}


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--"],
        ["-fjson"],
        ["--format"],
        ["--format", "--full"],
        ["--format", "yaml"],
        ["--format", "JSON"],
        ["--full=yes"],
        ["--nonsense"],
        ["--form", "json"],
        ["--format", "json", "--format", "text"],
        ["one", "two", "three"],
    ],
)
def test_what_is_not_plain_is_left_to_typer(words: list[str]) -> None:
    assert read_quickly(COMMANDS["diff"].load(), words) is None


def test_a_required_argument_that_is_missing_is_left_to_typer() -> None:
    assert read_quickly(COMMANDS["hooks run"].load(), []) is None


WORDS = st.sampled_from(
    [
        *(
            "HEAD",
            "now",
            "a b",
            "",
            "-",
            "--",
            "-h",
            "--full",
            "-f",
            "--format",
            "json",
            "markdown",
        ),
        *("--format=json", "--format=", "-o", "--output", "x", "-C", ".", "--lockfile=uv.lock"),
        *("--with", "--with=torch==2.6.0", "torch==2.6.0", "--driver", "550.54.15", "--for"),
        *("running", "--smoke", "-s", "exit 1", "--extra", "gpu", "--extra=cpu", "--keep", "-v"),
        *(
            "--timeout",
            "90s",
            "--timeout-is",
            "bad",
            "--save",
            "--commit",
            "-m",
            "message",
            "--force",
        ),
        *("--exit-code", "--layer", "driver", "--color=always", "--no-record", "-c", "true", "-1"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(sorted(COMMANDS)), words=st.lists(WORDS, max_size=5))
def test_both_readers_agree_on_every_line_that_is_plain(name: str, words: list[str]) -> None:
    function = COMMANDS[name].load()
    quick = read_quickly(function, words)
    if quick is not None:
        assert read_with_typer(COMMANDS[name], words) == {**defaults(function), **quick}


def test_words_name_a_command_and_leave_the_rest() -> None:
    assert find_command(("hooks", "status", "-C", "x")) == (COMMANDS["hooks status"], ("-C", "x"))
    assert find_command(("diff", "status")) == (COMMANDS["diff"], ("status",))
    for words in ((), ("bisect",), ("bisect", "HEAD~3"), ("nonsense",), ("--debug", "diff")):
        assert find_command(words) is None
