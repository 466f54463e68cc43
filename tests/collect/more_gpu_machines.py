"""Four more: a Linux inside Windows, AMD's GPUs, and two with an Arm processor."""

from __future__ import annotations

from envtrack.model.fact import Absent
from tests.collect.gpu_machines import (
    OPEN,
    VERSION_FILE,
    GpuMachine,
    cpuinfo,
    gpu,
    joined,
    libraries,
    on_bus,
    report,
    smi,
)

# The nodes of an MI300X server, as a public test of a process launcher has captured them.
_CPU_NODE = """\
cpu_cores_count 96
simd_count 0
mem_banks_count 1
gfx_target_version 0
vendor_id 0
device_id 0
location_id 0
domain 0
"""
_GPU_NODE = """\
cpu_cores_count 0
simd_count 1216
mem_banks_count 1
caches_count 626
max_waves_per_simd 8
lds_size_in_kb 64
wave_front_size 64
array_count 32
gfx_target_version 90402
vendor_id 4098
device_id 29857
location_id {location}
domain 0
drm_render_minor 128
hive_id 10631624818852212319
unique_id 1234567890123456789
num_xcc 8
"""
NODES = "/sys/class/kfd/kfd/topology/nodes"
# ROCm 6.2 on Ubuntu, with AMD's own kernel module; the class of a card is that of
# apache/cloudstack#11701. The server's own graphics chip (ASPEED) is no GPU.
ROCM = joined(
    GpuMachine(
        files={
            f"{NODES}/0/properties": _CPU_NODE,
            f"{NODES}/0/name": "\n",
            f"{NODES}/2/properties": _GPU_NODE.format(location=18176),
            f"{NODES}/2/name": "ip discovery\n",
            f"{NODES}/10/properties": _GPU_NODE.format(location=25856),
            f"{NODES}/10/name": "ip discovery\n",
            "/sys/bus/pci/devices/0000:47:00.0/product_name": "AMD Instinct MI300X OAM\n",
            "/sys/bus/pci/devices/0000:47:00.0/mem_info_vram_total": "206141652992\n",
            "/sys/bus/pci/devices/0000:65:00.0/mem_info_vram_total": "206141652992\n",
            "/sys/module/amdgpu/version": "6.8.5\n",
            "/dev/kfd": "",
            "/opt/rocm-6.1.2/.info/version": "6.1.2-119\n",
            "/opt/rocm-6.2.0/.info/version": "6.2.0-66\n",
        },
        links={"/opt/rocm": "/etc/alternatives/rocm", "/etc/alternatives/rocm": "/opt/rocm-6.2.0"},
    ),
    on_bus("0000:02:00.0", "1a03:2000", "ast", kind="0x030000"),
    on_bus("0000:47:00.0", "1002:74a1", "amdgpu", kind="0x120000"),
    on_bus("0000:65:00.0", "1002:74a1", "amdgpu", kind="0x120000"),
)

# A GH200: /proc/cpuinfo of the kernel mailing list, sockets of archspec/archspec-json#83, the open
# module's banner of a public log on GB10; the slot's domain is not 0 on these.
GRACE_HOPPER = joined(
    GpuMachine(
        files={
            VERSION_FILE: OPEN.format(machine="aarch64", version="580.95.05"),
            "/proc/cpuinfo": "".join(
                cpuinfo("grace").replace("processor\t: 0", f"processor\t: {number}")
                for number in range(72)
            ),
            "/proc/meminfo": "MemTotal:       501871616 kB\n",
            "/sys/devices/system/node/has_cpu": "0\n",
            "/sys/devices/system/node/online": "0-8\n",
            "/sys/class/dmi/id/product_name": "P4352\n",
            **{
                f"/sys/devices/system/cpu/cpu{number}/topology/{name}": f"{value}\n"
                for number in range(72)
                for name, value in (("physical_package_id", 0), ("core_id", number))
            },
        },
        nvml=report(
            "580.95.05", "13.0", gpu(0, "NVIDIA GH200 480GB", "9.0", 97871, "0009:01:00.0")
        ),
    ),
    on_bus("0009:01:00.0", "10de:2342", "nvidia"),
    libraries("580.95.05", folder="/usr/lib/aarch64-linux-gnu"),
)

# JetPack 6 on an Orin: banner and release of public logs (nix-community/nixGL#139 for the banner's
# form). The GPU is on no bus, the library has a version of its own, there is no NVML.
_TEGRA = "/usr/lib/aarch64-linux-gnu/nvidia"
JETSON = GpuMachine(
    files={
        VERSION_FILE: OPEN.format(machine="aarch64", version="540.4.0"),
        "/etc/nv_tegra_release": (
            "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64,"
            " DATE: Wed Jan  8 01:49:37 UTC 2025\n# KERNEL_VARIANT: oot\n"
        ),
        "/proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit\0",
        "/etc/ld.so.conf": "include ld.so.conf.d/*.conf\n",
        "/etc/ld.so.conf.d/nvidia-tegra.conf": f"{_TEGRA}\n",
        f"{_TEGRA}/libcuda.so.1.1": "",
        "/sys/bus/pci/devices/0001:00:00.0/class": "0x060400\n",
    },
    links={f"{_TEGRA}/libcuda.so.1": "libcuda.so.1.1"},
    nvml=Absent(),
)

# WSL 2: microsoft/WSL#5604 and #9099 for the folder, a public note of 2026 for the numbers: the
# library is 615.78, Windows's kernel driver 617.14.
WSL = GpuMachine(
    files={
        "/dev/dxg": "",
        "/usr/lib/wsl/lib/libcuda.so.1.1": "",
        "/usr/lib/wsl/lib/libnvidia-ml.so.1": "",
        "/usr/lib/wsl/lib/nvidia-smi": "",
        "/etc/ld.so.conf": "include /etc/ld.so.conf.d/*.conf\n",
        "/etc/ld.so.conf.d/ld.wsl.conf": "/usr/lib/wsl/lib\n",
        "/sys/bus/pci/devices/5582:00:00.0/class": "0x030200\n",
        "/sys/bus/pci/devices/5582:00:00.0/vendor": "0x1414\n",
    },
    links={"/usr/lib/wsl/lib/libcuda.so.1": "libcuda.so.1.1"},
    nvml=report(
        "617.14", "13.4", gpu(0, "NVIDIA GeForce RTX 4090 D", "8.9", 24564, "0000:01:00.0")
    ),
    says={"/usr/lib/wsl/lib/nvidia-smi": smi("wsl")},
)
