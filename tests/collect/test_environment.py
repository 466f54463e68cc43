from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envtrack.collect.environment import find_environment
from tests.collect.places import write


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def test_the_named_one_comes_first_and_is_relative_to_the_lockfile(tmp_path: Path) -> None:
    folder(tmp_path / ".venv")
    environ = {"UV_PROJECT_ENVIRONMENT": "envs/x", "VIRTUAL_ENV": str(tmp_path)}
    assert find_environment(environ, tmp_path) == tmp_path / "envs/x"
    environ = {"UV_PROJECT_ENVIRONMENT": "/srv/env"}
    assert find_environment(environ, tmp_path) == Path("/srv/env")


def test_the_one_beside_the_lockfile_comes_before_the_active_one(tmp_path: Path) -> None:
    beside = folder(tmp_path / ".venv")
    active = folder(tmp_path / "active")
    environ = {"VIRTUAL_ENV": str(active), "UV_PROJECT_ENVIRONMENT": ""}
    assert find_environment(environ, tmp_path) == beside


def test_a_file_is_no_environment(tmp_path: Path) -> None:
    write(tmp_path / ".venv", "/elsewhere")
    assert find_environment({}, tmp_path) is None


def test_virtual_env_comes_before_conda(tmp_path: Path) -> None:
    active, conda = folder(tmp_path / "active"), folder(tmp_path / "conda")
    environ = {"VIRTUAL_ENV": str(active), "CONDA_PREFIX": str(conda)}
    assert find_environment(environ, tmp_path) == active
    assert find_environment({"CONDA_PREFIX": str(conda)}, tmp_path) == conda


@pytest.mark.parametrize("text", ["", "relative", "/gone"])
def test_an_active_one_that_is_not_there_does_not_count(tmp_path: Path, text: str) -> None:
    assert find_environment({"VIRTUAL_ENV": text}, tmp_path) is None


def test_envtracks_own_environment_is_never_taken_for_want_of_another(tmp_path: Path) -> None:
    assert sys.prefix != sys.base_prefix
    assert find_environment({}, tmp_path) is None


@pytest.mark.parametrize("mark", ["uv-receipt.toml", "pipx_metadata.json"])
def test_an_environment_made_for_a_tool_is_passed_over(tmp_path: Path, mark: str) -> None:
    tool, conda = folder(tmp_path / "tool"), folder(tmp_path / "conda")
    write(tool / mark)
    environ = {"VIRTUAL_ENV": str(tool), "CONDA_PREFIX": str(conda)}
    assert find_environment(environ, tmp_path) == conda
