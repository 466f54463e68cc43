"""A stack as the rules see it: typed, and with a reason wherever something is not known.

What is absent and what is unknown stay apart in every `Reading`; neither is ever taken for a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from envtrack.compat.readings import Reading
from envtrack.compat.versions import Numbers
from envtrack.model.fact import FactState
from envtrack.model.lock import LockedPackage
from envtrack.model.snapshot import InstalledPackage


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaSpan:
    """The newest CUDA of a driver: at least this, at most that; ``None``: nobody knows."""

    least: Numbers
    most: Numbers | None

    def __str__(self) -> str:
        if self.most is not None and self.most == self.least:
            return str(self.least)
        return f"at least {self.least}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One NVIDIA GPU."""

    index: int
    model: Reading[str]
    capability: Reading[Numbers]
    kind: Reading[str] = field(default_factory=lambda: Reading(why="the model is not known"))

    def __str__(self) -> str:
        return f"GPU {self.index} ({self.model.value or 'model not known'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The NVIDIA driver.

    Attributes:
        version: the kernel module's.
        library: the user-space library's (libcuda, or NVML's where only that is told).
        agrees: whether both belong together, as the collector judged it.
        answers: whether NVML answers; its reason where it does not.
        cuda: the newest CUDA it supports.
        compat: the version of a forward-compatibility package that programs would load.
        compat_packages: those that are installed.
    """

    version: Reading[Numbers]
    library: Reading[Numbers]
    agrees: Reading[str]
    answers: Reading[str]
    cuda: Reading[CudaSpan]
    compat: Reading[Numbers]
    compat_packages: Reading[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Torch:
    """PyTorch as it is installed, locked, or planned.

    Attributes:
        version: with its local part: ``2.6.0+cu126``.
        cuda: what it was built for; absent in a build for CPUs or ROCm.
        hip: the same for ROCm.
        archs: the compiled architectures, ``sm_80``, ``compute_90``.
        cxx11_abi: whether it was built with the new C++11 ABI.
    """

    version: Reading[str]
    cuda: Reading[Numbers]
    hip: Reading[str]
    archs: Reading[tuple[str, ...]]
    cxx11_abi: Reading[bool]

    @property
    def release(self) -> str:
        """The version without its local part; empty where there is none."""
        return (self.version.value or "").partition("+")[0]

    @property
    def tag(self) -> str:
        """The local part: ``cu126``, ``cpu``; empty without one."""
        return (self.version.value or "").partition("+")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCompiler:
    """One C or C++ compiler that a build of an extension would use.

    Attributes:
        chosen_by: what chooses it: ``NVCC_APPEND_FLAGS``, ``CC``, ``PATH``.
        command: as it is named there: ``gcc-13``.
        kind: ``gcc`` or ``clang``; empty where it is not known.
        version: its version.
    """

    chosen_by: str
    command: str
    kind: str
    version: Reading[Numbers]

    def __str__(self) -> str:
        by = "" if self.chosen_by == "PATH" else f", named by {self.chosen_by}"
        return f"{self.command} {self.version.value or '(version not known)'}{by}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """What extensions would be built with.

    Attributes:
        nvcc: the release of the nvcc that PyTorch's builds take.
        hosts: the compiler that nvcc is given, and the C++ compiler beside it if it is another.
        allows_unsupported: whether nvcc is told to take any compiler.
    """

    nvcc: Reading[Numbers]
    hosts: tuple[HostCompiler, ...]
    allows_unsupported: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """A library of the system that stands before the environment's on the loader's path.

    Attributes:
        component: ``cudart``, ``cudnn``.
        file: where it lies.
        by: what leads the loader there: ``LD_LIBRARY_PATH``, a configuration file.
    """

    component: str
    file: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Everything that the rules look at.

    Attributes:
        architecture: of the CPU, ``x86_64``.
        gpus: the NVIDIA ones, by index; empty: there is none.
        on_bus: how many NVIDIA GPUs the PCI bus shows.
        driver: NVIDIA's.
        tegra: the release of Linux for Tegra: a Jetson, whose drivers are numbered otherwise.
        libc: ``glibc`` or ``musl``.
        libc_version: its version.
        glibcxx: the newest ``GLIBCXX`` symbols of the libstdc++ in use.
        container: the innermost runtime; absent: none.
        wsl: ``WSL2``; absent elsewhere.
        shm_mib: the size of ``/dev/shm``.
        toolchain: what extensions would be built with.
        python: the environment's Python.
        python_abi: ``cp311``.
        implementation: ``CPython``.
        torch: PyTorch.
        frameworks: the CUDA that other frameworks were built for, by name.
        packages: by name: what is installed, or locked where there is no environment.
        are_installed: whether they are what is installed.
        locked: what the lockfile installs here; ``None`` without a lockfile.
        requires_python: the lockfile's, empty where it says none.
        shadows: system libraries in the way; a reason where nobody could look.
        settings: environment variables by name.
        facts: all facts, for what only one rule needs.
    """

    architecture: Reading[str]
    gpus: Reading[tuple[Gpu, ...]]
    on_bus: Reading[int]
    driver: Driver
    tegra: Reading[str]
    libc: Reading[str]
    libc_version: Reading[Numbers]
    glibcxx: Reading[Numbers]
    container: Reading[str]
    wsl: Reading[str]
    shm_mib: Reading[int]
    toolchain: Toolchain
    python: Reading[Numbers]
    python_abi: Reading[str]
    implementation: Reading[str]
    torch: Torch
    frameworks: Mapping[str, Reading[Numbers]]
    packages: Mapping[str, InstalledPackage]
    are_installed: bool
    locked: tuple[LockedPackage, ...] | None
    requires_python: str
    shadows: Reading[tuple[Shadow, ...]]
    settings: Mapping[str, str]
    facts: Mapping[str, FactState]

    @property
    def needs_gpu(self) -> bool:
        """Whether a framework is there that was built for CUDA."""
        return self.torch.cuda.value is not None or any(
            cuda.value is not None for cuda in self.frameworks.values()
        )

    @property
    def is_linux(self) -> bool:
        """Whether it is Linux, as far as the C library tells; taken for granted where it does not.

        A machine with neither glibc nor musl is a Mac or Windows.
        """
        return not self.libc.is_absent

    @property
    def is_condas_torch(self) -> bool:
        """Whether conda installed torch: its builds are others than those of the wheels."""
        package = self.packages.get("torch")
        return package is not None and package.origin.startswith("conda")

    @property
    def lacks_gpus(self) -> bool:
        """Whether it is a container to which the machine's GPUs were not given."""
        return self.container.value is not None and self.driver.library.is_absent

    def find_version(self, name: str) -> str:
        """The version of a package; empty where it is not there."""
        package = self.packages.get(name)
        return package.version if package else ""
