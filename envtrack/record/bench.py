"""Where records are read and written: one lockfile of one repository, on one machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.collect.environment import find_environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from envtrack.git.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where records are read: one lockfile of one repository, on one machine.

    Attributes:
        repository: the repository.
        lockfile: its path from the top level.
        machine: the machine whose records are meant.
        here: the name of the machine that this is.
        salt: the repository's key for what may not be shown.
        environ: environment variables.
    """

    repository: Repository
    lockfile: str
    machine: str
    here: str
    salt: str
    environ: Mapping[str, str]

    @property
    def lockfile_folder(self) -> Path:
        """The folder in which the lockfile stands."""
        return (self.repository.root / self.lockfile).parent

    def find_environment(self) -> Path | None:
        """The folder of the environment that belongs to the lockfile."""
        return find_environment(self.environ, self.lockfile_folder)
