"""The main job on the bundled example, from nothing."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from envtrack.bisect.rig import Watcher
from envtrack.bisect.run import run_session
from envtrack.bisect.session import Wish, make_session
from envtrack.errors import RigFailed
from envtrack.git.repository import open_repository
from envtrack.model.answer import Answer
from envtrack.model.oid import Oid
from envtrack.probe.plan import Plan
from envtrack.resources import find_resource
from envtrack.uv import find_uv

SMOKE = "python smoke.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The example's repository, built.

    Attributes:
        folder: its working tree.
        good: the revision that is known to work.
        commits: how many commits it has.
        lock_commits: how many of them change the lockfile.
    """

    folder: Path
    good: str
    commits: int
    lock_commits: int


def seal(environ: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """An environment for the demo: offline, and nothing outside `scratch` is written.

    Args:
        environ: our own environment.
        scratch: the folder that holds the demo.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(("UV_", "GIT_")) and name not in {"VIRTUAL_ENV", "PYTHONPATH"}
    }
    return {
        **kept,
        "XDG_CACHE_HOME": str(scratch / "cache"),
        # The user's own uv settings name indexes and interpreters that the demo must not meet.
        "XDG_CONFIG_HOME": str(scratch / "config"),
        "UV_CACHE_DIR": str(scratch / "cache" / "uv"),
        "UV_NO_SYSTEM_CONFIG": "1",
        "UV_OFFLINE": "1",
        "UV_PYTHON_DOWNLOADS": "never",
    }


def build_example(scratch: Path, environ: Mapping[str, str]) -> Example:
    """The bundled example, built in `scratch` by its own script.

    Raises:
        RigFailed: it could not be built.
    """
    module = _load(find_resource("example") / "build.py")
    folder = scratch / "lockfile-repo"
    try:
        built = module.build(
            folder,
            uv=str(find_uv(environ)),
            cache=scratch / "cache" / "uv",
            python=sys.executable,
        )
    except module.ExampleError as error:
        raise RigFailed(f"the example can't be built: {error}") from error
    return Example(
        folder=folder, good="demo-good", commits=built.commits, lock_commits=built.lock_commits
    )


def bisect_example(
    example: Example, environ: Mapping[str, str], *, watcher: Watcher, told: dict[Oid, str]
) -> Answer:
    """The answer of an ordinary session on the example; `told` takes what is tried, in words."""
    repository = open_repository(example.folder, environ)
    wish = Wish(
        good=example.good,
        bad="HEAD",
        lockfile="uv.lock",
        smoke=SMOKE,
        smoke_from="",
        listed_files=(),
        settings=Plan.of(uv=str(find_uv(environ)), python=sys.executable, machine="demo"),
    )
    files = make_session(repository, wish, now=datetime.now(UTC))
    return run_session(repository, files, watcher=watcher, told=told)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("envtrack_example", path)
    if spec is None or spec.loader is None:
        raise RigFailed(f"{path}: can't be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
