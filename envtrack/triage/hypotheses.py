"""Hypotheses against facts: supported, refuted, or open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.finding import Fit
from envtrack.triage.findings import Evidence, Judged, Standing, TriageFinding
from envtrack.triage.rules import Hypothesis, Test

_HOLE: Final = re.compile(r"\{([a-z][a-z_]*)\}")
_NUMBER: Final = re.compile(r"\d{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What was seen on a machine.

    Attributes:
        facts: by name; what has no entry was not looked at.
        fits: the verdicts of the doctor's rules, by name.
    """

    facts: Mapping[str, FactState] = field(default_factory=dict)
    fits: Mapping[str, tuple[Fit, ...]] = field(default_factory=dict)


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """A text with what the message named in its braces; a name that is not known stays."""
    return _HOLE.sub(lambda match: values.get(match[1]) or match[0], text)


def fill_hypothesis(hypothesis: Hypothesis, values: Mapping[str, str]) -> Hypothesis:
    """A hypothesis with what the message named in the braces of its texts."""
    return replace(
        hypothesis,
        claim=fill_in(hypothesis.claim, values),
        remedy=fill_in(hypothesis.remedy, values),
        check=fill_in(hypothesis.check, values),
    )


def judge_finding(finding: TriageFinding, grounds: Grounds) -> TriageFinding:
    """The finding with its hypotheses judged; its layer stays what the message says.

    The log may be of another machine than the one that was looked at.
    """
    judged = tuple(_judge(one.hypothesis, finding.values, grounds) for one in finding.judged)
    return replace(finding, judged=judged)


def _judge(hypothesis: Hypothesis, values: Mapping[str, str], grounds: Grounds) -> Judged:
    tests = [(test, Standing.SUPPORTED) for test in hypothesis.supported_by]
    tests += [(test, Standing.REFUTED) for test in hypothesis.refuted_by]
    seen: dict[str, Evidence] = {}
    for test, meaning in tests:
        evidence = _look(test, meaning, values, grounds)
        if evidence is None:
            continue
        before = seen.get(evidence.name)
        if before is None or before.points_to is Standing.OPEN:
            seen[evidence.name] = evidence
    said = {one.points_to for one in seen.values()} - {Standing.OPEN}
    standing = said.pop() if len(said) == 1 else Standing.OPEN
    return Judged(hypothesis=hypothesis, standing=standing, evidence=tuple(seen.values()))


def _look(
    test: Test, meaning: Standing, values: Mapping[str, str], grounds: Grounds
) -> Evidence | None:
    """What one look showed; ``None`` where nobody looked."""
    name = fill_in(test.fact, values)
    if test.verb == "doctor":
        fits = grounds.fits.get(name)
        if not fits:
            return None
        holds = (
            all(fit is Fit.FITS for fit in fits) if test.value == Fit.FITS else test.value in fits
        )
        seen = ", ".join(dict.fromkeys(fits))
        return Evidence(name=f"doctor: {name}", seen=seen, points_to=_point(meaning, holds=holds))
    state = grounds.facts.get(name)
    if state is None:
        return None
    holds = _holds(test.verb, fill_in(test.value, values), state)
    return Evidence(name=name, seen=_show(state), points_to=_point(meaning, holds=holds))


def _point(meaning: Standing, *, holds: bool) -> Standing:
    return meaning if holds else Standing.OPEN


def _show(state: FactState) -> str:
    match state:
        case Known(value):
            return _text(value)
        case Absent():
            return "absent"
        case Unknown(reason):
            return f"unknown: {reason}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _holds(verb: str, wanted: str, state: FactState) -> bool:
    if wanted in {"known", "absent", "unknown"} and verb in {"is", "not"}:
        kind = {Known: "known", Absent: "absent", Unknown: "unknown"}[type(state)]
        return (kind == wanted) == (verb == "is")
    return isinstance(state, Known) and _compare(verb, wanted, _text(state.value))


def _compare(verb: str, wanted: str, value: str) -> bool:
    match verb:
        case "is" | "not":
            return (value == wanted) == (verb == "is")
        case "contains":
            return wanted in value
        case "below":
            return _numbers(value) < _numbers(wanted)
        case _:
            return _numbers(value) >= _numbers(wanted)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBER.findall(text))


def list_names(findings: Iterable[TriageFinding]) -> frozenset[str]:
    """The facts that the hypotheses of some findings ask for."""
    tests = (
        (test, finding.values)
        for finding in findings
        for one in finding.judged
        for test in (*one.hypothesis.supported_by, *one.hypothesis.refuted_by)
    )
    return frozenset(fill_in(test.fact, values) for test, values in tests)
