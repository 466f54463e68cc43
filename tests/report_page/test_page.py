"""The file by itself: nothing in it runs but its own script, and nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from envtrack.model.names import normalise
from tests.report_page.conftest import HOSTILE
from tests.report_page.reading import Reader


@pytest.fixture
def page(report_file: Path) -> Reader:
    return Reader(report_file.read_text(encoding="utf-8"))


def test_every_element_is_closed_where_it_should_be(page: Reader) -> None:
    assert page.faults == []
    assert page.open == []


def test_no_address_is_fetched(page: Reader) -> None:
    named = [
        value or ""
        for _, attributes in page.elements
        for name, value in attributes.items()
        if name in {"src", "href", "xlink:href", "action", "data", "poster", "srcset"}
    ]
    assert named
    assert [one for one in named if not one.startswith("#") and one != "data:,"] == []
    style = "".join(page.inside["style"])
    assert "url(" not in style
    assert "@import" not in style


def test_nothing_of_the_repository_becomes_markup(page: Reader) -> None:
    assert [tag for tag, _ in page.elements if tag in {"img", "iframe", "object", "base"}] == []
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    text = "".join(page.texts)
    # It is there, as text: a package, an override, a machine's fact.
    for said in (normalise(f"evil-{HOSTILE}"), f"record {HOSTILE}"):
        assert said in text, said
    assert HOSTILE in page.texts


def test_no_control_character_and_no_direction_mark_is_left(report_file: Path) -> None:
    text = report_file.read_text(encoding="utf-8")
    assert (
        re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)
        == []
    )
    assert "\\x1b[31mred\\u202e" in text


def test_only_its_own_script_and_style_may_run(page: Reader) -> None:
    (policy,) = [
        attributes["content"] or ""
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for text in (page.inside["style"][0], page.inside["script"][-1]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_anchors_lead_somewhere_or_to_commits_that_are_not_told(page: Reader) -> None:
    ids = [a["id"] for _, a in page.elements if a.get("id")]
    assert len(ids) == len(set(ids))
    links = {a["href"] or "" for tag, a in page.elements if tag in {"a", "use"}}
    assert {link[1:] for link in links} <= set(ids)


def test_the_data_rebuilds_every_state(page: Reader) -> None:
    data = json.loads(page.inside["script"][0])
    held: set[tuple[int, ...]] = set()
    versions = []
    for state in data["states"]:
        held -= {tuple(entry) for entry in state["drop"]}
        held |= {tuple(entry) for entry in state["add"]}
        dial = [e for e in held if data["texts"][e[1]] == "dial" and e[3] < 0]
        versions += [data["texts"][entry[2]] for entry in dial]
    assert versions == ["2.1", "2.1", "2.1", "2.0", "1.1", "3.0", "1.0"]
    ranks = [data["ranks"][str(data["texts"].index(one))] for one in ("1.0", "1.1", "2.0", "3.0")]
    assert ranks == sorted(ranks)


def test_the_search_its_culprit_and_the_override_are_told(page: Reader) -> None:
    text = " ".join("".join(page.texts).split())
    assert "is the first bad commit: guilty" in text
    assert "Env-Override: record" in text
    assert "What the culprit changed: 1" in text
    assert "6.8.0-45-generic (older)" in text
