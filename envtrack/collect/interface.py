"""What a collector may look at, and what every collector is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from envtrack.model.fact import Fact
from envtrack.model.snapshot import InstalledPackage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envtrack.model.layer import Layer

Record: TypeAlias = Fact | InstalledPackage


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """All that a collector may look at: it asks neither the process nor the clock.

    Attributes:
        root: the root of the file system; another folder for an unpacked image, or a test.
        environ: environment variables.
        environment: the folder of the project's environment (`find_environment`); ``None`` if it
            has none.
        project: the folder in which the lockfile stands.
        home: the home folder of the person at work.
        salt: the repository's key for hashes of what may not be shown; empty: changes of hidden
            values stay invisible.
    """

    root: Path
    environ: Mapping[str, str]
    environment: Path | None
    project: Path
    home: Path
    salt: str = ""

    @property
    def is_this_one(self) -> bool:
        """Whether it is the running machine, so that system calls may be asked as well as files."""
        return self.root == Path("/")


class Collector(Protocol):
    """Looks at one layer.

    Files only: no subprocess, no import of what is looked at. What can't be read is an `Unknown`
    with its reason, not an exception; an `OSError` that escapes is made one by `take_snapshot`.
    """

    @property
    def layer(self) -> Layer:
        """The layer that its facts belong to; their names begin with it."""
        ...

    def collect(self, machine: Machine) -> Iterable[Record]:
        """What is there now; a fact as `Fact`, a distribution as `InstalledPackage`."""
        ...
