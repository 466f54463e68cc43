from __future__ import annotations

from pathlib import Path

import pytest  # noqa: TC002 - fixtures are annotated with it

from envtrack.cli.main import main
from tests.cli.lab import Lab
from tests.report_page.reading import Reader


def test_what_is_not_there_is_not_shown(lab: Lab, tmp_path: Path) -> None:
    ended = lab.run("report", "--output", str(tmp_path / "r.html"))
    assert ended.code == 0, ended.err
    told = Reader((tmp_path / "r.html").read_text(encoding="utf-8"))
    shown = {a["id"] for tag, a in told.elements if tag == "section"}
    assert shown == {"overview", "timeline", "policy", "machines"}
    assert "No machine is recorded" in "".join(told.texts)


def test_a_page_goes_to_a_pipe_and_never_onto_a_terminal(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lab.run("report").out.startswith("<!doctype html>")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    ended = lab.run("report")
    assert (ended.code, ended.out) == (2, "")
    assert "--output report.html" in ended.err


def test_a_broken_policy_is_told_and_not_the_end(lab: Lab, tmp_path: Path) -> None:
    lab.repo.write(".envtrack/policies/p.yaml", "kind: [\n")
    lab.repo.commit("a broken policy")
    assert main(["report", "--output", str(tmp_path / "r.html")]) == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "policy: " in text
    assert 'id="policy"' not in text


def test_fewer_commits_are_told_where_that_is_asked(lab: Lab, tmp_path: Path) -> None:
    lab.lock("wick")
    lab.repo.commit("two")
    assert lab.run("report", "-n", "1", "--output", str(tmp_path / "r.html")).code == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "and 1 older ones left out" in text
    assert lab.run("report", "-n", "0").code == 2


def test_a_torn_search_is_a_note_and_not_the_end(lab: Lab, tmp_path: Path) -> None:
    folder = lab.repo.path / ".git/envtrack/sessions/20260102T030405-abcd"
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text("{")
    assert lab.run("report", "--output", str(tmp_path / "r.html")).code == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "search 20260102T030405-abcd can&#39;t be read" in text
