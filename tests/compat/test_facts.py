from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.compat.facts import find_marker_environment, read_stack
from envtrack.compat.judge import RULES, judge_stack
from envtrack.compat.stack import HostCompiler
from envtrack.compat.versions import numbers
from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.snapshot import InstalledPackage
from tests.compat.stacks import make_snapshot, make_stack, read_names, read_tables


def test_known_absent_unknown_and_unrecorded_stay_apart() -> None:
    known = make_stack("driver=550.54.15").driver.version
    absent = make_stack("driver=-").driver.version
    unknown = make_stack("driver=?").driver.version
    unrecorded = make_stack("").driver.version
    assert known.value == numbers("550.54.15")
    assert (absent.is_absent, absent.why) == (True, "driver.nvidia.version is absent")
    assert (unknown.is_absent, unknown.why) == (
        False,
        "driver.nvidia.version is unknown: timed out",
    )
    assert (unrecorded.is_absent, unrecorded.why) == (
        False,
        "driver.nvidia.version is not recorded",
    )


def test_a_value_that_is_no_version_is_a_reason() -> None:
    reading = make_stack("driver=weird").driver.version
    assert reading.value is None
    assert "'weird'" in reading.why


def test_one_gpu_that_cannot_be_looked_at_does_not_hide_the_others() -> None:
    facts: dict[str, FactState] = {
        "hardware.gpu.count": Unknown("one of them is lost"),
        "hardware.gpu.0.vendor": Known("nvidia"),
        "hardware.gpu.0.model": Known("NVIDIA L4"),
        "hardware.gpu.1.vendor": Known("nvidia"),
        "hardware.gpu.1.model": Unknown("GPU is lost"),
        "hardware.gpu.10.vendor": Known("nvidia"),
        "hardware.gpu.10.model": Known("NVIDIA L4"),
    }
    gpus = read_stack(make_snapshot(facts)).gpus.value
    assert gpus is not None
    assert [gpu.index for gpu in gpus] == [0, 1, 10]
    assert gpus[1].model.why == "hardware.gpu.1.model is unknown: GPU is lost"


def test_gpus_of_other_vendors_are_left_out() -> None:
    facts: dict[str, FactState] = {
        "hardware.gpu.count": Known(1),
        "hardware.gpu.0.vendor": Known("amd"),
        "hardware.gpu.0.model": Known("AMD Instinct MI300X"),
    }
    assert read_stack(make_snapshot(facts)).gpus.value == ()


def test_the_library_of_nvml_counts_where_libcuda_does_not_tell() -> None:
    facts: dict[str, FactState] = {
        "driver.nvidia.library.version": Unknown("libcuda.so.1.1 has no version in its name"),
        "driver.nvidia.nvml.version": Known("550.54.15"),
    }
    assert read_stack(make_snapshot(facts)).driver.library.value == numbers("550.54.15")


def hosts(line: str) -> list[tuple[str, str]]:
    found: tuple[HostCompiler, ...] = make_stack(line).toolchain.hosts
    return [(host.chosen_by, host.command) for host in found]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("gcc=13.2.0", [("PATH", "gcc")]),
        ("gcc=13.2.0 cc=gcc-12", [("CC", "gcc-12"), ("PATH", "g++")]),
        ("gcc=13.2.0 cxx=g++-12", [("PATH", "gcc"), ("CXX", "g++-12")]),
        ("cc=gcc-12 cxx=g++-12", [("CC", "gcc-12"), ("CXX", "g++-12")]),
        (
            "cc=gcc-12 ccbin=/opt/gcc/bin/gcc-11 ccbin.source=NVCC_APPEND_FLAGS",
            [("NVCC_APPEND_FLAGS", "gcc-11"), ("PATH", "g++")],
        ),
        (
            "cc=gcc-12 ccbin=gcc-11 ccbin.source=NVCC_PREPEND_FLAGS",
            [("CC", "gcc-12"), ("PATH", "g++")],
        ),
        ("ccbin=gcc-11 ccbin.source=NVCC_CCBIN", [("NVCC_CCBIN", "gcc-11"), ("PATH", "g++")]),
    ],
)
def test_the_compilers_are_those_that_a_build_with_pytorch_takes(
    line: str, wanted: list[tuple[str, str]]
) -> None:
    assert hosts(line) == wanted


