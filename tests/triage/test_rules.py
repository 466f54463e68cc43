from __future__ import annotations

from pathlib import Path

import pytest

import envtrack
from envtrack.config.triage_rules import describe_triage_rules
from envtrack.triage.rules import PLACES, Role, Rule, parse_rules
from envtrack.triage.scan import _Scanner
from envtrack.triage.text import tidy
from tests.triage.corpus import read_cases, root_of, shipped

FILES = sorted((Path(envtrack.__file__).parent / "data" / "triage").glob("*.yaml"))
RULES = shipped().rules
FINDING = [rule for rule in RULES if rule.role is not Role.MARK and not rule.near]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_shipped_is_what_a_repository_may_write(file: Path) -> None:
    documents = describe_triage_rules([(file.name, file.read_text(encoding="utf-8"))])
    assert parse_rules(documents[0])


def test_each_rule_has_a_name_of_its_own() -> None:
    written = [
        one
        for f in FILES
        for one in parse_rules(describe_triage_rules([(f.name, f.read_text())])[0])
    ]
    assert len(written) == len(RULES)


@pytest.mark.parametrize("rule", FINDING, ids=lambda rule: rule.id)
def test_each_rule_knows_its_own_messages(rule: Rule) -> None:
    for example in rule.examples:
        assert root_of(example)[:2] == (rule.layer, rule.id)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_says_what_it_means_and_refers_to_rules_that_exist(rule: Rule) -> None:
    known = {one.id for one in RULES}
    marks = {one.id for one in RULES if one.role is Role.MARK}
    assert rule.layer in PLACES
    assert rule.role is Role.MARK or rule.means
    assert set(rule.explains) <= known
    assert {*rule.near, *rule.not_near} <= marks


def test_no_line_that_a_rule_knows_is_passed_over_for_want_of_a_trigger() -> None:
    scanner = _Scanner(shipped())
    lines = [line for rule in RULES for text in rule.examples for line in text.splitlines()]
    lines += [line for case in read_cases() for line in case.text.splitlines()]
    known = [line for line in lines if shipped().find_hits(tidy(line))]
    assert len(known) > 300
    assert [line for line in known if scanner._is_boring(line.encode())] == []
