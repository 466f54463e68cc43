"""What came of going the new user's way: from a clone and an empty home to the smoke test."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement


class HiddenKind(StrEnum):
    """What a repository can depend on without saying so."""

    SHELL = "shell"
    """A variable, a PATH entry or a file of the shell's start-up (``~/.bashrc``)."""
    VARIABLE = "variable"
    """An environment variable that comes from elsewhere."""
    LOCAL = "local"
    """Something below ``~/.local``: a user site, a program, data."""
    INDEX_CONFIG = "index-config"
    """The user's own pip or uv configuration."""
    GIT_CONFIG = "git-config"
    """The user's or the machine's git configuration."""
    HOME = "home"
    """Another file of the home folder."""
    PROGRAM = "program"
    """A folder on PATH that a new user does not have there."""
    FILE = "file"
    """A file that is not committed, or not as it stands in the working tree."""
    LIBRARY = "library"
    """A shared library that the loader finds only here."""
    CACHE = "cache"
    """A download that only uv's or pip's cache still has."""
    INSTALLED = "installed"
    """Something in the environment that its lockfile does not put there."""


class Hidden(NamedTuple):
    """One hidden dependence.

    Attributes:
        kind: of what kind.
        what: its name: a variable, a path.
        evidence: what shows it, a line each.
        hint: what to do about it.
    """

    kind: HiddenKind
    what: str
    evidence: tuple[str, ...]
    hint: str


class FreshRun(NamedTuple):
    """The outcome of ``envtrack verify --fresh``.

    Attributes:
        commit: what was cloned.
        lockfile: its path from the top level.
        is_cold: whether the caches were empty too.
        judgement: the fresh run's verdict.
        setup: the set-up as it was run.
        smoke: the smoke test as it was run.
        seconds: how long the fresh run took, the clone included.
        ordinary: the verdict of the smoke test in the user's own environment; ``None``: the fresh
            run passed, so nobody asked.
        hidden: what the ordinary run has and a new user has not, and what decides.
        trials: how many runs it took in all.
        output: the last lines of the fresh run.
        notes: remarks for people.
    """

    commit: Oid
    lockfile: str
    is_cold: bool
    judgement: Judgement
    setup: str
    smoke: str
    seconds: float
    ordinary: Judgement | None = None
    hidden: tuple[Hidden, ...] = ()
    trials: int = 1
    output: str = ""
    notes: tuple[str, ...] = ()
