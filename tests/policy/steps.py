"""Steps for the rules to judge."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from envtrack.compare.locks import compare_locks
from envtrack.config.policy_schema import describe_policy
from envtrack.model.breach import Breach
from envtrack.model.comparison import Change, ChangeKind
from envtrack.model.layer import Layer
from envtrack.model.policy import UpgradePolicy, parse_policy
from envtrack.policy.engine import judge_steps
from envtrack.policy.interface import Step
from tests.lockfiles.texts import lock_from

TODAY = datetime.fromisoformat("2026-05-06T12:00:00+00:00")


def make_step(
    before: tuple[str, ...] | None,
    after: tuple[str, ...] | None,
    **more: Any,  # noqa: ANN401 - fields of a step
) -> Step:
    """A step from one lock to another, each of some packages' texts."""
    old, new = (None if texts is None else lock_from(*texts) for texts in (before, after))
    values = {"name": "staged", "lockfile": "uv.lock", "at": TODAY, "trailers": (), **more}
    return Step(before=old, after=new, changes=compare_locks(old, new), **values)


def policy(rules: str = "", more: str = "") -> UpgradePolicy:
    text = f"kind: UpgradePolicy\nrules: {{{rules}}}\n{more}"
    return parse_policy(describe_policy(text, "p.yaml"))


def judge(model: UpgradePolicy, *steps: Step) -> tuple[Breach, ...]:
    breaches = judge_steps(model, steps, today=TODAY.date())
    return tuple(breach for breach in breaches if not breach.is_waiting)


def found(model: UpgradePolicy, *steps: Step) -> list[tuple[str, str]]:
    """Rule and what it found."""
    return [(breach.rule, breach.found) for breach in judge(model, *steps)]


def kernel() -> Change:
    return Change(
        layer=Layer.KERNEL,
        name="kernel.release",
        kind=ChangeKind.UPGRADED,
        before="6.8.0-45",
        after="6.8.0-48",
    )
