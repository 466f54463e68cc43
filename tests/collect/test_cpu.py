from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.collect.cpu import parse_cpuinfo
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from tests.collect.gpu_machines import CAPTURED, cpuinfo

SILENT = Unknown("cpuinfo does not say it")


def captured(name: str) -> str:
    return (CAPTURED / "gpu_cpuinfo" / f"{name}.txt").read_text()


def test_an_x86_server_tells_sockets_cores_and_threads() -> None:
    cpu = parse_cpuinfo(cpuinfo("epyc_7763", 256, sockets=2))
    assert cpu.architecture == Known("x86_64")
    assert cpu.model == Known("AMD EPYC 7763 64-Core Processor")
    assert cpu.vendor == Known("AuthenticAMD")
    assert (cpu.sockets, cpu.cores, cpu.threads) == (Known(2), Known(128), Known(256))


def test_only_the_flags_that_libraries_choose_by_are_kept_in_a_fixed_order() -> None:
    assert parse_cpuinfo(cpuinfo("epyc_7763")).flags == Known("sse4_2 avx avx2 fma f16c bmi2")
    assert parse_cpuinfo(cpuinfo("xeon_8480")).flags == Known(
        "sse4_2 avx avx2 fma f16c bmi2 avx512f avx512bw avx512vl avx512_bf16 avx512_vnni"
        " amx_tile amx_bf16"
    )


@pytest.mark.parametrize(
    ("name", "level"),
    [("epyc_7763", "x86-64-v3"), ("xeon_8480", "x86-64-v4"), ("qemu_plain", "x86-64-v1")],
)
def test_the_level_is_the_highest_whose_every_flag_is_there(name: str, level: str) -> None:
    assert parse_cpuinfo(cpuinfo(name)).level == Known(level)


def test_a_level_counts_only_with_all_below_it() -> None:
    text = captured("xeon_8480").replace(" movbe ", " ")
    assert parse_cpuinfo(text).level == Known("x86-64-v2")


def test_a_virtual_machine_without_places_leaves_them_to_sysfs() -> None:
    cpu = parse_cpuinfo(cpuinfo("qemu_plain", 4))
    assert (cpu.sockets, cpu.cores, cpu.threads) == (SILENT, SILENT, Known(4))
    assert cpu.model == Known("QEMU Virtual CPU version 2.5+")


def test_a_32_bit_x86_has_no_level() -> None:
    cpu = parse_cpuinfo("processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu sse2\n")
    assert (cpu.architecture, cpu.level) == (Known("i686"), Absent())


def test_an_arm_server_is_named_by_its_part() -> None:
    cpu = parse_cpuinfo(captured("grace"))
    assert cpu.architecture == Known("aarch64")
    assert cpu.model == Known("Neoverse-V2")
    assert cpu.vendor == Known("ARM")
    assert cpu.flags == Known("asimd atomics sve sve2 bf16 i8mm")
    assert cpu.level == Absent()


def test_a_board_with_two_kinds_of_core_names_both_and_not_the_generic_name() -> None:
    cpu = parse_cpuinfo(captured("jetson_tx2"))
    assert cpu.model == Known("Cortex-A57 + Denver 2")
    assert cpu.threads == Known(2)


def test_an_arm_core_that_has_no_name_here_is_told_by_its_number() -> None:
    text = captured("grace").replace("0xd4f", "0xFFF").replace("0x41", "0x99")
    cpu = parse_cpuinfo(text)
    assert (cpu.model, cpu.vendor) == (Known("0x99 part 0xfff"), Known("0x99"))


def test_a_32_bit_arm_kernel_says_seven() -> None:
    text = captured("grace").replace("architecture: 8", "architecture: 7")
    assert parse_cpuinfo(text).architecture == Known("armv7l")


def test_power_tells_its_model_but_not_its_byte_order() -> None:
    cpu = parse_cpuinfo(captured("power9"))
    assert cpu.model == Known("POWER9, altivec supported")
    assert cpu.architecture == SILENT
    assert (cpu.vendor, cpu.flags) == (Absent(), Absent())
    assert cpu.threads == Known(2)


def test_a_mainframe_shows_its_type_and_never_its_serial_number() -> None:
    cpu = parse_cpuinfo(captured("z13"))
    assert cpu.architecture == Known("s390x")
    assert (cpu.model, cpu.vendor) == (Known("IBM/S390 2964"), Known("IBM/S390"))
    assert (cpu.flags, cpu.threads) == (Known("vx"), Known(2))
    assert "0123C8" not in repr(cpu)


def test_riscv_has_its_isa_for_flags() -> None:
    cpu = parse_cpuinfo(captured("riscv_u74"))
    assert (cpu.architecture, cpu.model) == (Known("riscv64"), Known("sifive,u74-mc"))
    assert cpu.flags == Known("rv64imafdc_zicntr_zicsr_zifencei_zihpm_zba_zbb")
    assert (cpu.vendor, cpu.threads) == (Known("0x489"), Known(2))


def test_a_machine_whose_first_cpu_is_off_is_told_by_the_next() -> None:
    text = cpuinfo("epyc_7763", 4).partition("\n\n")[2]
    cpu = parse_cpuinfo(text)
    assert (cpu.model, cpu.threads) == (Known("AMD EPYC 7763 64-Core Processor"), Known(3))


def test_a_processor_with_none_of_the_flags_has_none() -> None:
    assert parse_cpuinfo(captured("z13").replace(" vx ", " ")).flags == Absent()


def test_an_empty_file_tells_nothing_and_claims_nothing() -> None:
    cpu = parse_cpuinfo("")
    assert (cpu.architecture, cpu.model, cpu.threads) == (SILENT, SILENT, SILENT)
    assert (cpu.vendor, cpu.flags, cpu.level) == (Absent(), Absent(), Absent())


def test_clock_speeds_leave_no_trace() -> None:
    text = cpuinfo("epyc_7763", 8)
    assert parse_cpuinfo(text) == parse_cpuinfo(text.replace("2445.428", "1500.000"))


def test_a_megabyte_of_cpuinfo_is_read_in_a_blink() -> None:
    text = cpuinfo("xeon_8480", 512, sockets=2)
    assert len(text) > 700_000
    before = time.process_time()
    parse_cpuinfo(text)
    assert time.process_time() - before < 0.2


@given(st.text(alphabet="processor core id physical:\t\n0123456789flags ", max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    cpu = parse_cpuinfo(text)
    states: list[FactState] = [cpu.model, cpu.threads, cpu.sockets, cpu.cores, cpu.level]
    assert all(Fact(name="x", state=state) for state in states)


def test_cores_without_a_socket_are_not_counted() -> None:
    assert parse_cpuinfo("processor\t: 0\ncore id\t\t: 0\n").cores == SILENT
