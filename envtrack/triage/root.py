"""Which of the messages of a log is the first cause, and which only followed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from envtrack.triage.exceptions import judge_exception
from envtrack.triage.findings import Judged, Triage, TriageFinding
from envtrack.triage.hypotheses import fill_hypothesis, fill_in
from envtrack.triage.rules import UNCLASSIFIED, Hit, Role, RuleBook
from envtrack.triage.scan import Event, Scan, scan_log

_BY_TYPE: Final = 5
_BUILD: Final = "in-build"
_NOT_KNOWN: Final = (
    "the whole log from its first line",
    "`envtrack snapshot`",
    "`envtrack doctor`",
)
_MOST: Final = 50
_NAMES: Final = {
    "library": re.compile(
        r"([\w.+-]{1,100}\.so[\w.]{0,30})(?=: (?:cannot open|undefined|version))"
    ),
    "module": re.compile(r"No module named '?([A-Za-z_][\w.]{0,100})"),
    "symbol": re.compile(r"undefined symbol: ?(\w{1,400})"),
}


class _Candidate(NamedTuple):
    """An event, and the finding it makes."""

    event: Event
    finding: TriageFinding
    hit: Hit | None

    @property
    def weight(self) -> int:
        return self.hit.rule.weight if self.hit else _BY_TYPE


def triage_log(chunks: Iterable[bytes], book: RuleBook, *, source: str) -> Triage:
    """The errors of a log, the first cause first.

    Args:
        chunks: the log's bytes, in pieces of any size.
        book: the rules.
        source: how the log is called.
    """
    scan = scan_log(chunks, book)
    found = [_make_candidate(event, scan) for event in scan.events]
    found += [_make_loose(event, scan) for event in scan.loose]
    root = _choose_root(found, scan)
    if root is None:
        return Triage(source=source, lines=scan.lines, findings=())
    rest = sorted((c.finding for c in found if c is not root), key=lambda f: f.line)
    kept = [f for f in rest if f.rule or f.role is Role.CAUSE][: _MOST - 1]
    more = len(rest) - len(kept) + scan.dropped
    notes = (f"{more} more messages are not shown",) if more else ()
    findings = (root.finding, *(_demote(finding) for finding in kept))
    return Triage(source=source, lines=scan.lines, findings=findings, notes=notes)


def _demote(finding: TriageFinding) -> TriageFinding:
    return replace(finding, role=Role.FOLLOWS) if finding.role is Role.CAUSE else finding


def _make_candidate(event: Event, scan: Scan) -> _Candidate:
    hit = next((hit for hit in event.hits if _is_in_place(hit, event, scan)), None)
    if hit is None:
        return _Candidate(event, _judge_by_type(event, scan), None)
    rule = hit.rule
    values = _read_names(event.text) | hit.values
    role = Role.NOTICE if event.is_warning and rule.role is Role.CAUSE else rule.role
    finding = TriageFinding(
        layer=rule.layer,
        kind=rule.kind,
        role=role,
        rule=rule.id,
        line=event.line,
        text=event.text.strip(),
        excerpt=tuple(event.excerpt),
        means=fill_in(rule.means, values),
        stream=event.stream,
        times=event.times,
        also=rule.also,
        values=values,
        collect=tuple(fill_in(text, values) for text in rule.collect),
        judged=tuple(Judged(hypothesis=fill_hypothesis(one, values)) for one in rule.hypotheses),
    )
    return _Candidate(event, finding, hit)


def _read_names(text: str) -> dict[str, str]:
    """The library, module and symbol that a line names, whatever phrase it was known by."""
    return {name: found[1] for name, pattern in _NAMES.items() if (found := pattern.search(text))}


def _is_in_place(hit: Hit, event: Event, scan: Scan) -> bool:
    rule = hit.rule
    if rule.near and not any(scan.has_mark(name, event.line) for name in rule.near):
        return False
    return not any(scan.has_mark(name, event.line) for name in rule.not_near)


def _judge_by_type(event: Event, scan: Scan) -> TriageFinding:
    if event.trace is None:
        return _make_loose(event, scan).finding
    opinion = judge_exception(event.trace, in_build=scan.has_mark(_BUILD, event.line))
    role = Role.NOTICE if event.is_warning and opinion.role is Role.CAUSE else opinion.role
    return TriageFinding(
        layer=opinion.layer,
        kind=opinion.kind,
        role=role,
        rule="",
        line=event.line,
        text=event.text.strip(),
        excerpt=tuple(event.excerpt),
        means=opinion.means,
        stream=event.stream,
        times=event.times,
        collect=opinion.collect,
    )


def _make_loose(event: Event, scan: Scan) -> _Candidate:
    if event.trace is not None:
        return _Candidate(event, replace(_judge_by_type(event, scan), role=Role.END), None)
    finding = TriageFinding(
        layer=UNCLASSIFIED,
        kind="unknown",
        role=Role.END,
        rule="",
        line=event.line,
        text=event.text.strip(),
        excerpt=tuple(event.excerpt),
        means="This looks like an error, and no rule knows it.",
        stream=event.stream,
        times=event.times,
        collect=_NOT_KNOWN,
    )
    return _Candidate(event, finding, None)


def _choose_root(found: Sequence[_Candidate], scan: Scan) -> _Candidate | None:
    if not found:
        return None
    heads = _speak_for_chains(found)
    best = min(_rank(candidate) for candidate in heads)
    equal = [candidate for candidate in heads if _rank(candidate) == best]
    named = [c for c in equal if scan.root_rank and c.finding.stream == f"rank{scan.root_rank}"]
    root = min(named or equal, key=lambda candidate: candidate.finding.line)
    return _explain(root, found)


def _rank(candidate: _Candidate) -> int:
    """How well a message tells why: the least says most."""
    finding = candidate.finding
    is_known = bool(finding.rule) or finding.layer != UNCLASSIFIED
    match finding.role:
        case Role.CAUSE:
            return 0 if is_known else 2
        case Role.FOLLOWS:
            return 1
        case Role.NOTICE:
            return 3 if is_known else 5
        case _:
            return 4 if is_known else 6


def _speak_for_chains(found: Sequence[_Candidate]) -> list[_Candidate]:
    """Of each chain of exceptions the one that says most; of equals the first."""
    by_event = {id(candidate.event): candidate for candidate in found}
    heads: dict[int, _Candidate] = {}
    for candidate in found:
        first = candidate.event
        while first.chain is not None and id(first.chain) in by_event:
            first = first.chain
        before = heads.get(id(first))
        if before is None or _say(candidate) > _say(before):
            heads[id(first)] = candidate
    return list(heads.values())


def _say(candidate: _Candidate) -> tuple[int, int]:
    return -_rank(candidate), candidate.weight


def _explain(root: _Candidate, found: Sequence[_Candidate]) -> _Candidate:
    """The message that explains the root, as far as one does: a warning that came before it."""
    seen = {root.finding.line}
    while True:
        why = next(
            (
                candidate
                for candidate in found
                if candidate.hit is not None
                and root.finding.rule in candidate.hit.rule.explains
                and candidate.finding.line not in seen
            ),
            None,
        )
        if why is None:
            return root
        root = why
        seen.add(why.finding.line)
