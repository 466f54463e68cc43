from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.collect.amd_gpus import decode_target
from envtrack.collect.hardware import HardwareCollector
from envtrack.collect.memory_size import round_size
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.gpu_machines import (
    CONSUMER,
    EIGHT_WITH_MIG,
    MISMATCH,
    NO_GPU,
    NO_GPUS_FLAG,
    OPEN_MODULE,
    GpuMachine,
    cpuinfo,
    joined,
    on_bus,
)
from tests.collect.more_gpu_machines import GRACE_HOPPER, JETSON, NODES, ROCM, WSL
from tests.collect.places import facts_of, machine, write

LOST = Unknown("GPU is lost")
NOT_ASKED = Unknown("there is no NVIDIA driver library to ask")


def facts(built: GpuMachine, base: Path) -> dict[str, FactState]:
    return facts_of(HardwareCollector(), built.build(base))


def gpu_facts(all_facts: dict[str, FactState], index: int) -> dict[str, FactState]:
    prefix = f"hardware.gpu.{index}."
    return {
        name.removeprefix(prefix): state
        for name, state in all_facts.items()
        if name.startswith(prefix)
    }


def test_a_machine_without_a_gpu_has_none_and_that_is_known(tmp_path: Path) -> None:
    assert facts(NO_GPU, tmp_path) == {
        "hardware.cpu.architecture": Known("x86_64"),
        "hardware.cpu.model": Known("AMD EPYC 7763 64-Core Processor"),
        "hardware.cpu.vendor": Known("AuthenticAMD"),
        "hardware.cpu.flags": Known("sse4_2 avx avx2 fma f16c bmi2"),
        "hardware.cpu.level": Known("x86-64-v3"),
        "hardware.cpu.threads": Known(2),
        "hardware.cpu.sockets": Known(1),
        "hardware.cpu.cores": Known(1),
        "hardware.memory-mib": Known(24064),
        "hardware.numa.nodes": Known(1),
        "hardware.board": Absent(),
        "hardware.gpu.count": Known(0),
        "hardware.pci.nvidia": Known(0),
        "hardware.pci.amd": Known(0),
        "hardware.pci.intel": Known(0),
    }


def test_one_consumer_gpu_is_told_in_full_and_comes_before_the_graphics_chip(
    tmp_path: Path,
) -> None:
    found = facts(CONSUMER, tmp_path)
    assert found["hardware.gpu.count"] == Known(2)
    assert gpu_facts(found, 0) == {
        "vendor": Known("nvidia"),
        "model": Known("NVIDIA GeForce RTX 4090"),
        "compute-capability": Known("8.9"),
        "memory-mib": Known(24564),
        "pci-id": Known("0000:41:00.0"),
        "pci-device": Known("10de:2684"),
        "mig": Absent(),
        "mig-devices": Absent(),
    }
    assert gpu_facts(found, 1) == {
        "vendor": Known("intel"),
        "pci-id": Known("0000:00:02.0"),
        "pci-device": Known("8086:a780"),
    }


def test_eight_gpus_are_told_one_by_one_two_of_them_cut_up(tmp_path: Path) -> None:
    found = facts(EIGHT_WITH_MIG, tmp_path)
    assert found["hardware.gpu.count"] == Known(8)
    assert found["hardware.pci.nvidia"] == Known(8)
    migs = [
        (found[f"hardware.gpu.{i}.mig"], found[f"hardware.gpu.{i}.mig-devices"]) for i in (0, 1, 2)
    ]
    assert migs == [(Known("on"), Known(7)), (Known("on"), Known(3)), (Known("off"), Known(0))]
    assert found["hardware.gpu.7.pci-id"] == Known("0000:bd:00.0")
    assert (found["hardware.cpu.sockets"], found["hardware.cpu.cores"]) == (Known(2), Known(128))
    assert found["hardware.numa.nodes"] == Known(2)
    assert found["hardware.board"] == Known("PowerEdge XE8545")


