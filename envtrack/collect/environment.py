"""Which folder is the project's environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# What `uv tool install` and pipx leave in the environments they make for a tool.
_TOOL_MARKS = ("uv-receipt.toml", "pipx_metadata.json")


def find_environment(environ: Mapping[str, str], lockfile_dir: Path) -> Path | None:
    """The environment that belongs to a lockfile, in the order in which uv decides.

    ``UV_PROJECT_ENVIRONMENT`` (whether the folder is there or not: it was named), then ``.venv``
    beside the lockfile, then the active ``VIRTUAL_ENV``, then the active ``CONDA_PREFIX``. The
    environment in which envtrack itself runs is never taken for want of another one, and an active
    one that was made for a tool, such as envtrack, is passed over.

    Args:
        environ: environment variables.
        lockfile_dir: the lockfile's folder; a relative ``UV_PROJECT_ENVIRONMENT`` starts there.
    """
    if named := environ.get("UV_PROJECT_ENVIRONMENT"):
        return lockfile_dir / named
    beside = lockfile_dir / ".venv"
    if _is_folder(beside):  # a file of that name holds the path of one elsewhere, for other tools
        return beside
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        active = Path(environ.get(name, ""))
        if active.is_absolute() and _is_folder(active) and not _is_tool_environment(active):
            return active
    return None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # it is there, but not for us: the collectors say so
        return True


def _is_tool_environment(folder: Path) -> bool:
    try:
        return any((folder / mark).exists() for mark in _TOOL_MARKS)
    except OSError:
        return False
