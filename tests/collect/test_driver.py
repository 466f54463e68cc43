from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.collect.driver import DriverCollector
from envtrack.collect.interface import Said
from envtrack.collect.nvidia_smi import parse_cuda_version
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.gpu_machines import (
    CONSUMER,
    EIGHT_WITH_MIG,
    MISMATCH,
    NO_GPU,
    NO_GPUS_FLAG,
    OPEN,
    OPEN_MODULE,
    PROPRIETARY,
    VERSION_FILE,
    GpuMachine,
    joined,
    libraries,
    smi,
)
from tests.collect.more_gpu_machines import GRACE_HOPPER, JETSON, ROCM, WSL
from tests.collect.places import facts_of, write

YES, NO = Known(value=True), Known(value=False)


def facts(built: GpuMachine, base: Path) -> dict[str, FactState]:
    return facts_of(DriverCollector(), built.build(base))


def nvidia(built: GpuMachine, base: Path) -> dict[str, FactState]:
    prefix = "driver.nvidia."
    found = facts(built, base)
    return {name.removeprefix(prefix): s for name, s in found.items() if name.startswith(prefix)}


def banner(text: str) -> GpuMachine:
    return GpuMachine(files={VERSION_FILE: text})


def test_a_machine_without_a_gpu_has_no_driver_and_nothing_is_asked(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Absent:
        asked.append(command[0])
        return Absent()

    found = facts_of(DriverCollector(), replace(NO_GPU.build(tmp_path), ask=ask))
    assert set(found.values()) == {Absent()}
    assert asked == []


def test_one_consumer_gpu_with_the_proprietary_module(tmp_path: Path) -> None:
    assert nvidia(CONSUMER, tmp_path) == {
        "version": Known("535.183.01"),
        "open": NO,
        "library.version": Known("535.183.01"),
        "nvml.version": Known("535.183.01"),
        "nvml.answers": YES,
        "agrees": YES,
        "cuda.version": Known("12.2"),
        "persistence": Known("off"),
        "device-files": Known(1),
        "fabric-manager.version": Absent(),
        "compat.packages": Absent(),
        "compat.version": Absent(),
        "compat.by": Absent(),
        "dkms.version": Absent(),
        "dkms.state": Absent(),
        "dkms.kernels": Absent(),
    }
    assert facts(CONSUMER, tmp_path / "again")["driver.gpu-modules"] == Known("i915 nvidia")


def test_a_server_with_nvswitches_shows_its_fabric_manager(tmp_path: Path) -> None:
    found = nvidia(EIGHT_WITH_MIG, tmp_path)
    assert found["fabric-manager.version"] == Known("550.54.15")
    assert (found["persistence"], found["device-files"]) == (Known("on"), Known(8))


def test_a_fabric_manager_that_no_list_tells_of_is_unknown(tmp_path: Path) -> None:
    where = EIGHT_WITH_MIG.build(tmp_path)
    (where.root / "var/lib/dpkg/status").unlink()
    state = facts_of(DriverCollector(), where)["driver.nvidia.fabric-manager.version"]
    assert state == Unknown("only the program itself could say it")


def test_where_no_gpu_tells_its_persistence_neither_does_the_driver(tmp_path: Path) -> None:
    told = EIGHT_WITH_MIG.nvml
    assert not isinstance(told, (Absent, Unknown))
    lost = replace(told, gpus=(Unknown("GPU is lost"),))
    assert nvidia(replace(EIGHT_WITH_MIG, nvml=lost), tmp_path)["persistence"] == Absent()


def test_nvmls_refusal_of_the_cuda_version_is_the_reason(tmp_path: Path) -> None:
    told = CONSUMER.nvml
    assert not isinstance(told, (Absent, Unknown))
    refused = replace(told, cuda_version=Unknown("Not Supported"))
    found = nvidia(replace(CONSUMER, nvml=refused), tmp_path)
    assert found["cuda.version"] == Unknown("Not Supported")


def test_gpus_that_differ_in_persistence_are_mixed(tmp_path: Path) -> None:
    told = EIGHT_WITH_MIG.nvml
    assert not isinstance(told, (Absent, Unknown))
    first = told.gpus[0]
    assert not isinstance(first, Unknown)
    other = replace(first, persistence=Known("off"))
    mixed = replace(told, gpus=(Unknown("GPU is lost"), other, *told.gpus[2:]))
    found = nvidia(replace(EIGHT_WITH_MIG, nvml=mixed), tmp_path)
    assert found["persistence"] == Known("mixed")


def test_before_a_reboot_module_and_library_disagree_and_nvml_says_why(tmp_path: Path) -> None:
    found = nvidia(MISMATCH, tmp_path)
    reason = Unknown("Driver/library version mismatch")
    assert found["version"] == Known("535.161.08")
    assert found["library.version"] == Known("550.54.15")
    assert found["agrees"] == NO
    assert (found["nvml.answers"], found["cuda.version"]) == (reason, reason)


def test_the_new_module_is_built_for_the_kernel_that_runs(tmp_path: Path) -> None:
    found = nvidia(MISMATCH, tmp_path)
    assert found["dkms.version"] == Known("550.54.15")
    assert found["dkms.state"] == Known("installed")
    assert found["dkms.kernels"] == Known("5.15.0-112-generic")


def test_nvmls_word_of_a_mismatch_counts_where_no_file_tells_a_version(tmp_path: Path) -> None:
    only_nvml = replace(
        banner(PROPRIETARY.format(version="535.161.08")),
        nvml=Unknown("RM has detected an NVML/RM version mismatch."),
    )
    assert nvidia(only_nvml, tmp_path)["agrees"] == NO


def test_the_open_module_is_told_apart_and_nvidia_smi_tells_its_cuda(tmp_path: Path) -> None:
    found = nvidia(OPEN_MODULE, tmp_path)
    assert (found["version"], found["open"]) == (Known("610.57.04"), YES)
    assert (found["agrees"], found["cuda.version"]) == (YES, Known("13.3"))


def test_no_login_of_whoever_built_the_module_and_no_process_is_recorded(tmp_path: Path) -> None:
    assert "mallory" not in repr(facts(OPEN_MODULE, tmp_path))


@pytest.mark.parametrize(
    ("text", "version", "is_open"),
    [
        (PROPRIETARY.format(version="550.54"), "550.54", NO),
        (PROPRIETARY.format(version="580.173.02").replace("x86_64", "aarch64"), "580.173.02", NO),
        (OPEN.format(machine="x86_64", version="595.71.05"), "595.71.05", YES),
        (OPEN.format(machine="aarch64", version="35.3.1"), "35.3.1", YES),
        (
            "NVRM version: NVIDIA UNIX Open Kernel x86_64 Kernel Module  590.48.01  Mon Dec  8\n",
            "590.48.01",
            YES,
        ),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module  570.86.15  Release Build\n",
            "570.86.15",
            YES,
        ),
    ],
)
def test_every_form_of_the_modules_banner_is_read(
    tmp_path: Path, text: str, version: str, is_open: Known
) -> None:
    found = nvidia(banner(text), tmp_path)
    assert (found["version"], found["open"]) == (Known(version), is_open)