def test_a_lost_gpu_hides_none_of_the_others(tmp_path: Path) -> None:
    told = EIGHT_WITH_MIG.nvml
    assert not isinstance(told, (Absent, Unknown))
    broken = replace(told, gpus=(*told.gpus[:3], LOST, *told.gpus[4:]))
    found = facts(replace(EIGHT_WITH_MIG, nvml=broken), tmp_path)
    assert found["hardware.gpu.count"] == Known(8)
    lost = gpu_facts(found, 3)
    assert lost["vendor"] == Known("nvidia")
    assert {state for name, state in lost.items() if name != "vendor"} == {LOST}
    assert found["hardware.gpu.4.model"] == Known("NVIDIA A100-SXM4-80GB")


def test_in_a_container_nvml_counts_and_the_bus_counts_more(tmp_path: Path) -> None:
    told = EIGHT_WITH_MIG.nvml
    assert not isinstance(told, (Absent, Unknown))
    found = facts(replace(EIGHT_WITH_MIG, nvml=replace(told, gpus=told.gpus[:1])), tmp_path)
    assert (found["hardware.gpu.count"], found["hardware.pci.nvidia"]) == (Known(1), Known(8))


def test_before_a_reboot_the_kernel_modules_files_still_tell_model_and_place(
    tmp_path: Path,
) -> None:
    reason = Unknown("Driver/library version mismatch")
    assert gpu_facts(facts(MISMATCH, tmp_path), 0) == {
        "vendor": Known("nvidia"),
        "model": Known("NVIDIA RTX A6000"),
        "compute-capability": reason,
        "memory-mib": reason,
        "pci-id": Known("0000:65:00.0"),
        "pci-device": Known("10de:2230"),
        "mig": reason,
        "mig-devices": reason,
    }


def test_no_uuid_and_no_firmware_leave_the_kernel_modules_files(tmp_path: Path) -> None:
    text = repr(facts(OPEN_MODULE, tmp_path))
    assert "NVIDIA GeForce RTX 3060" in text
    assert "GPU-0000" not in text
    assert "95.04" not in text


def test_a_file_of_the_module_that_can_not_be_read_costs_the_model_alone(tmp_path: Path) -> None:
    where = OPEN_MODULE.build(tmp_path)
    file = where.root / "proc/driver/nvidia/gpus/0000:07:00.0/information"
    file.unlink()
    file.mkdir()
    found = gpu_facts(facts_of(HardwareCollector(), where), 0)
    assert found["model"] == Unknown("is a directory")
    assert found["pci-id"] == Known("0000:07:00.0")


def test_a_container_without_gpus_still_shows_them_on_the_bus(tmp_path: Path) -> None:
    found = facts(NO_GPUS_FLAG, tmp_path)
    assert found["hardware.gpu.count"] == Known(2)
    assert gpu_facts(found, 1)["pci-id"] == Known("0000:65:00.0")
    assert gpu_facts(found, 1)["model"] == NOT_ASKED


def test_under_wsl_nvml_tells_of_a_gpu_that_stands_on_no_bus(tmp_path: Path) -> None:
    found = facts(WSL, tmp_path)
    assert found["hardware.gpu.count"] == Known(1)
    assert found["hardware.gpu.0.model"] == Known("NVIDIA GeForce RTX 4090 D")
    assert found["hardware.gpu.0.pci-device"] == Absent()
    assert found["hardware.pci.nvidia"] == Known(0)


def test_under_wsl_an_nvml_that_fails_does_not_read_as_no_gpu(tmp_path: Path) -> None:
    found = facts(replace(WSL, nvml=Unknown("Driver Not Loaded")), tmp_path)
    assert found["hardware.gpu.count"] == Unknown("Driver Not Loaded")


