"""What the commands print as JSON is what their schemas say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.cli.lab import Lab
from tests.report.schemas import FOLDER, POLICY, SHAPES, list_strangers, make_schema


@pytest.mark.parametrize("kind", [*sorted(SHAPES), POLICY])
def test_the_schemas_are_those_of_the_shapes(kind: str) -> None:
    assert (FOLDER / f"{kind}.json").read_text(encoding="utf-8") == make_schema(kind)


def test_a_key_that_is_not_documented_is_seen() -> None:
    schema = json.loads(make_schema("log"))
    assert list_strangers(schema, {"kind": "log", "odd": 1}) == ["$.odd"]
    entry = {"commit": "a", "changes": [{"name": "b", "odd": 1}]}
    assert list_strangers(schema, {"entries": [entry]}) == ["$.entries[].changes[].odd"]


def check(kind: str, document: dict[str, Any]) -> None:
    TypeAdapter(SHAPES[kind]).validate_python(document, strict=True)
    assert list_strangers(json.loads(make_schema(kind)), document) == []
    assert document["kind"] == kind


def test_comparisons_and_logs_are_as_documented(lab: Lab) -> None:
    lab.sync()
    assert lab.run("smoke", "--", "true").code == 0
    lab.lock("wick")
    lab.repo.commit("two")
    lab.sync()
    assert lab.run("smoke", "--", "false").code == 1
    told = lab.run_json("diff", "HEAD~1", "HEAD")
    check("comparison", told)
    assert told["changes"]
    assert told["suspicion"]["suspects"]
    check("comparison", lab.run_json("diff", "HEAD~1", "now"))
    log = lab.run_json("log")
    check("log", log)
    assert any(entry["verdicts"] for entry in log["entries"])
    check("check", lab.run_json("check", "HEAD"))
