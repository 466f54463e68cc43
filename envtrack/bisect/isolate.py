"""Which of the changes between two lockfiles is to blame: a session of composed environments."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from envtrack.bisect.ends import name_neighbours
from envtrack.bisect.parts import Parts, cut_into_parts, find_differing, find_suspected
from envtrack.bisect.releases import find_turns
from envtrack.bisect.rig import Rig
from envtrack.bisect.session import Wish, inner_session, keep_session, write_session
from envtrack.culprit.changes import Ask, find_change_sets, run_search
from envtrack.culprit.said import Said
from envtrack.files import read_text, write_whole
from envtrack.git.repository import Repository
from envtrack.lockfiles.uv import parse
from envtrack.model.answer import Answer
from envtrack.model.attribution import Attribution
from envtrack.model.isolation import Blame, Isolated, Trial, Turn
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement, Observation, Verdict
from envtrack.probe.failures import hunt
from envtrack.probe.install import NEEDS
from envtrack.probe.plan import SessionFiles, read_plan

OLD, NEW, NAMES = "old.lock", "new.lock", "names.json"
PROVED = "proved.json"
_MOST_NAMED = 3
_SAYS = {Verdict.BAD: Said.FAILS, Verdict.GOOD: Said.PASSES}


class Side(NamedTuple):
    """One of the two lockfiles.

    Attributes:
        name: how the user named it.
        text: what it says.
    """

    name: str
    text: str


class Found(NamedTuple):
    """What an isolation came to.

    Attributes:
        outcome: how it ended.
        parts: what was moved; ``None`` if nothing differs.
        ends: the trials of both lockfiles whole.
        blames: who is to blame.
    """

    outcome: Isolated
    parts: Parts | None = None
    ends: tuple[Trial, ...] = ()
    blames: tuple[Blame, ...] = ()


def make_isolation(
    repository: Repository, wish: Wish, sides: tuple[Side, Side], code: Oid, *, now: datetime
) -> SessionFiles:
    """A new session; nothing has run yet.

    Args:
        repository: whose.
        wish: what was asked for.
        sides: the older and the newer lockfile.
        code: the commit whose code is tried.
        now: when.

    Raises:
        LockfileProblem: one of the lockfiles can't be read.
        UsageProblem: there is no smoke test, or it is not what it should be.
        RigFailed: the repository's git folder can't be written.
    """
    locks = [parse(side.text, path=side.name) for side in sides]
    settings = replace(
        wish.settings,
        paths=(wish.lockfile,),
        neighbours=name_neighbours(wish.lockfile, locks),
        is_composed=True,
    )
    return keep_session(
        repository,
        wish._replace(settings=settings),
        (code, code),
        now=now,
        more={
            OLD: sides[0].text,
            NEW: sides[1].text,
            NAMES: json.dumps([side.name for side in sides]),
        },
    )


def isolate_further(
    repository: Repository, files: SessionFiles, answer: Answer
) -> SessionFiles | None:
    """The session that tries a culprit's packages apart; made if it is not there yet.

    Returns:
        ``None`` where there is nothing to tell apart: no commit, not its packages, only one of
        them; or nobody asked.
    """
    plan = read_plan(files)
    comparison = answer.comparison
    if plan.commit_only or answer.culprit is None or answer.predecessor is None:
        return None
    moved = {one.name for one in comparison.changes if not one.is_fact} if comparison else set()
    if len(moved) <= 1:
        return None
    halves = answer.crossed.attribution if answer.crossed is not None else None
    if halves is Attribution.CODE:
        return None
    inner = inner_session(files)
    if inner.plan.is_file():
        return inner
    old, new = answer.predecessor.oid, answer.culprit.commit.oid
    texts = [repository.read_file(commit, plan.lockfile) for commit in (old, new)]
    if None in texts:
        return None
    names = {OLD: old.short, NEW: new.short}
    more = {
        name: (text or b"").decode("utf-8-sig", "backslashreplace")
        for name, text in zip(names, texts, strict=True)
    }
    more[NAMES] = json.dumps(list(names.values()))
    for known in (files.hunted, files.measured):
        if known.is_file():
            more[known.name] = read_text(known)
    if files.smoke_files.is_dir():
        shutil.copytree(files.smoke_files, inner.smoke_files, dirs_exist_ok=True)
    settings = replace(
        plan,
        id=inner.folder.name,
        good=old.hex,
        # The new code may fail whatever is installed.
        bad=old.hex if halves is Attribution.EITHER else new.hex,
        hold=None,
        paths=(plan.lockfile,),
        is_composed=True,
        shares_with=plan.id,
    )
    write_session(inner, settings, more)
    return inner


def read_names(files: SessionFiles) -> tuple[str, str]:
    """How the user named the older and the newer lockfile of a session."""
    old, new = json.loads(read_text(files.folder / NAMES))
    return str(old), str(new)


class Search:
    """One run of a session."""

    def __init__(self, rig: Rig, told: dict[Oid, str]) -> None:
        """Nothing has been tried yet.

        Args:
            rig: where lockfiles are tried.
            told: takes what is tried, in words, by the name that its verdict is kept under.
        """
        self._rig = rig
        self._told = told
        self._names = read_names(rig.files)

    def run(self) -> Found:
        """What the session comes to; what is known already is not tried again.

        Raises:
            RigFailed: the rig failed; everything learnt so far is kept.
        """
        plan, files, tree = self._rig.plan, self._rig.files, self._rig.tree
        tree.scour(Oid(plan.bad))
        old, new = (read_text(files.folder / name) for name in (OLD, NEW))
        differing = find_differing(tree, plan, files, (old, new))
        tree.scour(Oid(plan.bad))
        parts = cut_into_parts(old, new, differing=differing, rules=plan.layers)
        if not parts.units:
            return Found(Isolated.SAME)
        ends = self._try_ends(parts)
        outcome = _judge_ends(ends)
        if outcome is not None:
            return Found(outcome, parts, ends)
        blames = self._find_blames(parts)
        is_shown = all(blame.is_shown for blame in blames)
        return Found(Isolated.FOUND if is_shown else Isolated.UNCERTAIN, parts, ends, blames)

    def _try_ends(self, parts: Parts) -> tuple[Trial, ...]:
        everything = frozenset(range(len(parts.units)))
        self._rig.files.tolerated.unlink(missing_ok=True)
        # The failure is seen before anything else: whatever fails otherwise is not it.
        newer = self._observe(parts, everything)
        hunt(self._rig.files, newer)
        ends = [self._observe(parts, frozenset()), newer]
        self._tolerate(ends)
        return tuple(
            _tell(parts, taken, seen)
            for taken, seen in zip((frozenset[int](), everything), ends, strict=True)
        )

    def _tolerate(self, ends: list[Observation]) -> None:
        """What does not fit together at an end may not fit in between either."""
        known: dict[str, None] = {}
        for seen in ends:
            path = Path(seen.log) / NEEDS
            if seen.log and path.is_file():
                known |= dict.fromkeys(json.loads(path.read_text("utf-8")))
        write_whole(self._rig.files.tolerated, json.dumps(list(known)))

    def _observe(self, parts: Parts, taken: frozenset[int], *, fresh: bool = False) -> Observation:
        text = parts.compose(taken)
        name = self._rig.name_composed(text)
        self._told[name] = self._say(parts, taken)
        if not fresh:
            return self._rig.probe_composed(text)
        # A session that goes on does not prove again what it has proved.
        path = self._rig.files.folder / PROVED
        proved: dict[str, int] = json.loads(read_text(path)) if path.is_file() else {}
        for seen in self._rig.store.list(self._rig.plan.id):
            if seen.id == proved.get(name.hex):
                return seen
        seen = self._rig.probe_composed(text, fresh=True)
        write_whole(path, json.dumps({**proved, name.hex: seen.id}))
        return seen

    def _say(self, parts: Parts, taken: frozenset[int]) -> str:
        """What is tried, in a few words."""
        old, new = self._names
        if len(taken) in {0, len(parts.units)}:
            return f"all as in {new if taken else old}"
        names = [parts.units[position].names[0] for position in sorted(taken)]
        shown = ", ".join(names[:_MOST_NAMED])
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return f"{len(names)} of {len(parts.units)} as in {new}: {shown}{more}"

    def _find_blames(self, parts: Parts) -> tuple[Blame, ...]:
        """Every set of units that is to blame, each shown both ways."""
        suspects = find_suspected(parts, self._rig.plan.suspects)
        search = find_change_sets(len(parts.units), suspects=suspects)
        tried: dict[Ask, Trial] = {}

        def probe(ask: Ask) -> Said:
            seen = self._observe(parts, ask.taken, fresh=ask.fresh)
            tried[ask] = _tell(parts, ask.taken, seen)
            return _SAYS.get(tried[ask].judgement.verdict, Said.UNRESOLVED)

        guilts = run_search(search, probe)
        every = frozenset(range(len(parts.units)))
        rest = every.difference(*(guilt.changes for guilt in guilts))
        turns = [self._find_turns(parts, guilt.changes) for guilt in guilts]
        return tuple(
            Blame(
                units=tuple(parts.units[position] for position in sorted(guilt.changes)),
                sufficient=tried[Ask(guilt.changes, fresh=True)],
                necessary=tried[Ask(rest, fresh=True)],
                is_minimal=guilt.is_minimal,
                turns=some,
            )
            for guilt, some in zip(guilts, turns, strict=True)
        )

    def _find_turns(self, parts: Parts, guilty: frozenset[int]) -> tuple[Turn, ...]:
        """Down to the release, where it was not asked to stop before."""
        plan = self._rig.plan
        if plan.package_only:
            return ()

        def attempt(text: str, said: str) -> Judgement:
            self._told[self._rig.name_composed(text)] = said
            judgement = self._rig.probe_composed(text).judgement
            assert judgement is not None  # noqa: S101 - the store only gives finished probes
            return judgement

        return find_turns(parts, guilty, attempt, folder=self._rig.tree.top / plan.project)


def _tell(parts: Parts, taken: frozenset[int], seen: Observation) -> Trial:
    assert seen.judgement is not None  # noqa: S101 - the store only gives finished probes
    names = (name for position in sorted(taken) for name in parts.units[position].names)
    return Trial(taken=tuple(names), judgement=seen.judgement, log=seen.log)


def _judge_ends(ends: tuple[Trial, ...]) -> Isolated | None:
    old, new = (end.judgement.verdict for end in ends)
    if old is Verdict.BAD:
        return Isolated.OLD_FAILS
    if {old, new} - {Verdict.GOOD, Verdict.BAD}:
        return Isolated.END_UNTESTABLE
    return Isolated.NEW_PASSES if new is Verdict.GOOD else None
