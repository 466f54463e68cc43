from __future__ import annotations

from pathlib import Path

import pytest

from tests.split.lab import SplitLab, build
from tests.support.repo import UV


@pytest.fixture(autouse=True)
def _uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVTRACK_UV", UV)


@pytest.fixture
def lab(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> SplitLab:
    return build(tmp_path, capsys)
