"""Judges what is staged by the policies of the working tree."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from envtrack.model.breach import Judged
from envtrack.model.paths import POLICIES

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from pathlib import Path

    from envtrack.config.policies import Policy
    from envtrack.config.settings import Settings
    from envtrack.git.repository import Repository
    from envtrack.policy.interface import Step
    from envtrack.record.policy_steps import Case


def has_policy(root: Path) -> bool:
    """Whether a working tree has a policy of its own."""
    return any((root / POLICIES).glob("*.y*ml"))


def check_staged(
    repository: Repository,
    *,
    message: str | None,
    read_settings: Callable[[Path], Settings] | None = None,
    read_policies: Callable[[Path], tuple[Policy, ...]] | None = None,
) -> Judged:
    """What the policies say of the next commit.

    Args:
        repository: where.
        message: the commit's message, as far as there is one.
        read_settings: reads the configuration of a working tree.
        read_policies: reads the policies of a working tree.

    Raises:
        ConfigProblem: a policy or the configuration says what it may not say.
    """
    from envtrack.config import policies as files
    from envtrack.config import settings as configuration
    from envtrack.record.policy_steps import read_staged_steps

    root = repository.root
    case = make_case(repository, (read_settings or configuration.read_settings)(root))
    now = datetime.now(UTC).astimezone()
    steps = list(read_staged_steps(case, at=now, message=message))
    policies = (read_policies or files.read_policies)(root) if steps else ()
    return judge(policies, steps, today=now.date())


def make_case(repository: Repository, settings: Settings) -> Case:
    """What is the same for all steps of a repository."""
    from envtrack.collect.machine_name import find_machine_name
    from envtrack.record.policy_steps import Case
    from envtrack.record.verdicts import GoodVerdicts

    environ = dict(os.environ)
    machine = find_machine_name(environ, configured=settings.machine or None, salt=settings.salt)
    return Case(
        repository=repository,
        lockfiles=settings.lockfiles,
        machine=machine,
        verdicts=GoodVerdicts(repository),
        layer_rules=settings.layers,
    )


def judge(policies: tuple[Policy, ...], steps: list[Step], *, today: date) -> Judged:
    """What several policies say of some steps."""
    from envtrack.policy.engine import judge_steps

    breaches = [
        breach._replace(policy=policy.where)
        for policy in policies
        for breach in judge_steps(policy.value, steps, today=today)
    ]
    told = tuple(breach for breach in breaches if not breach.is_waiting)
    return Judged(
        breaches=told,
        steps=len(steps),
        policies=tuple(policy.where for policy in policies),
        waiting=len(breaches) - len(told),
    )
