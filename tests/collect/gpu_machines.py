"""Machines with and without GPUs, as files, as NVML's answers and as what programs print.

The forms come from public reports, named with each; numbers that belong to a person or to one
piece of hardware are invented. None is a copy of a machine that we have touched, but `NO_GPU`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from envtrack.collect.interface import GpuInfo, Machine, NvmlReport, Said
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import machine, write

CAPTURED = Path(__file__).parent / "captured"
NOWHERE = Absent()


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMachine:
    """A machine to build: text files, links and empty files by their absolute path."""

    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    nvml: NvmlReport | Absent | Unknown = NOWHERE
    says: Mapping[str, Said | Absent | Unknown] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)

    def build(self, base: Path, environment: Path | None = None) -> Machine:
        """The machine below `base`."""
        root = base / "root"
        for path, text in self.files.items():
            write(root / path[1:], text)
        for path, target in self.links.items():
            link = root / path[1:]
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
        where = machine(base, environ=self.environ, environment=environment)
        return replace(where, nvml=self._tell_nvml, ask=self._ask)

    def _tell_nvml(self, *, timeout_s: float = 5.0) -> NvmlReport | Absent | Unknown:
        del timeout_s
        return self.nvml

    def _ask(self, command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
        del timeout_s
        return self.says.get(command[0], NOWHERE)


def cpuinfo(name: str, count: int = 1, sockets: int = 1) -> str:
    """A captured block as often as there are CPUs; two threads a core, as Linux numbers them."""
    block = (CAPTURED / "gpu_cpuinfo" / f"{name}.txt").read_text()
    cores = count // 2 or 1
    return "".join(
        block.replace("processor\t: 0", f"processor\t: {number}")
        .replace("physical id\t: 0", f"physical id\t: {number % cores * sockets // cores}")
        .replace("core id\t\t: 0", f"core id\t\t: {number % cores}")
        for number in range(count)
    )


def smi(name: str, code: int = 0) -> Said:
    return Said(code=code, out=(CAPTURED / "gpu_nvidia_smi" / f"{name}.txt").read_text(), err="")


def on_bus(slot: str, device: str, module: str = "", kind: str = "0x030200") -> GpuMachine:
    """One GPU in sysfs; `device` is its vendor and device number."""
    vendor, _, number = device.partition(":")
    folder = f"/sys/bus/pci/devices/{slot}"
    files = {"class": kind, "vendor": f"0x{vendor}", "device": f"0x{number}"}
    return GpuMachine(
        files={f"{folder}/{name}": f"{text}\n" for name, text in files.items()},
        links={f"{folder}/driver": f"../../../../bus/pci/drivers/{module}"} if module else {},
    )


def libraries(version: str, folder: str = "/usr/lib/x86_64-linux-gnu") -> GpuMachine:
    """The driver's two libraries as its packages install them."""
    names = ("libcuda.so", "libnvidia-ml.so")
    return GpuMachine(
        files={f"{folder}/{name}.{version}": "" for name in names},
        links={f"{folder}/{name}.1": f"{name}.{version}" for name in names},
    )


def joined(*parts: GpuMachine) -> GpuMachine:
    """Several parts as one machine; what is no file comes from the first."""
    return replace(
        parts[0],
        files={path: text for part in parts for path, text in part.files.items()},
        links={path: target for part in parts for path, target in part.links.items()},
    )


def gpu(
    index: int,
    model: str,
    capability: str,
    memory_mib: int,
    slot: str,
    *,
    mig: FactState = NOWHERE,
    mig_devices: FactState = NOWHERE,
    persistence: str = "off",
) -> GpuInfo:
    return GpuInfo(
        index=index,
        model=Known(model),
        compute_capability=Known(capability),
        memory_mib=Known(memory_mib),
        pci_id=Known(slot),
        mig=mig,
        mig_devices=mig_devices,
        persistence=Known(persistence),
    )


