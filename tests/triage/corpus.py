"""The public error reports, and the rules as they are shipped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from envtrack.cli.triage_reading import read_book
from envtrack.triage.findings import Triage
from envtrack.triage.root import triage_log
from envtrack.triage.rules import RuleBook

FOLDER = Path(__file__).parents[1] / "data" / "triage"


class Case(NamedTuple):
    """One report: what it says, and the layer that failed."""

    id: str
    layer: str
    source: str
    text: str
    kind: str = ""
    line: int = 0


def read_cases() -> list[Case]:
    return [Case(**one) for file in sorted(FOLDER.glob("*.yaml")) for one in _load(file)["cases"]]


def _load(file: Path) -> Any:  # noqa: ANN401 - YAML
    return yaml.safe_load(file.read_text(encoding="utf-8"))


@cache
def shipped() -> RuleBook:
    return read_book(None)


def read(text: str | bytes) -> Triage:
    raw = text.encode() if isinstance(text, str) else text
    return triage_log([raw], shipped(), source="log")


def root_of(text: str | bytes) -> tuple[str, str, int]:
    """Layer, rule and line of the root."""
    root = read(text).root
    assert root is not None
    return root.layer, root.rule, root.line
