"""What a search says in the end where it did not go by the exit code alone."""

from __future__ import annotations

from dataclasses import replace

from envtrack.bisect.rig import Rig
from envtrack.bisect.search import Found
from envtrack.git.repository import Repository
from envtrack.model.answer import Answer, Outcome
from envtrack.model.isolation import Isolated, Isolation
from envtrack.model.oid import Oid
from envtrack.model.verdict import Verdict
from envtrack.probe.metric import say_how
from envtrack.probe.plan import Plan, SessionFiles

_LOOKS = ("git show ", "envtrack diff ")
_SAME = {"is to blame": "fixed it", "may be to blame": "may have fixed it"}
_FIRST = {"first bad release": "first release with the repair"}


def settle(rig: Rig, repository: Repository, found: Found) -> Found:
    """The same finding, unless its commit may never have had what was fixed.

    A branch that was begun before the fault came in passes too, without repairing anything. So all
    parents of a repair must have been seen to fail, and it comes after the older end.

    Raises:
        RigFailed: the rig failed; everything learnt so far is kept.
    """
    if not rig.plan.condition.invert:
        return found
    old, new = Oid(rig.plan.good), Oid(rig.plan.bad)
    if found.first_bad is None:
        is_settled = all(repository.is_ancestor(old, commit) for commit in found.possible)
    else:
        parents = repository.read_commit(found.first_bad).parents
        is_settled = all(_still_fails(rig, parent) for parent in parents)
    if is_settled:
        return found
    possible = _list_way(repository, old, new)
    return replace(found, outcome=Outcome.SEVERAL, first_bad=None, possible=possible)


def _still_fails(rig: Rig, commit: Oid) -> bool:
    judgement = rig.probe(commit).judgement
    return judgement is not None and judgement.verdict is Verdict.GOOD


def _list_way(repository: Repository, old: Oid, new: Oid) -> tuple[Oid, ...]:
    """The commits that come after `old` on a way from it to `new`, oldest first."""
    done = repository.git(
        "rev-list", "--reverse", "--topo-order", "--ancestry-path", f"{old.hex}..{new.hex}"
    )
    return tuple(map(Oid, done.text.split()))


def reword(plan: Plan, files: SessionFiles, answer: Answer) -> Answer:
    """The answer in the words of its condition."""
    how = say_how(plan, files)
    if how:
        answer = replace(answer, notes=(*answer.notes, how))
    return _turn(plan, answer) if plan.condition.invert else answer


def _turn(plan: Plan, answer: Answer) -> Answer:
    old, new = Oid(plan.good).short, Oid(plan.bad).short
    match answer.outcome:
        case Outcome.FOUND if answer.culprit is not None:
            commit = answer.culprit.commit
            message = f"{commit.oid.short} fixed it: {commit.subject}"
        case Outcome.SEVERAL:
            message = (
                f"one of {len(answer.possible)} commits fixed it; what lies between could not be"
                " tested, or never had the fault"
            )
        case Outcome.GOOD_END_FAILS:
            message = f"the older end {old} passes already: there is nothing to be fixed"
        case Outcome.BAD_END_PASSES:
            message = f"not fixed: the newer end {new} fails as well"
        case _:
            message = answer.message
    hints = tuple(hint for hint in answer.hints if hint.startswith(_LOOKS))
    return replace(answer, message=message, hints=hints)


def reword_isolation(plan: Plan, isolation: Isolation) -> Isolation:
    """The isolation in the words of its condition."""
    if not plan.condition.invert:
        return isolation
    message = isolation.message
    match isolation.outcome:
        case Isolated.OLD_FAILS:
            message = f"with all packages as in {isolation.before} it passes too: the code fixed it"
        case Isolated.NEW_PASSES:
            message = f"with all packages as in {isolation.after} it fails here too"
        case _:
            for before, after in (_SAME | _FIRST).items():
                message = message.replace(before, after)
    # To put it back would bring the fault back.
    return isolation._replace(message=message, hints=())
