"""The files a smoke test consists of, kept in the session so that no old commit can lose them."""

from __future__ import annotations

import posixpath
import shlex
from dataclasses import dataclass
from pathlib import Path

from envtrack.errors import UsageProblem
from envtrack.files import write_whole
from envtrack.git.repository import Repository
from envtrack.model.oid import Oid


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeFile:
    """One file of the smoke test.

    Attributes:
        name: from the repository's top level, with forward slashes.
        content: bytes.
        is_executable: its mode's bit.
    """

    name: str
    content: bytes
    is_executable: bool


def find_smoke_files(
    repository: Repository,
    command: str,
    *,
    project: str,
    listed: tuple[str, ...],
    source: Oid | None,
    otherwise: Oid,
) -> tuple[SmokeFile, ...]:
    """The files of the smoke test: those that its command names and those that are listed.

    Args:
        repository: whose.
        command: the smoke test, for ``sh -c``; its words that name files count.
        project: the folder, from the top level, in which it runs.
        listed: further files, from the top level (``smoke.files`` of the configuration).
        source: the commit to take them from; ``None``: the working tree as it is.
        otherwise: the commit that has what the working tree has not.

    Raises:
        UsageProblem: a listed file is not there; nothing that the command names is in `source`.
    """

    def read(name: str) -> SmokeFile | None:
        if source is not None:
            return _read_committed(repository, name, source)
        return _read_present(repository, name) or _read_committed(repository, name, otherwise)

    named = _named_files(command, project)
    found = [file for name in named if (file := read(name)) is not None]
    if source is not None and named and not found:
        raise UsageProblem(
            f"{source.short}: has none of the smoke test's files ({', '.join(named)})"
        )
    for name in listed:
        file = read(name)
        if file is None:
            raise UsageProblem(
                f"{name}: this file of the smoke test is not there",
                hint="`--smoke-from REV` takes it from a commit that has it",
            )
        found.append(file)
    return tuple({file.name: file for file in found}.values())


def keep_smoke_files(files: tuple[SmokeFile, ...], folder: Path) -> None:
    """Writes them into a session's folder."""
    for file in files:
        mode = 0o755 if file.is_executable else 0o644
        write_whole(folder / file.name, file.content, mode=mode)


def _named_files(command: str, project: str) -> list[str]:
    """Words of a command that may be paths inside the repository."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    names = []
    for word in words:
        # pytest's own way to name one test of a file.
        path = posixpath.normpath(posixpath.join(project, word.partition("::")[0]))
        if word and not path.startswith(("../", "/", "-")) and path not in {".", ".."}:
            names.append(path)
    return names


def _read_committed(repository: Repository, name: str, commit: Oid) -> SmokeFile | None:
    content = repository.read_file(commit, name)
    if content is None:
        return None
    listed = ("--literal-pathspecs", "ls-tree", "--full-tree", commit.hex, "--", name)
    mode = repository.git(*listed).text[:6]
    return SmokeFile(name=name, content=content, is_executable=mode == "100755")


def _read_present(repository: Repository, name: str) -> SmokeFile | None:
    path = repository.root / name
    try:
        if repository.is_bare or path.is_symlink() or not path.is_file():
            return None
        content, mode = path.read_bytes(), path.stat().st_mode
    except (OSError, ValueError):
        # A word that is no path at all: too long, or with a NUL in it.
        return None
    return SmokeFile(name=name, content=content, is_executable=bool(mode & 0o100))
