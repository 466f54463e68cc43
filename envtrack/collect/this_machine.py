"""The machine we run on, with its real doors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.ask import Programs
from envtrack.collect.environment import find_environment
from envtrack.collect.interface import Machine
from envtrack.collect.nvml import NvmlLibrary
from envtrack.collect.take import DEEP_LIMIT_S, LIMIT_S

if TYPE_CHECKING:
    from collections.abc import Mapping

# Programs that hang have to be given up before the collector that asked them is: what it has read
# elsewhere would be lost with it.
_MARGIN_S = 0.7


def this_machine(
    environ: Mapping[str, str],
    project: Path,
    *,
    salt: str = "",
    deep: bool = False,
    limit_s: float | None = None,
) -> Machine:
    """The running machine, its programs and the NVIDIA driver's library, for one snapshot.

    Args:
        environ: environment variables, without those that git sets for its hooks.
        project: the folder in which the lockfile stands.
        salt: the repository's key for hashes of what may not be shown.
        deep: whether frameworks may be started and asked.
        limit_s: what `take_snapshot` is given; its own default if not given.
    """
    if limit_s is None:
        limit_s = DEEP_LIMIT_S if deep else LIMIT_S
    patience_s = max(limit_s - _MARGIN_S, limit_s / 2)
    ask = Programs(environ, folder=project, limit_s=patience_s)
    return Machine(
        root=Path("/"),
        environ=environ,
        environment=find_environment(environ, project),
        project=project,
        home=Path(environ.get("HOME") or "/nonexistent"),
        salt=salt,
        ask=ask,
        nvml=NvmlLibrary(environ, ask=ask, limit_s=patience_s),
        deep=deep,
    )
