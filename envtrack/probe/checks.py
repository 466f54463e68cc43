"""The named checks of a smoke test: what it says of them, and how one is asked for alone.

A smoke test that has names writes a report to the file that ``ENVTRACK_SMOKE_REPORT`` names:
``{"schema": 1, "environment": {}, "checks": [{"name", "verdict", "seconds", "said"}], "values":
{}}``. It runs only the check that ``ENVTRACK_SMOKE_CHECK`` names, and ends with 125 if it has none
of that name.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from pathlib import Path

REPORT = "ENVTRACK_SMOKE_REPORT"
_ONE = "ENVTRACK_SMOKE_CHECK"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)
_VERDICTS = frozenset({"good", "bad", "skipped"})


class Check(NamedTuple):
    """What one check came to.

    Attributes:
        name: its name.
        verdict: ``good``, ``bad`` or ``skipped``.
        seconds: how long it took.
        said: why it is bad.
    """

    name: str
    verdict: str
    seconds: float
    said: str


class Report(NamedTuple):
    """What a smoke test says of itself.

    Attributes:
        checks: in the order in which they ran.
        environment: versions by name.
        values: the values that can be recorded, by name.
    """

    checks: tuple[Check, ...] = ()
    environment: dict[str, str] = {}  # noqa: RUF012 - never written to
    values: dict[str, float] = {}  # noqa: RUF012


def ask_for_one(command: str, check: str) -> str:
    """The smoke test that runs one check only.

    Raises:
        UsageProblem: that can't be the name of a check.
    """
    if not _NAME.fullmatch(check):
        raise UsageProblem(f"--check {check}: a name has letters, digits, `.`, `_` and `-`")
    return f"export {_ONE}={shlex.quote(check)}; {command}"


def read_report(path: Path) -> Report | None:
    """What a smoke test wrote; ``None`` if it has no named checks, or its report can't be read."""
    try:
        document = json.loads(path.read_text("utf-8"))
        checks = tuple(
            Check(str(row["name"]), str(row["verdict"]), float(row["seconds"]), str(row["said"]))
            for row in document["checks"]
        )
        environment = {str(name): str(value) for name, value in document["environment"].items()}
        values = {str(name): float(value) for name, value in document["values"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if any(check.verdict not in _VERDICTS for check in checks):
        return None
    return Report(checks, environment, values)
