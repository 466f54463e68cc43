"""What is said of an answer's limits: code or environment, and histories that turn back."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.bisect.search import Found
from envtrack.git.repository import Repository
from envtrack.model.answer import Outcome
from envtrack.model.attribution import Attribution
from envtrack.model.oid import Oid
from envtrack.probe.plan import Hold, Plan


def note_limits(repository: Repository, plan: Plan, found: Found) -> Iterator[str]:
    """What the reader must know about how far to trust a search, a line each."""
    bad = Oid(plan.bad).short
    if plan.hold is Hold.CODE:
        yield f"the code is held as at {bad}: this is about environments alone"
    if plan.hold is Hold.ENV:
        yield f"the environment is held as at {bad}: this is about code alone"
    if found.is_same_environment:
        yield "both ends install the same: what broke it is in the code (or below the lockfile)"
    if found.turned_back is not None:
        early, late = (
            f"{commit.short} ({repository.read_commit(commit).subject})"
            for commit in found.turned_back
        )
        yield (
            f"this history turns more than once: {early} is bad, and {late} after it is good; "
            "what is named here is one of its turns"
        )


def hint_at_halves(plan: Plan, found: Found) -> Iterator[str]:
    """Searches that tell code from environment where this one did not."""
    good, bad = Oid(plan.good).short, Oid(plan.bad).short
    if plan.hold is not None:
        if found.outcome is Outcome.GOOD_END_FAILS:
            other = "env" if plan.hold is Hold.CODE else "code"
            yield (
                f"the half that is held at {bad} fails by itself: `envtrack bisect {good} {bad} "
                f"--hold {other}` searches it"
            )
        return
    if found.is_same_environment and not found.in_code:
        yield f"envtrack bisect {good} {bad} --hold env   # searches the code alone"
    if found.crossed is not None and found.crossed.attribution is Attribution.UNKNOWN:
        yield (
            f"envtrack bisect {good} {bad} --hold code   # searches environments alone; "
            "`--hold env` the code"
        )
