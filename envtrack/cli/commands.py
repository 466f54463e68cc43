"""The commands there are, grouped by what a person wants; none is imported before it is called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, NamedTuple

SUMMARY: Final = "What changed in the environment, and which change broke it."

_FIND = "Find what broke it"
_SEE = "See what changed"
_RECORD = "Record"
_RULES = "Keep the rules"
_SAFELY = "Change safely"
_JUDGE = "Judge the stack"
_START = "Start"


class Command(NamedTuple):
    """One command.

    Attributes:
        name: how it is called.
        summary: the line of the list of commands: the first sentence of its own help.
        module: below `envtrack.cli`.
        function: in that module; empty: named like the command.
        is_hidden: whether the list leaves it out.
    """

    name: str
    summary: str
    module: str
    function: str = ""
    is_hidden: bool = False

    def load(self) -> Callable[..., None]:
        """The function that does it."""
        found: Callable[..., None] = getattr(
            import_module(f"envtrack.cli.{self.module}"), self.function or self.name
        )
        return found


class Group(NamedTuple):
    """Commands under one name.

    Attributes:
        name: how it is called.
        summary: the line of the list of commands.
        help: the text above its own list of commands.
        commands: in the order in which they are listed.
        default: the command that is meant where the first word is none of them; empty: none.
    """

    name: str
    summary: str
    help: str
    commands: tuple[Command, ...]
    default: str = ""


_BISECT = Group(
    name="bisect",
    summary="Find the commit that broke it.",
    help="Find the commit that broke it: `envtrack bisect GOOD [BAD] --smoke 'COMMAND'`. "
    "(That is `bisect start`; `envtrack bisect start --help` lists its options.)",
    default="start",
    commands=(
        Command(name="start", module="bisect", summary="Find the commit that broke it."),
        Command(
            name="resume",
            module="sessions",
            summary="Go on with a search that was stopped; no finished probe is run again.",
        ),
        Command(name="status", module="sessions", summary="Show where a search stands."),
        Command(
            name="log",
            module="sessions",
            summary="Show every verdict of a search with its reason and log, then git's own "
            "replayable log.",
        ),
        Command(name="show", module="sessions", summary="Show the answer of a finished search."),
        Command(
            name="script",
            module="sessions",
            summary="Print the script that `git bisect run` runs.",
        ),
    ),
)
_HOOKS = Group(
    name="hooks",
    summary="Install, remove or look at the git hooks.",
    help="Install, remove or look at the git hooks that record this machine in lockfile commits.",
    commands=(
        Command(
            name="install",
            module="hooks",
            summary="Put the hooks where git looks for them; hooks that are there are kept and run "
            "too.",
        ),
        Command(
            name="uninstall",
            module="hooks",
            summary="Take the hooks away and put back what was there before, byte for byte.",
        ),
        Command(
            name="status",
            module="hooks",
            summary="Say where git looks for hooks and whether ours work: they are tried by a "
            "commit.",
        ),
        Command(
            name="run",
            module="hooks",
            summary="What a hook does, for a line in a hook of your own; only a broken policy "
            "makes it fail.",
            is_hidden=True,
        ),
    ),
)

_LOCKFILES = Group(
    name="lockfiles",
    summary="Help git to show lockfiles.",
    help="Help git to show lockfiles.",
    commands=(
        Command(
            name="textconv",
            module="lockfiles",
            summary="Print a lockfile in a form that `git diff` can show: a line a package.",
        ),
    ),
)

_CHECK = Command(
    name="check",
    module="check",
    summary="Judge changes of lockfiles by the repository's upgrade policy.",
)

_SPLIT = Command(
    name="split",
    module="split",
    summary="Turn a lockfile change of several layers into a series of commits, one layer each.",
)

PANELS: Final[tuple[tuple[str, tuple[Command | Group, ...]], ...]] = (
    (
        _FIND,
        (
            _BISECT,
            Command(
                name="isolate",
                module="isolate",
                summary="Find the package that broke it, among all that differ between two "
                "lockfiles.",
            ),
            Command(
                name="triage",
                module="triage",
                summary="Read a log and say which layer failed, with the evidence on this machine.",
            ),
        ),
    ),
    (
        _SEE,
        (
            Command(
                name="diff",
                module="diff",
                summary="Show what changed in the environment, layer by layer from the ground up.",
            ),
            Command(
                name="log",
                module="log",
                summary="Show what moved in each commit of the lockfile, newest first.",
            ),
            Command(
                name="show",
                module="show",
                summary="Show the snapshot that is recorded beside a revision's lockfile.",
            ),
            Command(
                name="machines",
                module="machines",
                summary="Show the recorded machines side by side: kernel, driver, Python, "
                "lockfile.",
            ),
            Command(
                name="report",
                module="report",
                summary="Write one HTML file that tells the whole story; it needs no network and "
                "no script.",
            ),
            _LOCKFILES,
        ),
    ),
    (
        _RECORD,
        (
            Command(
                name="snapshot",
                module="snapshot",
                summary="Take a snapshot of this machine and the project's environment.",
            ),
            Command(
                name="smoke",
                module="smoke",
                summary="Run the smoke test in the current environment and record its verdict.",
            ),
            _HOOKS,
        ),
    ),
    (_RULES, (_CHECK, _SPLIT)),
    (
        _SAFELY,
        (
            Command(
                name="verify",
                module="verify",
                summary="Go the new user's way: a clean clone, an empty home, the set-up, the "
                "smoke test.",
            ),
        ),
    ),
    (
        _JUDGE,
        (
            Command(
                name="doctor",
                module="doctor",
                summary="Judge whether the layers of a stack fit together, and what to do where "
                "they do not.",
            ),
        ),
    ),
    (
        _START,
        (
            Command(
                name="init",
                module="init",
                summary="Set envtrack up in this repository: find the lockfiles and write a "
                "commented configuration.",
            ),
            Command(
                name="demo",
                module="demo",
                summary="Build the bundled example in a temporary folder and find what broke it; "
                "needs no network.",
            ),
        ),
    ),
)

ENTRIES: Final[dict[str, Command | Group]] = {
    entry.name: entry for _, entries in PANELS for entry in entries
}


def find_command(words: tuple[str, ...]) -> tuple[Command, tuple[str, ...]] | None:
    """The command that a line means, and the rest of the line; `None` if that is not plain."""
    entry = ENTRIES.get(words[0]) if words else None
    rest = words[1:]
    if isinstance(entry, Group):
        inner = {command.name: command for command in entry.commands}
        entry = inner.get(rest[0]) if rest else None
        rest = rest[1:]
    return None if entry is None else (entry, rest)
