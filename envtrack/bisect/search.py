"""The search: both ends, ``git bisect run`` over lockfile commits, then the commits between."""

from __future__ import annotations

from dataclasses import dataclass

from envtrack.bisect.rig import Rig
from envtrack.git.repository import Repository
from envtrack.model.answer import Outcome
from envtrack.model.oid import Oid
from envtrack.model.verdict import Observation, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search came to.

    Attributes:
        outcome: how it ended.
        first_bad: the culprit, for `FOUND`.
        predecessor: its good parent.
        possible: for `SEVERAL`, oldest first.
        candidates: how many commits could have been it.
        ends: what was seen at the good and the bad end; empty if they were trusted.
        in_code: the culprit is a commit that left the lockfile and its project files alone.
    """

    outcome: Outcome
    candidates: int
    first_bad: Oid | None = None
    predecessor: Oid | None = None
    possible: tuple[Oid, ...] = ()
    ends: tuple[Observation, ...] = ()
    in_code: bool = False


def search(rig: Rig, repository: Repository) -> Found:
    """The outcome of the whole search; verdicts that are in the store already are not tried again.

    Raises:
        RigFailed: the rig failed; everything learnt so far is kept.
    """
    good, bad = Oid(rig.plan.good), Oid(rig.plan.bad)
    commits = repository.list_commits(good, bad, rig.plan.paths)
    ends: tuple[Observation, ...] = ()
    if not rig.plan.trust_ends:
        ends = _probe_ends(rig, good, bad)
        outcome = _judge_ends(ends)
        if outcome is not None:
            return Found(outcome=outcome, candidates=len(commits), ends=ends)
    if not commits:
        return _search_code(rig, repository, bad, ends=ends, candidates=0)
    ended = rig.search(bad, (good,), rig.plan.paths)
    if ended.first_bad is None:
        return Found(
            outcome=Outcome.SEVERAL,
            candidates=len(commits),
            possible=tuple(c for c in (*commits, bad) if c in ended.possible),
            ends=ends,
        )
    return _confirm(rig, repository, ended.first_bad, ends=ends, candidates=len(commits))


def _probe_ends(rig: Rig, good: Oid, bad: Oid) -> tuple[Observation, ...]:
    first = rig.probe(good)
    # A stale lockfile at both ends is one fault, not two: so the other end is looked at too.
    if _verdict(first) is Verdict.BAD:
        return (first,)
    return (first, rig.probe(bad))


def _judge_ends(ends: tuple[Observation, ...]) -> Outcome | None:
    verdicts = [_verdict(end) for end in ends]
    if verdicts[0] is Verdict.BAD:
        return Outcome.GOOD_END_FAILS
    if any(verdict not in (Verdict.GOOD, Verdict.BAD) for verdict in verdicts):
        return Outcome.END_UNTESTABLE
    return Outcome.BAD_END_PASSES if verdicts[1] is Verdict.GOOD else None


def _verdict(observation: Observation) -> Verdict:
    assert observation.judgement is not None  # noqa: S101 - the store only gives finished probes
    return observation.judgement.verdict


def _confirm(
    rig: Rig,
    repository: Repository,
    first_bad: Oid,
    *,
    ends: tuple[Observation, ...],
    candidates: int,
) -> Found:
    """Looks at the parents of the commit that git names.

    git looked at commits of the lockfile only: between it and the last good one there may be
    commits that changed the code, and the culprit may be one of those.
    """
    parents = repository.read_commit(first_bad).parents
    good = Oid(rig.plan.good)
    for parent in parents:
        if parent == good:
            continue
        verdict = _verdict(rig.probe(parent))
        if verdict is Verdict.BAD:
            return _search_code(rig, repository, parent, ends=ends, candidates=candidates)
        if verdict is not Verdict.GOOD:
            goods = _known_goods(rig, repository, first_bad)
            between = _between(repository, first_bad, goods)
            return Found(
                outcome=Outcome.SEVERAL, candidates=candidates, possible=between, ends=ends
            )
    return Found(
        outcome=Outcome.FOUND,
        candidates=candidates,
        first_bad=first_bad,
        predecessor=parents[0] if parents else None,
        ends=ends,
        in_code=not _touches(repository, first_bad, rig.plan.paths),
    )


def _search_code(
    rig: Rig,
    repository: Repository,
    bad: Oid,
    *,
    ends: tuple[Observation, ...],
    candidates: int,
) -> Found:
    """Searches all commits below `bad`, whatever they change."""
    ended = rig.search(bad, _known_goods(rig, repository, bad), ())
    if ended.first_bad is None:
        order = repository.list_commits(Oid(rig.plan.good), bad)
        possible = tuple(c for c in order if c in ended.possible)
        return Found(outcome=Outcome.SEVERAL, candidates=candidates, possible=possible, ends=ends)
    parents = repository.read_commit(ended.first_bad).parents
    return Found(
        outcome=Outcome.FOUND,
        candidates=candidates,
        first_bad=ended.first_bad,
        predecessor=parents[0] if parents else None,
        ends=ends,
        in_code=not _touches(repository, ended.first_bad, rig.plan.paths),
    )


def _known_goods(rig: Rig, repository: Repository, below: Oid) -> tuple[Oid, ...]:
    """The good end and every commit below `below` that was found good."""
    goods = {Oid(rig.plan.good)}
    for observation in rig.store.list(rig.plan.id):
        if observation.judgement and observation.judgement.verdict is Verdict.GOOD:
            goods.add(observation.commit)
    return tuple(sorted(c for c in goods if c != below and repository.is_ancestor(c, below)))


def _between(repository: Repository, bad: Oid, goods: tuple[Oid, ...]) -> tuple[Oid, ...]:
    excluded = [f"^{good.hex}" for good in goods]
    done = repository.git("rev-list", "--reverse", "--topo-order", bad.hex, *excluded, "--")
    return tuple(Oid(line) for line in done.text.split())


def _touches(repository: Repository, commit: Oid, paths: tuple[str, ...]) -> bool:
    """Whether a commit changes one of the paths against any of its parents."""
    done = repository.git(
        "--literal-pathspecs", "diff-tree", "-m", "-r", "--root", "--name-only", "-z",
        "--no-commit-id", commit.hex, "--", *paths,
    )  # fmt: skip
    return bool(done.fields)
