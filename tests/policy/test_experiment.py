from __future__ import annotations

import json
from typing import Any

import pytest

from envtrack.config.reader import ConfigProblem
from envtrack.policy.interface import Step
from tests.lockfiles.texts import pinned, project
from tests.policy.steps import found, make_step, policy

OLD = (project("numpy"), pinned("numpy", "2.1.3"))
NEW = (project("numpy"), pinned("numpy", "2.2.0"))
RULE = (
    "record: {level: off}, experiment: {metrics: ["
    "{name: loss, within: 2%, better: lower}, "
    "{name: accuracy, within: 0.01, better: higher}, "
    "{name: steps, within: 0}]}"
)
GOOD = {"seed": 1, "loss": 0.5, "accuracy": 0.9, "steps": 100}


def measured(before: Any, after: Any) -> Step:  # noqa: ANN401 - JSON, or text
    def text(value: Any) -> str | None:  # noqa: ANN401
        return value if isinstance(value, str | None) else json.dumps(value)

    return make_step(OLD, NEW, read_beside=lambda _: (text(before), text(after)))


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({**GOOD, "loss": 0.51}, None),  # just as far as it may
        ({**GOOD, "loss": 0.1}, None),  # better, however much
        ({**GOOD, "loss": 0.511}, "loss was 0.5 and is 0.511: more than 2% off"),
        ({**GOOD, "accuracy": 0.89}, None),
        ({**GOOD, "accuracy": 0.88}, "accuracy was 0.9 and is 0.88: more than 0.01 off"),
        ({**GOOD, "accuracy": 1.0}, None),
        ({**GOOD, "steps": 99}, "steps was 100 and is 99: more than 0 off"),
        ({**GOOD, "loss": None}, "loss is missing, or no finite number"),
        (
            '{"seed": 1, "loss": NaN, "accuracy": 0.9, "steps": 100}',
            "loss is missing, or no finite number",
        ),
        ({**GOOD, "seed": 2}, "seed was 1 and is 2: no like is compared"),
        ("[1]", "metrics.json is no JSON object"),
        ("{", "metrics.json is no JSON object"),
        (None, "no metrics.json stands beside uv.lock"),
        (GOOD, "metrics.json is what it was: the experiment was not run with these packages"),
    ],
)
def test_figures_must_be_new_and_near_those_before(after: Any, said: str | None) -> None:  # noqa: ANN401
    expected = [] if said is None else [("experiment", said)]
    assert found(policy(RULE), measured(GOOD, after)) == expected


def test_the_first_figures_have_nothing_to_be_compared_with() -> None:
    assert found(policy(RULE), measured(None, GOOD)) == []
    assert found(policy(RULE), measured({"seed": 1}, GOOD)) == []


def test_without_a_move_nobody_asks_for_figures() -> None:
    assert found(policy(RULE), make_step(OLD, OLD)) == []


def test_the_rule_is_off_until_it_is_written_down() -> None:
    assert found(policy("record: {level: off}"), measured(GOOD, None)) == []


@pytest.mark.parametrize("within", ["2 %", "-1", "a", "1e3"])
def test_a_tolerance_is_a_share_or_a_distance(within: str) -> None:
    with pytest.raises(ConfigProblem, match="a share such as 2%"):
        policy(f"experiment: {{metrics: [{{name: loss, within: '{within}'}}]}}")
