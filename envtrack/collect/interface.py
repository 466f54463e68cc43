"""What a collector may look at, and what every collector is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from envtrack.model.fact import Absent, Fact, FactState, Unknown
from envtrack.model.snapshot import InstalledPackage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from envtrack.model.layer import Layer

Record: TypeAlias = Fact | InstalledPackage


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a program of the machine said.

    Attributes:
        code: its exit code; negative: killed by that signal.
        out: stdout, leniently decoded, cut at one megabyte.
        err: stderr, likewise.
    """

    code: int
    out: str
    err: str


class Asks(Protocol):
    """Asks a program of the machine: ``LC_ALL=C``, no shell, no input, a limit.

    The same command is asked once for all collectors.
    """

    def __call__(
        self, command: Sequence[str], *, timeout_s: float = 3.0
    ) -> Said | Absent | Unknown:
        """What it said; absent: there is no such program; unknown: it hung or can't be run."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuInfo:
    """One NVIDIA GPU, as NVML tells of it; a field that NVML refuses is unknown, not the GPU.

    Attributes:
        index: NVML's.
        model: such as ``NVIDIA A100-SXM4-80GB``.
        compute_capability: ``8.0``.
        memory_mib: total memory in MiB.
        pci_id: ``0000:17:00.0``.
        mig: ``on``, ``off``; absent where the model has none.
        mig_devices: how many MIG instances there are.
        persistence: ``on`` or ``off``.
    """

    index: int
    model: FactState
    compute_capability: FactState
    memory_mib: FactState
    pci_id: FactState
    mig: FactState
    mig_devices: FactState
    persistence: FactState


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlReport:
    """What the user-space library of the NVIDIA driver says.

    Attributes:
        driver_version: of the library's driver, ``550.54.15``.
        cuda_version: the newest CUDA that this driver supports, ``12.4``.
        gpus: by index; one that can't be looked at is an unknown in its place.
    """

    driver_version: FactState
    cuda_version: FactState
    gpus: tuple[GpuInfo | Unknown, ...]


class ReadsNvml(Protocol):
    """Asks NVML; creates no CUDA context."""

    def __call__(self, *, timeout_s: float = 5.0) -> NvmlReport | Absent | Unknown:
        """Its report; absent: no such library; unknown: the reason, in NVML's own words."""
        ...


def ask_nothing(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
    """For machines of which only files are to be looked at."""
    del timeout_s
    return Unknown(f"{command[0]} was not asked")


def read_no_nvml(*, timeout_s: float = 5.0) -> NvmlReport | Absent | Unknown:
    """Likewise."""
    del timeout_s
    return Unknown("NVML was not asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """All that a collector may look at: it asks neither the process nor the clock.

    Attributes:
        root: the root of the file system; another folder for an unpacked image, or a test.
        environ: environment variables.
        environment: the folder of the project's environment (`find_environment`); ``None`` if it
            has none.
        project: the folder in which the lockfile stands.
        home: the home folder of the person at work.
        salt: the repository's key for hashes of what may not be shown; empty: changes of hidden
            values stay invisible.
        ask: asks programs of the machine.
        nvml: asks the NVIDIA driver's library.
        deep: whether frameworks may be started and asked (``--deep``).
    """

    root: Path
    environ: Mapping[str, str]
    environment: Path | None
    project: Path
    home: Path
    salt: str = ""
    ask: Asks = ask_nothing
    nvml: ReadsNvml = read_no_nvml
    deep: bool = False

    @property
    def is_this_one(self) -> bool:
        """Whether it is the running machine, so that system calls may be asked as well as files."""
        return self.root == Path("/")


class Collector(Protocol):
    """Looks at one layer, in a thread of its own beside the others.

    Files, and programs through `Machine.ask`; no import of what is looked at. What can't be read is
    an `Unknown` with its reason, not an exception: one that escapes costs all that was found, and
    so does a collector that has not ended in time. Programs that hang are no danger: together they
    are given up before that.
    """

    @property
    def layer(self) -> Layer:
        """The layer that its facts belong to; their names begin with it."""
        ...

    def collect(self, machine: Machine) -> Iterable[Record]:
        """What is there now; a fact as `Fact`, a distribution as `InstalledPackage`."""
        ...