def test_amds_gpus_are_told_by_their_nodes_in_the_order_of_numbers(tmp_path: Path) -> None:
    found = facts(ROCM, tmp_path)
    assert found["hardware.gpu.count"] == Known(2)
    assert gpu_facts(found, 0) == {
        "vendor": Known("amd"),
        "model": Known("AMD Instinct MI300X OAM"),
        "gfx": Known("gfx942"),
        "memory-mib": Known(196592),
        "pci-id": Known("0000:47:00.0"),
        "pci-device": Known("1002:74a1"),
    }
    assert gpu_facts(found, 1)["model"] == Known("ip discovery")
    assert found["hardware.pci.amd"] == Known(2)
    assert "1234567890123456789" not in repr(found)


def test_a_node_that_is_closed_to_a_container_is_unknown_and_not_the_others(
    tmp_path: Path,
) -> None:
    where = ROCM.build(tmp_path)
    file = where.root / NODES[1:] / "2/properties"
    file.unlink()
    file.mkdir()
    found = facts_of(HardwareCollector(), where)
    assert found["hardware.gpu.0.gfx"] == Unknown("is a directory")
    assert found["hardware.gpu.1.gfx"] == Known("gfx942")


def test_an_amd_gpu_without_the_compute_driver_is_told_by_the_bus(tmp_path: Path) -> None:
    found = facts(on_bus("0000:0a:00.0", "1002:73bf", "vfio-pci", kind="0x030000"), tmp_path)
    assert found["hardware.gpu.count"] == Known(1)
    reason = Unknown("the compute driver (amdkfd) does not run it")
    assert found["hardware.gpu.0.gfx"] == reason
    assert found["hardware.gpu.0.model"] == reason


@pytest.mark.parametrize(
    ("number", "target"),
    [
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (100300, "gfx1030"),
        (110501, "gfx1151"),
        (90006, "gfx906"),
    ],
)
def test_a_target_is_spelt_as_compilers_spell_it(number: int, target: str) -> None:
    assert decode_target(number) == target


def test_a_grace_hopper_is_told_with_sysfss_cores_and_the_nodes_that_compute(
    tmp_path: Path,
) -> None:
    found = facts(GRACE_HOPPER, tmp_path)
    assert found["hardware.cpu.model"] == Known("Neoverse-V2")
    assert (found["hardware.cpu.sockets"], found["hardware.cpu.cores"]) == (Known(1), Known(72))
    assert found["hardware.numa.nodes"] == Known(1)
    assert found["hardware.gpu.0.pci-device"] == Known("10de:2342")


def test_a_jetson_has_one_gpu_named_after_its_board(tmp_path: Path) -> None:
    found = facts(JETSON, tmp_path)
    assert found["hardware.gpu.count"] == Known(1)
    board = Known("NVIDIA Jetson AGX Orin Developer Kit")
    assert (found["hardware.gpu.0.model"], found["hardware.board"]) == (board, board)
    assert found["hardware.gpu.0.compute-capability"] == NOT_ASKED


def test_an_image_has_no_hardware_at_all(tmp_path: Path) -> None:
    found = facts(GpuMachine(), tmp_path)
    assert set(found.values()) == {Absent()}


def test_a_machine_whose_nvml_was_not_asked_does_not_read_as_one_without_gpus(
    tmp_path: Path,
) -> None:
    found = facts_of(HardwareCollector(), machine(tmp_path))
    assert found["hardware.gpu.count"] == Unknown("NVML was not asked")


def test_virtual_functions_of_a_card_are_not_counted_on_its_host(tmp_path: Path) -> None:
    host = joined(on_bus("0000:41:00.0", "10de:20b5"), on_bus("0000:41:00.4", "10de:20b5"))
    folder = "/sys/bus/pci/devices/0000:41:00.4"
    found = facts(replace(host, links={f"{folder}/physfn": "../0000:41:00.0"}), tmp_path)
    assert found["hardware.pci.nvidia"] == Known(1)