def test_a_compiler_that_could_not_be_asked_tells_its_version_by_its_name() -> None:
    stack = make_stack("cc=/usr/bin/x86_64-linux-gnu-gcc-12 cc.version=?")
    assert stack.toolchain.hosts[0].version.value == numbers("12")
    assert stack.toolchain.hosts[0].kind == "gcc"


def test_a_gcc_that_is_apples_clang_is_judged_by_nobody() -> None:
    stack = make_stack("cc=gcc cc.version=16.0.0 cc.kind=apple-clang")
    assert stack.toolchain.hosts[0].kind == ""


def test_without_an_environment_the_locked_packages_count() -> None:
    stack = make_stack("lock:numpy-2.1.0-py3-none-any.whl")
    assert stack.find_version("numpy") == "2.1.0"
    assert not stack.are_installed


def test_an_environment_goes_before_the_lock() -> None:
    stack = make_stack("numpy==1.26.4 lock:numpy-2.1.0-py3-none-any.whl")
    assert stack.find_version("numpy") == "1.26.4"
    assert stack.are_installed


def test_a_hidden_part_of_a_setting_is_no_part_of_its_value() -> None:
    facts: dict[str, FactState] = {
        "settings.CUDA_VISIBLE_DEVICES": Known("GPU-*** (redacted #1a2b3c)")
    }
    assert read_stack(make_snapshot(facts)).settings == {"CUDA_VISIBLE_DEVICES": "GPU-***"}


def test_jax_takes_the_runtime_that_is_installed() -> None:
    stack = make_stack("jax=0.4.35 jax.cuda=12 nvidia-cuda-runtime-cu12==12.6.77")
    assert stack.frameworks["jax 0.4.35"].value == numbers("12.6")
    assert make_stack("jax=0.4.35 jax.cuda=12").frameworks["jax 0.4.35"].value == numbers("12")


def test_the_markers_are_those_of_the_recorded_machine() -> None:
    snapshot = make_snapshot(
        {
            "python.version": Known("3.11.7"),
            "python.implementation": Known("CPython"),
            "hardware.cpu.architecture": Known("aarch64"),
            "os.distribution.id": Known("ubuntu"),
        }
    )
    assert find_marker_environment(snapshot) == {
        "python_full_version": "3.11.7",
        "python_version": "3.11",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "platform_machine": "aarch64",
        "os_name": "posix",
        "sys_platform": "linux",
        "platform_system": "Linux",
    }


def test_a_marker_of_which_nothing_is_known_is_left_open() -> None:
    assert find_marker_environment(make_snapshot({})) == {}


NAMES = [
    name.replace("<n>", "0")
    .replace("<component>", "cudart")
    .replace("<package>", "nvidia-nccl-cu12")
    for name in read_names().values()
]
VALUES = st.one_of(
    st.sampled_from(["12.4", "550.54.15", "NVIDIA L4", "sm_80 compute_90", "2.6.0+cu126", "", "0"]),
    st.text(max_size=20),
    st.integers(),
    st.booleans(),
)
STATES = st.one_of(VALUES.map(Known), st.just(Absent()), st.text(max_size=20).map(Unknown))


@given(
    st.dictionaries(st.sampled_from(NAMES), STATES),
    st.dictionaries(
        st.sampled_from(["torch", "numpy", "pandas", "nvidia-nccl-cu12", "flash-attn"]),
        st.text(max_size=20),
    ),
)
def test_no_snapshot_makes_a_rule_fail(
    facts: dict[str, FactState], versions: dict[str, str]
) -> None:
    installed = [InstalledPackage(name=name, version=text) for name, text in versions.items()]
    stack = read_stack(make_snapshot(facts, installed))
    diagnosis = judge_stack(stack, read_tables(), subject="a stack")
    said = {finding.rule for finding in diagnosis.findings}
    said |= {one.rule for one in diagnosis.passed_over}
    assert said == {rule.name for rule in RULES}
    assert all(finding.reason and finding.compared for finding in diagnosis.findings)
    assert all(one.reason for one in diagnosis.passed_over)
