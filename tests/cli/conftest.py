from __future__ import annotations

import pytest

from tests.cli.lab import Lab, build_lab
from tests.support.repo import RepoBuilder


@pytest.fixture
def empty_lab(
    repo: RepoBuilder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Lab:
    """A repository without a lockfile, and the current folder in it."""
    monkeypatch.chdir(repo.path)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return build_lab(repo, capsys)


@pytest.fixture
def lab(empty_lab: Lab) -> Lab:
    """One commit: `wick` 1.0 and `flint` 1.5."""
    empty_lab.lock("wick<1.1")
    empty_lab.repo.commit("one")
    return empty_lab
