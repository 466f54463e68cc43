"""What a rule of fit found out about a stack, and what all of them found together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fit(StrEnum):
    """A verdict on two things that must go together; the order is from bad to good."""

    MISFIT = "does not fit"
    LIMITED = "fits with limits"
    UNKNOWN = "can't tell"
    FITS = "fits"


class Purpose(StrEnum):
    """What something has to fit for."""

    RUNNING = "running"
    BUILDING = "building"
    """Compiling extensions: it says nothing of what is compiled already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One verdict with its evidence.

    Attributes:
        rule: the rule's name.
        purpose: what it matters for.
        compared: what was held against what, with the values.
        fit: the verdict.
        reason: why; one sentence or two.
        remedy: what to do; empty where nothing is to be done or nobody knows.
        command: a command line that does it, or a good part of it; empty where there is none.
        sources: where the entries of the tables that decided it come from, and when they were read.
    """

    rule: str
    purpose: Purpose
    compared: str
    fit: Fit
    reason: str
    remedy: str = ""
    command: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A rule that had nothing to compare.

    Attributes:
        rule: its name.
        reason: what is not there.
    """

    rule: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What all rules say of one stack.

    Attributes:
        subject: which stack: machine, time, planned changes.
        findings: in the order of the rules.
        passed_over: the rules that had nothing to compare.
        notes: what is to be said of the stack as a whole.
    """

    subject: str
    findings: tuple[Finding, ...]
    passed_over: tuple[PassedOver, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_misfit(self) -> bool:
        """Whether something does not fit."""
        return any(finding.fit is Fit.MISFIT for finding in self.findings)

    def count(self, fit: Fit) -> int:
        """How many findings have this verdict."""
        return sum(finding.fit is fit for finding in self.findings)
