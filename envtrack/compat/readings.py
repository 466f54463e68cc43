"""One value of a stack, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from envtrack.compat.tables import Cited
from envtrack.model.fact import Absent, FactState, FactValue, Known, Unknown

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Generic[T]):
    """What is known of one thing.

    Attributes:
        value: ``None`` where it is absent, unknown, or was never recorded.
        why: then the reason, ready for a report: ``driver.cuda is unknown: timed out``.
        is_absent: it was looked for and is not there.
        cited: the entry of the tables from which the value was told; ``None``: from a fact.
        is_planned: somebody said so on the command line.
    """

    value: T | None = None
    why: str = ""
    is_absent: bool = False
    cited: Cited | None = None
    is_planned: bool = False

    @property
    def sources(self) -> tuple[Cited, ...]:
        """The entry it was told from, if any."""
        return () if self.cited is None else (self.cited,)

    def map(self, change: Callable[[T], U | None]) -> Reading[U]:
        """The same of another value; one that can't be made of it is a reason too."""
        if self.value is None:
            return Reading(why=self.why, is_absent=self.is_absent)
        made = change(self.value)
        if made is None:
            return Reading(why=f"it reads {self.value!r}, which says nothing here")
        return Reading(value=made, cited=self.cited, is_planned=self.is_planned)


def read_fact(facts: Mapping[str, FactState], *names: str) -> Reading[FactValue]:
    """The first of these facts that is known; else what the first recorded one says."""
    states = {name: facts[name] for name in names if name in facts}
    for state in states.values():
        if isinstance(state, Known):
            return Reading(value=state.value)
    for name, state in states.items():
        if isinstance(state, Unknown):
            return Reading(why=f"{name} is unknown: {state.reason}")
        if isinstance(state, Absent):
            return Reading(why=f"{name} is absent", is_absent=True)
    return Reading(why=f"{names[0]} is not recorded")


def read_text(facts: Mapping[str, FactState], *names: str) -> Reading[str]:
    """The same as text; a number or a switch is written as one."""
    return read_fact(facts, *names).map(_write)


def _write(value: FactValue) -> str | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if str(value).strip() else None


def read_number(facts: Mapping[str, FactState], *names: str) -> Reading[int]:
    """The same as a whole number."""
    return read_fact(facts, *names).map(_count)


def _count(value: FactValue) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    text = value.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None  # noqa: PLR2004 - 64 bits
