"""Whether a failed smoke test failed as at the bad end."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from envtrack.errors import UsageProblem
from envtrack.files import write_whole
from envtrack.model.verdict import Judgement, Observation, Verdict
from envtrack.probe.bench import Bench, Notes, read_output
from envtrack.probe.fingerprint import (
    Fingerprint,
    Hunted,
    find_fingerprint,
    tell_difference,
)
from envtrack.probe.plan import SessionFiles

_KEPT = "fingerprint.json"


def tell_failures_apart(bench: Bench, notes: Notes, judgement: Judgement) -> Judgement:
    """The judgement, `different` where it is bad in another way than the hunted failure.

    Its fingerprint is kept beside its log. Before the bad end was seen nothing is hunted yet.
    """
    if judgement.verdict is not Verdict.BAD:
        return judgement
    output = read_output(notes.path / "smoke.log")
    seen = find_fingerprint(
        output,
        kind=judgement.kind,
        code=judgement.exit_code,
        top=str(bench.tree.top),
        outside=str(bench.environment),
    )
    write_whole(notes.path / _KEPT, json.dumps(seen._asdict()))
    if bench.plan.condition.invert and notes.commit == bench.plan.good:
        # What was fixed is how the older end fails.
        _remember(bench.files, notes.path / _KEPT)
    hunted = _read_hunted(bench)
    other = "" if hunted is None else tell_difference(hunted, seen, output)
    if not other:
        return judgement
    reason = f"it fails otherwise: {other}"
    return replace(judgement, verdict=Verdict.DIFFERENT, kind="different", reason=reason)


def _read_hunted(bench: Bench) -> Hunted | None:
    if bench.plan.any_failure:
        return None
    if bench.plan.match:
        return Hunted(Fingerprint(kind=""), match=bench.plan.match)
    path = bench.files.hunted
    return Hunted(_parse(path)) if path.is_file() else None


def hunt(files: SessionFiles, seen: Observation) -> None:
    """From now on failures are told apart from this one, if it is one.

    Args:
        files: the session's.
        seen: what was seen at the bad end.
    """
    if seen.log:
        _remember(files, Path(seen.log) / _KEPT)


def _remember(files: SessionFiles, path: Path) -> None:
    if path.is_file() and not files.hunted.is_file():
        write_whole(files.hunted, path.read_text("utf-8"))


def _parse(path: Path) -> Fingerprint:
    try:
        document = json.loads(path.read_text("utf-8"))
        return Fingerprint(**{**document, "tests": tuple(document["tests"])})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageProblem(f"{path}: not a failure's fingerprint: {error}") from error
