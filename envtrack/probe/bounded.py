"""One stage of a probe: a command with a limit, its output in the probe's folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from envtrack.errors import ToolMissing
from envtrack.files import write_whole
from envtrack.git.environ import without_git
from envtrack.process import run_bounded

LIFELINE = "ENVTRACK_LIFELINE"
_NOT_FOUND = 127
# Caches of compiled code that are keyed by too little: they must not outlive the environment.
_CACHES = (
    "NUMBA_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a bounded command ended.

    Attributes:
        code: exit code; negative: killed by that signal; ``None``: it passed its limit.
        seconds: how long it ran.
    """

    code: int | None
    seconds: float


def run_stage(
    probe: Path,
    stage: str,
    command: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str],
    cwd: Path,
) -> Ended:
    """How a command ended; its whole process group is gone then.

    Args:
        probe: the probe's folder; the output goes to ``<stage>.log`` there.
        stage: ``sync`` or ``smoke``.
        command: argument list.
        timeout_s: its limit in seconds.
        env: its environment.
        cwd: where it runs.

    Raises:
        RigFailed: whoever drives the search is gone, or the folder is.
    """
    started = monotonic()
    with (probe / f"{stage}.log").open("ab") as log:
        try:
            code = run_bounded(
                command,
                timeout_s=timeout_s,
                env=env,
                cwd=cwd,
                output=log,
                lifeline=int(os.environ[LIFELINE]) if LIFELINE in os.environ else None,
                on_start=lambda pid: _remember(probe / "running", pid),
            )
        except ToolMissing as error:
            log.write(f"{error.message}\n".encode())
            code = _NOT_FOUND
        if code is None:
            note = f"\nenvtrack: still running after {timeout_s:g} s; killed with all it started\n"
            log.write(note.encode())
    (probe / "running").unlink(missing_ok=True)
    return Ended(code=code, seconds=monotonic() - started)


def _remember(marker: Path, pid: int) -> None:
    # For the case that we are killed with SIGKILL: whoever resumes ends this group first.
    write_whole(marker, json.dumps({"pid": pid, "born": birth_of(pid)}))


def birth_of(pid: int) -> str:
    """When a process was started, in the kernel's own clock ticks; empty where that can't be told.

    Field 22 of ``/proc/<pid>/stat`` (proc(5)); the name in field 2 may hold spaces.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]


def stage_environment(
    environ: Mapping[str, str], *, root: Path, top: Path, caches: Path
) -> dict[str, str]:
    """What uv and the smoke test see: no ``GIT_*``, nothing of ours, the user's tree left alone.

    Args:
        environ: our own environment, as the script has set it up.
        root: the user's tree; in ``PYTHONPATH`` the probe's tree takes its place.
        top: the probe's tree.
        caches: the folder for caches that go away with the environment.
    """
    kept = {n: v for n, v in without_git(environ).items() if not n.startswith("ENVTRACK_")}
    kept.update({name: str(caches / name.lower()) for name in _CACHES})
    if "PYTHONPYCACHEPREFIX" in kept:
        # Byte code is taken for fresh by size and second: two commits can share both.
        kept["PYTHONPYCACHEPREFIX"] = str(caches / "pycache")
    if "PYTHONPATH" in kept:
        entries = kept["PYTHONPATH"].split(os.pathsep)
        kept["PYTHONPATH"] = os.pathsep.join(_moved(entry, root, top) for entry in entries)
    return kept


def _moved(entry: str, root: Path, top: Path) -> str:
    """A folder of the user's tree, by whatever way it is named, as the same folder of the probe's.

    A relative one starts in the probe's tree anyway.
    """
    if not os.path.isabs(entry):  # noqa: PTH117 - an entry may be empty, which Path reads as "."
        return entry
    place, top_of_users = Path(entry).resolve(), root.resolve()
    if not place.is_relative_to(top_of_users):
        return entry
    return str(top / place.relative_to(top_of_users))
