"""What pre-push judges: the commits that the other side does not have yet."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from envtrack.git.steps import list_new
from envtrack.model.oid import Oid
from envtrack.record.check import judge, make_case
from envtrack.record.policy_files import read_policies_at, read_settings_at
from envtrack.record.policy_steps import read_commit_steps

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.breach import Judged

_WORDS = 4


class Push(NamedTuple):
    """What is about to be pushed.

    Attributes:
        news: what branches and tags shall be; those that are deleted are left out.
        olds: what the other side says that they are.
        remotes: which remote-tracking branches say what it has besides, for ``git rev-list``.
    """

    news: tuple[Oid, ...]
    olds: tuple[Oid, ...]
    remotes: str


def parse_push(text: str, remote: str, address: str) -> Push:
    """What git tells pre-push: ``<local ref> <local oid> <remote ref> <remote oid>``, a line each.

    Args:
        text: what git sends.
        remote: the remote's name; its address where it has none.
        address: its address.

    Raises:
        ValueError: a line is none of git's.
    """
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if any(len(row) != _WORDS for row in rows):
        raise ValueError("a line of git's does not name two refs and two commits")
    pushed = [(new, old) for _, new, _, old in rows if new.strip("0")]
    return Push(
        news=tuple(Oid(new) for new, _ in pushed),
        olds=tuple(Oid(old) for _, old in pushed if old.strip("0")),
        remotes="--remotes" if remote == address else f"--remotes={remote}",
    )


def check_push(repository: Repository, push: Push) -> Judged:
    """What the policies say of the commits that are new to the other side.

    The policy is that of the newest commit which the other side has already, so that no push
    loosens its own rules; where it has nothing yet, that of what is pushed.

    Raises:
        ConfigProblem: a policy or the configuration says what it may not say.
        LockfileProblem: a lockfile can't be read.
    """
    known = (*(old.hex for old in push.olds), push.remotes)
    news = tuple(found for new in push.news if (found := repository.find_commit(new.hex)))
    if not news:  # a tag of something that is no commit
        return judge((), [], today=datetime.now(UTC).date())
    case = make_case(repository, read_settings_at(repository, news[0]))
    commits, base = list_new(repository, news, known, case.pathspecs)
    steps = [step for commit in commits for step in read_commit_steps(case, commit)]
    policies = read_policies_at(repository, base, news[0])
    return judge(policies, steps, today=datetime.now(UTC).astimezone().date())
