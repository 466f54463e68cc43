"""Processes that a killed run has left behind."""

from __future__ import annotations

import json
from pathlib import Path

from envtrack.probe.bounded import birth_of
from envtrack.process import kill_group


def end_leftovers(logs: Path) -> None:
    """Kills the process groups of bounded commands whose watcher was killed with SIGKILL.

    Only those that are surely ours: the process that leads the group was born when we started it.
    """
    for marker in logs.glob("*/running"):
        try:
            document = json.loads(marker.read_text())
            pid, born = int(document["pid"]), str(document["born"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if born and birth_of(pid) == born:
            kill_group(pid)
        marker.unlink(missing_ok=True)
