"""From what a search came to, to what a person is told."""

from __future__ import annotations

import shlex

from envtrack.bisect.halves import hint_at_halves, note_limits
from envtrack.bisect.last_lines import read_last_lines
from envtrack.bisect.search import Found
from envtrack.compare.going_back import can_go_back, say_going_back
from envtrack.compare.records import Part, compare_records
from envtrack.errors import LockfileProblem, SnapshotProblem
from envtrack.git.repository import Repository
from envtrack.model.answer import Answer, Effort, Judged, Outcome
from envtrack.model.comparison import Comparison, Origin
from envtrack.model.oid import Oid
from envtrack.model.verdict import Observation, Verdict
from envtrack.probe.crossing import read_crossings
from envtrack.probe.plan import Plan, SessionFiles
from envtrack.probe.store import Store
from envtrack.record.revisions import read_revision

_MOST_PINS = 8
_SKIP = Verdict.UNTESTABLE.bisect_code


def make_answer(
    repository: Repository, plan: Plan, files: SessionFiles, store: Store, found: Found
) -> Answer:
    """The answer of a session."""
    observations = store.list(plan.id)
    crossings = read_crossings(files)
    known = {
        seen.commit: seen
        for seen in observations
        if seen.judgement is not None and seen.commit not in crossings
    }
    told = found.first_bad or (found.ends[-1].commit if found.ends else None)
    if found.outcome is Outcome.GOOD_END_FAILS:
        told = found.ends[0].commit
    comparison = None
    notes: tuple[str, ...] = ()
    if found.first_bad is not None and found.predecessor is not None:
        comparison = _compare(repository, plan, found.predecessor, found.first_bad)
        notes = _notes(found, comparison)
    notes += tuple(note_limits(repository, plan, found))
    return Answer(
        session=plan.id,
        outcome=found.outcome,
        message=_say(repository, plan, found),
        lockfile=plan.lockfile,
        smoke=plan.smoke,
        effort=_effort(plan, found, observations),
        folder=str(files.folder),
        culprit=_judged(repository, known, found.first_bad) if found.first_bad else None,
        predecessor=repository.read_commit(found.predecessor) if found.predecessor else None,
        possible=tuple(_judged(repository, known, commit) for commit in found.possible),
        ends=tuple(
            Judged(commit=repository.read_commit(end.commit), judgement=end.judgement, log=end.log)
            for end in found.ends
        ),
        skipped=tuple(
            _judged(repository, known, seen.commit)
            for seen in known.values()
            if seen.judgement and seen.judgement.verdict.bisect_code == _SKIP
        ),
        comparison=comparison,
        last_lines=_last_lines(known.get(told) if told else None, known, plan.id),
        hints=(*_hints(repository, plan, found, known, comparison), *hint_at_halves(plan, found)),
        notes=notes,
        machine=plan.machine,
        crossed=found.crossed,
    )


def _judged(repository: Repository, known: dict[Oid, Observation], commit: Oid) -> Judged:
    seen = known.get(commit)
    return Judged(
        commit=repository.read_commit(commit),
        judgement=seen.judgement if seen else None,
        log=seen.log if seen else "",
    )


def _effort(plan: Plan, found: Found, observations: tuple[Observation, ...]) -> Effort:
    # What was cut short says nothing, and is tried again.
    tried = [
        seen
        for seen in observations
        if seen.judgement and seen.judgement.verdict is not Verdict.ABORTED and seen.same_as is None
    ]
    ends = {Oid(plan.good), Oid(plan.bad)}
    return Effort(
        candidates=found.candidates,
        probes=len(tried),
        end_probes=sum(1 for seen in tried if seen.commit in ends),
        untestable=sum(
            1 for seen in tried if seen.judgement and seen.judgement.verdict.bisect_code == _SKIP
        ),
        spared=sum(1 for seen in observations if seen.same_as is not None),
        seconds=sum(seen.seconds for seen in observations),
    )


def _say(repository: Repository, plan: Plan, found: Found) -> str:
    good, bad = Oid(plan.good).short, Oid(plan.bad).short
    match found.outcome:
        case Outcome.FOUND if found.first_bad is not None:
            subject = repository.read_commit(found.first_bad).subject
            return f"{found.first_bad.short} is the first bad commit: {subject}"
        case Outcome.FOUND | Outcome.SEVERAL:
            return (
                f"the first bad commit is one of {len(found.possible)}; "
                "what lies between could not be tested"
            )
        case Outcome.GOOD_END_FAILS:
            return f"the good end {good} fails too: {_reason(found.ends[0])}"
        case Outcome.BAD_END_PASSES:
            return f"not reproduced: the bad end {bad} passes"
        case Outcome.END_UNTESTABLE:
            return _say_untestable(found.ends)
        case Outcome.FLAKY:
            return _say_mixed(found.ends)


def _say_untestable(ends: tuple[Observation, ...]) -> str:
    failing = [e for e in ends if e.judgement and e.judgement.verdict is not Verdict.GOOD]
    untestable = [e for e in failing if e.judgement and e.judgement.verdict is not Verdict.BAD]
    kinds = {e.judgement.kind for e in untestable if e.judgement}
    if len(untestable) > 1 and kinds == {"lock-stale"}:
        return "the lockfile is stale at both ends: it does not match its pyproject.toml there"
    first = untestable[0]
    where = "good" if first.commit == ends[0].commit else "bad"
    return f"the {where} end {first.commit.short} can't be tested: {_reason(first)}"


