"""Several runs of the smoke test for one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from envtrack.model.verdict import Judgement, Verdict

_RUN_ON = (Verdict.GOOD, Verdict.BAD, Verdict.DIFFERENT)


def judge_repeated(run: Callable[[int], Judgement], *, repeat: int, quorum: int) -> Judgement:
    """The verdict of up to `repeat` runs, in one environment and one tree.

    Bad as soon as `quorum` runs have failed with the hunted failure, good as soon as so many have
    passed that this can't happen any more. A run that says nothing of the commit, or that the rig
    failed, decides at once. Where failures of another kind tip the scales, it is `different`.

    Args:
        run: the n-th run's judgement, from 0.
        repeat: the most runs, at least 1.
        quorum: how many must fail, 1 to `repeat`.
    """
    last: dict[Verdict, Judgement] = {}
    counts: Counter[Verdict] = Counter()
    for number in range(repeat):
        judgement = run(number)
        if repeat == 1 or judgement.verdict not in _RUN_ON:
            return judgement
        last[judgement.verdict] = judgement
        counts[judgement.verdict] += 1
        if counts[Verdict.BAD] >= quorum:
            return _say(last[Verdict.BAD], counts)
        if counts[Verdict.GOOD] > repeat - quorum:
            return _say(last[Verdict.GOOD], counts)
    return _say(last[Verdict.DIFFERENT], counts)


def _say(judgement: Judgement, counts: Counter[Verdict]) -> Judgement:
    """The judgement of one run, with how many said so."""
    said = f"{judgement.reason} ({counts[judgement.verdict]} of {counts.total()} runs)"
    return replace(judgement, reason=said)
