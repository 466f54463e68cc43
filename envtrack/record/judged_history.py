"""What the policy says of a history: the newest changes judged, every override listed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from envtrack.git.trailers import list_trailers
from envtrack.model.judged import JudgedHistory, Override
from envtrack.record.check import judge, make_case
from envtrack.record.policy_files import read_policies_at, read_settings_at
from envtrack.record.policy_steps import read_commit_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid

_KEY = "Env-Override"


def judge_history(
    repository: Repository, head: Oid, commits: Sequence[Oid], *, newest: int
) -> JudgedHistory:
    """Judges the newest commits, and those with an override, by the policy of the newest.

    A commit costs some ten git processes and two lockfiles, too much for a long history.

    Args:
        repository: where.
        head: whose policy counts.
        commits: the commits of the lockfile, newest first.
        newest: so many of them are judged, and at most as many more that have an override.

    Raises:
        ConfigProblem: the policy or the configuration says what it may not say.
    """
    trailers = list_trailers(repository, head, _KEY)
    overrides = tuple(
        Override(commit, said) for commit, values in trailers.items() for said in values
    )
    overridden = [one for one in commits[newest:] if one in trailers][:newest]
    chosen = (*commits[:newest], *overridden)
    case = make_case(repository, read_settings_at(repository, head))
    steps = [step for commit in chosen for step in read_commit_steps(case, commit)]
    policies = read_policies_at(repository, None, head)
    judged = judge(policies, steps, today=datetime.now(UTC).date())
    return JudgedHistory(judged=judged, commits=chosen, overrides=overrides)
