"""What this machine says for and against the hypotheses of a finding: only read, with deadlines."""

from dataclasses import replace
from typing import TYPE_CHECKING

from envtrack.cli.context import Place

if TYPE_CHECKING:
    from envtrack.cli.doctor_inputs import Subject
    from envtrack.model.finding import Fit
    from envtrack.triage.findings import Triage
    from envtrack.triage.hypotheses import Grounds


def add_evidence(found: "Triage", place: Place) -> "Triage":
    """The same findings with the hypotheses of the root judged."""
    from envtrack.cli.doctor_inputs import read_subject
    from envtrack.errors import EnvtrackError
    from envtrack.triage.hypotheses import judge_finding

    root, *rest = found.findings
    if not root.judged:
        return found
    try:
        subject = read_subject("now", place)
    except EnvtrackError as error:
        note = f"no evidence was gathered: {error.message}"
        return replace(found, notes=(*found.notes, note))
    grounds = read_grounds(subject)
    return replace(found, findings=(judge_finding(root, grounds), *rest))


def read_grounds(subject: "Subject") -> "Grounds":
    """The facts of a machine, and what the doctor's rules say of it."""
    from envtrack.cli.doctor_inputs import read_tables
    from envtrack.compat.facts import read_stack
    from envtrack.compat.judge import judge_stack
    from envtrack.model.finding import Purpose
    from envtrack.triage.hypotheses import Grounds

    stack = read_stack(subject.snapshot, lock=subject.lock, locked=subject.locked)
    diagnosis = judge_stack(
        stack, read_tables(), subject=subject.name, purposes=tuple(Purpose), notes=()
    )
    fits: dict[str, tuple[Fit, ...]] = {}
    for one in diagnosis.findings:
        fits[one.rule] = (*fits.get(one.rule, ()), one.fit)
    return Grounds(facts=dict(subject.snapshot.facts), fits=fits)
