"""Whether the hooks work: a commit in a repository that is made for it and thrown away again.

It has the user's configuration, and of the hooks only envtrack's own, by links to where git looks:
what others put there, or came with the repository, is not started.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from envtrack.errors import CommandFailed, CommandTimedOut, RigFailed
from envtrack.files import write_whole
from envtrack.git.hooks_config import list_configured
from envtrack.process import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envtrack.git.repository import Repository

# What a program has that was not started from a shell.
BARE_PATH: Final = "/usr/bin:/bin"
_TIMEOUT_S: Final = 60.0
_MACHINE: Final = "trial"
_RECORD: Final = f".envtrack/snapshots/{_MACHINE}/uv.lock.json"
_WHO: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "envtrack"), ("EMAIL", "envtrack@localhost"))
}


class Trial(NamedTuple):
    """How a commit of a lockfile went.

    Attributes:
        path: the ``PATH`` it was made with.
        works: whether it carries its record.
        said: what git and the hooks said, one line.
    """

    path: str
    works: bool
    said: str = ""


def try_hooks(repository: Repository, shims: Mapping[str, Path], *, path: str) -> Trial:
    """Makes a commit of a lockfile and looks whether its record is in it.

    Args:
        repository: whose configuration holds.
        shims: envtrack's own, by git's name of the hook.
        path: the ``PATH`` of whoever commits.

    Raises:
        RigFailed: there is no room for a repository.
    """
    git = shutil.which("git", path=repository.environ.get("PATH"))
    if git is None:
        return Trial(path, works=False, said="`git` is not to be found on PATH")
    try:
        with tempfile.TemporaryDirectory(prefix="envtrack-trial-") as scratch:
            # Not below a link: git compares paths.
            top = Path(scratch).resolve()
            _prepare(top, repository, shims, git)
            return _commit(top / "repository", _make_environ(repository.environ, path), git)
    except OSError as error:
        raise RigFailed(f"no repository to try the hooks in: {error.strerror}") from error


def _prepare(top: Path, repository: Repository, shims: Mapping[str, Path], git: str) -> None:
    folder, hooks = top / "repository", top / "hooks"
    hooks.mkdir()
    for name, shim in shims.items():
        hooks.joinpath(name).symlink_to(shim)
    environ = _make_environ(repository.environ, repository.environ.get("PATH", BARE_PATH))
    run((git, "init", "--quiet", "--template=", str(folder)), timeout_s=_TIMEOUT_S, env=environ)
    config = folder / ".git/config"
    found = (repository.common_dir / "config", repository.git_dir / "config.worktree")
    files = "".join(_render("include", path=str(file)) for file in found if file.is_file())
    # What is said last counts: nothing but the hooks may be started, and nothing may lead away.
    core = _render(
        "core",
        bare="false",
        worktree=str(folder),
        hooksPath=str(hooks),
        fsmonitor="false",
        attributesFile="/dev/null",
        sparseCheckout="false",
    )
    commit = _render("commit", gpgSign="false")
    others = "".join(
        _render(f'hook "{_quote(hook.name)}"', enabled="false")
        for hook in list_configured(repository)
        if not hook.is_ours
    )
    write_whole(config, f"{config.read_text('utf-8')}{files}{core}{commit}{others}")
    write_whole(folder / "uv.lock", "version = 1\n")


def _render(section: str, **values: str) -> str:
    """A section of a configuration file."""
    rows = (f'\t{name} = "{_quote(value)}"\n' for name, value in values.items())
    return "".join([f"[{section}]\n", *rows])


def _quote(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _commit(folder: Path, environ: Mapping[str, str], git: str) -> Trial:
    path = environ["PATH"]

    def call(*arguments: str) -> str:
        done = run((git, *arguments), timeout_s=_TIMEOUT_S, env=environ, cwd=folder)
        return done.text or done.error_text

    try:
        call("add", "--force", "uv.lock")
        said = call("commit", "--quiet", "--message", "trial")
        is_recorded = bool(call("ls-tree", "--name-only", "HEAD", _RECORD))
    except (CommandFailed, CommandTimedOut) as error:
        return Trial(path, works=False, said=" ".join(str(error).split()))
    return Trial(path, works=is_recorded, said=" ".join(said.split()))


def _make_environ(environ: Mapping[str, str], path: str) -> dict[str, str]:
    """The user's, without what names a repository or keeps the hooks still."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or name.startswith(("GIT_CONFIG", "GIT_EXEC_PATH"))
    }
    kept.pop("ENVTRACK_HOOK", None)
    return {**kept, **_WHO, "PATH": path, "ENVTRACK_MACHINE": _MACHINE, "GIT_TERMINAL_PROMPT": "0"}
