from __future__ import annotations

import json

from envtrack.model.comparison import Change, ChangeKind, Origin
from envtrack.model.fleet import Fleet
from envtrack.model.isolation import Blame, Isolated, Isolation, Trial, Turn, Unit
from envtrack.model.lanes import Lanes
from envtrack.model.layer import Layer
from envtrack.model.oid import Commit, Oid
from envtrack.model.story import Story
from envtrack.model.verdict import Judgement, Verdict
from envtrack.report.html.page import Page, render_page
from envtrack.report.isolation import render_isolation_json
from tests.report_page.reading import Reader

HEAD = Commit(oid=Oid("1" * 40), parents=(), subject="head", author="Ada", authored_at="2026-01-02")


def say(verdict: Verdict, reason: str) -> Judgement:
    return Judgement(verdict=verdict, stage="smoke", reason=reason, kind="exit")


def render(story: Story) -> str:
    page = Page(
        project="lab",
        made_at="2026-01-02T03:04:05+00:00",
        version="0",
        head=HEAD,
        lanes=Lanes(lockfile="uv.lock", columns=(), machines=()),
        states=(),
        stories=(story,),
        history=None,
        fleet=Fleet(lockfile="uv.lock", head=HEAD.oid, lock=None, machines=()),
    )
    told = Reader(render_page(page))
    assert told.faults == []
    return " ".join(" ".join(told.texts).split())


def make_story(answer: dict[str, object] | None) -> Story:
    return Story(
        session="s1",
        created_at="2026-01-02T03:04:05",
        good=HEAD.oid,
        bad=HEAD.oid,
        lockfile="uv.lock",
        smoke="true",
        machine="testbed",
        is_composed=True,
        candidates=(),
        probes=(),
        answer=answer,
    )


def test_the_culprit_is_told_down_to_its_package_and_its_release() -> None:
    change = Change(Layer.PACKAGES, "glim", ChangeKind.UPGRADED, "2.1", "2.3", Origin.ROOT)
    blame = Blame(
        units=(Unit(("glim",), (change,)),),
        sufficient=Trial(("glim",), say(Verdict.BAD, "ended with 1"), ""),
        necessary=Trial((), say(Verdict.GOOD, "passed"), ""),
        is_minimal=True,
        turns=(Turn("glim", "2.1", "2.2", trials=(("2.2", say(Verdict.BAD, "no")),)),),
    )
    told = Isolation(
        session="s1",
        outcome=Isolated.FOUND,
        message="glim is to blame",
        before="a",
        after="b",
        code="c",
        lockfile="uv.lock",
        smoke="true",
        folder="/f",
        blames=(blame,),
    )
    text = render(make_story(json.loads(render_isolation_json(told))))
    assert "packages glim 2.1 2.3 upgraded, root" in text
    assert "bad with only glim as it is now: sufficient ended with 1" in text
    assert "good with all but glim as it is now: necessary passed" in text
    assert "glim works with 2.1 and fails from 2.2 on." in text
    assert "bad glim 2.2" in text


def test_a_search_without_an_answer_says_how_to_go_on() -> None:
    assert "envtrack bisect resume s1 goes on with it" in render(make_story(None))


def test_an_answer_that_lacks_what_is_newer_is_told_as_far_as_it_goes() -> None:
    assert "found" in render(make_story({"kind": "bisect", "message": "found"}))
