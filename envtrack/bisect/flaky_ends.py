"""Both ends of a search, each tried at least twice: only what repeats can be searched by halves."""

from __future__ import annotations

from envtrack.bisect.alike import record_alike
from envtrack.bisect.rig import Rig
from envtrack.model.answer import Outcome
from envtrack.model.oid import Oid
from envtrack.model.verdict import Observation, Verdict
from envtrack.probe.failures import hunt

_RUNS = 2
_CLEAR = (Verdict.GOOD, Verdict.BAD)


def probe_ends(rig: Rig, good: Oid, bad: Oid) -> tuple[Observation, ...]:
    """Every run of the good end, then of the bad end.

    An end that can't be tested is tried once; a good end that fails twice ends it. The failure at
    the bad end is the one that is hunted from then on.

    Raises:
        RigFailed: the rig failed; what was seen is kept, and counts when this is called again.
    """
    # A figure is measured several times for one verdict already.
    most = 1 if rig.plan.condition.metric else _RUNS
    goods = _run_end(rig, good, runs=1)
    if _verdict(goods[0]) is Verdict.BAD:
        goods = _run_end(rig, good, runs=most)
        if all(_verdict(seen) is Verdict.BAD for seen in goods):
            return goods
    # A stale lockfile at both ends is one fault, not two: so the other end is looked at too. What
    # can't be installed there can't be installed here, if it is the same.
    record_alike(rig, goods[0], (bad,))
    bads = _run_bad_end(rig, bad, runs=1)
    if all(_verdict(seen) in _CLEAR for seen in (*goods, *bads)):
        bads = _run_bad_end(rig, bad, runs=most)
        goods = _run_end(rig, good, runs=most)
    return (*goods, *bads)


def _run_bad_end(rig: Rig, bad: Oid, *, runs: int) -> tuple[Observation, ...]:
    for number in range(1, runs + 1):
        for seen in _run_end(rig, bad, runs=number):
            hunt(rig.files, seen)
    return _run_end(rig, bad, runs=runs)


def _run_end(rig: Rig, end: Oid, *, runs: int) -> tuple[Observation, ...]:
    """At least so many runs of one end, those of an earlier run of the session among them."""
    while len(seen := list_runs(rig, end)) < runs:
        rig.probe(end, fresh=bool(seen))
    return seen


def list_runs(rig: Rig, commit: Oid) -> tuple[Observation, ...]:
    """Every verdict of this session on one commit, oldest first; the rig's failures are none."""
    return tuple(
        seen
        for seen in rig.store.list(rig.plan.id)
        if seen.commit == commit
        and seen.judgement is not None
        and seen.judgement.verdict is not Verdict.ABORTED
    )


def judge_ends(ends: tuple[Observation, ...], good: Oid) -> Outcome | None:
    """Why the ends can't be searched between; ``None`` if they can.

    Args:
        ends: every run of both.
        good: the good end.
    """
    older = {_verdict(seen) for seen in ends if seen.commit == good}
    newer = {_verdict(seen) for seen in ends if seen.commit != good}
    if older == {Verdict.BAD}:
        return Outcome.GOOD_END_FAILS
    if any(Verdict.GOOD in said and len(said) > 1 for said in (older, newer)):
        return Outcome.FLAKY
    if older != {Verdict.GOOD} or newer not in ({Verdict.GOOD}, {Verdict.BAD}):
        return Outcome.END_UNTESTABLE
    return Outcome.BAD_END_PASSES if newer == {Verdict.GOOD} else None


def _verdict(seen: Observation) -> Verdict:
    assert seen.judgement is not None  # noqa: S101 - `list_runs` gives finished probes only
    return seen.judgement.verdict
