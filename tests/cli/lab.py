"""A repository with real uv.lock files over a flat index, and the command line entered by `main`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envtrack.cli.main import main
from envtrack.model.fact import Known
from envtrack.model.oid import Oid
from envtrack.model.snapshot import (
    InstalledPackage,
    LockfileRef,
    Snapshot,
    parse_snapshot,
    render_snapshot,
)
from tests.support.repo import UV, RepoBuilder
from tests.support.wheels import write_wheel

if TYPE_CHECKING:
    import pytest

PROJECT = """\
[project]
name = "lab"
version = "0.1"
requires-python = ">=3.11"
dependencies = [{dependencies}]
[tool.uv]
package = false
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command line ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """A project `lab` that needs `wick`, which needs `flint`; both in two versions."""

    repo: RepoBuilder
    index: Path
    capsys: pytest.CaptureFixture[str]

    def lock(self, *dependencies: str, folder: str = "") -> None:
        """A real lockfile of these requirements."""
        listed = ", ".join(f'"{text}"' for text in dependencies)
        self.repo.write(f"{folder}pyproject.toml", PROJECT.format(dependencies=listed))
        self._uv(folder, "lock", "--upgrade")

    def sync(self) -> None:
        """A real environment of the lockfile."""
        self._uv("", "sync", "--python", sys.executable)

    def _uv(self, folder: str, command: str, *more: str) -> None:
        project = str(self.repo.path / (folder or "."))
        source = ("--no-index", "--find-links", str(self.index))
        self.repo.run([UV, command, "--quiet", "--project", project, *source, *more])

    def blob(self, lockfile: str = "uv.lock") -> Oid:
        return Oid(self.repo.git("hash-object", lockfile))

    def record(
        self,
        machine: str = "testbed",
        *,
        lockfile: str = "uv.lock",
        installed: dict[str, str] | None = None,
        **facts: str,
    ) -> Snapshot:
        """A record that a test makes up, beside the lockfile as it is now; ``_`` for the dot."""
        snapshot = Snapshot(
            machine=machine,
            taken_at="2026-01-02T03:04:05Z",
            facts={
                "packages.environment": Known("<project>/.venv"),
                **{name.replace("_", ".", 1): Known(value) for name, value in facts.items()},
            },
            installed={
                name: InstalledPackage(name=name, version=version)
                for name, version in (installed or {}).items()
            },
            lockfile=LockfileRef(path=lockfile, blob=self.blob(lockfile)),
        )
        path = f".envtrack/snapshots/{machine}/{lockfile}.json"
        self.repo.write(path, render_snapshot(snapshot))
        return snapshot

    def read_record(self, machine: str = "testbed") -> Snapshot:
        path = self.repo.path / f".envtrack/snapshots/{machine}/uv.lock.json"
        return parse_snapshot(path.read_text(), where="record")

    def run(self, *arguments: str) -> Ended:
        """A command line, entered where users enter."""
        self.capsys.readouterr()
        code = main(list(arguments))
        captured = self.capsys.readouterr()
        return Ended(code=code, out=captured.out, err=captured.err)

    def run_json(self, *arguments: str) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.run(*arguments, "--format", "json").out)

    def short(self, revision: str = "HEAD") -> str:
        return self.repo.git("rev-parse", revision)[:10]


def build_lab(repo: RepoBuilder, capsys: pytest.CaptureFixture[str]) -> Lab:
    index = repo.path.parent / "index"
    write_wheel(index, "wick", "1.0", requires=["flint<2"])
    write_wheel(index, "wick", "1.1", requires=["flint>=2"])
    write_wheel(index, "flint", "1.5")
    write_wheel(index, "flint", "2.0")
    repo.write(".gitignore", ".venv/\n")
    return Lab(repo=repo, index=index, capsys=capsys)
