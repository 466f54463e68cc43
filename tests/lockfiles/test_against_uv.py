"""`select` against what the real uv says on a project made here, without a network."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from packaging.markers import default_environment
from uv import find_uv_bin

from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.select import explain_selection
from envtrack.model.selection import Selection
from tests.support.wheels import write_wheel

PROJECT = """
[project]
name = "lab"
version = "1.0"
requires-python = ">=3.11"
dependencies = ["core", "only-windows ; sys_platform == 'win32'", "solver[fast]", "lib"]
[project.optional-dependencies]
old = ["num==1.0"]
new = ["num==2.0"]
all = ["lab[pictures]", "lab[tables]"]
pictures = ["plot"]
tables = ["table"]
[dependency-groups]
dev = ["checker"]
docs = ["writer", { include-group = "dev" }]
fresh = ["lab[new]"]
stale = ["num==1.0"]
[tool.uv]
no-index = true
find-links = ["index"]
conflicts = [[{ extra = "old" }, { extra = "new" }], [{ extra = "new" }, { group = "stale" }]]
[tool.uv.workspace]
members = ["lib"]
[tool.uv.sources]
lib = { workspace = true }
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
"""
LIBRARY = """
[project]
name = "lib"
version = "0.5"
requires-python = ">=3.11"
dependencies = ["shape>=2 ; python_version >= '3.12'", "shape<2 ; python_version < '3.12'"]
[project.optional-dependencies]
more = ["table"]
[dependency-groups]
dev = ["writer"]
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
"""
NO_PROJECT = """
[tool.uv]
no-index = true
find-links = ["index"]
[tool.uv.workspace]
members = ["lib"]
[dependency-groups]
dev = ["checker"]
docs = ["solver[fast] ; sys_platform == 'linux'"]
"""
SELECTIONS = [
    Selection(),
    Selection(extras=("old",)),
    Selection(extras=("new",)),
    Selection(extras=("all",)),
    Selection(groups=("docs",)),
    Selection(groups=("fresh",)),
    Selection(groups=("stale",), without_groups=("dev",)),
    Selection(extras=("old",), groups=("stale",)),
    Selection(all_packages=True),
    Selection(all_packages=True, extras=("more", "pictures")),
    Selection(package="lib"),
    Selection(package="lib", extras=("more",), groups=("dev",)),
]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    index = tmp_path / "index"
    write_wheel(index, "core", "1.0", requires=["num"])
    write_wheel(
        index,
        "solver",
        "3.0",
        extras={"fast": ["solver[base]", "compiled"], "base": ["plain"], "odd": ["never"]},
    )
    for version in ("1.0", "2.0"):
        write_wheel(index, "num", version, requires=["core"])
        write_wheel(index, "shape", version)
    for name in (
        "only-windows",
        "compiled",
        "plain",
        "never",
        "plot",
        "table",
        "checker",
        "writer",
    ):
        write_wheel(index, name, "1.0")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/pyproject.toml").write_text(LIBRARY)
    return index


def run_uv(project: Path, *arguments: str) -> str:
    command = [find_uv_bin(), *arguments, "--no-progress", "--color=never"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def compare_with_uv(project: Path, selection: Selection) -> None:
    run_uv(project, "lock")
    told = run_uv(project, "sync", "--frozen", "--dry-run", *selection.as_uv_arguments())
    installed = {found[1] for found in re.finditer(r"^ \+ ([\w.-]+)", told, re.MULTILINE)}
    versions = dict(re.findall(r"^ \+ ([\w.-]+)==(\S+)", told, re.MULTILINE))
    lock = parse_lock((project / "uv.lock").read_text(), path="uv.lock")
    environment = {name: str(value) for name, value in default_environment().items()}
    chosen = explain_selection(lock, selection, environment)
    assert not chosen.notes
    assert {package.name for package in chosen.packages} == installed
    for package in chosen.packages:
        assert versions.get(package.name, package.version) == package.version


@pytest.mark.parametrize(
    "selection", SELECTIONS, ids=lambda s: " ".join(s.as_uv_arguments()) or "-"
)
def test_a_project_selects_what_uv_installs(index: Path, selection: Selection) -> None:
    (index.parent / "pyproject.toml").write_text(PROJECT)
    compare_with_uv(index.parent, selection)


@pytest.mark.parametrize(
    "selection",
    [
        Selection(),
        Selection(groups=("docs",)),
        Selection(all_packages=True, all_groups=True),
        Selection(package="lib"),
    ],
)
def test_a_root_that_is_no_project_selects_what_uv_installs(
    index: Path, selection: Selection
) -> None:
    (index.parent / "pyproject.toml").write_text(NO_PROJECT)
    compare_with_uv(index.parent, selection)
