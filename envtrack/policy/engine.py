"""Judges steps by a policy: which rules hold where, and what is excused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.model.breach import Breach, Excuse, Level
from envtrack.policy import content, experiment, freeze, one_layer, recorded, whole
from envtrack.policy.interface import OVERRIDE, Fault, JudgesStep, Step

if TYPE_CHECKING:
    from envtrack.model.policy import Options, UpgradePolicy


class _Entry(NamedTuple):
    """A rule: its function, why it is one, and whether only a message can answer it."""

    judge: JudgesStep
    why: str
    needs_message: bool = False


RULES: Final[dict[str, _Entry]] = {
    "readable": _Entry(recorded.judge_readable, recorded.WHY_READABLE),
    "one-layer": _Entry(one_layer.judge_layers, one_layer.WHY),
    "freeze": _Entry(freeze.judge_time, freeze.WHY, needs_message=True),
    "record": _Entry(recorded.judge_record, recorded.WHY_RECORD),
    "reason": _Entry(recorded.judge_reason, recorded.WHY_REASON, needs_message=True),
    "commands": _Entry(recorded.judge_commands, recorded.WHY_COMMANDS, needs_message=True),
    "verified": _Entry(recorded.judge_verified, recorded.WHY_VERIFIED),
    "experiment": _Entry(experiment.judge_experiment, experiment.WHY),
    "pins": _Entry(content.judge_pins, content.WHY_PINS),
    "bans": _Entry(content.judge_bans, content.WHY_BANS),
    "sources": _Entry(content.judge_sources, content.WHY_SOURCES),
    "variants": _Entry(content.judge_variants, content.WHY_VARIANTS),
    "families": _Entry(whole.judge_families, whole.WHY_FAMILIES),
    "soak": _Entry(whole.judge_age, whole.WHY_SOAK),
    "rebuilds": _Entry(content.judge_rebuilds, content.WHY_REBUILDS),
    "losses": _Entry(whole.judge_losses, whole.WHY_LOSSES),
    "credentials": _Entry(whole.judge_credentials, whole.WHY_CREDENTIALS),
}


def judge_steps(policy: UpgradePolicy, steps: Iterable[Step], *, today: date) -> tuple[Breach, ...]:
    """What a policy says of some steps.

    Of a step without a message yet, those breaches are marked that a message may still answer: of
    rules that ask for a trailer, and of those that the policy lets a trailer override.

    Args:
        policy: the rules.
        steps: in order.
        today: by which waivers end.
    """
    return tuple(breach for step in steps for breach in _judge(policy, step, today))


def _judge(policy: UpgradePolicy, step: Step, today: date) -> Iterator[Breach]:
    rules = policy.find_rules(step.lockfile)
    for name, entry in RULES.items():
        options = rules[name]
        # Of what can't be read no other rule can say anything.
        if options.level is Level.OFF or (step.unreadable and name != "readable"):
            continue
        is_answerable = entry.needs_message or name in policy.overrides
        for fault in entry.judge(step, options):
            excuse, reason = _find_excuse(policy, step, name, fault, today)
            yield Breach(
                rule=name,
                level=options.level,
                step=step.name,
                lockfile=step.lockfile,
                found=fault.found,
                why=entry.why,
                ways_out=(*fault.ways_out, *_tell_override(policy, name, excuse)),
                names=fault.names,
                excuse=excuse,
                reason=reason,
                is_waiting=step.trailers is None and is_answerable,
            )


def _find_excuse(
    policy: UpgradePolicy, step: Step, rule: str, fault: Fault, today: date
) -> tuple[Excuse, str]:
    if rule in policy.overrides:
        for value in step.find_trailers(OVERRIDE):
            named, _, reason = value.partition(" ")
            if named == rule and reason.strip():
                return Excuse.OVERRIDE, reason.strip()
    for waiver in policy.waivers:
        if waiver.rule == rule and _covers(waiver, step, fault, today):
            return Excuse.WAIVER, f"{waiver.reason} ({waiver.owner}, until {waiver.until})"
    return Excuse.NONE, ""


def _covers(waiver: Options, step: Step, fault: Fault, today: date) -> bool:
    if today > date.fromisoformat(waiver.until):
        return False
    if waiver.lockfiles and not any(fnmatchcase(step.lockfile, g) for g in waiver.lockfiles):
        return False
    if not waiver.packages:
        return True
    # A waiver for some packages excuses no others.
    return bool(fault.names) and all(
        any(fnmatchcase(name, glob) for glob in waiver.packages) for name in fault.names
    )


def _tell_override(policy: UpgradePolicy, rule: str, excuse: Excuse) -> Iterator[str]:
    if excuse is Excuse.NONE and rule in policy.overrides:
        yield f"if it has to be, say so in the message: `Env-Override: {rule} <reason>`"
