"""A place where nothing of the user's is: a clone of what is committed, an empty home."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envtrack.errors import RigFailed
from envtrack.files import lock_file, remove_tree
from envtrack.git.environ import PLAIN, elsewhere
from envtrack.git.worktree import cache_folder
from envtrack.process import run

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid

_CLONE_S = 1800.0
_LOGIN_S = 20.0
# What says how the terminal, the clock and the network are, and which GPUs a scheduler gave: none
# of it is part of an environment that somebody could have set up and forgotten.
KEPT = (
    "LANG", "LC_ALL", "TERM", "TZ", "USER", "LOGNAME", "TMPDIR", "UV_OFFLINE",
    "UV_PYTHON_DOWNLOADS", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
    "NO_PROXY", "ALL_PROXY", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Site(NamedTuple):
    """Where one trial runs.

    Attributes:
        folder: all that belongs to it.
        tree: the clone.
        home: the new user's home.
        environ: the variables; a trial may add to them.
    """

    folder: Path
    tree: Path
    home: Path
    environ: dict[str, str]


class Machine(NamedTuple):
    """What a new user of this machine has without doing anything.

    Attributes:
        path: the folders on PATH.
        tools: a folder with uv alone in it; first on PATH.
        python: the interpreter that uv takes here; empty: whatever uv finds or fetches.
        caches: variables that say where caches are.
        keep: further variables that the project says a user must have.
    """

    path: tuple[str, ...]
    tools: Path
    python: str
    caches: Mapping[str, str]
    keep: tuple[str, ...]


def read_login_path(environ: Mapping[str, str], home: Path) -> tuple[str, ...]:
    """The PATH of a new user's first login on this machine.

    That is what a login shell says with an empty home, and what the container was started with:
    `sh -l` forgets the PATH that an image sets, and every user of the image has it.

    Args:
        environ: the user's own variables: their order is kept.
        home: an empty folder.
    """
    done = run(
        ("sh", "-lc", 'printf "\\n%s" "$PATH"'),
        timeout_s=_LOGIN_S,
        env={"HOME": str(home), "PATH": _DEFAULT_PATH},
        cwd=home,
        check=False,
    )
    said = done.text.rpartition("\n")[2] if done.code == 0 else _DEFAULT_PATH
    entries = [*said.split(os.pathsep), *_read_first_path().split(os.pathsep)]
    theirs = {entry for entry in entries if Path(entry).is_absolute()}
    own = environ.get("PATH", "").split(os.pathsep)
    ordered = [entry for entry in own if entry in theirs] + entries
    return tuple(dict.fromkeys(entry for entry in ordered if entry in theirs))


def _read_first_path() -> str:
    """The PATH that the machine's first process was given; empty where that can't be read."""
    try:
        raw = Path("/proc/1/environ").read_bytes()
    except OSError:
        return ""
    pairs = (pair.partition(b"=") for pair in raw.split(b"\0"))
    return next((os.fsdecode(value) for name, _, value in pairs if name == b"PATH"), "")


def make_environ(
    machine: Machine, environ: Mapping[str, str], home: Path, *, is_cold: bool
) -> dict[str, str]:
    """The short list of variables that a trial starts with."""
    kept = {name: environ[name] for name in (*KEPT, *machine.keep) if name in environ}
    kept.update(
        {
            "HOME": str(home),
            "PATH": os.pathsep.join((str(machine.tools), *machine.path)),
            "SHELL": "/bin/sh",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }
    )
    if not is_cold:
        kept.update(machine.caches)
        kept.update({"UV_PYTHON": machine.python} if machine.python else {})
    return kept


def find_caches(environ: Mapping[str, str]) -> dict[str, str]:
    """Where this user's uv and pip keep what they have fetched, as variables that say so."""
    home = Path(environ.get("HOME") or Path.home())
    base = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    data = Path(environ.get("XDG_DATA_HOME") or home / ".local/share")
    found = {
        "UV_CACHE_DIR": environ.get("UV_CACHE_DIR") or str(base / "uv"),
        "PIP_CACHE_DIR": environ.get("PIP_CACHE_DIR") or str(base / "pip"),
    }
    pythons = environ.get("UV_PYTHON_INSTALL_DIR") or str(data / "uv/python")
    if Path(pythons).is_dir():
        found["UV_PYTHON_INSTALL_DIR"] = pythons
    return found


@contextlib.contextmanager
def open_workshop(repository: Repository) -> Iterator[Path]:
    """A scratch folder that goes away again, together with those that a crash has left.

    Raises:
        RigFailed: it can't be made.
    """
    base = cache_folder(repository.environ, repository.root) / "verify"
    base.mkdir(parents=True, exist_ok=True)
    _sweep(base)
    # Short: paths of sockets and of `#!` lines have their limits.
    folder = base / secrets.token_hex(3)
    guard = base / f"{folder.name}.lock"
    with lock_file(guard, wait_s=0.0, busy=f"{folder} is in use"):
        try:
            folder.mkdir()
            yield folder
        finally:
            remove_tree(folder)
            guard.unlink(missing_ok=True)


def _sweep(base: Path) -> None:
    for guard in base.glob("*.lock"):
        with (
            contextlib.suppress(RigFailed),
            lock_file(guard, wait_s=0.0, busy="it is in use"),
        ):
            remove_tree(base / guard.stem)
            guard.unlink(missing_ok=True)


def make_site(repository: Repository, workshop: Path, environ: dict[str, str]) -> Site:
    """A clone with nothing checked out beside an empty home.

    Args:
        repository: whose.
        workshop: where; it gets a folder of its own.
        environ: the variables of the trial; HOME is set.

    Raises:
        CommandFailed: git can't clone.
    """
    folder = workshop / f"{time.monotonic_ns():x}"
    tree, home = folder / repository.root.name, folder / "home"
    home.mkdir(parents=True)
    source = str(repository.common_dir)
    # Our own git configuration counts for this step alone: it may be what lets us read the
    # repository at all (safe.directory). What it says of the files does not: no checkout yet.
    run(
        ("git", *PLAIN, "clone", "--quiet", "--no-checkout", "--shared", "--template=",
         source, str(tree)),
        timeout_s=_CLONE_S,
        env=elsewhere(repository.environ),
    )  # fmt: skip
    site = Site(folder=folder, tree=tree, home=home, environ={**environ, "HOME": str(home)})
    origin = repository.git("config", "--get", "remote.origin.url", check=False).line
    if origin:
        # Relative submodules start there.
        run(
            ("git", "remote", "set-url", "--", "origin", origin),
            timeout_s=_LOGIN_S, env=site.environ, cwd=tree,
        )  # fmt: skip
    return site


def check_out(site: Site, commit: Oid) -> None:
    """Fills the clone, by the new user's own git configuration: filters of ours are not there.

    Raises:
        CommandFailed: git can't.
    """
    run(
        ("git", *PLAIN, "checkout", "--quiet", "--detach", commit.hex),
        timeout_s=_CLONE_S,
        env=site.environ,
        cwd=site.tree,
    )
