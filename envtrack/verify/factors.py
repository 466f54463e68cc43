"""What the user has and a new user has not: each thing can be given back on its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from envtrack.model.fresh import HiddenKind
from envtrack.verify.site import KEPT, Site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from envtrack.git.repository import Repository

# What describes a session, and what is the trial's own.
_NEVER = frozenset(
    {"HOME", "PATH", "PWD", "OLDPWD", "SHLVL", "_", "SHELL", "UV_CACHE_DIR", "PIP_CACHE_DIR",
     "UV_PYTHON_INSTALL_DIR", "UV_PYTHON", "UV_PROJECT_ENVIRONMENT"}
)  # fmt: skip
_NEVER_STARTS = ("GIT_", "ENVTRACK_", "SSH_", "XDG_SESSION", "DBUS_", "PYTEST_")
# One folder deeper: what stands below them belongs to many programs.
_OPENED = (".config", ".local", ".local/share")
_LEFT_OUT = frozenset({".cache", ".config", ".local", ".local/share"})
_SHELL_FILES = (
    ".bashrc", ".bash_profile", ".bash_login", ".profile", ".bash_aliases", ".zshrc", ".zshenv",
    ".zprofile", ".kshrc", ".cshrc", ".tcshrc", ".config/fish",
)  # fmt: skip
_GIT_FILES = (".gitconfig", ".config/git", ".git-credentials")
_INDEX_FILES = (".pip", ".pypirc", ".config/pip", ".config/uv", ".netrc", ".condarc")
_COPIED_BYTES = 64 * 2**20


class Factor(NamedTuple):
    """One thing that can be given back.

    Attributes:
        kind: of what kind.
        what: how it is called.
        variable: the variable, with its value; for PATH the entry that is added.
        source: the user's file or folder.
        target: where it goes: from the home or from the clone's top.
    """

    kind: HiddenKind
    what: str
    variable: tuple[str, str] | None = None
    source: Path | None = None
    target: str = ""

    def give(self, site: Site) -> None:
        """Gives it back to a trial."""
        if self.variable is not None:
            name, value = self.variable
            if name == "PATH":
                value = f"{site.environ['PATH']}{os.pathsep}{value}"
            site.environ[name] = value
        if self.what == SYSTEM_GIT:
            site.environ.pop("GIT_CONFIG_NOSYSTEM", None)
        if self.source is not None:
            is_file = self.kind is HiddenKind.FILE
            _place(self.source, (site.tree if is_file else site.home) / self.target, copy=is_file)


SYSTEM_GIT = "/etc/gitconfig"


def list_factors(
    repository: Repository, environ: Mapping[str, str], path: Iterable[str], *, is_cold: bool
) -> tuple[Factor, ...]:
    """Everything that is hidden from a trial, what belongs together side by side.

    Args:
        repository: whose working tree.
        environ: the user's variables.
        path: the folders on a new user's PATH.
        is_cold: whether the caches are hidden too.
    """
    home = Path(environ.get("HOME") or Path.home())
    return (
        *_list_files(repository),
        *_list_variables(environ, home),
        *_list_path(environ, home, frozenset(path)),
        *_list_home(home, repository.root),
        *([Factor(HiddenKind.GIT_CONFIG, SYSTEM_GIT)] if Path(SYSTEM_GIT).exists() else []),
        *(_list_caches(environ) if is_cold else ()),
    )


def _list_variables(environ: Mapping[str, str], home: Path) -> Iterator[Factor]:
    for name, value in sorted(environ.items()):
        if name in _NEVER or name in KEPT or name.startswith(_NEVER_STARTS):
            continue
        kind = HiddenKind.SHELL if find_setting(name, home) else HiddenKind.VARIABLE
        yield Factor(kind, name, variable=(name, value))


def _list_path(environ: Mapping[str, str], home: Path, there: frozenset[str]) -> Iterator[Factor]:
    for entry in dict.fromkeys(environ.get("PATH", "").split(os.pathsep)):
        if not entry or entry in there or not Path(entry).is_dir():
            continue
        is_local = Path(entry).is_relative_to(home / ".local")
        kind = HiddenKind.LOCAL if is_local else HiddenKind.PROGRAM
        yield Factor(kind, show_home(entry, home), variable=("PATH", entry))


def _list_home(home: Path, root: Path) -> Iterator[Factor]:
    for folder in ("", *_OPENED):
        base = home / folder
        for entry in sorted(base.iterdir()) if base.is_dir() else ():
            name = str(entry.relative_to(home))
            # A home that holds the repository would bring the whole working tree back.
            if name not in _LEFT_OUT and not root.is_relative_to(entry):
                kind = _kind_of_home(name)
                yield Factor(kind, f"~/{name}", source=entry, target=name)


def _kind_of_home(name: str) -> HiddenKind:
    if name in _SHELL_FILES:
        return HiddenKind.SHELL
    if name in _GIT_FILES:
        return HiddenKind.GIT_CONFIG
    if name in _INDEX_FILES:
        return HiddenKind.INDEX_CONFIG
    return HiddenKind.LOCAL if name.startswith(".local/") else HiddenKind.HOME


def _list_files(repository: Repository) -> Iterator[Factor]:
    """Files that are not committed, or not as they stand there; environments are left out."""
    others = repository.git("ls-files", "--others", "--directory", "-z").fields
    changed = repository.git("diff", "--name-only", "--diff-filter=d", "-z", "HEAD").fields
    top = repository.root
    for path in dict.fromkeys([*others, *changed]):
        name = path.rstrip("/")
        is_environment = any((top / name / mark).exists() for mark in ("pyvenv.cfg", "conda-meta"))
        if not is_environment and PurePosixPath(name).name != "__pycache__":
            yield Factor(HiddenKind.FILE, name, source=top / name, target=name)


def _list_caches(environ: Mapping[str, str]) -> Iterator[Factor]:
    from envtrack.verify.site import find_caches

    for name, folder in find_caches(environ).items():
        yield Factor(HiddenKind.CACHE, f"{name}={folder}", variable=(name, folder))


def find_setting(name: str, home: Path) -> str:
    """Where the shell's start-up sets a variable, as ``~/.bashrc:3``; empty if nowhere."""
    for file in _SHELL_FILES:
        path = home / file
        try:
            lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
        except OSError:
            continue
        for number, line in enumerate(lines, 1):
            words = line.split("#")[0].replace(";", " ").split()
            if any(word.startswith(f"{name}=") or word == name for word in words):
                return f"~/{file}:{number}"
    return ""


def show_home(path: str, home: Path) -> str:
    """A path as people say it: from ``~`` where it is in the home folder."""
    return f"~/{Path(path).relative_to(home)}" if Path(path).is_relative_to(home) else path


def _place(source: Path, target: Path, *, copy: bool) -> None:
    """A copy, or a link where it is a folder or too large to be copied."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink() or target.exists():
        if not copy or target.is_dir():
            return
        target.unlink()
    if copy and source.is_file() and source.stat().st_size <= _COPIED_BYTES:
        shutil.copy2(source, target)
    else:
        target.symlink_to(source)
