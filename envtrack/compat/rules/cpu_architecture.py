"""The CPU architecture of the locked wheels against the machine's."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.locked_wheels import find_candidates, judge_lost, keep_fitting, say_count
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.compat.wheel_tags import fits_architecture
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    candidates = find_candidates(stack)
    architecture = stack.architecture.value
    if stack.locked is None:
        yield Nothing("no lockfile was read")
    elif not stack.is_linux:
        yield Nothing("only Linux is judged")
    elif not candidates:
        yield Nothing("no locked package has wheels")
    elif architecture is None:
        compared = f"{say_count(candidates)} against the CPU"
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=stack.architecture.why)
    else:
        compared = f"{say_count(candidates)} against Linux on {architecture}"
        lost = keep_fitting(candidates, lambda one: fits_architecture(one, architecture))[1]
        if not lost:
            reason = "each has one for it"
            yield Opinion(compared=compared, fit=Fit.FITS, reason=reason)
        remedy = f"releases that have wheels for {architecture}; `uv lock` finds them with "
        remedy += "`required-environments` in [tool.uv]"
        yield from judge_lost(compared, f"no wheel for {architecture}", remedy, lost)


RULE = Rule(
    name="cpu-architecture",
    purpose=Purpose.RUNNING,
    compares="the CPU architecture of the locked wheels against the machine's",
    facts=("hardware.cpu.architecture", "lockfile: wheels"),
    judge=_judge,
)
