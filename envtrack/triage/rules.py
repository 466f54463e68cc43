"""What is known of error messages: rules, and the book that finds those that fit a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
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
    def trigger_words(self) -> frozenset[bytes]:
        """Words, in small letters, of which a line has one if any of most phrases fits it."""
        return frozenset(word.encode() for word in map(_find_word, self._phrases) if word)

    @cached_property
    def trigger_pieces(self) -> tuple[bytes, ...]:
        """The same for the phrases that have no whole word: pieces, in small letters."""
        pieces = (p.anchor for p in self._phrases if not _find_word(p))
        return tuple(sorted({word.strip().encode() for anchor in pieces for word in anchor}))

    @property
    def _phrases(self) -> tuple[Phrase, ...]:
        return tuple(phrase for rule in self.rules for phrase in rule.says)

    @cached_property
    def _index(self) -> dict[str, list[tuple[int, int]]]:
        """Rule and phrase by four characters that a line must hold for the phrase to fit."""
        anchors = [
            (at, of, word.strip())
            for at, rule in enumerate(self.rules)
            for of, phrase in enumerate(rule.says)
            for word in phrase.anchor
        ]
        counts = Counter(gram for _, _, word in anchors for gram in _grams(word))
        index: dict[str, list[tuple[int, int]]] = {}
        for at, of, word in anchors:
            rarest = min(_grams(word), key=counts.__getitem__)
            index.setdefault(rarest, []).append((at, of))
        return index

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
        index = self._index
        candidates = {one for gram in _grams(lowered) if gram in index for one in index[gram]}
        done = -1
        for at, of in sorted(candidates):
            if at == done:
                continue
            rule = self.rules[at]
            values = rule.says[of].find(text, lowered)
            if values is not None:
                done = at
                if not any(veto in lowered for veto in rule.unless):
                    yield Hit(rule, values, rule.says[of].says)


def _grams(text: str) -> set[str]:
    return {text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)}


_GRAM: Final = 4
_REMEMBERED: Final = 2_000
_WORD: Final = re.compile(r"(?<![A-Za-z])[a-z]{4,}(?![A-Za-z])")
_COMMON: Final = frozenset(
    {
        "about", "above", "after", "also", "epoch", "generated", "loss", "many", "tokens",
        "training", "because", "been", "before", "between", "code", "data",
        "does", "file", "files", "found", "from", "have", "info", "input", "into", "line", "model",
        "more", "must", "name", "only", "size", "step", "than", "that", "there", "this", "time",
        "train", "value", "values", "version", "when", "which", "while", "with", "your",
    }
)  # fmt: skip


def _find_word(phrase: Phrase) -> str:
    """The longest word that stands whole in every line that fits; empty where none surely does.

    At the edges of a piece a word may go on, except at the phrase's own ends.
    """
    words: list[str] = []
    last = len(phrase.literals) - 1
    for at, piece in enumerate(phrase.literals):
        is_first = at == 0 and phrase.starts_plain
        is_last = at == last and phrase.ends_plain
        edged = f"{' ' if is_first else 'A'}{piece}{' ' if is_last else 'A'}"
        words += [word for word in _WORD.findall(edged) if word not in _COMMON]
    return max(words, key=len, default="")


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
