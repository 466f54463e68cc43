"""The wheel, in an empty virtual environment far from the checkout."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.repo import UV

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that holds the wheel and nothing of the checkout.

    The dependencies are lent from the running environment by a `.pth` file: what such a file
    names is not searched for `.pth` files of its own, so that the checkout stays out of it.
    """
    folder = tmp_path_factory.mktemp("far away") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    command = [UV, "pip", "install", "--quiet", "--offline", "--no-deps", "--no-index"]
    subprocess.run([*command, "--python", str(folder), str(wheel)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "lent.pth").write_text(str(Path(pytest.__file__).parents[1]) + "\n")
    return folder / "bin"


def run_in(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "ENVTRACK_UV": UV},
        capture_output=True,
        text=True,
        check=False,
    )


def load_example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build", ROOT / "examples/lockfile-repo/build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_wheel_carries_hooks_data_and_example(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for wanted in (
        "envtrack/py.typed",
        "envtrack/data/config.yaml",
        "envtrack/data/hooks/pre-commit",
        "envtrack/data/hooks/post-commit",
        "envtrack/data/example/build.py",
        "envtrack/data/example/history.toml",
    ):
        assert wanted in names
    assert not [name for name in names if name.startswith("tests/") or name.endswith(".pyc")]


def test_installed_program_comes_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    program = "import envtrack; print(envtrack.__file__)"
    done = run_in(tmp_path, installed / "python", "-c", program)
    assert done.stdout.startswith(str(installed.parent)), done.stderr


def test_both_console_scripts_are_one_program(installed: Path, tmp_path: Path) -> None:
    said = {
        run_in(tmp_path, installed / n, "--version").stdout for n in ("envtrack", "git-envtrack")
    }
    assert len(said) == 1
    assert said.pop().startswith("envtrack ")


def test_demo_of_the_wheel_names_the_culprit(installed: Path, tmp_path: Path) -> None:
    """Far from the checkout, offline; the example's own script says which commit it is."""
    target = tmp_path / "kept"
    done = run_in(tmp_path, installed / "envtrack", "demo", "--format", "json", "--keep", target)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "found"
    assert answer["culprit"]["subject"] == load_example().CULPRIT_SUBJECT
    assert len(answer["comparison"]["changes"]) == 7
    assert answer["effort"]["least"] == math.ceil(math.log2(answer["effort"]["candidates"]))
    assert answer["last_lines"][-1].startswith("TypeError")
    assert not [line for line in answer["last_lines"] if "worktrees" in line]
    repository = target / "lockfile-repo"
    assert run_in(repository, "git", "status", "--porcelain").stdout == ""
    assert len(run_in(repository, "git", "worktree", "list").stdout.splitlines()) == 1
    assert not any((target / "cache" / "envtrack" / "worktrees").iterdir())