def report(driver: str, cuda: str, *gpus: GpuInfo | Unknown) -> NvmlReport:
    return NvmlReport(driver_version=Known(driver), cuda_version=Known(cuda), gpus=gpus)


PROPRIETARY = """\
NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Tue Mar  5 22:23:56 UTC 2024
GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)
"""
# nix-community/nixGL#186; the builder's login and host stand in it.
OPEN = """\
NVRM version: NVIDIA UNIX Open Kernel Module for {machine}  {version}  Release Build  (mallory@buildhost)  Thu Oct 10 12:15:00 UTC 2024
GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)
"""
# canonical/snapd#14893
INFORMATION = """\
Model: \t\t {model}
IRQ:   \t\t 16
GPU UUID: \t GPU-00000000-0000-4000-8000-000000000001
Video BIOS: \t 95.04.65.00.13
Bus Type: \t PCIe
DMA Size: \t 47 bits
DMA Mask: \t 0x7fffffffffff
Bus Location: \t {slot}
Device Minor: \t 0
GPU Excluded:\t No
"""
VERSION_FILE = "/proc/driver/nvidia/version"

# A virtual machine of the kind that these tests are written on: no GPU, no DMI.
NO_GPU = joined(
    GpuMachine(
        files={
            "/proc/cpuinfo": cpuinfo("epyc_7763", 2),
            "/proc/meminfo": "MemTotal:       24683584 kB\nMemFree:        23385952 kB\n",
            "/proc/sys/kernel/arch": "x86_64\n",
            "/sys/devices/system/node/has_cpu": "0\n",
            "/sys/module/virtio_pci/version": "1\n",
        }
    ),
    on_bus("0000:00:00.0", "8086:0d57", kind="0x060000"),
    on_bus("0000:00:01.0", "1af4:1042", "virtio-pci", kind="0x018000"),
)

# docker/for-linux#1531 (driver, model, memory); the desktop's Intel graphics beside it.
CONSUMER = joined(
    GpuMachine(
        files={
            VERSION_FILE: PROPRIETARY.format(version="535.183.01"),
            "/sys/module/nvidia/version": "535.183.01\n",
            "/dev/nvidia0": "",
            "/dev/nvidiactl": "",
        },
        nvml=report(
            "535.183.01", "12.2", gpu(0, "NVIDIA GeForce RTX 4090", "8.9", 24564, "0000:41:00.0")
        ),
    ),
    on_bus("0000:00:02.0", "8086:a780", "i915", kind="0x030000"),
    on_bus("0000:41:00.0", "10de:2684", "nvidia", kind="0x030000"),
    libraries("535.183.01"),
)

_SLOTS = ("07", "0f", "47", "4e", "87", "90", "b7", "bd")
_MIG = {0: 7, 1: 3}
# An 8-GPU A100 server: slots as in NVIDIA/k8s-device-plugin#343 and its likes, MIG as in NVIDIA's
# MIG user guide; Fabric Manager's package as NVIDIA's repository names it.
EIGHT_WITH_MIG = joined(
    GpuMachine(
        files={
            VERSION_FILE: PROPRIETARY.format(version="550.54.15"),
            "/proc/cpuinfo": cpuinfo("epyc_7763", 256, sockets=2),
            "/proc/meminfo": "MemTotal:       2113407800 kB\n",
            "/proc/sys/kernel/arch": "x86_64\n",
            "/sys/devices/system/node/has_cpu": "0-1\n",
            "/sys/class/dmi/id/product_name": "PowerEdge XE8545\n",
            "/usr/bin/nv-fabricmanager": "",
            "/var/lib/dpkg/status": (
                "Package: nvidia-fabricmanager-535\nStatus: deinstall ok config-files\n"
                "Version: 535.161.08-1\n\n"
                "Package: nvidia-fabricmanager-550\nStatus: install ok installed\n"
                "Priority: optional\nArchitecture: amd64\nVersion: 550.54.15-1\nDescription: x\n\n"
            ),
            **{f"/dev/nvidia{index}": "" for index in range(8)},
        },
        nvml=report(
            "550.54.15",
            "12.4",
            *(
                gpu(
                    index,
                    "NVIDIA A100-SXM4-80GB",
                    "8.0",
                    81920,
                    f"0000:{slot}:00.0",
                    mig=Known("on" if index in _MIG else "off"),
                    mig_devices=Known(_MIG.get(index, 0)),
                    persistence="on",
                )
                for index, slot in enumerate(_SLOTS)
            ),
        ),
    ),
    *(on_bus(f"0000:{slot}:00.0", "10de:20b2", "nvidia") for slot in _SLOTS),
    libraries("550.54.15"),
)

