from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from envtrack.config.policy_schema import RULE_NAMES
from envtrack.model.breach import Excuse, Level
from envtrack.policy.engine import RULES
from tests.lockfiles.texts import pinned, project
from tests.policy.steps import found, judge, make_step, policy

if TYPE_CHECKING:
    from envtrack.policy.interface import Step

BEFORE = (project("torch", "numpy"), pinned("torch", "1"), pinned("numpy", "1"))
AFTER = (project("torch", "numpy"), pinned("torch", "2"), pinned("numpy", "2"))
OVERRIDABLE = "overrides: [one-layer, reason]\n"


def both(*trailers: tuple[str, str], lockfile: str = "uv.lock") -> Step:
    return make_step(BEFORE, AFTER, trailers=trailers, lockfile=lockfile)


def test_every_rule_has_a_judge_and_options() -> None:
    assert tuple(RULES) == RULE_NAMES


@pytest.mark.parametrize(("level", "is_error"), [("error", True), ("warn", False), ("off", False)])
def test_a_level_weighs(level: str, *, is_error: bool) -> None:
    breaches = judge(policy(f"one-layer: {{level: {level}}}"), both())
    assert [breach.is_error for breach in breaches] == ([is_error] if level != "off" else [])


def test_an_override_needs_a_reason_and_the_policys_leave() -> None:
    said = both(("env-override", "one-layer the driver needs it"))
    (breach,) = judge(policy(more=OVERRIDABLE), said)
    assert (breach.excuse, breach.reason) == (Excuse.OVERRIDE, "the driver needs it")
    assert not breach.is_error
    for step in (
        both(("env-override", "one-layer")),
        both(("env-override", "one-layer  ")),
        both(("env-override", "freeze because")),
        both(("env-reason", "one-layer because")),
    ):
        (breach,) = judge(policy(more=OVERRIDABLE), step)
        assert breach.is_error
        assert breach.ways_out[-1] == (
            "if it has to be, say so in the message: `Env-Override: one-layer <reason>`"
        )
    (breach,) = judge(policy(), said)
    assert breach.is_error
    assert "Env-Override" not in " ".join(breach.ways_out)


def test_what_a_message_can_answer_waits_for_it() -> None:
    model = policy("reason: {level: error}", OVERRIDABLE)
    step = both()
    assert [rule for rule, _ in found(model, step._replace(trailers=None))] == []
    assert [rule for rule, _ in found(model, step)] == ["one-layer", "reason"]
    assert [rule for rule, _ in found(policy(), step._replace(trailers=None))] == ["one-layer"]


@pytest.mark.parametrize(
    ("waiver", "is_waived"),
    [
        ("rule: one-layer, until: 2026-05-06", True),
        ("rule: one-layer, until: 2026-05-05", False),
        ("rule: freeze, until: 2026-12-31", False),
        ("rule: one-layer, until: 2026-12-31, packages: [torch, Num*]", True),
        ("rule: one-layer, until: 2026-12-31, packages: [torch]", False),
        ("rule: one-layer, until: 2026-12-31, lockfiles: ['apps/*/uv.lock']", False),
        ("rule: one-layer, until: 2026-12-31, lockfiles: ['*.lock']", True),
    ],
)
def test_a_waiver_holds_until_its_day_and_for_what_it_names(
    waiver: str, *, is_waived: bool
) -> None:
    more = f"waivers: [{{{waiver}, owner: gpu team, reason: a fix is coming}}]\n"
    (breach,) = judge(policy(more=more), both())
    assert (breach.excuse is Excuse.WAIVER) is is_waived
    if is_waived:
        assert breach.reason.startswith("a fix is coming (gpu team, until 2026-")


def test_other_rules_hold_for_some_lockfiles() -> None:
    model = policy(
        "one-layer: {root-packages: 9}",
        "elsewhere:\n- lockfiles: ['research/*/uv.lock']\n"
        "  rules: {one-layer: {level: warn}, soak: {days: 3}}\n",
    )
    assert judge(model, both())[0].level is Level.ERROR
    (breach,) = judge(model, both(lockfile="research/vision/uv.lock"))
    assert breach.level is Level.WARN
    rules = model.find_rules("research/vision/uv.lock")
    # Only what is said there is another; the rest is the policy's own.
    assert (rules["one-layer"].root_packages, rules["one-layer"].layers) == (9, 1)
    assert (rules["soak"].days, rules["soak"].level) == (3, Level.OFF)


def test_several_steps_come_in_their_order() -> None:
    steps = [both()._replace(name=name) for name in ("one", "two")]
    assert [(b.step, b.rule) for b in judge(policy(), *steps)] == [
        ("one", "one-layer"),
        ("two", "one-layer"),
    ]