def _say_mixed(ends: tuple[Observation, ...]) -> str:
    """``flaky: the bad end 1234567890 passed once and failed once``."""
    said = []
    for where, end in (("good", ends[0].commit), ("bad", ends[-1].commit)):
        runs = [seen.judgement.verdict for seen in ends if seen.commit == end and seen.judgement]
        passed = runs.count(Verdict.GOOD)
        if 0 < passed < len(runs):
            said.append(f"the {where} end {end.short} passed in {passed} of {len(runs)} runs")
    return f"the smoke test is flaky: {', '.join(said)}"


def _reason(observation: Observation) -> str:
    return observation.judgement.reason if observation.judgement else ""


def _compare(repository: Repository, plan: Plan, before: Oid, after: Oid) -> Comparison:
    """What a commit changed: its lockfile, and what this machine's records beside it say."""
    try:
        older, newer = (
            read_revision(
                repository, commit.hex, lockfile=plan.lockfile, machine=plan.machine,
                name=commit.short,
            )
            for commit in (before, after)
        )  # fmt: skip
    except (LockfileProblem, SnapshotProblem) as error:
        return Comparison(
            before=before.short, after=after.short, changes=(), notes=(error.message,)
        )
    if older.snapshot is newer.snapshot is Part.MISSING:
        # A history without any records is nothing to remark on: the lockfile is what counts here.
        older, newer = (
            record._replace(snapshot=Part.NOT_MEANT, notes=()) for record in (older, newer)
        )
    return compare_records(older, newer, selection=plan.selection, layer_rules=plan.layers)


def _notes(found: Found, comparison: Comparison) -> tuple[str, ...]:
    notes = []
    if found.in_code:
        notes.append(
            "this commit changes code and leaves the environment alone: the lockfile is innocent"
        )
    elif found.crossed is None and not comparison.changes and not comparison.notes:
        notes.append("its lockfile installs the same as before: look at what else it changes")
    return tuple(notes)


def _last_lines(
    seen: Observation | None, known: dict[Oid, Observation], session: str
) -> tuple[str, ...]:
    """What the smoke test (or else uv) printed last."""
    if seen is not None and seen.same_as is not None:
        seen = known.get(seen.same_as)
    return read_last_lines(seen.log if seen is not None else "", session)


def _hints(  # noqa: PLR0911 - a line a case
    repository: Repository,
    plan: Plan,
    found: Found,
    known: dict[Oid, Observation],
    comparison: Comparison | None,
) -> tuple[str, ...]:
    skipped = [seen for seen in known.values() if seen.judgement]
    is_stale = any(seen.judgement and seen.judgement.kind == "lock-stale" for seen in skipped)
    match found.outcome:
        case Outcome.FOUND if found.first_bad is not None and found.predecessor is not None:
            return _hints_found(repository, plan, found.predecessor, found.first_bad, comparison)
        case Outcome.GOOD_END_FAILS:
            hint = "choose an older good commit, or check the smoke test there"
            if plan.smoke_files:
                hint += (
                    f"; {', '.join(plan.smoke_files)} was put in place as it is now: "
                    "`--smoke-from each` lets every commit have its own"
                )
            return (hint,)
        case Outcome.BAD_END_PASSES:
            hint = (
                "the failure may come from below the lockfile (driver, settings, data), or from "
                "what is not committed: `envtrack diff` compares the record with this machine"
            )
            return (hint,)
        case Outcome.FLAKY:
            return ("`--repeat N --quorum K` takes N runs for one verdict",)
        case _ if is_stale:
            return ("`--stale frozen` tests stale lockfiles as they stand",)
        case Outcome.SEVERAL:
            return ("the logs of the skipped commits say why; `--python`, `--stale` may help",)
        case _ if _fails_otherwise(found.ends):
            return (
                "`--any-failure` counts every failure, `--match REGEX` describes the hunted one",
            )
        case _:
            return ("choose another end, or mend what the log shows",)


def _fails_otherwise(ends: tuple[Observation, ...]) -> bool:
    return any(end.judgement and end.judgement.verdict is Verdict.DIFFERENT for end in ends)


def _hints_found(
    repository: Repository,
    plan: Plan,
    before: Oid,
    after: Oid,
    comparison: Comparison | None,
) -> tuple[str, ...]:
    hints = [f"git show {after.short}"]
    if comparison is None or not comparison.changes:
        return tuple(hints)
    hints.append(f"envtrack diff {before.short} {after.short}")
    files = _changed_files(repository, plan, before, after)
    moved = [
        change
        for change in comparison.changes
        if change.origin is Origin.ROOT and can_go_back(change)
    ]
    # Where the project's own requirements moved too, the older releases may no longer satisfy them.
    if moved and files == (plan.lockfile,):
        back = say_going_back(moved[:_MOST_PINS])
        hints.append(f"{back}   # takes what was asked for back, one by one to narrow it")
    if files:
        step = f"git checkout {before.short} -- {shlex.join(files)}"
        hints.append(f"{step}   # takes the whole step back")
    return tuple(hints)


def _changed_files(repository: Repository, plan: Plan, before: Oid, after: Oid) -> tuple[str, ...]:
    """The lockfile and its project files, as far as they differ between two commits."""
    done = repository.git(
        "--literal-pathspecs", "diff-tree", "-r", "-z", "--name-only", "--no-renames",
        "--diff-filter=MD", before.hex, after.hex, "--", *plan.paths,
    )  # fmt: skip
    return done.fields
