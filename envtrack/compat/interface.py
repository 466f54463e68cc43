"""What every rule of fit is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from envtrack.compat.stack import Stack
from envtrack.compat.tables import Cited, Tables
from envtrack.model.finding import Fit, Purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A verdict as a rule gives it; `judge_stack` makes a `Finding` of it.

    Attributes:
        compared: what was held against what, with the values.
        fit: the verdict.
        reason: why.
        remedy: what to do.
        command: a command line for it.
        cited: the entries of the tables that decided it.
    """

    compared: str
    fit: Fit
    reason: str
    remedy: str = ""
    command: str = ""
    cited: tuple[Cited, ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is nothing to compare, and why."""

    reason: str


Answer: TypeAlias = Opinion | Nothing


class Judges(Protocol):
    """Gives its opinions of a stack: at least one, or `Nothing`."""

    def __call__(self, stack: Stack, tables: Tables) -> Iterator[Answer]:
        """Every opinion, from the ground up."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of fit.

    Attributes:
        name: as reports and ``docs/doctor.md`` call it.
        purpose: what it matters for.
        compares: what it holds against what; one line.
        facts: the names of the facts it looks at, as `envtrack.compat.facts` reads them.
        judge: gives the opinions.
    """

    name: str
    purpose: Purpose
    compares: str
    facts: tuple[str, ...]
    judge: Judges