def test_a_banner_of_another_form_is_unknown_and_not_absent(tmp_path: Path) -> None:
    found = nvidia(banner("Something else 1.2.3\n"), tmp_path)
    assert found["version"] == Unknown("the driver's version file has another form")


def test_sysfs_tells_version_and_licence_where_proc_is_kept_from_us(tmp_path: Path) -> None:
    where = GpuMachine(
        files={"/sys/module/nvidia/version": "570.133.07\n", "/sys/module/nvidia/taint": "OE\n"}
    )
    found = nvidia(where, tmp_path)
    assert (found["version"], found["open"]) == (Known("570.133.07"), YES)


def test_a_container_without_gpus_has_a_module_but_no_library_and_no_device(
    tmp_path: Path,
) -> None:
    found = nvidia(NO_GPUS_FLAG, tmp_path)
    assert found["version"] == Known("550.54.15")
    assert (found["library.version"], found["nvml.answers"]) == (Absent(), Absent())
    assert (found["agrees"], found["device-files"]) == (Absent(), Absent())
    assert found["cuda.version"] == Unknown("neither NVML nor nvidia-smi is there to say it")


def test_under_wsl_the_module_is_windowss_and_the_library_has_no_version_in_its_name(
    tmp_path: Path,
) -> None:
    found = nvidia(WSL, tmp_path)
    assert (found["version"], found["open"]) == (Known("617.14"), Absent())
    assert found["library.version"] == Unknown("libcuda.so.1.1 has no version in its name")
    assert (found["agrees"], found["cuda.version"]) == (YES, Known("13.4"))
    assert facts(WSL, tmp_path / "again")["driver.wsl.dxg"] == YES


