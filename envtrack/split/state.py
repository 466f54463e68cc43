"""What is split, what uv makes of a state in between, and what a step is."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple, Protocol

from envtrack.split.project import PROJECT, SETTINGS, has_other_settings

if TYPE_CHECKING:
    from envtrack.model.comparison import Change
    from envtrack.split.units import Judging


class State(NamedTuple):
    """A lockfile with the project files that it was made from.

    Attributes:
        text: the lockfile's text.
        projects: the text of each other file that decides the environment and is there on both
            sides, by its path from the top level.
    """

    text: str
    projects: Mapping[str, str]


class Locked(NamedTuple):
    """What uv made of a state.

    Attributes:
        text: the lockfile; empty where uv refused.
        said: why it refused, in its own words; one line.
    """

    text: str
    said: str = ""


class Locks(Protocol):
    """Lets uv lock."""

    def __call__(
        self, wanted: State, *, pins: tuple[str, ...] = (), offline: bool
    ) -> Locked | None:
        """The lockfile that uv makes of these projects, with a lockfile as its preference.

        Args:
            wanted: projects and preference.
            pins: `NAME==VERSION`: what must come out.
            offline: whether it has to do without the network.

        Returns:
            `None` if it was to work without the network and could not.

        Raises:
            RigFailed: the network, the disk or uv itself failed: nothing is said of the state.
        """
        ...


class Case(NamedTuple):
    """What is to be split.

    Attributes:
        before: the state before.
        after: the state after.
        judging: how changes are told.
        is_each: whether every root change is a step of its own.
        lockfile: its path, for messages.
    """

    before: State
    after: State
    judging: Judging
    is_each: bool
    lockfile: str

    def list_projects(self) -> list[tuple[str, str]]:
        """Old and new text of each pyproject.toml."""
        after = self.after.projects
        return [
            (text, after[path])
            for path, text in self.before.projects.items()
            if path.rpartition("/")[2] == PROJECT
        ]

    def has_other_settings(self) -> bool:
        """Whether uv is told something else that belongs to no single package."""
        names = {path.rpartition("/")[2] for path in self.before.projects}
        return SETTINGS in names or any(starmap(has_other_settings, self.list_projects()))


class Piece(NamedTuple):
    """One step of the series.

    Attributes:
        state: after it.
        changes: what it changes, all of it.
        groups: the layers it moves.
        joined: why something had to come along.
    """

    state: State
    changes: tuple[Change, ...]
    groups: tuple[str, ...]
    joined: tuple[str, ...]
