"""Frozen periods and windows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from envtrack.model.comparison import Origin
from envtrack.model.names import normalise
from envtrack.policy.interface import SECURITY, Fault, Step, join_names

if TYPE_CHECKING:
    from envtrack.config.policy_schema import Freeze, Period

WHY = "what breaks just before a deadline, or on a Friday evening, nobody has the time to mend"
# https://www.cve.org, https://github.com/advisories, https://github.com/pypa/advisory-database
_ADVISORY = re.compile(
    r"(?:CVE-\d{4}-\d{4,}|GHSA(?:-[0-9a-z]{4}){3}|PYSEC-\d{4}-\d+)", re.ASCII | re.IGNORECASE
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK_MINUTES = 7 * 24 * 60


def judge_time(step: Step, options: Freeze) -> Iterator[Fault]:
    """Whether a lockfile may move now."""
    moved = step.list_moved()
    if not moved:
        return
    local = step.at.astimezone(ZoneInfo(options.timezone))
    said = _find_reason(local, options)
    if not said:
        return
    names = sorted({change.name for change in moved if change.origin is not Origin.FORCED})
    if options.except_security:
        excused = _find_excused(step)
        names = [name for name in names if normalise(name) not in excused]
        if not names:
            return
    ways = [f"wait until {_find_end(local, options)}"] if _find_end(local, options) else []
    if options.except_security:
        ways.append(
            "for a security fix, name the advisory and the packages that it is about: "
            "`Env-Security: CVE-2026-1234 urllib3`"
        )
    yield Fault(found=f"{said}: {join_names(names)}", ways_out=tuple(ways), names=tuple(names))


def _find_reason(local: datetime, options: Freeze) -> str:
    now = f"{local:%Y-%m-%d %H:%M} {options.timezone}"
    for period in options.frozen:
        if is_within(local, period):
            called = f" ({period.name})" if period.name else ""
            return f"lockfiles are frozen from {period.start} to {period.end}{called}, now {now}"
    if options.windows and not any(is_within(local, period) for period in options.windows):
        spans = ", ".join(f"{period.start} to {period.end}" for period in options.windows)
        return f"lockfiles move from {spans} only, now {now}"
    return ""


def _find_excused(step: Step) -> frozenset[str]:
    """The packages that a trailer with an advisory names."""
    found: set[str] = set()
    for value in step.find_trailers(SECURITY):
        words = value.replace(",", " ").split()
        if any(_ADVISORY.fullmatch(word) for word in words):
            found.update(normalise(word) for word in words if not _ADVISORY.fullmatch(word))
    return frozenset(found)


def _find_end(local: datetime, options: Freeze) -> str:
    ends = [period.end for period in options.frozen if is_within(local, period)]
    return ends[0] if ends else ""


def is_within(local: datetime, period: Period) -> bool:
    """Whether a local time is within a period; a day that is named is so to its end."""
    match period.every:
        case "year":
            return _is_between(f"{local:%m-%d}", period.start, period.end)
        case "week":
            now = local.weekday() * 24 * 60 + local.hour * 60 + local.minute
            start, end = _read_week(period.start), _read_week(period.end)
            return (now - start) % _WEEK_MINUTES < (end - start) % _WEEK_MINUTES
        case _:
            start_at = _read_moment(period.start, local, is_end=False)
            return start_at <= local < _read_moment(period.end, local, is_end=True)


def _is_between(day: str, start: str, end: str) -> bool:
    """Whether a day of the year is; a period may go over its end."""
    return start <= day <= end if start <= end else day >= start or day <= end


def _read_week(text: str) -> int:
    """Minutes since the start of Monday."""
    day, clock = text.split(" ")
    hours, minutes = clock.split(":")
    return _DAYS.index(day) * 24 * 60 + int(hours) * 60 + int(minutes)


def _read_moment(text: str, local: datetime, *, is_end: bool) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=local.tzinfo)
    is_day = moment.time() == time() and "T" not in text and " " not in text
    return moment + timedelta(days=1) if is_end and is_day else moment
