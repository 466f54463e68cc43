"""What is known of drivers, toolkits, GPUs and wheels: values with their sources, and look-ups.

The tables themselves are data (``envtrack/data/compat/*.yaml``); `parse_tables` makes these values
of them. Where a table ends, a look-up gives ``None``: nobody guesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from envtrack.compat.versions import Numbers, parse_numbers

_VENDORS = ("", "NVIDIA ", "NVIDIA GeForce ", "Tesla ", "Quadro ")


class Confidence(StrEnum):
    """How sure an entry is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    """Not enough for a "does not fit" by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """Where an entry comes from.

    Attributes:
        where: an address, a file of a public repository, or what was read.
        as_of: the day on which it was true, ``2026-12-01``.
        confidence: how sure it is.
    """

    where: str
    as_of: str
    confidence: Confidence = Confidence.HIGH

    def __str__(self) -> str:
        return f"{self.where} (as of {self.as_of})"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestCuda:
    """The newest CUDA release that the tables know."""

    cuda: Numbers
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A major release of CUDA, and the driver from which on minor-version compatibility holds."""

    major: int
    least_driver: Numbers
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A driver branch (the first number of its versions) and the newest CUDA it reports."""

    number: int
    cuda: Numbers
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class LastBranch:
    """The last driver branch for GPUs of a range of compute capabilities, both ends included."""

    first: Numbers
    last: Numbers
    branch: int
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """The older driver branches on which the forward-compatibility package of a CUDA works."""

    cuda: Numbers
    branches: tuple[int, ...]
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilers:
    """The majors of gcc and clang that an nvcc accepts: (oldest, newest), both included."""

    nvcc: Numbers
    gcc: tuple[int, int]
    clang: tuple[int, int]
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """A compute capability and the toolkits that compile for it; ``last`` is ``None``: still."""

    number: Numbers
    first: Numbers
    last: Numbers | None
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuModel:
    """A GPU by the name that the driver gives it.

    Attributes:
        name: or the beginning of it.
        capability: its compute capability.
        kind: ``datacenter``, ``workstation``, ``geforce`` or ``jetson``.
        cited: the source.
    """

    name: str
    capability: Numbers
    kind: str
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchRelease:
    """What all builds of one torch share.

    Attributes:
        torch: ``2.6.0``.
        default: the tag of the build without a local version, ``cu124``.
        glibc: the least it runs on.
        abi: the C++11 ABI by tag; under the empty tag that of all others: true is the new one.
        pins: what the default build requires, by component (``cudnn``, ``nccl``, ``cuda-runtime``).
        cited: the source.
    """

    torch: str
    default: str
    glibc: Numbers
    abi: Mapping[str, bool]
    pins: Mapping[str, Numbers]
    cited: Cited

    def find_abi(self, tag: str) -> bool | None:
        """The C++11 ABI of a build: true is the new one."""
        return self.abi.get(tag or self.default, self.abi.get(""))


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchBuild:
    """One CUDA build of one or several torch releases, on one CPU architecture."""

    torch: tuple[str, ...]
    tag: str
    cuda: Numbers
    archs: tuple[str, ...]
    machine: str
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformTag:
    """A manylinux tag: the glibc it asks for, and the newest libstdc++ symbols it allows."""

    tag: str
    alias: str
    glibc: Numbers
    glibcxx: Numbers
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRelease:
    """The first release of a package whose wheels were built for NumPy 2."""

    package: str
    version: Numbers
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFile:
    """A file that a component's wheels for two CUDA majors both install, if of one own major."""

    component: str
    file: str
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverCuda:
    """What the tables say of the newest CUDA of a driver.

    Attributes:
        least: it supports at least this one.
        most: and at most this one; ``None`` where the tables end.
        cited: the source.
    """

    least: Numbers
    most: Numbers | None
    cited: Cited


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All tables; those with an order are sorted."""

    newest: NewestCuda
    families: tuple[Family, ...]
    branches: tuple[Branch, ...]
    last_branches: tuple[LastBranch, ...]
    forward: tuple[Forward, ...]
    forward_kinds: frozenset[str]
    compilers: tuple[Compilers, ...]
    capabilities: tuple[Capability, ...]
    tegra: frozenset[Numbers]
    gpus: tuple[GpuModel, ...]
    releases: tuple[TorchRelease, ...]
    builds: tuple[TorchBuild, ...]
    tags: tuple[PlatformTag, ...]
    numpy2: tuple[FirstRelease, ...]
    shared_files: tuple[SharedFile, ...]

    def find_family(self, cuda: Numbers) -> Family | None:
        """The family of a CUDA release."""
        return next((one for one in self.families if one.major == cuda.major), None)

    def find_driver_cuda(self, driver: Numbers) -> DriverCuda | None:
        """The newest CUDA of a driver; a branch between two known ones lies between them."""
        older = [one for one in self.branches if one.number <= driver.major]
        newer = [one for one in self.branches if one.number > driver.major]
        if not older:
            return None
        if older[-1].number == driver.major:
            exact = older[-1].cuda
            return DriverCuda(least=exact, most=exact, cited=older[-1].cited)
        most = newer[0].cuda if newer else None
        return DriverCuda(least=older[-1].cuda, most=most, cited=older[-1].cited)

    def find_branch_for(self, cuda: Numbers) -> Branch | None:
        """The first branch that reports this CUDA or a newer one."""
        return next((one for one in self.branches if one.cuda >= cuda), None)

    def find_gpu(self, name: str) -> GpuModel | None:
        """The model that a name means, with the vendor or without; the longest one counts."""
        plain = name.strip().removeprefix("NVIDIA ")
        wanted = [f"{vendor}{plain}".casefold() for vendor in _VENDORS]
        found = [
            model
            for model in self.gpus
            if any(_begins_with(text, model.name.casefold()) for text in wanted)
        ]
        return max(found, key=lambda model: len(model.name), default=None)

    def find_capability(self, number: Numbers) -> Capability | None:
        """What is known of a compute capability."""
        return next((one for one in self.capabilities if one.number == number), None)

    def find_release(self, torch: str) -> TorchRelease | None:
        """What is known of a torch, by its version without the local part."""
        return next((one for one in self.releases if one.torch == torch), None)

    def find_builds(self, torch: str, machine: str = "x86_64") -> tuple[TorchBuild, ...]:
        """The CUDA builds of a torch for a CPU architecture, oldest CUDA first."""
        found = [b for b in self.builds if torch in b.torch and b.machine == machine]
        return tuple(sorted(found, key=lambda build: build.cuda))


def _begins_with(text: str, name: str) -> bool:
    """Whether it does, and the next character begins another word: A10 is not A100."""
    return text.startswith(name) and not text[len(name) :][:1].isalnum()


def parse_tag(tag: str) -> Numbers | None:
    """The CUDA of a build's tag: ``cu126`` is 12.6, ``cu1210`` is 12.10, ``cu92`` is 9.2."""
    digits = tag.removeprefix("cu")
    if not tag.startswith("cu") or not (digits.isascii() and digits.isdecimal()):
        return None
    if len(digits) < 2:  # noqa: PLR2004 - cu12 names a family, and no release of it
        return None
    split = 1 if len(digits) == 2 else 2  # noqa: PLR2004 - cu92 was the last of one digit
    return parse_numbers(f"{digits[:split]}.{digits[split:]}")
