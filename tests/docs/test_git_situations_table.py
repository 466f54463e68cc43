"""``docs/git-situations.md`` against the tests that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs" / "git-situations.md"
SCENARIOS = {f"S{number}" for number in range(1, 37)}


def read_rows() -> list[tuple[str, ...]]:
    """The cells of all rows, without the heads."""
    rows = re.findall(r"^\| ?(.*) \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [tuple(cell.strip() for cell in f" {row}".split(" | ")) for row in rows]
    return [row for row in cells if row[-1] not in ("test", "why")]


def read_named() -> set[str]:
    return {name for row in read_rows() for name in re.findall(r"`([\w/]+\.py::\w+)`", row[-1])}


def collect(folder: Path) -> set[str]:
    """The tests of a folder, as the table names them."""
    return {
        f"{path.relative_to(TESTS)}::{each.name}"
        for path in folder.rglob("test_*.py")
        for each in ast.parse(path.read_bytes()).body
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    }


def test_every_test_that_the_table_names_is_there() -> None:
    assert read_named() - collect(TESTS) == set()


def test_every_situation_that_is_tested_is_in_the_table() -> None:
    assert collect(TESTS / "situations") - read_named() == set()


def test_every_row_names_a_test_or_says_why_there_is_none() -> None:
    bare = [row for row in read_rows() if "::" not in row[-1]]
    assert [row[0] for row in bare] == ["S35", "S36", "S33"]


def test_every_scenario_that_was_collected_has_a_row() -> None:
    numbers = {number for row in read_rows() for number in re.findall(r"S\d+", row[0])}
    assert numbers == SCENARIOS
