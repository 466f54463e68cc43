"""The other way round: the older end fails, the newer one passes, and the repair is sought."""

from __future__ import annotations

from dataclasses import replace

from envtrack.model.verdict import Judgement, Verdict

_TURNED = {
    Verdict.GOOD: (Verdict.BAD, "it passes"),
    Verdict.BAD: (Verdict.GOOD, "it still fails"),
}


def turn(judgement: Judgement) -> Judgement:
    """A judgement for a search of what fixed it: what fails is as the good end, what passes not.

    What says nothing of a commit says nothing either way.
    """
    if judgement.verdict not in _TURNED:
        return judgement
    verdict, said = _TURNED[judgement.verdict]
    return replace(judgement, verdict=verdict, reason=f"{said}: {judgement.reason}")
