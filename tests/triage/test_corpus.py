"""Real reports: the right layer, and above all no wrong one."""

from __future__ import annotations

import re

import pytest

from envtrack.triage.rules import PLACES, UNCLASSIFIED
from tests.triage.corpus import Case, read, read_cases

CASES = read_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_no_report_is_given_a_wrong_layer(case: Case) -> None:
    root = read(case.text).root
    assert root is not None
    assert root.layer in {case.layer, UNCLASSIFIED}
    assert not case.kind or root.kind == case.kind
    assert not case.line or root.line == case.line


def test_the_right_layer_is_named_for_nearly_all() -> None:
    roots = [(case.layer, read(case.text).root) for case in CASES]
    right = sum(root is not None and root.layer == layer for layer, root in roots)
    assert right >= 0.98 * len(CASES)


def test_there_are_many_reports_of_every_place_each_with_its_source() -> None:
    assert len(CASES) >= 120
    assert {case.layer for case in CASES} == set(PLACES)
    assert len({case.id for case in CASES}) == len(CASES)
    assert all(case.source.startswith("https://") for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_no_report_names_a_person_a_home_or_an_address(case: Case) -> None:
    assert not re.search(r"/home/(?!x/)\w|/Users/(?!x/)\w|@gmail|pypi\.org|pythonhosted", case.text)
    assert not re.search(
        r"\b(?!10\.|127\.|0\.|12\.12)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?=[:/]\d)", case.text
    )
