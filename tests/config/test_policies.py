from __future__ import annotations

from pathlib import Path

import pytest

from envtrack.config.policies import DEFAULT, parse_policies, read_policies
from envtrack.config.policy_schema import RULE_NAMES, describe_default
from envtrack.config.reader import ConfigProblem
from envtrack.model.breach import Level
from envtrack.model.policy import parse_policy

HEAD = "kind: UpgradePolicy\n"


def fault(text: str) -> str:
    with pytest.raises(ConfigProblem) as caught:
        parse_policies([("p.yaml", text)])
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schema: 1\n", "p.yaml:1: kind: is missing"),
        ("kind: Runbook\n", "p.yaml:1: kind: expected UpgradePolicy"),
        (
            HEAD + "schema: 2\n",
            "p.yaml:2: schema: schema 2 is newer than this envtrack reads (1); upgrade envtrack",
        ),
        (HEAD + "rule: {}\n", "p.yaml:2: rule: unknown key; did you mean `rules`?"),
        (
            HEAD + "rules:\n  onelayer: {}\n",
            "p.yaml:3: rules.onelayer: unknown key; did you mean `one-layer`?",
        ),
        (
            HEAD + "rules:\n  one-layer:\n    levels: warn\n",
            "p.yaml:4: rules.one-layer.levels: unknown key; did you mean `level`?",
        ),
        (
            HEAD + "rules:\n  freeze:\n    frozen:\n    - {from: 2026-01-01, until: 2026-01-02}\n",
            (
                "p.yaml:5: rules.freeze.frozen[1].to: is missing\n"
                "p.yaml:5: rules.freeze.frozen[1].until: unknown key; the nearest known one is `to`"
            ),
        ),
        (
            HEAD + "rules: {one-layer: {level: high}}\n",
            "p.yaml:2: rules.one-layer.level: expected error, warn, off",
        ),
        (
            HEAD + "rules: {one-layer: {layers: many}}\n",
            "p.yaml:2: rules.one-layer.layers: expected a whole number",
        ),
        (
            HEAD + "rules: {one-layer: {layers: 1.5}}\n",
            "p.yaml:2: rules.one-layer.layers: expected a whole number",
        ),
        (
            HEAD + "rules: {freeze: {timezone: Berlin}}\n",
            "p.yaml:2: rules.freeze.timezone: expected a time zone such as Europe/Berlin or UTC",
        ),
        (
            HEAD + "rules: {freeze: {frozen: [{from: 2026-13-01, to: 2026-01-02}]}}\n",
            (
                "p.yaml:2: rules.freeze.frozen[1]: `2026-13-01`: expected a date such as "
                "2026-12-20, or a time such as 2026-12-20T18:00"
            ),
        ),
        (
            HEAD + "rules: {freeze: {frozen: [{every: week, from: friday, to: mon 08:00}]}}\n",
            (
                "p.yaml:2: rules.freeze.frozen[1]: `friday`: expected day and time, "
                "such as fri 12:00"
            ),
        ),
        (
            HEAD + "rules: {freeze: {frozen: [{every: year, from: 12-20, to: 13-06}]}}\n",
            "p.yaml:2: rules.freeze.frozen[1]: `13-06`: expected month and day, such as 12-20",
        ),
        (
            HEAD + "rules: {freeze: {frozen: [{from: 2026-02-01, to: 2026-01-01}]}}\n",
            "p.yaml:2: rules.freeze.frozen[1]: `from` is later than `to`",
        ),
        (
            HEAD + "rules: {freeze: {frozen: [{every: month, from: a, to: b}]}}\n",
            "p.yaml:2: rules.freeze.frozen[1].every: expected once, year or week",
        ),
        (
            HEAD + "rules: {bans: {versions: ['numpy 2']}}\n",
            (
                "p.yaml:2: rules.bans.versions[1]: expected a package with versions, "
                "such as numpy==2.2.0 or torch>=2.6,<2.6.1"
            ),
        ),
        (
            HEAD + "overrides: [one_layer]\n",
            f"p.yaml:2: overrides[1]: expected the name of a rule: {', '.join(RULE_NAMES)}",
        ),
        (
            HEAD + "waivers: [{rule: soak, owner: us, reason: why, until: soon}]\n",
            "p.yaml:2: waivers[1].until: expected a date such as 2026-12-31",
        ),
        (
            HEAD + "elsewhere:\n- lockfiles: [/etc/x]\n  rules: {soak: {day: 3}}\n",
            (
                "p.yaml:3: elsewhere[1].lockfiles[1]: expected a path from the repository's top "
                "level, such as services/api/uv.lock\n"
                "p.yaml:4: elsewhere[1].rules.soak.day: unknown key; did you mean `days`?"
            ),
        ),
        (HEAD + "rules: [one-layer]\n", "p.yaml:2: rules: expected keys and values (`key: value`)"),
        (HEAD + "<<<<<<< HEAD\n", "p.yaml:2: conflict markers of an unfinished merge"),
    ],
)
def test_a_fault_says_file_line_and_what_was_expected(text: str, said: str) -> None:
    assert fault(text) == said


def test_off_is_off_though_yaml_takes_it_for_false() -> None:
    (policy,) = parse_policies([("p.yaml", f"{HEAD}rules: {{soak: {{level: off}}}}\n")])
    assert policy.value.rules["soak"].level is Level.OFF
    (policy,) = parse_policies([("p.yaml", f"{HEAD}rules: {{soak: {{}}}}\n")])
    assert policy.value.rules["soak"].level is Level.ERROR


def test_without_a_file_the_default_policy_holds(tmp_path: Path) -> None:
    (policy,) = read_policies(tmp_path)
    assert policy == (DEFAULT, parse_policy(describe_default()))


def test_all_files_count_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = tmp_path / ".envtrack/policies"
    folder.mkdir(parents=True)
    for name in ("b.yaml", "a.yml", "notes.txt"):
        (folder / name).write_text(HEAD)
    told = [policy.where for policy in read_policies(tmp_path)]
    assert told == [".envtrack/policies/a.yml", ".envtrack/policies/b.yaml"]
