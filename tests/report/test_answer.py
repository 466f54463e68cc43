from __future__ import annotations

import json
from dataclasses import replace

from envtrack.model.answer import Answer, Effort, Judged, Outcome
from envtrack.model.comparison import Change, ChangeKind, Comparison, Origin
from envtrack.model.layer import Layer
from envtrack.model.oid import Commit, Oid
from envtrack.model.verdict import Judgement, Verdict
from envtrack.report.answer import (
    render_answer_json,
    render_answer_markdown,
    render_answer_text,
)
from envtrack.report.look import Look


def commit(digit: str, subject: str) -> Commit:
    return Commit(
        oid=Oid(digit * 40),
        parents=(),
        subject=subject,
        author="Ada Tester",
        authored_at="2026-01-02T03:04:05+00:00",
    )


def judged(digit: str, subject: str, verdict: Verdict, reason: str) -> Judged:
    judgement = Judgement(verdict=verdict, stage="smoke", reason=reason, kind="exit", exit_code=1)
    return Judged(commit=commit(digit, subject), judgement=judgement, log="/logs/001")


EFFORT = Effort(candidates=39, probes=12, end_probes=2, untestable=3, spared=1, seconds=13.04)
FOUND = Answer(
    session="s1",
    outcome=Outcome.FOUND,
    message="aaaaaaaaaa is the first bad commit: Weekly upgrade",
    lockfile="uv.lock",
    smoke="python smoke.py",
    effort=EFFORT,
    folder="/repo/.git/envtrack/sessions/s1",
    culprit=judged("a", "Weekly upgrade", Verdict.BAD, "the smoke test ended with 1"),
    predecessor=commit("b", "Before"),
    skipped=(judged("c", "Broken", Verdict.UNTESTABLE, "uv.lock:47: conflict markers"),),
    comparison=Comparison(
        before="bbbbbbbbbb",
        after="aaaaaaaaaa",
        changes=(
            Change(
                layer=Layer.PACKAGES,
                name="wick",
                kind=ChangeKind.UPGRADED,
                before="1.0",
                after="1.1",
                origin=Origin.ROOT,
            ),
        ),
    ),
    last_lines=("Traceback:", "\x1b[31mTypeError: no len()"),
    hints=("git show aaaaaaaaaa",),
)
SEVERAL = replace(
    FOUND,
    outcome=Outcome.SEVERAL,
    message="the first bad commit is one of 2",
    culprit=None,
    predecessor=None,
    comparison=None,
    possible=(
        judged("d", "One | two", Verdict.UNTESTABLE, "stale"),
        Judged(commit=commit("e", "Never tried"), judgement=None),
    ),
)


def test_text_tells_finding_change_failure_cost_and_next_step() -> None:
    text = render_answer_text(FOUND, Look(width=100))
    order = [
        "aaaaaaaaaa is the first bad commit: Weekly upgrade",
        "a" * 40,
        "Ada Tester",
        "2026-01-02T03:04:05+00:00",
        "uv.lock:47: conflict markers",
        "bbbbbbbbbb → aaaaaaaaaa",
        "wick  1.0 → 1.1  upgraded  root",
        "TypeError: no len()",
        "12 probes (2 at the ends, 3 untestable) for 39 candidates; halving needs 6; 1 spared",
        "/repo/.git/envtrack/sessions/s1",
        "git show aaaaaaaaaa",
    ]
    places = [text.find(part) for part in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)


def test_text_never_passes_control_characters_on() -> None:
    assert "\x1b" not in render_answer_text(FOUND, Look(width=100))
    assert "\x1b" not in render_answer_markdown(FOUND)


def test_text_of_several_names_each_of_them() -> None:
    text = render_answer_text(SEVERAL, Look(width=100))
    assert "One | two" in text
    assert "Never tried" in text
    assert "not tried" in text


def test_json_is_whole_and_versioned() -> None:
    document = json.loads(render_answer_json(FOUND))
    assert document["schema"] == 1
    assert document["kind"] == "bisect"
    assert document["outcome"] == "found"
    assert document["exit_code"] == 0
    assert document["culprit"]["commit"] == "a" * 40
    assert document["culprit"]["verdict"] == "bad"
    assert document["predecessor"]["commit"] == "b" * 40
    assert document["comparison"]["changes"][0]["name"] == "wick"
    assert document["effort"] == {
        "candidates": 39,
        "least": 6,
        "probes": 12,
        "end_probes": 2,
        "untestable": 3,
        "spared": 1,
        "seconds": 13.04,
    }


def test_json_of_several_has_no_culprit_and_exit_code_3() -> None:
    document = json.loads(render_answer_json(SEVERAL))
    assert document["culprit"] is None
    assert document["comparison"] is None
    assert document["exit_code"] == 3
    assert [row["verdict"] for row in document["possible"]] == ["untestable", None]


def test_markdown_keeps_subjects_from_being_markup() -> None:
    assert "One \\| two" in render_answer_markdown(SEVERAL)


def test_least_is_the_logarithm_rounded_up() -> None:
    def least(candidates: int) -> int:
        return replace(EFFORT, candidates=candidates).least

    assert [least(n) for n in (0, 1, 2, 3, 4, 5, 32, 33)] == [0, 0, 1, 2, 2, 3, 5, 6]
