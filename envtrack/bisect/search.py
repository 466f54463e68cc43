"""The search: both ends, ``git bisect run`` over lockfile commits, then the commits between."""

from __future__ import annotations

from dataclasses import dataclass, replace

from envtrack.bisect.flaky_ends import judge_ends, probe_ends
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
        ends: every run of the good end, then of the bad end; empty if they were trusted.
        in_code: the culprit is a commit that left the lockfile and its project files alone.
    """

    outcome: Outcome
    candidates: int = 0
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
        ends = probe_ends(rig, good, bad)
        outcome = judge_ends(ends, good)
        if outcome is not None:
            return Found(outcome=outcome, candidates=len(commits), ends=ends)
    found = _find(rig, repository, bad, has_lock_commits=bool(commits))
    return replace(found, candidates=len(commits or repository.list_commits(good, bad)), ends=ends)


def _verdict(observation: Observation) -> Verdict:
    assert observation.judgement is not None  # noqa: S101 - the store only gives finished probes
    return observation.judgement.verdict


def _find(rig: Rig, repository: Repository, bad: Oid, *, has_lock_commits: bool) -> Found:
    """The first bad commit at or below `bad`.

    git looks at commits of the lockfile first. Between the one it names and the last good one there
    may be commits that changed the code, and the culprit may be one of those, or one that came
    after all commits of the lockfile.
    """
    if not has_lock_commits:
        return _search_code(rig, repository, bad)
    ended = rig.search(bad, (Oid(rig.plan.good),), rig.plan.paths)
    if ended.first_bad is not None:
        return _look_below(rig, repository, ended.first_bad, (ended.first_bad,))
    if not ended.has_skipped:
        return _search_code(rig, repository, bad)
    left = _between(rig, repository, ended.earliest_bad, rig.plan.paths)
    return _look_below(rig, repository, ended.earliest_bad, (*left[:1], ended.earliest_bad))


def _look_below(rig: Rig, repository: Repository, bad: Oid, above: tuple[Oid, ...]) -> Found:
    """The first bad commit at or below `bad`, after a look at the parents of some commits.

    Args:
        rig: the rig.
        repository: whose.
        bad: the earliest commit of the lockfile that is known to be bad.
        above: the commits whose parents may tell more.
    """
    for commit in above:
        for parent in repository.read_commit(commit).parents:
            if _is_taken_for_good(rig, repository, parent):
                continue
            if _verdict(rig.probe(parent)) is Verdict.BAD:
                return _search_code(rig, repository, parent)
    return _conclude(rig, repository, bad)


def _search_code(rig: Rig, repository: Repository, bad: Oid) -> Found:
    """Searches all commits below `bad`, whatever they change."""
    goods = _known_goods(rig, repository, bad)
    if not goods:
        # A branch that was begun before the good end, and merged after it.
        base = repository.find_merge_base(Oid(rig.plan.good), bad)
        if base is None or _verdict(rig.probe(base)) is not Verdict.GOOD:
            return _conclude(rig, repository, bad)
        goods = (base,)
    return _conclude(rig, repository, rig.search(bad, goods, ()).earliest_bad)


def _conclude(rig: Rig, repository: Repository, bad: Oid) -> Found:
    """What is left at or below a bad commit, of all commits: one, or several."""
    left = _between(rig, repository, bad)
    if len(left) != 1:
        return Found(outcome=Outcome.SEVERAL, possible=left)
    parents = repository.read_commit(bad).parents
    return Found(
        outcome=Outcome.FOUND,
        first_bad=bad,
        predecessor=parents[0] if parents else None,
        in_code=not _touches(repository, bad, rig.plan.paths),
    )


def _goods(rig: Rig) -> set[Oid]:
    """The good end and every commit that was found good."""
    seen = rig.store.list(rig.plan.id)
    found = {s.commit for s in seen if s.judgement and s.judgement.verdict is Verdict.GOOD}
    return found | {Oid(rig.plan.good)}


def _known_goods(rig: Rig, repository: Repository, below: Oid) -> tuple[Oid, ...]:
    """Those of them that are below a commit."""
    goods = _goods(rig) - {below}
    return tuple(sorted(good for good in goods if repository.is_ancestor(good, below)))


def _is_taken_for_good(rig: Rig, repository: Repository, commit: Oid) -> bool:
    """Whether git takes it for good: it is an ancestor of a good one, maybe on another branch."""
    return any(repository.is_ancestor(commit, good) for good in _goods(rig))


def _between(
    rig: Rig, repository: Repository, bad: Oid, paths: tuple[str, ...] = ()
) -> tuple[Oid, ...]:
    """The commits of which one is the first bad one, oldest first; those on `paths` if given."""
    goods = sorted(good for good in _goods(rig) if good != bad)
    done = repository.git(
        "--literal-pathspecs", "rev-list", "--reverse", "--topo-order",
        bad.hex, *(f"^{good.hex}" for good in goods), "--", *paths,
    )  # fmt: skip
    return tuple(Oid(line) for line in done.text.split())


def _touches(repository: Repository, commit: Oid, paths: tuple[str, ...]) -> bool:
    """Whether a commit changes one of the paths against any of its parents."""
    done = repository.git(
        "--literal-pathspecs", "diff-tree", "-m", "-r", "--root", "--name-only", "-z",
        "--no-commit-id", commit.hex, "--", *paths,
    )  # fmt: skip
    return bool(done.fields)
