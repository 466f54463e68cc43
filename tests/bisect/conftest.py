from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.history import SMOKE, Ended, History, Script, run_cli


class Bench:
    """A history and searches on it."""

    def __init__(self, script: Script, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.history: History = script.build(path / "repo")
        self._capsys = capsys

    def run(self, good: str, bad: str, *more: str, smoke: str = SMOKE) -> Ended:
        before = self.history.repo.state()
        ends = (self.history[good], self.history[bad])
        ended = run_cli(self._capsys, self.history.repo, *ends, "--smoke", smoke, *more)
        assert self.history.repo.state() == before
        return ended

    def find(self, good: str, bad: str, *more: str, smoke: str = SMOKE) -> Any:  # noqa: ANN401 - JSON
        """The answer; both ends are trusted, unless a test is about them."""
        return self.find_all(good, bad, "--trust-ends", *more, smoke=smoke)

    def find_all(self, good: str, bad: str, *more: str, smoke: str = SMOKE) -> Any:  # noqa: ANN401
        ended = self.run(good, bad, "--format", "json", *more, smoke=smoke)
        answer = json.loads(ended.out)
        assert answer["exit_code"] == ended.code, ended.err
        assert (ended.code == 0) == (answer["outcome"] == "found")
        return answer

    def culprit(self, answer: Any) -> str:  # noqa: ANN401
        assert answer["outcome"] == "found", answer["message"]
        assert answer["possible"] == []
        (name,) = self.history.names([answer["culprit"]["commit"]])
        return name

    def possible(self, answer: Any) -> set[str]:  # noqa: ANN401
        assert answer["outcome"] == "several", answer["message"]
        assert answer["culprit"] is None
        return self.history.names(row["commit"] for row in answer["possible"])


Make = Callable[[Script], Bench]


@pytest.fixture
def make(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Make:
    return lambda script: Bench(script, tmp_path, capsys)
