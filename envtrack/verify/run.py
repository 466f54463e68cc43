"""From a clone and an empty home to a verdict, and to what was hidden."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.culprit.changes import Ask, find_change_sets, run_search
from envtrack.culprit.said import Said
from envtrack.git.notes import append_note
from envtrack.model.fresh import FreshRun, Hidden
from envtrack.model.verdict import Judgement, Verdict
from envtrack.record.verdicts import hide_private
from envtrack.uv import find_interpreter, find_uv
from envtrack.verify.evidence import describe, find_extras
from envtrack.verify.factors import Factor, list_factors
from envtrack.verify.site import Machine, find_caches, open_workshop, read_login_path
from envtrack.verify.trial import Attempt, Wanted, try_once

if TYPE_CHECKING:
    from envtrack.git.repository import Repository

SCHEMA = 1
KIND = "fresh"
_UNKNOWN = (
    "it passes in your own environment, and not in a new one with everything given back: the two "
    "environments differ in what a set-up does not do"
)


class Verifier:
    """Runs the trials of one verification, and counts them."""

    def __init__(
        self, repository: Repository, wanted: Wanted, machine: Machine, workshop: Path
    ) -> None:
        self._repository = repository
        self._wanted = wanted
        self._machine = machine
        self._workshop = workshop
        self.count = 0

    def attempt(self, given: Sequence[Factor] = ()) -> Attempt:
        """One trial with some things given back."""
        self.count += 1
        return try_once(self._repository, self._wanted, self._machine, self._workshop, given)

    def find_deciding(self, factors: Sequence[Factor]) -> tuple[tuple[int, ...], ...]:
        """Each smallest set of factors that alone lets the fresh run pass, by position.

        They are looked for as changes are that break something; here they mend it.
        """

        def probe(ask: Ask) -> Said:
            number = len(ask.taken)
            self._wanted.show(f"trial {self.count + 1}: {number} of {len(factors)} given back\n")
            done = self.attempt([factors[at] for at in sorted(ask.taken)])
            if done.judgement.verdict in (Verdict.ABORTED, Verdict.UNTESTABLE):
                return Said.UNRESOLVED
            return Said.FAILS if done.is_good else Said.PASSES

        found = run_search(find_change_sets(len(factors)), probe)
        return tuple(tuple(sorted(guilt.changes)) for guilt in found)


def verify_fresh(
    repository: Repository,
    wanted: Wanted,
    *,
    keep: tuple[str, ...],
    ordinary: Callable[[], Judgement],
    environment: Path | None,
    python: str,
) -> FreshRun:
    """The new user's way, and where it fails what an ordinary run has that it has not.

    Args:
        repository: whose HEAD is cloned.
        wanted: what is tried.
        keep: variables that the project says a user must have.
        ordinary: runs the smoke test in the user's own environment; asked only after a failure.
        environment: that environment.
        python: the configured interpreter request.

    Raises:
        RigFailed: git can't clone, or the disk or uv fails.
    """
    environ = repository.environ
    with open_workshop(repository) as workshop:
        machine = _describe_machine(repository, wanted, workshop, keep, python)
        verifier = Verifier(repository, wanted, machine, workshop)
        first = verifier.attempt()
        result = FreshRun(
            commit=wanted.commit,
            lockfile=wanted.lockfile,
            is_cold=wanted.is_cold,
            judgement=first.judgement,
            setup=wanted.setup,
            smoke=wanted.smoke,
            seconds=first.seconds,
            output=first.output,
        )
        if first.judgement.verdict in (Verdict.GOOD, Verdict.ABORTED):
            return result
        wanted.show("the same in your own environment\n")
        there = ordinary()
        result = result._replace(ordinary=there)
        if there.verdict is not Verdict.GOOD:
            note = "it does not pass in your own environment either: what fails is no secret of it"
            return result._replace(notes=(note,))
        factors = list_factors(repository, environ, machine.path, is_cold=wanted.is_cold)
        hidden, notes = _hunt(verifier, first, factors, environment, environ)
        return result._replace(hidden=hidden, notes=notes, trials=verifier.count)


def _describe_machine(
    repository: Repository, wanted: Wanted, workshop: Path, keep: tuple[str, ...], python: str
) -> Machine:
    environ = repository.environ
    uv = find_uv(environ)
    tools, nobody = workshop / "tools", workshop / "nobody"
    tools.mkdir()
    nobody.mkdir()
    (tools / "uv").symlink_to(uv.resolve())
    project = (repository.root / wanted.lockfile).parent
    found = find_interpreter(uv, project, request=python, environ=environ)
    return Machine(
        path=read_login_path(environ, nobody),
        tools=tools,
        python="" if found is None else os.path.realpath(found.path),
        caches=find_caches(environ),
        keep=keep,
    )


def _hunt(
    verifier: Verifier,
    first: Attempt,
    factors: Sequence[Factor],
    environment: Path | None,
    environ: Mapping[str, str],
) -> tuple[tuple[Hidden, ...], tuple[str, ...]]:
    extras = find_extras(first, environment)
    whole = verifier.attempt(factors) if factors else first
    if not whole.is_good:
        if extras:
            return (extras,), ()
        return (), (_UNKNOWN,)
    found = verifier.find_deciding(factors)
    home = Path(environ.get("HOME") or Path.home())
    named = [
        describe(factors[at], first, home, is_one_of=len(found)) for way in found for at in way
    ]
    return tuple(named), ()


def note_fresh(repository: Repository, run: FreshRun, machine: str, at: datetime) -> bool:
    """Adds the outcome to what is said of the commit; whether it was added.

    The line: ``{"schema", "kind": "fresh", "machine", "lockfile": {"path", "blob"}, "verdict",
    "reason", "is_cold", "hidden": [{"kind", "what"}], "seconds", "taken_at"}``. A rig that failed
    says nothing of a commit.
    """
    blob = repository.find_blob(run.commit, run.lockfile)
    if run.judgement.verdict is Verdict.ABORTED or blob is None:
        return False
    entry = {
        "schema": SCHEMA,
        "kind": KIND,
        "machine": machine,
        "lockfile": {"path": run.lockfile, "blob": blob.hex},
        "verdict": run.judgement.verdict,
        "reason": hide_private(run.judgement.reason),
        "is_cold": run.is_cold,
        "hidden": [{"kind": one.kind, "what": hide_private(one.what)} for one in run.hidden],
        "seconds": round(run.seconds, 1),
        "taken_at": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    append_note(repository, run.commit, entry)
    return True
