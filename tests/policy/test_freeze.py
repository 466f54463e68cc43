from __future__ import annotations

from datetime import datetime

import pytest

from envtrack.config.policy_schema import Period
from envtrack.policy.freeze import is_within
from envtrack.policy.interface import Step
from tests.lockfiles.texts import pinned, project
from tests.policy.steps import found, judge, make_step, policy

BEFORE = (project("numpy", "urllib3"), pinned("numpy", "1"), pinned("urllib3", "1"))
AFTER = (project("numpy", "urllib3"), pinned("numpy", "2"), pinned("urllib3", "2"))
DEADLINE = (
    "freeze: {timezone: Europe/Berlin, frozen: "
    "[{from: 2026-05-01, to: 2026-05-10, name: deadline}]}"
)


def at(moment: str, *trailers: tuple[str, str]) -> Step:
    return make_step(BEFORE, AFTER, at=datetime.fromisoformat(moment), trailers=trailers)


def period(start: str, end: str, every: str) -> Period:
    return Period.model_validate({"from": start, "to": end, "every": every or "once"})


@pytest.mark.parametrize(
    ("start", "end", "every", "moment", "is_in"),
    [
        ("2026-05-01", "2026-05-10", "", "2026-05-01T00:00", True),
        ("2026-05-01", "2026-05-10", "", "2026-04-30T23:59", False),
        ("2026-05-01", "2026-05-10", "", "2026-05-10T23:59", True),
        ("2026-05-01", "2026-05-10", "", "2026-05-11T00:00", False),
        ("2026-05-01T18:00", "2026-05-01T20:00", "", "2026-05-01T20:00", False),
        ("2026-05-01T18:00", "2026-05-01T20:00", "", "2026-05-01T18:00", True),
        ("12-20", "01-06", "year", "2026-12-31T12:00", True),
        ("12-20", "01-06", "year", "2027-01-06T23:00", True),
        ("12-20", "01-06", "year", "2027-01-07T00:00", False),
        ("12-20", "01-06", "year", "2026-07-01T00:00", False),
        ("02-01", "02-29", "year", "2027-02-28T12:00", True),
        ("02-01", "02-29", "year", "2027-03-01T00:00", False),
        ("fri 12:00", "mon 08:00", "week", "2026-05-08T12:00", True),  # a Friday
        ("fri 12:00", "mon 08:00", "week", "2026-05-08T11:59", False),
        ("fri 12:00", "mon 08:00", "week", "2026-05-10T03:00", True),
        ("fri 12:00", "mon 08:00", "week", "2026-05-11T07:59", True),
        ("fri 12:00", "mon 08:00", "week", "2026-05-11T08:00", False),
        ("mon 09:00", "thu 17:00", "week", "2026-05-13T12:00", True),
        ("mon 09:00", "thu 17:00", "week", "2026-05-15T12:00", False),
    ],
)
def test_a_period_has_both_its_ends(
    start: str, end: str, every: str, moment: str, *, is_in: bool
) -> None:
    assert is_within(datetime.fromisoformat(moment), period(start, end, every)) is is_in


def test_a_frozen_week_is_told_with_its_name_and_its_end() -> None:
    (breach,) = judge(policy(DEADLINE), at("2026-05-06T12:00+00:00"))
    assert breach.rule == "freeze"
    assert breach.found == (
        "lockfiles are frozen from 2026-05-01 to 2026-05-10 (deadline), "
        "now 2026-05-06 14:00 Europe/Berlin: numpy, urllib3"
    )
    assert breach.ways_out == (
        "wait until 2026-05-10",
        (
            "for a security fix, name the advisory and the packages that it is about: "
            "`Env-Security: CVE-2026-1234 urllib3`"
        ),
    )


@pytest.mark.parametrize(
    ("moment", "is_frozen"),
    [
        # Berlin is two hours ahead in May: the zone of whoever commits does not matter.
        ("2026-04-30T21:59+00:00", False),
        ("2026-04-30T22:00+00:00", True),
        ("2026-05-01T07:00+09:00", True),
        ("2026-05-10T21:59+00:00", True),
        ("2026-05-10T22:00+00:00", False),
    ],
)
def test_the_zone_is_the_policys(moment: str, *, is_frozen: bool) -> None:
    assert bool(found(policy(DEADLINE), at(moment))) is is_frozen


def test_a_window_that_spans_the_change_of_the_clock() -> None:
    night = (
        "freeze: {timezone: Europe/Berlin, frozen: [{every: week, from: sun 01:00, to: sun 04:00}]}"
    )
    # On 2026-03-29 the clock went from 02:00 to 03:00.
    assert found(policy(night), at("2026-03-29T00:30+00:00"))
    assert found(policy(night), at("2026-03-29T01:30+00:00"))
    assert not found(policy(night), at("2026-03-29T02:00+00:00"))


def test_outside_of_the_windows_nothing_moves() -> None:
    windows = "freeze: {windows: [{every: week, from: mon 09:00, to: thu 17:00}]}"
    assert found(policy(windows), at("2026-05-06T12:00+00:00")) == []
    assert found(policy(windows), at("2026-05-08T12:00+00:00")) == [
        (
            "freeze",
            (
                "lockfiles move from mon 09:00 to thu 17:00 only, "
                "now 2026-05-08 12:00 UTC: numpy, urllib3"
            ),
        )
    ]


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("CVE-2026-1234 urllib3 numpy", None),
        ("GHSA-abcd-1234-wxyz urllib3, numpy", None),
        ("PYSEC-2026-7 urllib3", "numpy"),
        ("urllib3 numpy", "numpy, urllib3"),
        ("CVE-2026-1234", "numpy, urllib3"),
        ("see CVE-26-1 urllib3 numpy", "numpy, urllib3"),
    ],
)
def test_a_security_fix_passes_for_the_packages_that_it_names(value: str, left: str | None) -> None:
    step = at("2026-05-06T12:00+00:00", ("env-security", value))
    told = [text.rpartition(": ")[2] for _, text in found(policy(DEADLINE), step)]
    assert told == ([] if left is None else [left])
    strict = DEADLINE.replace("freeze: {", "freeze: {except-security: false, ")
    assert len(found(policy(strict), step)) == 1


def test_a_commit_that_moves_nothing_is_never_frozen() -> None:
    step = make_step(BEFORE, BEFORE, at=datetime.fromisoformat("2026-05-06T12:00+00:00"))
    assert found(policy(DEADLINE), step) == []
