"""What prepare-commit-msg puts into a message that is about to be edited."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Final

from envtrack.errors import CommandFailed, LockfileProblem
from envtrack.model.breach import Excuse
from envtrack.record.message_text import add_comments, strip_comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from envtrack.config.policies import Policy
    from envtrack.git.repository import Repository
    from envtrack.policy.interface import Step
    from envtrack.record.memory import HookMemory

_HEADLINE: Final = "What the lockfiles change:"
_ASKED: Final = "The upgrade policy asks for (take the mark away and fill in):"
_SECURITY: Final = "Env-Security:"


def describe_in_message(
    repository: Repository, memory: HookMemory, file: Path, *, base: str = "HEAD"
) -> None:
    """Adds what the staged lockfiles change, and the trailers to fill in, as comments to a message.

    Args:
        repository: where.
        memory: what the hooks remember there.
        file: the message.
        base: what the commit is made on: ``HEAD``, or ``HEAD^`` where it is amended.

    Raises:
        EnvtrackError: the configuration or a policy has faults.
        OSError: the message can't be read or written.
    """
    # Bytes that are no UTF-8 (i18n.commitEncoding) come out as they went in.
    text = file.read_text("utf-8", "surrogateescape")
    comment = _read_comment(repository)
    lines = _summarise(repository, memory, strip_comments(text, comment), base)
    if lines:
        cleanup = repository.git("config", "--get", "commit.cleanup", check=False).line
        added = add_comments(text, lines, comment=comment, cleanup=cleanup)
        # In place, as an editor does it: git holds the path, and nobody else reads it now.
        file.write_text(added, "utf-8", "surrogateescape")


def _read_comment(repository: Repository) -> str:
    """What git is told to begin comments with; of the setting's two names the last one counts."""
    done = repository.git(
        *("config", "-z", "--get-regexp", r"^core\.comment(char|string)$"), check=False
    )
    values = [row.partition("\n")[2] for row in done.fields]
    return values[-1] if values else "#"


def _summarise(
    repository: Repository, memory: HookMemory, message: str, base: str
) -> tuple[str, ...]:
    from envtrack.record.check import has_policy, make_case
    from envtrack.record.policy_steps import read_staged_steps

    root = repository.root
    case = make_case(repository, memory.read_settings(root))
    now = datetime.now(UTC).astimezone()
    try:
        steps = tuple(read_staged_steps(case, at=now, message=message, base=base))
    except (LockfileProblem, CommandFailed):
        return ()  # pre-commit said it
    lines = [line for step in steps for line in _describe(step)]
    if not lines:
        return ()
    policies = memory.read_policies(root) if has_policy(root) else ()
    asked = list(dict.fromkeys(_list_asked(policies, steps)))
    return (_HEADLINE, *lines, *(["", _ASKED, *asked] if asked else []))


def _describe(step: Step) -> Iterator[str]:
    """The lockfile, and a line a layer that moves."""
    from envtrack.model.comparison import sort_changes
    from envtrack.report.line import NAMED, name_changes

    if step.before is None or step.after is None:
        yield f"  {step.lockfile} {'is new' if step.before is None else 'is gone'}"
        return
    changes = sort_changes((*step.changes, *step.facts))
    yield f"  {step.lockfile}" if changes else f"  {step.lockfile} installs the same"
    for layer, some in groupby(changes, key=lambda change: change.layer):
        yield f"    {layer}: {', '.join(name_changes(list(some), NAMED))}"


def _list_asked(policies: Sequence[Policy], steps: Sequence[Step]) -> Iterator[str]:
    """The trailers that would answer what the policies find, as they have to be written."""
    from envtrack.policy.engine import judge_steps

    today = datetime.now(UTC).astimezone().date()
    for policy in policies:
        for breach in judge_steps(policy.value, steps, today=today):
            if breach.excuse is not Excuse.NONE:
                continue
            if breach.rule == "reason":
                yield "Env-Reason: "
            if any(_SECURITY in way for way in breach.ways_out):
                yield f"{_SECURITY} "
            if breach.rule in policy.value.overrides:
                yield f"Env-Override: {breach.rule} "
