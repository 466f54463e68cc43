"""Takes a snapshot: collectors side by side, and nothing gets in but through the redactor."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.container import ContainerCollector
from envtrack.collect.cuda_runtime import CudaRuntimeCollector
from envtrack.collect.driver import DriverCollector
from envtrack.collect.errand import Errand
from envtrack.collect.framework import FrameworkCollector
from envtrack.collect.hardware import HardwareCollector
from envtrack.collect.interface import Collector, Machine, Record
from envtrack.collect.kernel import KernelCollector
from envtrack.collect.operating_system import OperatingSystemCollector
from envtrack.collect.packages import PackagesCollector
from envtrack.collect.places import path_hider
from envtrack.collect.python import PythonCollector
from envtrack.collect.reading import error_reason
from envtrack.collect.settings import SettingsCollector
from envtrack.collect.toolchain import ToolchainCollector
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.redact import clean_text, redact_text
from envtrack.model.snapshot import InstalledPackage, LockfileRef, Snapshot, fact_map

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

# A hook gives up the whole record after 5 s: what hangs must have cost its own facts before that.
LIMIT_S = 4.0
# A framework that is started and asked may take a minute on a cold disk.
DEEP_LIMIT_S = 180.0


COLLECTORS: tuple[Collector, ...] = (
    HardwareCollector(),
    KernelCollector(),
    DriverCollector(),
    OperatingSystemCollector(),
    ContainerCollector(),
    ToolchainCollector(),
    PythonCollector(),
    CudaRuntimeCollector(),
    FrameworkCollector(),
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
    limit_s: float | None = None,
) -> Snapshot:
    """What the machine looks like now.

    Collectors run side by side. One that fails, or still runs at the limit, leaves
    ``<layer>.collector`` as unknown with the reason, and nothing of what it had found: half a layer
    reads like a whole one. What hangs is left behind in a thread that keeps nobody waiting.

    Args:
        machine: what may be looked at.
        name: the machine's name (`find_machine_name`).
        lockfile: the lockfile beside which the snapshot will stand, if any.
        now: the time, with its zone.
        collectors: who looks; what two of them say of one name is the later one's.
        limit_s: seconds for all of them together; `LIMIT_S` if not given, or `DEEP_LIMIT_S`.
    """
    if limit_s is None:
        limit_s = DEEP_LIMIT_S if machine.deep else LIMIT_S
    deadline = time.monotonic() + limit_s
    errands = [Errand(_looking(one, machine)) for one in collectors]
    # Resolving links may hang too, where home is a mount that is gone.
    entry = Errand(lambda: _Entry(machine)).wait(deadline) or _Entry(machine, is_resolved=False)
    found: list[Record] = []
    for one, errand in zip(collectors, errands, strict=True):
        records = errand.wait(deadline)
        found += map(entry.admit, [_fault(one, "timed out")] if records is None else records)
    return Snapshot(
        machine=name,
        taken_at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        facts=fact_map(one for one in found if isinstance(one, Fact)),
        installed={one.name: one for one in found if isinstance(one, InstalledPackage)},
        lockfile=lockfile,
    )


def _looking(collector: Collector, machine: Machine) -> Callable[[], list[Record]]:
    def look() -> list[Record]:
        try:
            return list(collector.collect(machine))
        except OSError as error:
            return [_fault(collector, error_reason(error))]
        except BaseException as error:  # noqa: BLE001 - a fault in one layer hides no other
            return [_fault(collector, _describe_fault(error))]

    return look


def _fault(collector: Collector, reason: str) -> Fact:
    return Fact(name=f"{collector.layer.value}.collector", state=Unknown(reason))


def _describe_fault(error: BaseException) -> str:
    """Kind and place, and not its message: that may quote what it fell over."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = "" if last is None else f" in {Path(last.tb_frame.f_code.co_filename).name}"
    return f"failed: {type(error).__name__}{place}"


class _Entry:
    """The one way into a snapshot: text is made writable, its paths are hidden, then redacted."""

    def __init__(self, machine: Machine, *, is_resolved: bool = True) -> None:
        self._hide_paths = path_hider(machine, is_resolved=is_resolved)
        self._hide_others = path_hider(replace(machine, environment=None), is_resolved=is_resolved)

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
