from __future__ import annotations

from pathlib import Path

import pytest

from tests.record.hooked import Hooked
from tests.support.repo import RepoBuilder


@pytest.fixture
def hooked(repo: RepoBuilder, tmp_path: Path) -> Hooked:
    """A repository with envtrack's hooks and one commit of a lockfile."""
    made = Hooked.create(repo, tmp_path)
    repo.write("README", "words\n")
    repo.git("add", "README")
    made.lock_commit("version = 1\n")
    made.mark.unlink(missing_ok=True)
    return made
