"""The GPU drivers: kernel module, user-space library, and whether they belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from envtrack.collect.below_root import is_there, list_names
from envtrack.collect.dkms import read_dkms
from envtrack.collect.fabric_manager import read_fabric_manager_version
from envtrack.collect.interface import GpuInfo, NvmlReport
from envtrack.collect.loader_path import read_loader_path
from envtrack.collect.nvidia_library import CUDA, NVML, find_library_version, read_compatibility
from envtrack.collect.nvidia_module import (
    NvidiaModule,
    count_device_files,
    read_l4t_version,
    read_nvidia_module,
)
from envtrack.collect.nvidia_smi import ask_cuda_version
from envtrack.collect.pci import read_controllers
from envtrack.collect.reading import Missing
from envtrack.collect.rocm import read_rocm
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from envtrack.collect.interface import Machine

_Facts: TypeAlias = "dict[str, FactState]"
_Report: TypeAlias = "NvmlReport | Missing"


class DriverCollector:
    """Reads files of NVIDIA's and AMD's drivers; asks NVML, and ``nvidia-smi`` only after it."""

    layer = Layer.DRIVER

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``driver.nvidia.…``, ``driver.amd.…``, ``driver.rocm.…``, ``driver.nouveau``, ….

        Cost: 2 ms; NVML's time comes on top, and where a driver is there but NVML does not tell
        the CUDA version, that of ``nvidia-smi``.
        """
        root = machine.root
        facts = {f"nvidia.{part}": state for part, state in _read_nvidia(machine).items()}
        facts |= read_rocm(root)
        facts["nouveau"] = _is_loaded(root, "nouveau")
        facts["tegra.version"] = read_l4t_version(root)
        facts["wsl.dxg"] = Known(value=True) if is_there(root, "/dev/dxg") else Absent()
        facts["gpu-modules"] = _read_gpu_modules(root)
        for part, state in facts.items():
            yield Fact(name=f"driver.{part}", state=state)


def _read_nvidia(machine: Machine) -> _Facts:
    root = machine.root
    report = machine.nvml()
    module = _complete(read_nvidia_module(root), report)
    folders = read_loader_path(machine)
    libcuda = find_library_version(root, folders, CUDA)
    libnvml = find_library_version(root, folders, NVML)
    compat = read_compatibility(root, folders)
    dkms = read_dkms(root, "nvidia")
    return {
        "version": module.version,
        "open": module.is_open,
        "library.version": libcuda,
        "nvml.version": libnvml,
        "nvml.answers": Known(value=True) if isinstance(report, NvmlReport) else report,
        "agrees": _judge(module.version, (libcuda, libnvml), report),
        "cuda.version": _find_cuda_version(machine, report, (module.version, libcuda, libnvml)),
        "persistence": _read_persistence(report),
        "device-files": count_device_files(root),
        "fabric-manager.version": read_fabric_manager_version(root),
        "compat.packages": compat.packages,
        "compat.version": compat.version,
        "compat.by": compat.by,
        "dkms.version": dkms.version,
        "dkms.state": dkms.state,
        "dkms.kernels": dkms.kernels,
    }


def _complete(module: NvidiaModule, report: _Report) -> NvidiaModule:
    """NVML's word where no file tells: under WSL the module is Windows's."""
    if isinstance(module.version, Known) or not isinstance(report, NvmlReport):
        return module
    return NvidiaModule(version=report.driver_version, is_open=module.is_open)


def _judge(module: FactState, libraries: tuple[FactState, ...], report: _Report) -> FactState:
    """Whether module and library are of one version; absent where one of the two is missing.

    The file names decide where they tell a version; NVML knows too, since it refuses to work
    with another module than its own (``NVML_ERROR_LIB_RM_VERSION_MISMATCH``).
    """
    told = {state.value for state in libraries if isinstance(state, Known)}
    if isinstance(module, Known) and told:
        return Known(told == {module.value})
    if isinstance(report, NvmlReport):
        return Known(value=True)
    if isinstance(report, Unknown) and "mismatch" in report.reason.lower():
        return Known(value=False)
    states = (module, *libraries)
    unknown = next((state for state in states if isinstance(state, Unknown)), None)
    if isinstance(module, Absent) or all(isinstance(state, Absent) for state in libraries):
        return Absent()
    return unknown or Absent()


def _find_cuda_version(
    machine: Machine, report: _Report, signs: tuple[FactState, ...]
) -> FactState:
    """NVML's answer, else that of ``nvidia-smi``, which is not asked where no driver shows."""
    if isinstance(report, NvmlReport) and isinstance(report.cuda_version, Known):
        return report.cuda_version
    if isinstance(report, Absent) and all(isinstance(sign, Absent) for sign in signs):
        return Absent()
    asked: FactState = Absent()
    # Who waited in vain for NVML would wait for nvidia-smi as well: it asks the same driver.
    if not (isinstance(report, Unknown) and "timed out" in report.reason):
        asked = ask_cuda_version(machine)
    if isinstance(asked, Known):
        return asked
    said = report.cuda_version if isinstance(report, NvmlReport) else report
    for state in (said, asked):
        if isinstance(state, Unknown):
            return state
    return Unknown("neither NVML nor nvidia-smi is there to say it")


def _read_persistence(report: _Report) -> FactState:
    """``on`` or ``off``; ``mixed`` where the GPUs differ."""
    if not isinstance(report, NvmlReport):
        return report
    states = [gpu.persistence for gpu in report.gpus if isinstance(gpu, GpuInfo)]
    values = {state.value for state in states if isinstance(state, Known)}
    if not values:
        return states[0] if states else Absent()
    return Known(values.pop() if len(values) == 1 else "mixed")


def _is_loaded(root: Path, module: str) -> FactState:
    names = list_names(root, "/sys/module")
    if not isinstance(names, tuple):
        return names
    return Known(value=True) if module in names else Absent()


def _read_gpu_modules(root: Path) -> FactState:
    """The kernel modules that run the GPUs on the bus: ``nvidia``, ``nvidia vfio-pci``."""
    controllers = read_controllers(root)
    if not isinstance(controllers, tuple):
        return controllers
    modules = sorted({one.module for one in controllers if one.module})
    return Known(" ".join(modules)) if modules else Absent()
