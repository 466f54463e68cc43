"""Writes the JSON Schemas of the documents: ``python -m tests.report.schemas``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

import envtrack
from envtrack.config.policy_schema import PolicyModel
from envtrack.report.shapes import (
    CheckShape,
    ComparisonShape,
    IsolationShape,
    LogShape,
    MachinesShape,
    SplitShape,
    TriageShape,
)

POLICY: Final = "policy"
FOLDER: Final = Path(envtrack.__file__).parent / "data" / "schemas"
SHAPES: Final[dict[str, Any]] = {
    "check": CheckShape,
    "comparison": ComparisonShape,
    "isolation": IsolationShape,
    "log": LogShape,
    "machines": MachinesShape,
    "split": SplitShape,
    "triage": TriageShape,
}


def make_schema(kind: str) -> str:
    """The schema of one kind of document, as text."""
    if kind == POLICY:
        schema = PolicyModel.model_json_schema(by_alias=True)
    else:
        schema = TypeAdapter(SHAPES[kind]).json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def list_strangers(schema: dict[str, Any], value: object, where: str = "$") -> list[str]:
    """The keys of a document that its schema does not know, by their place."""
    root = schema.get("$defs", {})

    def walk(part: dict[str, Any], value: object, where: str) -> list[str]:
        part = root[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        if isinstance(value, dict) and "properties" in part:
            known = part["properties"]
            found = [f"{where}.{key}" for key in value if key not in known]
            for key in value.keys() & known.keys():
                found += walk(known[key], value[key], f"{where}.{key}")
            return found
        if isinstance(value, list) and "items" in part:
            return [one for item in value for one in walk(part["items"], item, f"{where}[]")]
        if value is not None and "anyOf" in part:
            return [one for option in part["anyOf"] for one in walk(option, value, where)]
        return []

    return walk(schema, value, where)


def main() -> None:
    """Writes them all."""
    FOLDER.mkdir(exist_ok=True)
    for kind in (*SHAPES, POLICY):
        (FOLDER / f"{kind}.json").write_text(make_schema(kind), encoding="utf-8")


if __name__ == "__main__":
    main()
