"""Takes a snapshot: runs every collector and lets nothing in but through the redactor."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING

from envtrack.collect.interface import Collector, Machine, Record
from envtrack.collect.kernel import KernelCollector
from envtrack.collect.operating_system import OperatingSystemCollector
from envtrack.collect.packages import PackagesCollector
from envtrack.collect.places import path_hider
from envtrack.collect.python import PythonCollector
from envtrack.collect.reading import error_reason
from envtrack.collect.settings import SettingsCollector
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.redact import clean_text, redact_text
from envtrack.model.snapshot import InstalledPackage, LockfileRef, Snapshot, fact_map

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

COLLECTORS: tuple[Collector, ...] = (
    KernelCollector(),
    OperatingSystemCollector(),
    PythonCollector(),
    PackagesCollector(),
    SettingsCollector(),
)


def take_snapshot(
    machine: Machine,
    *,
    name: str,
    lockfile: LockfileRef | None,
    now: datetime,
    collectors: Sequence[Collector] = COLLECTORS,
) -> Snapshot:
    """What the machine looks like now.

    A collector that fails leaves ``<layer>.collector`` as unknown with the reason, and nothing of
    what it had found: half a layer reads like a whole one. Cost: one or two small files a package.

    Args:
        machine: what may be looked at.
        name: the machine's name (`find_machine_name`).
        lockfile: the lockfile beside which the snapshot will stand, if any.
        now: the time, with its zone.
        collectors: who looks.
    """
    entry = _Entry(machine)
    found = [entry.admit(record) for one in collectors for record in _run(one, machine)]
    return Snapshot(
        machine=name,
        taken_at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        facts=fact_map(one for one in found if isinstance(one, Fact)),
        installed={one.name: one for one in found if isinstance(one, InstalledPackage)},
        lockfile=lockfile,
    )


def _run(collector: Collector, machine: Machine) -> list[Record]:
    try:
        return list(collector.collect(machine))
    except OSError as error:
        state = Unknown(error_reason(error))
        return [Fact(name=f"{collector.layer.value}.collector", state=state)]


class _Entry:
    """The one way into a snapshot: text is made writable, its paths are hidden, then redacted."""

    def __init__(self, machine: Machine) -> None:
        self._hide_paths = path_hider(machine)
        self._hide_others = path_hider(replace(machine, environment=None))

    def admit(self, record: Record) -> Record:
        """A record as it may be kept."""
        if isinstance(record, Fact):
            # Where the environment stands would read `<environment>`, wherever it is moved to.
            is_place = record.name == "packages.environment"
            hide = self._hide_others if is_place else self._hide_paths
            return Fact(name=self._text(record.name), state=_map_text(record.state, hide))
        return InstalledPackage(
            name=self._text(record.name),
            version=self._text(record.version),
            origin=self._text(record.origin),
        )

    def _text(self, text: str) -> str:
        return _admit_text(text, self._hide_paths)


def _map_text(state: FactState, hide: Callable[[str], str]) -> FactState:
    match state:
        case Known(str() as value):
            return Known(_admit_text(value, hide))
        case Unknown(reason):
            return Unknown(_admit_text(reason, hide))
        case Known() | Absent():
            return state


def _admit_text(text: str, hide: Callable[[str], str]) -> str:
    return redact_text(hide(clean_text(text)))