# The nightly upgrade: lyulyul/shine-cluster#30, pando85/homelab#4110. The new module is built for
# the running kernel, but the old one is still loaded.
MISMATCH = joined(
    GpuMachine(
        files={
            VERSION_FILE: PROPRIETARY.format(version="535.161.08"),
            "/proc/sys/kernel/osrelease": "5.15.0-112-generic\n",
            "/var/lib/dkms/nvidia/550.54.15/5.15.0-112-generic/x86_64/module/nvidia.ko": "",
            "/var/lib/dkms/nvidia/550.54.15/source/dkms.conf": "",
            "/var/lib/dkms/nvidia-fs/2.17.5/5.15.0-112-generic/x86_64/module/nvidia-fs.ko": "",
            "/proc/driver/nvidia/gpus/0000:65:00.0/information": INFORMATION.format(
                model="NVIDIA RTX A6000", slot="0000:65:00.0"
            ),
            "/usr/lib/x86_64-linux-gnu/libcuda.so.535.161.08": "",
            "/dev/nvidia0": "",
        },
        links={
            "/var/lib/dkms/nvidia/kernel-5.15.0-112-generic-x86_64": (
                "550.54.15/5.15.0-112-generic/x86_64"
            ),
        },
        nvml=Unknown("Driver/library version mismatch"),
        says={"nvidia-smi": smi("mismatch", code=18)},
    ),
    on_bus("0000:65:00.0", "10de:2230", "nvidia"),
    libraries("550.54.15"),
)

# A workstation with the open module; nvidia-ml-py is not there, so that nvidia-smi is asked.
OPEN_MODULE = joined(
    GpuMachine(
        files={
            VERSION_FILE: OPEN.format(machine="x86_64", version="610.57.04"),
            "/proc/driver/nvidia/gpus/0000:07:00.0/information": INFORMATION.format(
                model="NVIDIA GeForce RTX 3060", slot="0000:07:00.0"
            ),
        },
        nvml=Unknown("nvidia-ml-py is not installed"),
        says={"nvidia-smi": smi("branch_610")},
    ),
    on_bus("0000:07:00.0", "10de:2504", "nvidia", kind="0x030000"),
    libraries("610.57.04", folder="/usr/lib"),
)

# `docker run` without --gpus on a GPU server: /sys and /proc are the host's (NVIDIA/nvidia-docker#170,
# canonical/lxd#7840), but there is neither a device file nor a library.
NO_GPUS_FLAG = joined(
    GpuMachine(
        files={
            VERSION_FILE: PROPRIETARY.format(version="550.54.15"),
            "/dev/null": "",
            "/usr/local/cuda-12.8/compat/libcuda.so.570.86.15": "",
        },
        links={
            "/usr/local/cuda": "/etc/alternatives/cuda",
            "/etc/alternatives/cuda": "/usr/local/cuda-12.8",
            "/usr/local/cuda-12.8/compat/libcuda.so.1": "libcuda.so.570.86.15",
        },
    ),
    on_bus("0000:17:00.0", "10de:2330", "nvidia"),
    on_bus("0000:65:00.0", "10de:2330", "nvidia"),
)
