"""One line on stderr, the right exit code, nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest  # noqa: TC002 - fixtures are annotated with it

from tests.support.history import History, Script, run_cli
from tests.support.repo import RepoBuilder


def build_branches(path: Path) -> History:
    """A history with a root without a lockfile, another branch, and a root of its own."""
    script = Script().add("root", files={"uv.lock": None, "pyproject.toml": None, "n": "0"})
    script.add("good", "1.0").add("a", "1.1").add("guilty", "2.0").add("last", "2.1")
    script.add("other", "2.2", parents=("root",)).add("stranger", "1.0", parents=())
    script.add("tip", parents=("last",), code=0)
    return script.build(path)


def expect_line(
    capsys: pytest.CaptureFixture[str], repo: RepoBuilder, code: int, said: str, *arguments: str
) -> str:
    """The hint, after the one line on stderr."""
    before = repo.state() if (repo.path / ".git").is_dir() else {}
    ended = run_cli(capsys, repo, *arguments)
    assert ended.code == code, ended
    lines = ended.err.splitlines()
    assert lines[0].startswith("envtrack: "), ended.err
    assert said in lines[0]
    assert len(lines) <= 2, ended.err
    assert ended.out == ""
    assert not before or repo.state() == before
    assert not (Path(os.environ["XDG_CACHE_HOME"]) / "envtrack/worktrees").exists()
    return lines[1].strip() if len(lines) == 2 else ""
