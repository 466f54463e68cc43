"""A project over several layers, its lockfiles made by real uv from a folder of wheels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envtrack.cli.main import main
from tests.cli.lab import Ended
from tests.support.repo import UV, RepoBuilder
from tests.support.wheels import write_wheel

if TYPE_CHECKING:
    import pytest

PROJECT = """\
[project]
name = "lab"
version = "VERSION"
requires-python = "PYTHON"
dependencies = [
    # what everything stands on
    DEPENDENCIES
]

[tool.uv]
package = false

[[tool.uv.index]]
name = "shelf"
url = "UP../index"
format = "flat"
default = true
"""
RECORD = ".envtrack/snapshots/testbed/uv.lock.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitLab:
    """A repository with a project `lab`; the wheels lie beside it."""

    repo: RepoBuilder
    index: Path
    capsys: pytest.CaptureFixture[str]
    folder: str = ""

    def wheel(self, name: str, version: str, *requires: str) -> None:
        write_wheel(self.index, name, version, requires=requires)

    def lock(self, *dependencies: str, python: str = ">=3.11", version: str = "0.1") -> None:
        """A real lockfile of these requirements, everything as new as they allow."""
        listed = "\n    ".join(f'"{text}",' for text in dependencies)
        text = PROJECT.replace("VERSION", version).replace("PYTHON", python)
        text = text.replace("UP", "../" * self.folder.count("/"))
        self.repo.write(f"{self.folder}pyproject.toml", text.replace("DEPENDENCIES", listed))
        project = str(self.repo.path / (self.folder or "."))
        self.repo.run([UV, "lock", "--quiet", "--upgrade", "--project", project])

    def stage(self, *dependencies: str, python: str = ">=3.11", version: str = "0.1") -> None:
        self.lock(*dependencies, python=python, version=version)
        self.repo.git("add", f"{self.folder}pyproject.toml", f"{self.folder}uv.lock")

    def run(self, *arguments: str) -> Ended:
        """`envtrack split …`, entered where users enter."""
        self.capsys.readouterr()
        code = main(["split", "--directory", str(self.repo.path / self.folder), *arguments])
        said = self.capsys.readouterr()
        assert "Traceback" not in said.err, said.err
        return Ended(code=code, out=said.out, err=said.err)

    def run_json(self, *arguments: str) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.run(*arguments, "--format", "json").out)

    def subjects(self, span: str) -> list[str]:
        """The subjects of a range, oldest first."""
        return self.repo.git("log", "--reverse", "--format=%s", span).splitlines()

    def commits(self, span: str) -> list[str]:
        return self.repo.git("rev-list", "--reverse", span).split()

    def show(self, name: str) -> str:
        return self.repo.git("show", name)

    def changed(self, revision: str) -> list[str]:
        return self.repo.git("show", "--format=", "--name-only", "-z", revision).split("\0")[:-1]

    def accepted(self, span: str) -> Iterator[bool]:
        """Of each commit whether uv takes its lockfile as it is, in a clone beside it."""
        clone = self.repo.path.parent / "clone"
        if not clone.exists():
            self.repo.git("clone", "--quiet", str(self.repo.path), str(clone))
        other = RepoBuilder(clone)
        for commit in self.commits(span):
            other.git("fetch", "--quiet", str(self.repo.path), commit)
            other.git("checkout", "--quiet", "--detach", commit)
            project = str(clone / (self.folder or "."))
            command = [UV, "sync", "--locked", "--dry-run", "--quiet", "--project", project]
            yield other.run(command, check=False).returncode == 0


def build(
    top: Path, capsys: pytest.CaptureFixture[str], *, name: str = "repo", folder: str = ""
) -> SplitLab:
    """Python, framework and packages, in two states each; the first is committed."""
    repo = RepoBuilder.create(top / name)
    made = SplitLab(repo=repo, index=top / "index", capsys=capsys, folder=folder)
    for version in ("1.0", "2.0", "3.0"):
        made.wheel("torch", version, f"nvidia-cublas=={version}")
        made.wheel("nvidia-cublas", version)
        made.wheel("wick", version)
        made.wheel("flint", version)
    repo.write(".gitignore", ".venv/\n")
    made.lock(*BEFORE)
    repo.commit("one")
    return made


BEFORE = ("torch<2", "wick<2", "flint<2")
AFTER = ("torch<3", "wick<3", "flint<3")
NEWER_PYTHON = ">=3.11.1"
