"""Captured machines with all their layers; those of `tests.collect` are told by their GPUs first.

As there, the forms come from the places named with each; numbers and names that belong to a person
or to one piece of hardware are invented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from envtrack.collect.interface import Machine, Said
from envtrack.model.fact import Absent, Unknown
from tests.collect import gpu_machines, more_gpu_machines
from tests.collect.gpu_machines import (
    PROPRIETARY,
    VERSION_FILE,
    GpuMachine,
    cpuinfo,
    gpu,
    joined,
    libraries,
    on_bus,
    report,
)
from tests.collect.places import write


def said(text: str, code: int = 0) -> Said:
    return Said(code=code, out=text, err="")


def distribution(name: str, version: str, more: str = "") -> str:
    """METADATA as build backends write it (core metadata 2.1)."""
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeMachine:
    """A machine with an environment in it.

    Attributes:
        base: its files, programs and variables.
        environment: where its environment stands, below the root.
        inside: the environment's files, by their path in it.
    """

    base: GpuMachine
    environment: str
    inside: dict[str, str] = field(default_factory=dict)

    def build(self, folder: Path) -> Machine:
        """The machine below `folder`."""
        root = folder / "root"
        environment = root / self.environment[1:]
        environment.mkdir(parents=True)
        for path, text in self.inside.items():
            write(environment / path, text)
        return self.base.build(folder, environment)


# `docker run python:3.11-alpine`: the files of Alpine 3.20's packages alpine-baselayout, musl and
# python3 as its package database lists them; busybox has `ld` and compilers only after `apk add`.
MUSL = WholeMachine(
    base=GpuMachine(
        files={
            "/proc/cpuinfo": cpuinfo("epyc_7763", 4),
            "/proc/meminfo": "MemTotal:       16384000 kB\n",
            "/proc/sys/kernel/arch": "x86_64\n",
            "/proc/sys/kernel/osrelease": "6.1.0-28-amd64\n",
            "/proc/sys/kernel/ostype": "Linux\n",
            "/proc/self/cgroup": "0::/\n",
            "/.dockerenv": "",
            "/etc/os-release": (
                'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.3\n'
                'PRETTY_NAME="Alpine Linux v3.20"\n'
            ),
            "/lib/ld-musl-x86_64.so.1": "",
            "/lib/apk/db/installed": "C:Q1\nP:musl\nV:1.2.5-r0\nA:x86_64\n\n",
            "/usr/local/bin/python3.11": "",
            "/sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
            "/sys/fs/cgroup/memory.max": "2147483648\n",
        },
        says={"gcc": said("gcc (Alpine 13.2.1_git20240309) 13.2.1 20240309\n")},
        environ={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    ),
    environment="/app/.venv",
    inside={
        "pyvenv.cfg": "home = /usr/local/bin\nimplementation = CPython\nversion_info = 3.11.10\n",
        "lib/python3.11/site-packages/numpy-2.1.3.dist-info/METADATA": distribution(
            "numpy", "2.1.3"
        ),
        "lib/python3.11/site-packages/numpy-2.1.3.dist-info/WHEEL": (
            "Wheel-Version: 1.0\nTag: cp311-cp311-musllinux_1_2_x86_64\n"
        ),
        "lib/python3.11/site-packages/numpy-2.1.3.dist-info/INSTALLER": "uv\n",
    },
)

# An environment of miniforge on a workstation: conda-meta as `conda create -p env python=3.11
# pytorch` leaves it (conda's documentation "Creating environments"; conda-forge's build strings).
CONDA = WholeMachine(
    base=joined(
        replace(
            gpu_machines.CONSUMER,
            environ={
                "CONDA_PREFIX": "/opt/miniforge3/envs/lab",
                "CONDA_DEFAULT_ENV": "lab",
                "CONDA_SHLVL": "1",
                "PATH": "/opt/miniforge3/envs/lab/bin:/usr/bin",
            },
            says={
                "conda": said("conda 24.9.2\n"),
                "gcc": said(
                    "x86_64-conda-linux-gnu-cc (conda-forge gcc 13.3.0-1) 13.3.0\n"
                    "Copyright (C) 2023 Free Software Foundation, Inc.\n"
                ),
            },
        ),
        GpuMachine(
            files={
                "/proc/cpuinfo": cpuinfo("xeon_8480", 8),
                "/proc/meminfo": "MemTotal:       65536000 kB\n",
                "/proc/sys/kernel/arch": "x86_64\n",
                "/proc/sys/kernel/osrelease": "5.15.0-112-generic\n",
                "/etc/os-release": 'ID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.5"\n',
                "/usr/lib/x86_64-linux-gnu/libc.so.6": (
                    "\0GNU C Library (Ubuntu GLIBC 2.35-0ubuntu3.8) stable release version 2.35.\n"
                ),
                "/opt/miniforge3/conda-meta/history": "",
            }
        ),
    ),
    environment="/opt/miniforge3/envs/lab",
    inside={
        "conda-meta/history": "==> 2024-10-01 10:00:00 <==\n",
        "conda-meta/python-3.11.10-hc5c86c4_3_cpython.json": (
            '{"name": "python", "version": "3.11.10", "build": "hc5c86c4_3_cpython"}'
        ),
        "conda-meta/cuda-version-12.6-h7480c83_3.json": (
            '{"name": "cuda-version", "version": "12.6", "build": "h7480c83_3"}'
        ),
        "bin/python3.11": "",
        "lib/libstdc++.so.6": "\0GLIBCXX_3.4\0GLIBCXX_3.4.33\0CXXABI_1.3.15\0",
        "lib/libcudart.so.12.6.77": "",
        "lib/python3.11/site-packages/torch-2.5.1.dist-info/METADATA": distribution(
            "torch", "2.5.1"
        ),
        "lib/python3.11/site-packages/torch-2.5.1.dist-info/INSTALLER": "conda\n",
        "lib/python3.11/site-packages/torch/version.py": (
            "__version__ = '2.5.1'\ndebug = False\ncuda: str = '12.6'\nhip = None\n"
        ),
    },
)

# Inside `srun` on a node with four A100: variables as Slurm's documentation of srun and of gres
# lists them, two of the GPUs given to the job, memory limited by cgroup v2 (`ConstrainRAMSpace`);
# the toolkit from an environment module, whose CUDA_HOME and LD_LIBRARY_PATH stay in the job.
_JOB = "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0"
SLURM = WholeMachine(
    base=joined(
        GpuMachine(
            files={
                VERSION_FILE: PROPRIETARY.format(version="550.54.15"),
                "/proc/cpuinfo": cpuinfo("epyc_7763", 128, sockets=2),
                "/proc/meminfo": "MemTotal:       1056703900 kB\n",
                "/proc/sys/kernel/arch": "x86_64\n",
                "/proc/sys/kernel/osrelease": "4.18.0-513.24.1.el8_9.x86_64\n",
                "/proc/self/cgroup": f"0::{_JOB}\n",
                f"/sys/fs/cgroup{_JOB}/memory.max": "max\n",
                "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/memory.max": (
                    "137438953472\n"
                ),
                "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory pids\n",
                "/etc/os-release": (
                    'ID="rocky"\nVERSION_ID="8.9"\nPRETTY_NAME="Rocky Linux 8.9 (Green Obsidian)"\n'
                ),
                "/lib64/ld-2.28.so": "",
                "/lib64/libc.so.6": "",
                **{f"/dev/nvidia{index}": "" for index in range(4)},
                "/apps/cuda/12.4/bin/nvcc": "",
            },
            nvml=report(
                "550.54.15",
                "12.4",
                *(
                    gpu(
                        index,
                        "NVIDIA A100-SXM4-40GB",
                        "8.0",
                        40960,
                        f"0000:{slot}:00.0",
                        persistence="on",
                    )
                    for index, slot in enumerate(("03", "44", "84", "c4"))
                ),
            ),
            says={
                "/apps/cuda/12.4/bin/nvcc": said(
                    "nvcc: NVIDIA (R) Cuda compiler driver\n"
                    "Cuda compilation tools, release 12.4, V12.4.131\n"
                    "Build cuda_12.4.r12.4/compiler.34097967_0\n"
                ),
                "gcc": said("gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-20)\n"),
            },
            environ={
                "SLURM_JOB_ID": "4711",
                "SLURM_JOB_USER": "mallory",
                "SLURM_JOB_NODELIST": "gpu[01-02]",
                "SLURM_NTASKS": "2",
                "CUDA_VISIBLE_DEVICES": "0,1",
                "CUDA_HOME": "/apps/cuda/12.4",
                "LD_LIBRARY_PATH": "/apps/cuda/12.4/lib64",
                "PATH": "/apps/cuda/12.4/bin:/usr/bin",
                "OMP_NUM_THREADS": "16",
                "NCCL_SOCKET_IFNAME": "ib0",
            },
        ),
        *(on_bus(f"0000:{slot}:00.0", "10de:20b0", "nvidia") for slot in ("03", "44", "84", "c4")),
        libraries("550.54.15", folder="/usr/lib64"),
    ),
    environment="/scratch/lab/.venv",
    inside={
        "pyvenv.cfg": "home = /usr/bin\nuv = 0.5.4\nversion_info = 3.11.7\n",
        "lib/python3.11/site-packages/torch-2.5.1+cu124.dist-info/METADATA": distribution(
            "torch", "2.5.1+cu124"
        ),
        "lib/python3.11/site-packages/torch/version.py": (
            "__version__ = '2.5.1+cu124'\ncuda: str = '12.4'\nhip = None\n"
        ),
        "lib/python3.11/site-packages/nvidia_cuda_runtime_cu12-12.4.127.dist-info/METADATA": (
            distribution("nvidia-cuda-runtime-cu12", "12.4.127")
        ),
    },
)


def _hang(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
    del timeout_s
    return Unknown(f"`{Path(command[0]).name}` timed out")


@dataclass(frozen=True, slots=True, kw_only=True)
class HangingMachine(WholeMachine):
    """One on which every program and the driver's library hang: the doors say so in these words."""

    def build(self, folder: Path) -> Machine:
        """The machine below `folder`."""
        # A base class's zero-argument super() does not work in a slotted dataclass.
        where = WholeMachine.build(self, folder)
        return replace(where, ask=_hang, nvml=lambda **_: Unknown("NVML timed out"))


# The Slurm node when a GPU has fallen off the bus: processes that touch the driver stay in state D
# (NVIDIA's Xid 79), and the file server that holds the programs is gone with it.
HANGING = HangingMachine(base=SLURM.base, environment=SLURM.environment, inside=dict(SLURM.inside))

_EMPTY_ENVIRONMENT = {"pyvenv.cfg": "home = /usr/bin\nversion_info = 3.11.7\n"}

MACHINES: dict[str, WholeMachine] = {
    "musl": MUSL,
    "conda": CONDA,
    "slurm": SLURM,
    "hanging": HANGING,
    **{
        name.lower().replace("_", "-"): WholeMachine(
            base=value, environment="/srv/project/.venv", inside=dict(_EMPTY_ENVIRONMENT)
        )
        for module in (gpu_machines, more_gpu_machines)
        for name, value in vars(module).items()
        if isinstance(value, GpuMachine) and name.isupper()
    },
}
