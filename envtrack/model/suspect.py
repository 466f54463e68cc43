"""What may have broken it, and what to try next."""

from __future__ import annotations

from dataclasses import dataclass

from envtrack.model.comparison import Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """One change that may have broken it.

    Attributes:
        change: which.
        weight: how likely it is compared with the others; a bare number, larger is likelier.
        because: why it stands where it stands, a few words each.
    """

    change: Change
    weight: float
    because: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """What two verdicts and a comparison come to.

    Attributes:
        situation: one line: what was good, what is bad.
        suspects: likeliest first.
        cleared: what can't have been it, a line each.
        next_step: the one experiment that tells most, in words.
        command: the same to be pasted; empty where no command can do it.
    """

    situation: str
    suspects: tuple[Suspect, ...] = ()
    cleared: tuple[str, ...] = ()
    next_step: str = ""
    command: str = ""
