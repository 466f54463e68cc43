"""A figure that decides in place of the exit code: read from what the smoke test said or wrote."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from envtrack.files import write_whole
from envtrack.model.condition import Condition
from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.bench import Bench, Notes, read_output
from envtrack.probe.metric_limit import (
    Group,
    Limit,
    Side,
    find_gap_noise,
    find_noise,
    find_side,
    limit_between,
    limit_of,
    parse_threshold,
    read_dotted,
)
from envtrack.probe.plan import Plan, SessionFiles

_KEPT: Final = "metric.json"
_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf(?:inity)?)"
_FILE_LIMIT_BYTES: Final = 16 * 1024 * 1024
# Runs beyond those asked for: where one gave no figure, or the figure lies too near to the limit.
_MOST_TIMES: Final = 4


class Measured(NamedTuple):
    """What was measured at the two ends."""

    good: tuple[float, ...] = ()
    bad: tuple[float, ...] = ()


def judge_metric(bench: Bench, notes: Notes, run: Callable[[int], Judgement]) -> Judgement:
    """The verdict of a metric over several runs in one environment.

    A run that did not end well, or names no figure, is missing data: it is run again, and where
    no run gives one the commit can't be judged. So it is where the figure lies nearer to the limit
    than the noise, after some more runs.

    Args:
        bench: where.
        notes: of the probe.
        run: the n-th run's own judgement, from 0.
    """
    condition = bench.plan.condition
    values: list[float] = []
    last: Judgement | None = None
    for number in range(condition.metric_runs * _MOST_TIMES):
        before = _stamp(bench)
        last = run(number)
        if last.verdict is Verdict.ABORTED:
            return last
        if last.verdict is Verdict.GOOD:
            value = _read(bench, notes, before)
            if value is not None and not math.isfinite(value):
                return _say(Verdict.DIFFERENT, "different", f"{condition.metric} is {value}")
            values += [] if value is None else [value]
        is_hopeless = not values and number + 1 >= condition.metric_runs
        if is_hopeless or (
            len(values) >= condition.metric_runs and _is_clear(bench, notes, values)
        ):
            break
    if not values:
        return _say_missing(condition, last)
    write_whole(notes.path / _KEPT, json.dumps({condition.metric: values}))
    return _judge(bench, notes, values)


def _say_missing(condition: Condition, last: Judgement | None) -> Judgement:
    if last is not None and last.verdict is not Verdict.GOOD:
        verdict = last.verdict if last.verdict is Verdict.UNTESTABLE else Verdict.DIFFERENT
        return _say(verdict, last.kind, f"{last.reason}, and nothing is known of its metric")
    where = condition.metric_file or "its output"
    return _say(
        Verdict.UNTESTABLE, "metric-missing", f"there is no figure `{condition.metric}` in {where}"
    )


def _role(bench: Bench, notes: Notes) -> str:
    if bench.plan.is_composed:
        return ""
    return {bench.plan.good: "good", bench.plan.bad: "bad"}.get(notes.commit, "")


def _is_clear(bench: Bench, notes: Notes, values: Group) -> bool:
    known = read_measured(bench.files)
    limit = find_limit(bench.plan, known)
    if limit is None or _is_calibrating(bench.plan, _role(bench, notes), known):
        return True
    return find_side(values, limit, known) is not Side.UNCLEAR


def _is_calibrating(plan: Plan, role: str, known: Measured) -> bool:
    return plan.condition.needs_ends and bool(role) and not getattr(known, role)


def _judge(bench: Bench, notes: Notes, values: Group) -> Judgement:
    condition, known = bench.plan.condition, read_measured(bench.files)
    role = _role(bench, notes)
    is_first = _is_calibrating(bench.plan, role, known)
    if role:
        known = known._replace(**{role: (*getattr(known, role), *values)})
        write_whole(bench.files.measured, json.dumps(known._asdict()))
    said = f"{condition.metric} is {_show(values, known)}"
    limit = find_limit(bench.plan, known)
    if limit is None:
        if role == "good":
            return _say(Verdict.GOOD, "metric", f"{said}; the limit is drawn from it")
        return _say(Verdict.UNTESTABLE, "metric-unclear", f"{said}; the good end is not measured")
    if is_first and role == "bad" and not condition.threshold:
        gap, noise = abs(fmean(known.bad) - fmean(known.good)), find_gap_noise(*known)
        if gap <= noise or gap == 0:
            reason = f"{said}: no further from the good end's {_show(known.good, known)} than noise"
            return _say(Verdict.GOOD, "metric", reason)
        return _say(Verdict.BAD, "metric", f"{said}; the good end has {_show(known.good, known)}")
    if is_first and role == "good":
        return _say(Verdict.GOOD, "metric", f"{said}; the limit is drawn from it")
    return _say_side(find_side(values, limit, known), limit, said)


def _say_side(side: Side, limit: Limit, said: str) -> Judgement:
    where = f"the limit {limit.value:.6g}"
    match side:
        case Side.UNCLEAR:
            reason = f"{said}, nearer to {where} than its noise"
            return _say(Verdict.UNTESTABLE, "metric-unclear", reason)
        case Side.BAD:
            word = "above" if limit.is_more_bad else "below"
            return _say(Verdict.BAD, "metric", f"{said}, {word} {where}")
        case Side.GOOD:
            return _say(Verdict.GOOD, "metric", f"{said}, within {where}")


def _show(values: Group, known: Measured) -> str:
    noise = find_noise((*known, values), runs=len(values))
    runs = "1 run" if len(values) == 1 else f"{len(values)} runs"
    return f"{fmean(values):.6g} ({runs}{f', ±{noise:.2g}' if noise else ''})"


def find_limit(plan: Plan, known: Measured) -> Limit | None:
    """The line between good and bad; ``None`` while what it is drawn from is not known.

    Args:
        plan: of the session.
        known: what was measured at its ends.
    """
    condition = plan.condition
    if condition.threshold:
        threshold = parse_threshold(condition.threshold)
        if threshold is None or (threshold.is_relative and not known.good):
            return None
        return limit_of(threshold, fmean(known.good) if known.good else 0.0)
    good = condition.good_metric
    bad = condition.bad_metric
    good = fmean(known.good) if good is None and known.good else good
    bad = fmean(known.bad) if bad is None and known.bad else bad
    return None if good is None or bad is None else limit_between(good, bad)


def read_measured(files: SessionFiles) -> Measured:
    """What was measured at the ends of a session so far."""
    try:
        document: dict[str, Any] = json.loads(files.measured.read_text("utf-8"))
        return Measured(tuple(document["good"]), tuple(document["bad"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Measured()


def say_how(plan: Plan, files: SessionFiles) -> str:
    """One line: by what metric and limit it was decided; empty if by none."""
    condition, known = plan.condition, read_measured(files)
    limit = find_limit(plan, known) if condition.metric else None
    if limit is None:
        return ""
    sign = ">" if limit.is_more_bad else "<"
    line = f"decided by {condition.metric}: {sign} {limit.value:.6g} is bad"
    if known.good and known.bad:
        line += f"; {_show(known.good, known)} at the good end"
        line += f", {_show(known.bad, known)} at the bad end"
        gap, noise = abs(fmean(known.bad) - fmean(known.good)), find_gap_noise(*known)
        if gap <= noise:
            line += "; that is no further apart than noise"
        elif gap < 2 * noise:
            line += "; that is less than twice the noise: more `--metric-runs` make it surer"
    return line


def _stamp(bench: Bench) -> tuple[int, int, int]:
    """What tells a file that was written anew; no clock that may jump decides."""
    condition = bench.plan.condition
    try:
        seen = (bench.project / condition.metric_file).stat()
    except OSError:
        return (0, 0, 0)
    return (seen.st_mtime_ns, seen.st_size, seen.st_ino)


def _read(bench: Bench, notes: Notes, before: tuple[int, int, int]) -> float | None:
    """The figure that the last run gave; ``None`` if it gave none."""
    condition = bench.plan.condition
    if not condition.metric_file:
        return find_in_output(read_output(notes.path / "smoke.log"), condition.metric)
    path = bench.project / condition.metric_file
    # Of the run before, or committed: then this run wrote none.
    return None if _stamp(bench) == before else _read_file(path, condition.metric)


def _read_file(path: Path, name: str) -> float | None:
    try:
        if path.stat().st_size > _FILE_LIMIT_BYTES:
            return None
        return read_dotted(json.loads(path.read_text("utf-8")), name)
    except (OSError, ValueError, RecursionError):
        return None


def find_in_output(output: str, name: str) -> float | None:
    """The last figure of that name in an output; ``None`` if there is none.

    As in ``loss: 0.31``, ``loss=0.31``, or a line that is a JSON object with it.
    """
    said = re.compile(
        rf"(?<![\w.-]){re.escape(name)}[\"']?\s*[:=]\s*({_NUMBER})(?![\w.])", re.IGNORECASE
    )
    for line in reversed(output.splitlines()):
        if line.lstrip().startswith("{"):
            try:
                found = read_dotted(json.loads(line), name)
            except (ValueError, RecursionError):
                found = None
            if found is not None:
                return found
        if words := said.findall(line):
            return float(words[-1])
    return None


def _say(verdict: Verdict, kind: str, reason: str) -> Judgement:
    return Judgement(verdict=verdict, stage="smoke", reason=reason, kind=kind)
