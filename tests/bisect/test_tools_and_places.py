"""Tools that are missing or too old, and places that can't be written."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bisect.one_line import build_branches, expect_line
from tests.support.history import SMOKE, History, run_cli
from tests.support.repo import RepoBuilder
from tests.support.tiny import tiny_disk


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> History:
    return build_branches(tmp_path_factory.mktemp("bad-input") / "repo")


def tools(folder: Path, **texts: str) -> str:
    """A PATH with these programs and no others but sh's own."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_git_that_is_missing_or_too_old(
    shared: History,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number, (text, said) in enumerate(
        (
            ({}, "`git` is not to be found on PATH"),
            ({"git": "echo git version 2.17.1"}, "git version 2.17.1 is too old: 2.31 or newer"),
        )
    ):
        with monkeypatch.context() as patch:
            patch.setenv("PATH", tools(tmp_path / str(number), **text))
            ended = run_cli(capsys, shared.repo, shared["good"], "--smoke", SMOKE)
        assert ended.code == 4
        assert ended.errors == [f"envtrack: {said}" + " is needed" * ("newer" in said)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo uv 0.3.1", "uv 0.3.1 is too old"),
        ("exit 7", "does not run: 7"),
        (None, "`{tool}` is not to be found"),
    ],
)
def test_uv_that_is_missing_or_too_old(
    shared: History,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    text: str | None,
    said: str,
) -> None:
    tool = Path(tools(tmp_path / "bin", **({"uv": text} if text else {}))) / "uv"
    monkeypatch.setenv("ENVTRACK_UV", str(tool))
    expect_line(capsys, shared.repo, 4, said.format(tool=tool), shared["good"], "--smoke", SMOKE)


def test_a_repository_that_is_read_only(
    shared: History, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tiny_disk(tmp_path / "disk", kib=8192) as disk:
        repo = RepoBuilder(disk / "repo")
        subprocess.run(["cp", "-a", str(shared.repo.path), str(repo.path)], check=True)
        shutil.rmtree(repo.path / ".git/envtrack", ignore_errors=True)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        hint = expect_line(
            capsys,
            repo,
            4,
            "can't be written (Read-only file system)",
            shared["good"],
            "--smoke",
            SMOKE,
        )
        assert "git clone" in hint


def test_a_cache_that_cant_be_written(
    shared: History,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    before = shared.repo.state()
    ended = run_cli(capsys, shared.repo, shared["good"], "--smoke", SMOKE)
    assert ended.code == 4
    assert "can't be written" in ended.errors[-1]
    assert shared.repo.state() == before


@pytest.mark.parametrize("place", ["relative", "inside"])
def test_a_cache_inside_the_repository_is_not_used(
    shared: History,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    place: str,
) -> None:
    monkeypatch.chdir(shared.repo.path)
    inside = shared.repo.path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", "cache" if place == "relative" else str(inside))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = shared.repo.state()
    ended = run_cli(
        capsys, shared.repo, shared["a"], shared["guilty"], "--smoke", SMOKE, "--format", "json"
    )
    assert json.loads(ended.out)["culprit"]["commit"] == shared["guilty"]
    assert shared.repo.state() == before
    assert not inside.exists()
