"""A repository with envtrack's hooks in it, and questions that tests ask of it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import envtrack
from envtrack.git.hooks import install_hooks
from envtrack.git.repository import open_repository
from tests.support.repo import RepoBuilder

SOURCE = Path(envtrack.__file__).parents[1]
RECORD = ".envtrack/snapshots/testbed/uv.lock.json"


def write_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, errors="surrogateescape")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def make_python(path: Path, mark: Path, *, before: str = "") -> Path:
    """A Python that finds envtrack, and leaves a line in `mark` each time it is started.

    What `before` says is done in the shell that becomes it.
    """
    return write_script(
        path,
        "#!/bin/sh\n"
        f'echo "$4" >>{shlex.quote(str(mark))}\n'
        f"{before}\n"
        f'PYTHONPATH={shlex.quote(str(SOURCE))} exec {shlex.quote(sys.executable)} "$@"\n',
    )


def install(repo: RepoBuilder, python: Path) -> None:
    install_hooks(open_repository(repo.path, dict(os.environ)), interpreter=str(python))


@dataclass(frozen=True, slots=True)
class Hooked:
    """A repository whose hooks are ours."""

    repo: RepoBuilder
    python: Path
    mark: Path

    @classmethod
    def create(cls, repo: RepoBuilder, folder: Path) -> Hooked:
        mark = folder / "mark"
        python = make_python(folder / "python", mark)
        install(repo, python)
        return cls(repo=repo, python=python, mark=mark)

    def at(self, path: Path) -> Hooked:
        """The same for another working tree."""
        return Hooked(repo=RepoBuilder(path), python=self.python, mark=self.mark)

    def starts(self) -> list[str]:
        """How the hooks' Python was started so far."""
        return self.mark.read_text().split() if self.mark.exists() else []

    def lock(self, text: str, path: str = "uv.lock") -> None:
        """Writes a lockfile and stages it."""
        self.repo.write(path, text)
        self.repo.git("add", path)

    def commit(self, *arguments: str) -> str:
        """What git said on stderr."""
        return self.repo.run(["git", "commit", "--quiet", "-m", "change", *arguments]).stderr

    def lock_commit(self, text: str, path: str = "uv.lock") -> str:
        self.lock(text, path)
        self.commit()
        return self.repo.head()

    def changed(self, revision: str = "HEAD") -> list[str]:
        """The paths that a commit changes."""
        return self.repo.git("show", "--format=", "--name-only", revision).split("\n")

    def record(self, revision: str = "HEAD", path: str = RECORD) -> dict[str, Any]:
        """The record in a commit (or in the index, with an empty revision)."""
        loaded = json.loads(self.repo.git("show", f"{revision}:{path}"))
        assert isinstance(loaded, dict)
        return loaded

    def belongs(
        self, revision: str = "HEAD", lockfile: str = "uv.lock", path: str = RECORD
    ) -> bool:
        """Whether the record of a commit names the lockfile of that commit."""
        blob = self.repo.git("rev-parse", f"{revision}:{lockfile}")
        return bool(self.record(revision, path)["lockfile"] == {"path": lockfile, "blob": blob})

    def has(self, revision: str, path: str = RECORD) -> bool:
        return bool(self.repo.git("ls-tree", "--name-only", revision, path))

    def notes(self, revision: str = "HEAD") -> list[dict[str, Any]]:
        """What is said of a commit in our notes."""
        said = self.repo.git("notes", "--ref=envtrack", "show", revision, check=False)
        return [json.loads(line) for line in said.splitlines()]

    def noted(self) -> list[str]:
        """The commits of which something is said in our notes."""
        listed = self.repo.git("notes", "--ref=envtrack", "list", check=False)
        return [line.split()[1] for line in listed.splitlines()]

    def install(self, folder: str = ".venv", **versions: str) -> Path:
        """An environment with these packages and no others; where they are."""
        environment = self.repo.path / folder
        site = environment / "lib/python3.11/site-packages"
        shutil.rmtree(environment, ignore_errors=True)
        for name, version in versions.items():
            info = site / f"{name}-{version}.dist-info"
            info.mkdir(parents=True)
            info.joinpath("METADATA").write_text(f"Name: {name}\nVersion: {version}\n\n")
        site.mkdir(parents=True, exist_ok=True)
        environment.joinpath("pyvenv.cfg").write_text("home = /usr/bin\nversion_info = 3.11.7\n")
        exclude = self.repo.path / ".git/info/exclude"
        if exclude.parent.is_dir():
            exclude.write_text(".venv\n")
        return site

    def status(self) -> str:
        return self.repo.git("status", "--porcelain")
