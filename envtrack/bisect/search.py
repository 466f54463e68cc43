"""The search: both ends, ``git bisect run`` over lockfile commits, then the commits between."""

from __future__ import annotations

from dataclasses import dataclass, replace

from envtrack.bisect.alike import has_same_environment
from envtrack.bisect.attribution import cross
from envtrack.bisect.flaky_ends import judge_ends, probe_ends
from envtrack.bisect.git_search import search_with_git
from envtrack.bisect.rig import Rig
from envtrack.git.repository import Repository
from envtrack.model.answer import Outcome
from envtrack.model.attribution import Crossed
from envtrack.model.oid import Oid
from envtrack.model.verdict import Observation, Verdict
from envtrack.probe.plan import Hold


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
        crossed: what its two halves come to apart, where it changes both.
        is_same_environment: both ends install the same.
        turned_back: a bad commit and a good one that comes after it, where that was seen.
    """

    outcome: Outcome
    candidates: int = 0
    first_bad: Oid | None = None
    predecessor: Oid | None = None
    possible: tuple[Oid, ...] = ()
    ends: tuple[Observation, ...] = ()
    in_code: bool = False
    crossed: Crossed | None = None
    is_same_environment: bool = False
    turned_back: tuple[Oid, Oid] | None = None


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
    if rig.plan.hold is Hold.ENV:
        commits = ()
    found = _find(rig, repository, bad, has_lock_commits=bool(commits))
    return replace(
        found,
        candidates=len(commits or repository.list_commits(good, bad)),
        ends=ends,
        is_same_environment=rig.plan.hold is None and has_same_environment(rig, good, bad),
        turned_back=_find_turn_back(rig, repository),
    )


def _find_turn_back(rig: Rig, repository: Repository) -> tuple[Oid, Oid] | None:
    """A bad commit and a good one that contains it: the history turned more than once."""
    seen = {one.commit: _verdict(one) for one in rig.list_seen()}
    goods = _goods(rig)
    bads = [commit for commit, verdict in seen.items() if verdict is Verdict.BAD]
    pairs = ((bad, good) for bad in bads for good in sorted(goods))
    return next((pair for pair in pairs if repository.is_ancestor(*pair)), None)


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
    ended = search_with_git(rig, bad, (Oid(rig.plan.good),), rig.plan.paths)
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
    return _conclude(rig, repository, search_with_git(rig, bad, goods, ()).earliest_bad)


def _conclude(rig: Rig, repository: Repository, bad: Oid) -> Found:
    """What is left at or below a bad commit: one, or several.

    A commit is only named if it was tried itself, and every parent of it, too.
    """
    left = _between(rig, repository, bad, rig.plan.paths if rig.plan.hold is Hold.CODE else ())
    if len(left) != 1:
        return Found(outcome=Outcome.SEVERAL, possible=left)
    trusted = {Oid(rig.plan.good), Oid(rig.plan.bad)} if rig.plan.trust_ends else set()
    if bad not in trusted and _verdict(rig.probe(bad)) is not Verdict.BAD:
        return Found(outcome=Outcome.SEVERAL, possible=left)
    parents = repository.read_commit(bad).parents
    for parent in parents:
        if parent in trusted:
            continue
        verdict = _verdict(rig.probe(parent))
        if verdict is Verdict.BAD:
            # git had taken it for good: it lies below a good commit, or on a branch of its own.
            return _search_below(rig, repository, parent, bad)
        if verdict is not Verdict.GOOD:
            return Found(outcome=Outcome.SEVERAL, possible=(parent, bad))
    in_code = not _touches(repository, bad, rig.plan.paths)
    crossed = None
    if parents and not in_code and rig.plan.hold is None:
        crossed = cross(rig, repository, parents[0], bad)
    return Found(
        outcome=Outcome.FOUND,
        first_bad=bad,
        predecessor=parents[0] if parents else None,
        in_code=in_code,
        crossed=crossed,
    )


def _search_below(rig: Rig, repository: Repository, bad: Oid, child: Oid) -> Found:
    """The first bad commit at or below one that was taken for good."""
    if _known_goods(rig, repository, bad):
        return _search_code(rig, repository, bad)
    # Nothing good is known below it: it may have been bad for ever, and its child have lacked the
    # repair that the good end has.
    return Found(outcome=Outcome.SEVERAL, possible=(bad, child))


def _goods(rig: Rig) -> set[Oid]:
    """The good end and every commit that was found good."""
    found = {seen.commit for seen in rig.list_seen() if _verdict(seen) is Verdict.GOOD}
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
    # Good ones above it say nothing of what lies below it: the history has turned in between.
    goods = sorted(good for good in _goods(rig) if not repository.is_ancestor(bad, good))
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
