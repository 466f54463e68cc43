"""The real pre-commit framework: under it envtrack checks, and beside it envtrack records.

Needs the package index: `pytest -m network tests/network`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lockfiles.texts import HEAD, pinned, project
from tests.record.hooked import RECORD, SOURCE, Hooked, install
from tests.support.repo import RepoBuilder

pytestmark = pytest.mark.network

# How this machine reaches the package index; taken before the seal drops it.
_REACHED_BY = {name: os.environ[name] for name in os.environ if name.startswith("PIP_")}
_SETTINGS = Path.home() / ".config/pip/pip.conf"
if _SETTINGS.is_file():
    _REACHED_BY.setdefault("PIP_CONFIG_FILE", str(_SETTINGS))
_PARTS = ("envtrack", "hooks", "examples", "README.md", "LICENSE", "CHANGELOG.md")
_FILES = ("pyproject.toml", ".pre-commit-hooks.yaml")
POLICY = ".envtrack/policies/ours.yaml"


def lock(wick: str, flint: str) -> str:
    return HEAD + "\n".join(
        [project("wick", "flint"), pinned("wick", wick), pinned("flint", flint)]
    )


@pytest.fixture(scope="session")
def framework(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real `pre-commit`, in an environment of its own."""
    folder = tmp_path_factory.mktemp("framework")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    done = subprocess.run(
        [folder / "venv/bin/pip", "install", "--quiet", "pre-commit>=4"],
        env={**os.environ, **_REACHED_BY},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"the framework can't be had from the index: {done.stderr[-300:]}")
    return folder / "venv/bin/pre-commit"


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of envtrack as the framework clones it."""
    folder = tmp_path_factory.mktemp("published") / "envtrack"
    folder.mkdir()
    for name in _PARTS:
        source = SOURCE / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)
    for name in _FILES:
        shutil.copy(SOURCE / name, folder / name)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    for command in (("init", "-q"), ("add", "-Af"), (*who, "commit", "-qm", "published")):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@dataclass(frozen=True, slots=True)
class Framed:
    """A repository with the framework and envtrack's hooks for it."""

    repo: RepoBuilder
    program: Path

    def call(self, *arguments: str) -> None:
        self.repo.run([str(self.program), *arguments])

    def commit(self, *arguments: str) -> tuple[int, str]:
        done = self.repo.run(["git", "commit", "-m", "change", *arguments], check=False)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def framed(
    repo: RepoBuilder,
    framework: Path,
    published: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Framed]:
    for name, value in _REACHED_BY.items():
        monkeypatch.setenv(name, value)
    home = tmp_path_factory.getbasetemp() / "framework-home"
    monkeypatch.setenv("PRE_COMMIT_HOME", str(home))
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=published, capture_output=True, text=True, check=True
    ).stdout.strip()
    repo.write(
        ".pre-commit-config.yaml",
        f"repos:\n- repo: {published}\n  rev: {revision}\n  hooks:\n"
        "  - id: envtrack-check\n  - id: envtrack-check-message\n",
    )
    repo.write(".envtrack/config.yaml", "layers: {framework: [wick]}\n")
    policy = "kind: UpgradePolicy\nrules: {record: {level: off}, reason: {level: error}}\n"
    repo.write(POLICY, policy)
    repo.write("uv.lock", lock("1", "1"))
    repo.write("words", "one\n")
    repo.commit("first")
    yield Framed(repo, framework)
    assert not (repo.path / ".git/index.lock").exists()


def stage(framed: Framed, wick: str, flint: str) -> None:
    framed.repo.write("uv.lock", lock(wick, flint))
    framed.repo.git("add", "uv.lock")


def test_under_the_framework_it_checks_and_records_nothing(framed: Framed) -> None:
    framed.call("install", "-t", "pre-commit", "-t", "commit-msg")
    framed.repo.write("words", "unstaged\n")
    stage(framed, "2", "2")
    code, said = framed.commit("-m", "Env-Reason: new")
    assert code == 1
    assert "2 layers move, 1 may" in said
    stage(framed, "2", "1")
    code, said = framed.commit()
    assert code == 1
    assert "the message does not say why packages move" in said
    code, said = framed.commit("-m", "Env-Reason: new")
    assert code == 0, said
    assert framed.repo.git("show", "--format=", "--name-only") == "uv.lock"
    assert framed.repo.git("status", "--porcelain") == " M words"
    assert (framed.repo.path / "words").read_text() == "unstaged\n"


def _envtrack_first(framed: Framed, folder: Path) -> Hooked:
    hooked = Hooked.create(framed.repo, folder)
    framed.call("install", "-t", "pre-commit", "-t", "commit-msg")
    return hooked


def _framework_first(framed: Framed, folder: Path) -> Hooked:
    framed.call("install", "-t", "pre-commit", "-t", "commit-msg")
    return Hooked.create(framed.repo, folder)


def _both_twice(framed: Framed, folder: Path) -> Hooked:
    hooked = _framework_first(framed, folder)
    framed.call("install", "-t", "pre-commit", "-t", "commit-msg")
    install(framed.repo, hooked.python)
    framed.call("install", "-t", "pre-commit", "-t", "commit-msg")
    return hooked


@pytest.mark.parametrize("order", [_envtrack_first, _framework_first, _both_twice])
def test_beside_the_framework_it_records_in_every_order_of_installing(
    framed: Framed, tmp_path: Path, order: Callable[[Framed, Path], Hooked]
) -> None:
    hooked = order(framed, tmp_path)
    framed.repo.write("words", "unstaged\n")
    stage(framed, "2", "2")
    code, said = framed.commit("-m", "Env-Reason: new")
    assert code == 1, said
    assert "2 layers move, 1 may" in said
    stage(framed, "2", "1")
    code, said = framed.commit("-m", "Env-Reason: new")
    assert code == 0, said
    assert hooked.changed() == [RECORD, "uv.lock"]
    assert hooked.belongs()
    assert hooked.status() == " M words"
    assert "post-commit" not in hooked.starts()
    # A second time, over the user's own unstaged edit of the record.
    record = framed.repo.path / RECORD
    edited = record.read_text().replace('"testbed"', '"edited by hand"')
    record.write_text(edited)
    stage(framed, "3", "1")
    code, said = framed.commit("-m", "Env-Reason: new")
    assert code == 0, said
    assert hooked.belongs()
    assert record.read_text() == edited
    assert (framed.repo.path / "words").read_text() == "unstaged\n"


def test_both_can_be_taken_away_again(framed: Framed, tmp_path: Path) -> None:
    from envtrack.git.hooks import uninstall_hooks
    from envtrack.git.repository import open_repository

    _both_twice(framed, tmp_path)
    uninstall_hooks(open_repository(framed.repo.path, dict(os.environ)))
    hook = framed.repo.path / ".git/hooks/pre-commit"
    assert b"generated by pre-commit" in hook.read_bytes()
    framed.call("uninstall", "-t", "pre-commit", "-t", "commit-msg")
    left = [path.name for path in hook.parent.iterdir() if path.suffix != ".sample"]
    assert left == []