def test_intels_npu_is_no_gpu(tmp_path: Path) -> None:
    npu = on_bus("0000:00:0b.0", "8086:7d1d", "intel_vpu", kind="0x120000")
    assert facts(npu, tmp_path)["hardware.gpu.count"] == Known(0)


def test_the_kernels_word_for_the_architecture_goes_before_a_guess(tmp_path: Path) -> None:
    power = GpuMachine(
        files={"/proc/cpuinfo": cpuinfo("power9"), "/proc/sys/kernel/arch": "ppc64le\n"}
    )
    assert facts(power, tmp_path)["hardware.cpu.architecture"] == Known("ppc64le")


def test_places_that_neither_file_tells_are_unknown(tmp_path: Path) -> None:
    where = GpuMachine(
        files={
            "/proc/cpuinfo": cpuinfo("grace"),
            "/sys/devices/system/cpu/cpu0/topology/physical_package_id": "-1\n",
            "/sys/devices/system/cpu/cpu0/topology/core_id": "0\n",
        }
    )
    reason = Unknown("neither cpuinfo nor sysfs says it")
    assert facts(where, tmp_path)["hardware.cpu.sockets"] == reason


def test_what_can_not_be_read_costs_its_own_facts_only(tmp_path: Path) -> None:
    where = NO_GPU.build(tmp_path)
    (where.root / "proc/cpuinfo").unlink()
    (where.root / "proc/cpuinfo").mkdir()
    write(where.root / "proc/meminfo", "Surprise: 1\n")
    found = facts_of(HardwareCollector(), where)
    assert found["hardware.cpu.model"] == Unknown("is a directory")
    assert found["hardware.cpu.architecture"] == Known("x86_64")
    assert found["hardware.memory-mib"] == Unknown("meminfo does not say it")
    assert found["hardware.numa.nodes"] == Known(1)


@pytest.mark.parametrize(
    ("installed", "rounded"), [(0, 0), (1, 1), (24105, 24064), (515698, 516096), (2063874, 2064384)]
)
def test_memory_is_rounded_to_a_32nd_of_the_power_of_two_below(
    installed: int, rounded: int
) -> None:
    assert round_size(installed) == rounded


def test_a_kernel_that_keeps_some_more_mib_does_not_change_the_memory(tmp_path: Path) -> None:
    small = [round_size(24105 - kept) for kept in (0, 3, 17, 90)]
    assert len(set(small)) == 1


def test_the_running_machine_tells_its_processor(tmp_path: Path) -> None:
    found = facts_of(HardwareCollector(), machine(tmp_path, root=Path("/")))
    assert found["hardware.cpu.architecture"] == Known(os.uname().machine)
    assert isinstance(found["hardware.memory-mib"], Known)


def test_an_amd_node_whose_card_no_bus_shows_keeps_its_target(tmp_path: Path) -> None:
    files = {path: text for path, text in ROCM.files.items() if path.startswith("/sys/class/kfd")}
    found = facts(GpuMachine(files=files), tmp_path)
    assert found["hardware.gpu.0.gfx"] == Known("gfx942")
    assert found["hardware.gpu.0.pci-id"] == Known("0000:47:00.0")
    assert found["hardware.gpu.0.memory-mib"] == Absent()


def test_a_machine_without_sysfs_tells_what_nvml_does(tmp_path: Path) -> None:
    found = facts(replace(CONSUMER, files={}, links={}), tmp_path)
    assert found["hardware.gpu.0.model"] == Known("NVIDIA GeForce RTX 4090")
    assert found["hardware.gpu.0.pci-device"] == Absent()
    assert found["hardware.pci.nvidia"] == Absent()


def test_a_name_on_the_bus_that_is_no_slot_is_passed_over(tmp_path: Path) -> None:
    odd = GpuMachine(files={"/sys/bus/pci/devices/lost+found/class": "0x030000\n"})
    assert facts(odd, tmp_path)["hardware.gpu.count"] == Known(0)
