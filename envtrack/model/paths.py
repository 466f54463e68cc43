"""Where things stand in a repository, relative to its top level."""

from __future__ import annotations

FOLDER = ".envtrack"
CONFIG = f"{FOLDER}/config.yaml"
SNAPSHOTS = f"{FOLDER}/snapshots"


def snapshot_path(machine: str, lockfile: str) -> str:
    """The record of one machine beside one lockfile: ``.envtrack/snapshots/<machine>/<path>.json``.

    Args:
        machine: its chosen name or pseudonym.
        lockfile: the lockfile's path from the top level, with forward slashes.
    """
    return f"{SNAPSHOTS}/{machine}/{lockfile}.json"


def is_snapshot(path: str) -> bool:
    """Whether a path is a record, which never changes what an environment is."""
    return path.startswith(f"{SNAPSHOTS}/")
