"""The shapes of the JSON documents; `envtrack/data/schemas` has them as JSON Schema.

Imported by type checkers and by what writes and tests the schemas, by no command.
"""

from __future__ import annotations

# Below Python 3.12 pydantic makes schemas of these only.
from typing_extensions import TypedDict


class ChangeShape(TypedDict):
    """One change, or one difference between two machines."""

    layer: str
    name: str
    kind: str
    before: str | None
    after: str | None
    origin: str
    detail: str
    forced_by: list[str]


class SuspectShape(TypedDict):
    """One suspect, the likeliest first."""

    name: str
    layer: str
    weight: float
    because: list[str]


class SuspicionShape(TypedDict):
    """What verdicts say of the changes."""

    situation: str
    suspects: list[SuspectShape]
    cleared: list[str]
    next_step: str
    command: str


class ComparisonShape(TypedDict):
    """``envtrack diff --format json``."""

    schema: int
    kind: str
    before: str
    after: str
    changes: list[ChangeShape]
    apart: list[ChangeShape]
    machines: list[str]
    notes: list[str]
    suspicion: SuspicionShape | None


class LoggedChangeShape(TypedDict):
    """One change of one commit."""

    layer: str
    name: str
    kind: str
    before: str | None
    after: str | None
    origin: str


class VerdictsShape(TypedDict):
    """What the smoke tests of one machine said of a commit."""

    machine: str
    last: str
    count: int


class EntryShape(TypedDict):
    """One commit."""

    commit: str
    date: str
    author: str
    subject: str
    same: bool
    fault: str | None
    moved_from: str | None
    layers: dict[str, int]
    counts: dict[str, int]
    root: int
    changes: list[LoggedChangeShape]
    verdicts: list[VerdictsShape]


class BreachShape(TypedDict):
    """One broken rule."""

    policy: str
    rule: str
    level: str
    step: str
    lockfile: str
    found: str
    why: str
    ways_out: list[str]
    names: list[str]
    excuse: str
    reason: str


class CheckShape(TypedDict):
    """``envtrack check --format json``."""

    schema: int
    kind: str
    broken: bool
    steps: int
    policies: list[str]
    breaches: list[BreachShape]


class LogShape(TypedDict):
    """``envtrack log --format json``."""

    schema: int
    kind: str
    lockfile: str
    machine: str
    passed_over: int
    entries: list[EntryShape]


class WatchedShape(TypedDict):
    """One fact of a machine: `state` is known, absent, unknown or not-recorded."""

    name: str
    state: str
    value: str | None
    older: bool


class MachineShape(TypedDict):
    """One machine's newest record."""

    name: str
    here: bool
    taken_at: str
    lock: str | None
    commit: str | None
    behind: int | None
    stale: bool
    facts: list[WatchedShape]


class MachinesShape(TypedDict):
    """``envtrack machines --format json``."""

    schema: int
    kind: str
    lockfile: str
    commit: str
    lock: str | None
    machines: list[MachineShape]
    notes: list[str]


class SplitStepShape(TypedDict):
    """One step of a series."""

    commit: str | None
    subject: str
    layers: list[str]
    changes: list[ChangeShape]
    joined: list[str]
    verdict: str | None
    reason: str
    log: str


class SplitShape(TypedDict):
    """``envtrack split --format json``."""

    schema: int
    kind: str
    lockfile: str
    source: str
    base: str
    outcome: str
    steps: list[SplitStepShape]
    paths: list[str]
    kept_as: str
    notes: list[str]


class TrialShape(TypedDict):
    """One composed environment that was tried."""

    taken: list[str]
    verdict: str
    kind: str
    reason: str
    log: str | None


class BlamedShape(TypedDict):
    """One package that is to blame, alone or with the others beside it."""

    name: str
    layer: str
    kind: str
    before: str | None
    after: str | None
    origin: str


class TurnShape(TypedDict):
    """Between which releases of a package it turns; exact if nothing is unjudged or noted."""

    name: str
    last_good: str
    first_bad: str
    unjudged: list[str]
    trials: dict[str, str]
    note: str


class BlameShape(TypedDict):
    """Changes that are to blame together, and the trials that show it."""

    packages: list[BlamedShape]
    sufficient: TrialShape
    necessary: TrialShape
    is_minimal: bool
    releases: list[TurnShape]


class IsolationShape(TypedDict):
    """``envtrack isolate --format json``."""

    schema: int
    kind: str
    session: str
    outcome: str
    exit_code: int
    message: str
    before: str
    after: str
    code: str
    lockfile: str
    smoke: str
    changed: int
    units: int
    culprits: list[BlameShape]
    ends: list[TrialShape]
    probes: int
    spared: int
    seconds: float
    last_lines: list[str]
    folder: str
    hints: list[str]
    notes: list[str]


class EvidenceShape(TypedDict):
    """One thing that was looked at."""

    name: str
    seen: str
    points_to: str


class HypothesisShape(TypedDict):
    """One explanation; `remedy` is null unless the evidence supports it."""

    claim: str
    layer: str
    standing: str
    evidence: list[EvidenceShape]
    remedy: str | None
    check: str | None


class TriageFindingShape(TypedDict):
    """One error: `rule` is null where no rule knows it.

    `layer` is what the message says; `points_to` the layers that evidence on this machine supports.
    """

    layer: str
    kind: str
    role: str
    rule: str | None
    line: int
    text: str
    excerpt: list[str]
    means: str
    stream: str | None
    times: int
    also: list[str]
    points_to: list[str]
    collect: list[str]
    hypotheses: list[HypothesisShape]


class TriageShape(TypedDict):
    """``envtrack triage --format json``: the root finding first; its layer is `layer`."""

    schema: int
    kind: str
    source: str
    lines: int
    layer: str | None
    findings: list[TriageFindingShape]
    changes: list[str]
    notes: list[str]