def test_under_wsl_nvidia_smi_is_asked_where_windows_puts_it(tmp_path: Path) -> None:
    found = nvidia(replace(WSL, nvml=Unknown("nvidia-ml-py is not installed")), tmp_path)
    assert found["cuda.version"] == Known("13.4")


def test_rocm_is_told_by_its_folder_and_amds_module_by_sysfs(tmp_path: Path) -> None:
    found = facts(ROCM, tmp_path)
    assert found["driver.amd.version"] == Known("6.8.5")
    assert (found["driver.amd.loaded"], found["driver.amd.kfd"]) == (YES, YES)
    assert found["driver.rocm.version"] == Known("6.2.0-66")
    assert found["driver.rocm.installed"] == Known("6.1.2-119 6.2.0-66")
    assert found["driver.gpu-modules"] == Known("amdgpu")
    assert found["driver.nvidia.version"] == Absent()


def test_amds_module_of_the_kernel_is_loaded_but_has_no_version(tmp_path: Path) -> None:
    where = GpuMachine(files={"/sys/module/amdgpu/srcversion": "6CCB5408246071AC9F63359\n"})
    found = facts(where, tmp_path)
    assert (found["driver.amd.loaded"], found["driver.amd.version"]) == (YES, Absent())


def test_one_rocm_without_the_usual_link_is_the_one_in_use(tmp_path: Path) -> None:
    where = GpuMachine(files={"/opt/rocm-7.1.1/.info/version": "7.1.1\n", "/opt/rocket/x": ""})
    assert facts(where, tmp_path)["driver.rocm.version"] == Known("7.1.1")


def test_a_grace_hopper_runs_the_open_module(tmp_path: Path) -> None:
    found = nvidia(GRACE_HOPPER, tmp_path)
    assert (found["version"], found["open"]) == (Known("580.95.05"), YES)
    assert (found["library.version"], found["agrees"]) == (Known("580.95.05"), YES)


def test_a_jetson_shows_its_release_and_a_library_of_another_numbering(tmp_path: Path) -> None:
    found = facts(JETSON, tmp_path)
    assert found["driver.tegra.version"] == Known("36.4.3")
    assert found["driver.nvidia.version"] == Known("540.4.0")
    unnamed = Unknown("libcuda.so.1.1 has no version in its name")
    assert found["driver.nvidia.library.version"] == unnamed
    assert found["driver.nvidia.agrees"] == unnamed


def test_nouveau_is_seen(tmp_path: Path) -> None:
    where = GpuMachine(files={"/sys/module/nouveau/refcnt": "1\n"})
    assert facts(where, tmp_path)["driver.nouveau"] == YES


def test_a_program_that_nvml_waited_for_in_vain_is_not_waited_for_again(tmp_path: Path) -> None:
    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Unknown:
        raise AssertionError(command)

    hanging = replace(CONSUMER, nvml=Unknown("NVML timed out")).build(tmp_path)
    found = facts_of(DriverCollector(), replace(hanging, ask=ask))
    assert found["driver.nvidia.cuda.version"] == Unknown("NVML timed out")
    assert found["driver.nvidia.version"] == Known("535.183.01")


def test_where_every_program_hangs_the_files_still_tell(tmp_path: Path) -> None:
    hanging = replace(
        CONSUMER, nvml=Unknown("Unknown Error"), says={"nvidia-smi": Unknown("timed out")}
    )
    found = nvidia(hanging, tmp_path)
    assert found["cuda.version"] == Unknown("Unknown Error")
    assert (found["version"], found["agrees"]) == (Known("535.183.01"), YES)


# The compatibility package in an image on a newer driver: CUDA error 803 (a public report of 2026,
# nvidia/cuda 12.9 on driver 580.105.08).
COMPAT = joined(
    GpuMachine(
        files={
            VERSION_FILE: PROPRIETARY.format(version="580.105.08"),
            "/etc/ld.so.conf": "include /etc/ld.so.conf.d/*.conf\n",
            "/usr/local/bin/tool": "",
            "/usr/local/cuda-12.9/compat/libcuda.so.575.57.08": "",
            "/usr/local/cuda-12.9/compat/libnvidia-ptxjitcompiler.so.575.57.08": "",
        },
        links={
            "/usr/local/cuda": "/etc/alternatives/cuda",
            "/etc/alternatives/cuda": "/usr/local/cuda-12.9",
            "/usr/local/cuda-12.9/compat/libcuda.so.1": "libcuda.so.575.57.08",
        },
    ),
    libraries("580.105.08"),
)


