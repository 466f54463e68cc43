"""The seal: every test starts from the same world, and none can touch the real one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.record.hooked import Hooked
from tests.support.repo import RepoBuilder

_DROPPED = ("GIT_", "UV_", "PIP_", "CONDA_", "ENVTRACK_", "XDG_")
_DROPPED_NAMES = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "NO_COLOR", "FORCE_COLOR", "COLUMNS")


@pytest.fixture(scope="session")
def uv_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One uv cache for all tests of a worker: it holds only what the tests themselves made."""
    return tmp_path_factory.mktemp("uv-cache")


@pytest.fixture(autouse=True)
def seal(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    uv_cache: Path,
) -> Iterator[Path]:
    """An empty HOME, no configuration of the system's, fixed identity and dates, no network."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_DROPPED) or name in _DROPPED_NAMES:
            monkeypatch.delenv(name)
    values = {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_AUTHOR_DATE": "2026-01-02T03:04:05+00:00",
        "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+00:00",
        "GIT_EDITOR": "false",
        "LC_ALL": "C.UTF-8",
        "UV_CACHE_DIR": str(uv_cache),
        "UV_OFFLINE": "1",
        "UV_NO_SYSTEM_CONFIG": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "ENVTRACK_MACHINE": "testbed",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada Tester\n\temail = ada@example.org\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n"
        '[protocol "file"]\n\tallow = always\n'
    )
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    """A new, empty git repository."""
    return RepoBuilder.create(tmp_path / "repo")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs it builds the repository that `hooked` is a copy of."""
    return tmp_path_factory.mktemp("template")


@pytest.fixture
def hooked(template: Path, tmp_path: Path) -> Hooked:
    """A repository with envtrack's hooks and one commit of a lockfile."""
    if not (template / "repo").exists():
        made = Hooked.create(RepoBuilder.create(template / "made"), template)
        made.repo.write("README", "words\n")
        made.repo.git("add", "README")
        made.lock_commit("version = 1\n")
        made.repo.path.rename(template / "repo")
    shutil.copytree(template / "repo", tmp_path / "repo")
    copied = Hooked.create(RepoBuilder(tmp_path / "repo"), tmp_path)
    copied.repo.git("update-index", "--refresh", "-q")
    return copied
