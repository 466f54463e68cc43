"""The table of ``docs/policy.md`` against the rules that there are."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from envtrack.config.policy_schema import RULE_NAMES, PolicyModel, read_policy_model

DOCS = Path(__file__).parents[2] / "docs" / "policy.md"
TEXT = DOCS.read_text(encoding="utf-8")


def read_rows() -> dict[str, tuple[str, dict[str, object]]]:
    """By rule its level, and its options with their defaults; ``None`` where none is shown."""
    rows = {}
    for name, level, options in re.findall(
        r"^\| `([\w-]+)` \| (\w+) \| (.*?) ?\| ", TEXT, re.MULTILINE
    ):
        told: dict[str, object] = {}
        for option in re.findall(r"`([^`]+)`", options):
            key, _, value = option.partition(": ")
            told[key] = yaml.safe_load(value) if value else None
        rows[name] = level, told
    return rows


def test_the_table_has_every_rule_with_its_options_and_defaults() -> None:
    rules = PolicyModel(kind="UpgradePolicy").rules
    rows = read_rows()
    assert tuple(rows) == RULE_NAMES
    for name, (level, told) in rows.items():
        options = getattr(rules, name.replace("-", "_"))
        assert options.level == level, name
        fields = type(options).model_fields
        known = {
            f.alias or key: getattr(options, key) for key, f in fields.items() if key != "level"
        }
        assert told == {key: plain(value) for key, value in known.items()}, name


def plain(value: object) -> object:
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def test_the_example_is_a_policy() -> None:
    found = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    assert read_policy_model(found[1], "docs").rules.soak.except_for == ("our-*",)
