"""A guilty commit that changes code and environment: which of the two it is."""

from __future__ import annotations

from typing import Final

from envtrack.bisect.rig import Rig
from envtrack.culprit.crossings import attribute
from envtrack.culprit.said import Said
from envtrack.git.repository import Repository
from envtrack.model.attribution import Crossed
from envtrack.model.oid import Oid
from envtrack.model.paths import is_snapshot
from envtrack.model.verdict import Judgement, Observation, Verdict
from envtrack.probe.crossing import Crossing

_SAYS: Final = {Verdict.BAD: Said.FAILS, Verdict.GOOD: Said.PASSES}


def cross(rig: Rig, repository: Repository, before: Oid, after: Oid) -> Crossed | None:
    """What the two crossings of a bad commit with its good predecessor say.

    Returns:
        ``None`` where there is nothing to cross: the commit leaves the code alone.

    Raises:
        RigFailed: the rig failed; nothing is said about them.
    """
    ours = {*rig.plan.paths, *rig.plan.smoke_files}
    done = repository.git("diff-tree", "-r", "--name-only", "-z", before.hex, after.hex)
    if all(path in ours or is_snapshot(path) for path in done.fields):
        return None
    environment = rig.probe_crossing(Crossing(code=before, env=after))
    code = rig.probe_crossing(Crossing(code=after, env=before))
    said = [_judgement(seen) for seen in (environment, code)]
    return Crossed(
        attribution=attribute(
            environment_alone=_SAYS.get(said[0].verdict, Said.UNRESOLVED),
            code_alone=_SAYS.get(said[1].verdict, Said.UNRESOLVED),
        ),
        environment_alone=said[0],
        code_alone=said[1],
        logs=(environment.log, code.log),
    )


def _judgement(seen: Observation) -> Judgement:
    assert seen.judgement is not None  # noqa: S101 - a rig only gives finished probes
    return seen.judgement
