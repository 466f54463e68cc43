"""Builds real git repositories."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

UV = os.fsdecode(find_uv_bin())


@dataclass(frozen=True, slots=True)
class RepoBuilder:
    """A git repository and the few things tests do to one."""

    path: Path

    @classmethod
    def create(cls, path: Path) -> RepoBuilder:
        path.mkdir(parents=True)
        made = cls(path)
        made.git("init", "--quiet")
        return made

    def git(self, *arguments: str, check: bool = True, env: dict[str, str] | None = None) -> str:
        """What git printed on stdout, without the final newline."""
        done = self.run(["git", *arguments], check=check, env=env)
        return done.stdout.removesuffix("\n")

    def run(
        self, command: list[str], *, check: bool = True, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=self.path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            errors="backslashreplace",
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{command} → {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def write(self, name: str, text: str) -> Path:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def commit(self, message: str, *, all_files: bool = True) -> str:
        """The new commit's full name; empty commits are allowed."""
        if all_files:
            self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def uv_lock(self, *arguments: str) -> None:
        """A real `uv lock`."""
        self.run([UV, "lock", "--quiet", *arguments])

    def state(self) -> dict[str, str]:
        """Everything of the user's that no command may change: compare before and after."""
        index = self.path / ".git" / "index"
        return {
            "HEAD": (self.path / ".git" / "HEAD").read_text(),
            "refs": self.git("for-each-ref", "--format=%(refname) %(objectname)"),
            "index": hashlib.sha256(index.read_bytes()).hexdigest() if index.exists() else "",
            "stash": self.git("stash", "list"),
            "worktrees": self.git("worktree", "list", "--porcelain"),
            "config": (self.path / ".git" / "config").read_text(),
            "tree": _digest(self.path),
        }


def _digest(root: Path) -> str:
    """A hash over all names, kinds and contents of a working tree, git's own folder left out."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if relative.parts[0] == ".git":
            continue
        digest.update(os.fsencode(str(relative)) + b"\0")
        if path.is_symlink():
            digest.update(b"link" + os.fsencode(path.readlink()))
        elif path.is_file():
            digest.update(b"file" + path.read_bytes())
    return digest.hexdigest()
