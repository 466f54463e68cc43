"""What has to stand beside a change: a record, a reason, a good verdict."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from envtrack.policy.interface import COMMAND, REASON, Fault, RecordState, Step

if TYPE_CHECKING:
    from envtrack.config.policy_schema import Rule, Verified

WHY_RECORD = "without a record nobody can say later what this worked on, or go back to it"
WHY_REASON = "in half a year nobody knows whether it may be taken back"
WHY_COMMANDS = "whoever has to do it again, or take it back, must not guess"
WHY_READABLE = "what can't be read can't be installed, compared or gone back to"
WHY_VERIFIED = "an environment that nobody has tried is tried by whoever needs it next"


def judge_record(step: Step, _: Rule) -> Iterator[Fault]:
    """Whether a record of this machine stands beside the lockfile that it belongs to."""
    if step.after is None or step.record is RecordState.BELONGS:
        return
    of = f"of {step.machine} " if step.machine else ""
    said = f"no record {of}stands beside {step.lockfile}"
    if step.record is RecordState.STALE:
        said = f"the record {of}beside {step.lockfile} was taken with another state of it"
    yield Fault(
        found=said,
        ways_out=(
            "`envtrack snapshot --save && git add .envtrack/snapshots`",
            "`envtrack hooks install` does it at each commit",
        ),
    )


def judge_reason(step: Step, _: Rule) -> Iterator[Fault]:
    """Whether the message says why."""
    if step.list_moved() and not any(step.find_trailers(REASON)):
        yield Fault(
            found="the message does not say why packages move",
            ways_out=("add a line at the message's end: `Env-Reason: …`",),
        )


def judge_commands(step: Step, _: Rule) -> Iterator[Fault]:
    """Whether the message says which commands moved them."""
    if step.list_moved() and not any(step.find_trailers(COMMAND)):
        yield Fault(
            found="the message does not say by which commands packages move",
            ways_out=("add a line for each at the message's end: `Env-Command: uv lock …`",),
        )


def judge_readable(step: Step, _: Rule) -> Iterator[Fault]:
    """Whether there is a lockfile at all, or a file that only has its name."""
    if step.unreadable:
        yield Fault(
            found=step.unreadable,
            ways_out=(f"`git checkout <a commit before> -- {step.lockfile}`, then lock again",),
        )


def judge_verified(step: Step, options: Verified) -> Iterator[Fault]:
    """Whether a smoke test called exactly this environment good, and not long ago."""
    # Before there is a commit no verdict can stand with it.
    is_asked = step.is_committed and bool(step.list_moved(with_forced=True))
    if step.after is None or not is_asked:
        return
    run = "`uv sync --locked && envtrack smoke`"
    if step.good_at is None:
        yield Fault(found="no smoke test has called this environment good", ways_out=(run,))
    elif step.at - step.good_at > timedelta(days=options.days):
        yield Fault(
            found=f"a smoke test called this environment good on {step.good_at:%Y-%m-%d}, "
            f"more than {options.days} days ago",
            ways_out=(run,),
        )
