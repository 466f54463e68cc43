from __future__ import annotations

from datetime import timedelta

from envtrack.policy.interface import RecordState
from tests.lockfiles.texts import pinned, project
from tests.policy.steps import TODAY, found, judge, make_step, policy

BEFORE = (project("a"), pinned("a", "1"))
AFTER = (project("a"), pinned("a", "2"))


def test_a_record_that_is_missing_or_of_another_state_is_said() -> None:
    missing = make_step(BEFORE, AFTER, record=RecordState.MISSING, machine="box")
    stale = missing._replace(record=RecordState.STALE)
    assert [
        (b.rule, b.level.value, b.found) for step in (missing, stale) for b in judge(policy(), step)
    ] == [
        ("record", "warn", "no record of box stands beside uv.lock"),
        ("record", "warn", "the record of box beside uv.lock was taken with another state of it"),
    ]
    assert found(policy(), missing._replace(record=RecordState.BELONGS)) == []
    assert found(policy(), make_step(BEFORE, None, record=RecordState.MISSING)) == []


def test_a_reason_is_a_trailer_with_words() -> None:
    rules = policy("reason: {}")
    step = make_step(BEFORE, AFTER)
    assert found(rules, step) == [("reason", "the message does not say why packages move")]
    assert found(rules, step._replace(trailers=(("env-reason", ""),))) != []
    assert found(rules, step._replace(trailers=(("env-reason", "a fix"),))) == []
    # Before there is a message nobody can say it.
    assert found(rules, step._replace(trailers=None)) == []
    assert found(rules, make_step(BEFORE, BEFORE)) == []


def test_a_verdict_has_to_be_good_and_fresh() -> None:
    rules = policy("verified: {days: 14}")
    step = make_step(BEFORE, AFTER, is_committed=True)
    assert found(rules, step) == [("verified", "no smoke test has called this environment good")]
    assert found(rules, step._replace(good_at=TODAY - timedelta(days=14))) == []
    assert found(rules, step._replace(good_at=TODAY - timedelta(days=15))) == [
        (
            "verified",
            ("a smoke test called this environment good on 2026-04-21, more than 14 days ago"),
        )
    ]
    assert found(rules, make_step(BEFORE, AFTER)) == []


def test_the_commands_that_were_run_are_asked_for_where_the_policy_says_so() -> None:
    step = make_step(
        (project("numpy"), pinned("numpy", "1")), (project("numpy"), pinned("numpy", "2"))
    )
    rules = policy("record: {level: off}, commands: {}")
    said = "the message does not say by which commands packages move"
    assert found(rules, step) == [("commands", said)]
    told = (("env-command", "uv lock --upgrade-package numpy"),)
    assert found(rules, step._replace(trailers=told)) == []
    # Before there is a message it can't be missing.
    assert found(rules, step._replace(trailers=None)) == []


def test_of_what_can_not_be_read_nothing_else_is_said() -> None:
    step = make_step((project("numpy"), pinned("numpy", "1")), None)
    broken = step._replace(unreadable="uv.lock:1: conflict markers")
    assert found(policy(), broken) == [("readable", "uv.lock:1: conflict markers")]
