"""What is known of error messages: rules, and the book that finds those that fit a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, NamedTuple

from envtrack.model.layer import Layer
from envtrack.triage.phrases import Phrase

RESOURCES: Final = "resources"
NETWORK: Final = "network"
DISTRIBUTED: Final = "distributed"
CODE: Final = "code"
UNCLASSIFIED: Final = "unclassified"
PLACES: Final = (
    *(layer.value for layer in Layer),
    RESOURCES,
    NETWORK,
    DISTRIBUTED,
    CODE,
    UNCLASSIFIED,
)
"""What a finding may name: the layers, and what is no layer of an environment."""


class Role(StrEnum):
    """What a message is in the course of a failure."""

    CAUSE = "cause"
    """It says what went wrong."""
    FOLLOWS = "follows"
    """It usually follows from something else; where there is nothing else, it counts."""
    NOTICE = "notice"
    """It need not stop anything: a warning."""
    END = "end"
    """It only says that something ended."""
    MARK = "mark"
    """No finding: other rules ask whether it was said nearby."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One look at a fact.

    Attributes:
        fact: its dotted name; `{name}` stands for what the message said.
        verb: `is`, `contains`, `below`, `at-least`, `not-equal`, or `doctor`.
        value: what it is held against.
    """

    fact: str
    verb: str
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """One explanation of a message.

    Attributes:
        claim: what would be the case.
        layer: the layer that would be to blame.
        supported_by: any of these supports it.
        refuted_by: any of these refutes it.
        remedy: what to do if it holds.
        check: the command that shows that the symptom is gone.
    """

    claim: str
    layer: str
    supported_by: tuple[Test, ...] = ()
    refuted_by: tuple[Test, ...] = ()
    remedy: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of message.

    Attributes:
        id: its name.
        layer: the layer that failed.
        kind: finer than the layer.
        role: what the message is in the course of a failure.
        says: any of these phrases.
        unless: none of these words on the same line, in small letters.
        near: one of these marks must have been seen nearby.
        not_near: none of these may have been.
        weight: which rule speaks where several fit: 10 generic, 50, 90 specific.
        explains: the rules whose messages follow from this one.
        also: other layers that the message may come from.
        means: what the message says, in a sentence.
        collect: what to look at, or to ask for, next.
        examples: real messages.
        hypotheses: in the order in which they are to be looked into.
    """

    id: str
    layer: str
    kind: str
    says: tuple[Phrase, ...]
    role: Role = Role.CAUSE
    unless: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    not_near: tuple[str, ...] = ()
    weight: int = 50
    explains: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    means: str = ""
    collect: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()


class Hit(NamedTuple):
    """A rule that fits a line, and what stood in the braces of its phrase."""

    rule: Rule
    values: dict[str, str]
    length: int


@dataclass(frozen=True, kw_only=True)
class RuleBook:
    """All rules that are in force; a later one of the same name takes the place of an earlier."""

    rules: tuple[Rule, ...]
    _memory: dict[str, tuple[Hit, ...]] = field(default_factory=dict, compare=False)

    @cached_property
    def triggers(self) -> tuple[bytes, ...]:
        """Few words of which every phrase of every rule has at least one, in small letters.

        Whole chunks of a log in which none of them stands need not be looked at.
        """
        words: list[set[str]] = []
        for phrase in (phrase for rule in self.rules for phrase in rule.says):
            pieces = [phrase.literals] if phrase.literals else [[word] for word in phrase.anchor]
            words += [set(_split_words(piece)) for piece in pieces]
        return tuple(word.encode() for word in _cover(words))

    def find_hits(self, text: str) -> tuple[Hit, ...]:
        """The rules that fit a tidied line, the one that says most first."""
        if text in self._memory:
            return self._memory[text]
        if len(self._memory) >= _REMEMBERED:
            self._memory.clear()
        lowered = text.lower()
        hits = tuple(sorted(self._search(text, lowered), key=lambda h: (-h.rule.weight, -h.length)))
        self._memory[text] = hits
        return hits

    def _search(self, text: str, lowered: str) -> Iterable[Hit]:
        for rule in self.rules:
            for phrase in rule.says:
                if not any(word in lowered for word in phrase.anchor):
                    continue
                values = phrase.find(text, lowered)
                if values is None:
                    continue
                if not any(veto in lowered for veto in rule.unless):
                    yield Hit(rule, values, phrase.says)
                break


_REMEMBERED: Final = 2_000
_SHORTEST: Final = 3
_WORD: Final = re.compile(r"[a-z0-9_]+")


def _split_words(literals: Sequence[str]) -> Iterable[str]:
    # Of a word with a quote in it a log may have another quote; so letters and digits only.
    for literal in literals:
        yield from (word for word in _WORD.findall(literal) if len(word) >= _SHORTEST)


def _cover(sets: list[set[str]]) -> list[str]:
    """Words that touch every set: the one that touches most first."""
    left, chosen = [one for one in sets if one], []
    while left:
        counts: dict[str, int] = {}
        for one in left:
            for word in one:
                counts[word] = counts.get(word, 0) + 1
        best = max(sorted(counts), key=counts.__getitem__)
        chosen.append(best)
        left = [one for one in left if best not in one]
    return chosen


def parse_rules(document: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of a document that was checked, or comes with envtrack."""
    return tuple(_parse_rule(one) for one in document.get("rules", ()))


def _parse_rule(one: Mapping[str, Any]) -> Rule:
    return Rule(
        id=one["id"],
        layer=one.get("layer", UNCLASSIFIED),
        kind=one.get("kind", "mark"),
        role=Role(one.get("role", "cause")),
        says=tuple(Phrase(text) for text in one["says"]),
        unless=tuple(text.lower() for text in one.get("unless", ())),
        near=tuple(one.get("near", ())),
        not_near=tuple(one.get("not-near", ())),
        weight=int(one.get("weight", 50)),
        explains=tuple(one.get("explains", ())),
        also=tuple(one.get("also", ())),
        means=one.get("means", ""),
        collect=tuple(one.get("collect", ())),
        examples=tuple(one.get("examples", ())),
        hypotheses=tuple(_parse_hypothesis(h, one) for h in one.get("hypotheses", ())),
    )


def _parse_hypothesis(one: Mapping[str, Any], rule: Mapping[str, Any]) -> Hypothesis:
    return Hypothesis(
        claim=one["claim"],
        layer=one.get("layer", rule.get("layer", UNCLASSIFIED)),
        supported_by=tuple(_parse_test(test) for test in one.get("supported-by", ())),
        refuted_by=tuple(_parse_test(test) for test in one.get("refuted-by", ())),
        remedy=one.get("remedy", ""),
        check=one.get("check", ""),
    )


def _parse_test(one: Mapping[str, Any]) -> Test:
    if "doctor" in one:
        return Test(fact=one["doctor"], verb="doctor", value=one.get("says", "does not fit"))
    verb = next(name for name in VERBS if name in one)
    return Test(fact=one["fact"], verb=verb, value=one[verb])


VERBS: Final = ("is", "not", "contains", "below", "at-least")
"""How a fact is held against a value."""
