"""Where things stand in a repository, relative to its top level."""

from __future__ import annotations

FOLDER = ".envtrack"
CONFIG = f"{FOLDER}/config.yaml"
POLICIES = f"{FOLDER}/policies"
TRIAGE = f"{FOLDER}/triage"
SNAPSHOTS = f"{FOLDER}/snapshots"

# What lockfiles are called, as git's patterns; of several in one folder the first is meant. The
# pre-commit hook, a shell script, has the same list.
LOCKFILE_NAMES = (
    "uv.lock",
    "pylock.toml",
    "pylock.*.toml",
    "poetry.lock",
    "pdm.lock",
    "Pipfile.lock",
    "pixi.lock",
    "conda-lock.yml",
)
# These may be lockfiles, and often are no more than wishes: they count where there is none else.
LOOSE_NAMES = (
    "requirements.txt",
    "environment.yml",
    "environment.yaml",
    "requirements*.txt",
    "environment*.yml",
    "environment*.yaml",
)


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
