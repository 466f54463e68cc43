"""From what an isolation came to, to what a person is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from envtrack.bisect.isolate import Found
from envtrack.bisect.last_lines import read_last_lines
from envtrack.bisect.rig import Rig
from envtrack.compare.going_back import can_go_back, say_going_back
from envtrack.model.comparison import Change, Origin
from envtrack.model.isolation import Blame, Isolated, Isolation, Trial
from envtrack.model.oid import Oid
from envtrack.model.verdict import Verdict
from envtrack.report.line import say_change

_MOST_NAMED = 3


def tell_isolation(rig: Rig, names: tuple[str, str], found: Found) -> Isolation:
    """What is told of a session's end.

    Args:
        rig: the session's.
        names: how the older and the newer lockfile are named.
        found: what it came to.
    """
    plan = rig.plan
    seen = rig.store.list(plan.id)
    tried = [
        one
        for one in seen
        if one.judgement and one.judgement.verdict is not Verdict.ABORTED and one.same_as is None
    ]
    units = found.parts.units if found.parts is not None else ()
    return Isolation(
        session=plan.id,
        outcome=found.outcome,
        message=_say(found, names),
        before=names[0],
        after=names[1],
        code=Oid(plan.bad).short,
        lockfile=plan.lockfile,
        smoke=plan.smoke,
        folder=str(rig.files.folder),
        changed=sum(len(unit.names) for unit in units),
        units=len(units),
        blames=found.blames,
        ends=found.ends,
        probes=len(tried),
        spared=sum(one.same_as is not None for one in seen),
        seconds=sum(one.seconds for one in seen),
        last_lines=read_last_lines(_choose_log(found), plan.id),
        hints=tuple(_hints(found, names)),
        notes=tuple(_notes(found)),
    )


def _choose_log(found: Found) -> str:
    """Of the trial that shows the failure best."""
    for blame in found.blames:
        return blame.sufficient.log
    failing = [end for end in found.ends if end.judgement.verdict is not Verdict.GOOD]
    return failing[0].log if failing else ""


def _say(found: Found, names: tuple[str, str]) -> str:
    old, new = names
    match found.outcome:
        case Isolated.FOUND | Isolated.UNCERTAIN:
            said = " or ".join(_say_blame(blame) for blame in found.blames)
            verb = "is to blame" if found.outcome is Isolated.FOUND else "may be to blame"
            turns = [turn for blame in found.blames for turn in blame.turns if turn.is_exact]
            first = "; ".join(f"{turn.name} {turn.first_bad}" for turn in turns)
            return f"{said} {verb}" + (f"; first bad release: {first}" if first else "")
        case Isolated.SAME:
            return f"{old} and {new} install the same here: something else broke it"
        case Isolated.OLD_FAILS:
            return f"with all packages as in {old} it fails too: they alone are not to blame"
        case Isolated.NEW_PASSES:
            return f"not reproduced: with all packages as in {new} it passes"
        case Isolated.END_UNTESTABLE:
            where, end = _find_untestable(found.ends, names)
            return f"{where} can't be tested: {end.judgement.reason}"


def _find_untestable(ends: Sequence[Trial], names: tuple[str, str]) -> tuple[str, Trial]:
    return next(
        (name, end)
        for name, end in zip(names, ends, strict=True)
        if end.judgement.verdict not in (Verdict.GOOD, Verdict.BAD)
    )


def _say_blame(blame: Blame) -> str:
    """``numpy 2.1.3 → 2.2.0``, or several of them, which break it only together."""
    leading = [say_change(change) for unit in blame.units for change in _lead(unit.changes)]
    shown = leading[:_MOST_NAMED]
    if more := len(leading) - len(shown):
        shown.append(f"{more} more")
    return f"{' together with '.join(shown)}"


def _lead(changes: Sequence[Change]) -> Sequence[Change]:
    """What was asked for; what followed from it is shown below."""
    return [change for change in changes if change.origin is not Origin.FORCED] or changes[:1]


def _notes(found: Found) -> Iterator[str]:
    for blame in found.blames:
        names = " and ".join(blame.names)
        alone, without = (trial.judgement.verdict for trial in (blame.sufficient, blame.necessary))
        if alone is not Verdict.BAD:
            yield f"tried once more, {names} alone is {alone}: the smoke test may be flaky"
        if without is Verdict.BAD:
            yield f"tried once more, it fails without {names} too: the smoke test may be flaky"
        elif without is not Verdict.GOOD:
            yield f"whether it passes without {names} could not be tried"
        for turn in blame.turns:
            if turn.note:
                yield f"the first bad release of {turn.name} is not known: {turn.note}"
            elif turn.unjudged:
                yield (
                    f"the first bad release of {turn.name} is one of "
                    f"{', '.join((*turn.unjudged, turn.first_bad))}: what lies between could not "
                    "be tried"
                )
        if not blame.is_minimal and len(blame.units) > 1:
            yield f"not all of {names} need be to blame: some of them could not be tried apart"


def _hints(found: Found, names: tuple[str, str]) -> Iterator[str]:
    old, new = names
    match found.outcome:
        case Isolated.FOUND | Isolated.UNCERTAIN:
            changes = [c for blame in found.blames for unit in blame.units for c in unit.changes]
            # The newest release that works is a shorter way back than the one from before.
            newest = {t.name: t.last_good for blame in found.blames for t in blame.turns}
            back = [
                change._replace(before=newest.get(change.name, change.before))
                for change in changes
                if can_go_back(change) and change.origin is not Origin.FORCED
            ]
            if back:
                yield f"{say_going_back(back)}   # puts it back"
        case Isolated.SAME | Isolated.OLD_FAILS:
            yield (
                "the code, or what is below the lockfile (driver, settings, data): `envtrack "
                f"bisect` searches commits, `envtrack diff {old} {new}` compares records"
            )
        case Isolated.NEW_PASSES:
            yield "the code of another commit, or a flaky smoke test: run it again"
        case Isolated.END_UNTESTABLE if found.ends[0].judgement.verdict is Verdict.DIFFERENT:
            yield (
                f"envtrack bisect {old} {new}   # finds the commit; the code of {new} does not go "
                f"with the packages of {old}"
            )
        case Isolated.END_UNTESTABLE:
            yield "the log says why; `--python` holds another Python"
