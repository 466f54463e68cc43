"""The tables of ``docs/doctor.md`` against the program: rules, and a verdict for every row."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from envtrack.compat.judge import RULES
from envtrack.model.finding import Finding, Fit
from tests.compat.stacks import DOCS, Row, judge_rule, read_names, read_rows

NOTHING = "nothing to compare"


@pytest.mark.parametrize("row", read_rows(), ids=lambda row: f"{row.rule}: {row.stack}")
def test_the_verdict_of_a_documented_stack_is_the_documented_one(row: Row) -> None:
    found = judge_rule(row.stack, row.rule)
    if isinstance(found, Finding):
        assert (row.verdict, found.reason) == (found.fit, found.reason)
        said = f"{found.compared} {found.reason} {found.remedy} {found.command}"
    else:
        assert row.verdict == NOTHING, found
        said = found
    assert row.reason in said


def test_every_rule_has_rows_for_fitting_and_for_other_verdicts() -> None:
    verdicts: dict[str, set[str]] = {rule.name: set() for rule in RULES}
    for row in read_rows():
        verdicts[row.rule].add(row.verdict)
    assert [name for name, found in verdicts.items() if Fit.FITS not in found] == []
    assert [name for name, found in verdicts.items() if len(found) < 3] == []


def test_the_case_of_one_driver_and_five_runtimes_comes_first() -> None:
    first = read_rows()[:5]
    assert [row.verdict for row in first] == [
        Fit.FITS,
        Fit.FITS,
        Fit.FITS,
        Fit.LIMITED,
        Fit.MISFIT,
    ]
    assert {row.stack.partition(" torch=")[0] for row in first} == {"driver=550.54.15 cuda=12.4"}


def test_no_stack_is_judged_twice() -> None:
    counted = Counter((row.rule, row.stack) for row in read_rows())
    assert [row for row, count in counted.items() if count > 1] == []


def test_the_table_of_rules_is_the_program_s() -> None:
    text = DOCS.read_text(encoding="utf-8").partition("## The rules")[2].partition("## What it")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (\w+) \| (.+?) \| (.+) \|$", text, re.MULTILINE)
    assert [(name, purpose, compares) for name, purpose, compares, _ in rows] == [
        (rule.name, rule.purpose, rule.compares) for rule in RULES
    ]
    assert [tuple(facts.replace("`", "").split(", ")) for *_, facts in rows] == [
        tuple(part for fact in rule.facts for part in fact.split(", ")) for rule in RULES
    ]


def test_every_short_name_is_used() -> None:
    text = " ".join(row.stack for row in read_rows())
    unused = [
        name
        for name in read_names()
        if not re.search(rf"\b{re.escape(name.partition('<')[0])}", text)
    ]
    assert unused == []