def test_a_compatibility_package_that_nothing_leads_to_is_only_listed(tmp_path: Path) -> None:
    found = nvidia(COMPAT, tmp_path)
    assert found["compat.packages"] == Known("12.9: 575.57.08")
    assert (found["compat.version"], found["compat.by"]) == (Absent(), Absent())


def test_a_compatibility_package_that_the_loaders_configuration_names_would_be_used(
    tmp_path: Path,
) -> None:
    where = COMPAT.build(tmp_path)
    write(where.root / "etc/ld.so.conf.d/00-cuda-compat.conf", "/usr/local/cuda/compat/\n")
    found = facts_of(DriverCollector(), where)
    assert found["driver.nvidia.compat.version"] == Known("575.57.08")
    assert found["driver.nvidia.compat.by"] == Known("/etc/ld.so.conf.d/00-cuda-compat.conf")
    assert found["driver.nvidia.library.version"] == Known("580.105.08")
    assert found["driver.nvidia.agrees"] == YES


def test_a_compatibility_package_on_ld_library_path_would_be_used(tmp_path: Path) -> None:
    variable = {"LD_LIBRARY_PATH": "/opt/x:/usr/local/cuda-12.9/compat"}
    found = nvidia(replace(COMPAT, environ=variable), tmp_path)
    assert found["compat.version"] == Known("575.57.08")
    assert found["compat.by"] == Known("LD_LIBRARY_PATH")


def test_the_drivers_own_folder_before_it_wins(tmp_path: Path) -> None:
    variable = {"LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu:/usr/local/cuda/compat"}
    found = nvidia(replace(COMPAT, environ=variable), tmp_path)
    assert found["compat.version"] == Absent()


def test_a_link_to_a_library_that_is_gone_says_so(tmp_path: Path) -> None:
    # void-linux/void-packages#51704
    folder = "/usr/lib/x86_64-linux-gnu"
    where = joined(
        GpuMachine(
            files={VERSION_FILE: PROPRIETARY.format(version="550.107.02")},
            links={f"{folder}/libcuda.so.1": "libcuda.so.525.105.17"},
        )
    )
    found = nvidia(where, tmp_path)
    reason = Unknown("libcuda.so.1 is a link to libcuda.so.525.105.17, which is not there")
    assert (found["library.version"], found["agrees"]) == (reason, reason)


def test_debians_chain_of_links_ends_at_the_library(tmp_path: Path) -> None:
    folder = "/usr/lib/x86_64-linux-gnu"
    where = GpuMachine(
        files={f"{folder}/nvidia/current/libcuda.so.535.216.01": ""},
        links={
            f"{folder}/libcuda.so.1": "/etc/alternatives/glx--libcuda.so.1-x86_64-linux-gnu",
            "/etc/alternatives/glx--libcuda.so.1-x86_64-linux-gnu": (
                f"{folder}/nvidia/current/libcuda.so.1"
            ),
            f"{folder}/nvidia/current/libcuda.so.1": "libcuda.so.535.216.01",
        },
    )
    found = nvidia(where, tmp_path)
    assert found["library.version"] == Known("535.216.01")


@pytest.mark.parametrize(
    ("name", "code", "state"),
    [
        ("branch_535", 0, Known("12.2")),
        ("branch_610", 0, Known("13.3")),
        ("wsl", 0, Known("13.4")),
        ("broken_library", 0, Unknown("nvidia-smi says ERR!")),
        ("branch_390", 0, Unknown("nvidia-smi does not say it")),
        (
            "mismatch",
            18,
            Unknown("Failed to initialize NVML: Driver/library version mismatch"),
        ),
        (
            "no_driver",
            9,
            Unknown("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver"),
        ),
    ],
)
def test_every_banner_of_nvidia_smi_is_read(name: str, code: int, state: FactState) -> None:
    assert parse_cuda_version(smi(name, code)) == state


@pytest.mark.parametrize("text", ["", "\x00" * 100, "漢字 nvidia-smi\n", "x" * 1_000_000])
def test_a_nvidia_smi_that_prints_anything_else_says_nothing(text: str) -> None:
    said = Said(code=0, out=text, err="")
    assert parse_cuda_version(said) == Unknown("nvidia-smi does not say it")
