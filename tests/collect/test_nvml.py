"""NVML in each way in which it is documented to refuse."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envtrack.collect.interface import GpuInfo, NvmlReport, Said
from envtrack.collect.nvml import NvmlLibrary
from envtrack.collect.nvml_library import read_nvml_report
from envtrack.collect.nvml_wire import parse_answer, render_answer
from envtrack.model.fact import Absent, Known, Unknown
from tests.collect.places import write
from tests.support.nvml import A100, CODES, SECOND, FakeNvml, NvmlError, unknown


def report(nvml: FakeNvml) -> NvmlReport:
    answer = read_nvml_report(nvml)
    assert isinstance(answer, NvmlReport)
    return answer


def first_gpu(nvml: FakeNvml) -> GpuInfo:
    gpu = report(nvml).gpus[0]
    assert isinstance(gpu, GpuInfo)
    return gpu


def test_driver_cuda_and_all_gpus_are_told() -> None:
    assert report(FakeNvml()) == NvmlReport(
        driver_version=Known("550.54.15"), cuda_version=Known("12.4"), gpus=(A100, SECOND)
    )


def test_an_old_nvidia_ml_py_that_gives_bytes_says_the_same() -> None:
    assert report(FakeNvml(as_bytes=True)) == report(FakeNvml())


def test_no_library_is_absent() -> None:
    assert read_nvml_report(FakeNvml(refuse={"Init": "LIBRARY_NOT_FOUND"})) == Absent()


@pytest.mark.parametrize("name", sorted(CODES.keys() - {"LIBRARY_NOT_FOUND"}))
def test_a_library_that_refuses_to_begin_is_unknown_in_its_own_words(name: str) -> None:
    assert read_nvml_report(FakeNvml(refuse={"Init": name})) == unknown(name)


def test_a_driver_that_does_not_fit_its_library_is_named_so() -> None:
    answer = read_nvml_report(FakeNvml(refuse={"Init": "LIB_RM_VERSION_MISMATCH"}))
    assert answer == Unknown(
        "RM has detected an NVML/RM version mismatch (LIB_RM_VERSION_MISMATCH)"
    )


@pytest.mark.parametrize("name", sorted(CODES))
def test_one_gpu_that_can_not_be_reached_does_not_hide_the_other(name: str) -> None:
    assert report(FakeNvml(refuse={"Handle 0": name})).gpus == (unknown(name), SECOND)


@pytest.mark.parametrize("name", sorted(CODES))
@pytest.mark.parametrize(
    ("function", "part"),
    [
        ("Name", "model"),
        ("Capability", "compute_capability"),
        ("Memory", "memory_mib"),
        ("Pci", "pci_id"),
        ("Persistence", "persistence"),
    ],
)
def test_a_field_that_nvml_refuses_is_unknown_and_the_others_stay(
    function: str, part: str, name: str
) -> None:
    expected: dict[str, Any] = {"model": A100.model, part: unknown(name)}
    gpu = first_gpu(FakeNvml(refuse={f"{function} 0": name}))
    assert gpu == replace(A100, **expected)


@pytest.mark.parametrize("name", sorted(CODES))
def test_a_driver_version_that_nvml_refuses_is_unknown(name: str) -> None:
    answer = report(FakeNvml(refuse={"DriverVersion": name}))
    assert answer.driver_version == unknown(name)
    assert answer.gpus == (A100, SECOND)


@pytest.mark.parametrize("name", sorted(CODES))
def test_gpus_that_can_not_be_counted_are_not_none(name: str) -> None:
    assert report(FakeNvml(refuse={"Count": name})).gpus == (unknown(name),)


def test_a_machine_whose_gpus_were_all_taken_away_has_none() -> None:
    assert report(FakeNvml(count=0)).gpus == ()


@pytest.mark.parametrize(
    ("number", "version"),
    [(12040, "12.4"), (11080, "11.8"), (12100, "12.10"), (13010, "13.1"), (9020, "9.2")],
)
def test_the_newest_cuda_is_read_as_the_driver_counts(number: int, version: str) -> None:
    assert report(FakeNvml(cuda=number)).cuda_version == Known(version)


def test_without_libcuda_the_driver_itself_is_asked() -> None:
    answer = report(FakeNvml(refuse={"CudaDriverVersion_v2": "LIBRARY_NOT_FOUND"}))
    assert answer.cuda_version == Known("12.3")


def test_a_cuda_version_that_nobody_knows_is_unknown() -> None:
    refuse = {"CudaDriverVersion_v2": "FUNCTION_NOT_FOUND", "CudaDriverVersion": "UNKNOWN"}
    assert report(FakeNvml(refuse=refuse)).cuda_version == unknown("FUNCTION_NOT_FOUND")
    assert isinstance(
        report(FakeNvml(cuda=0, refuse={"CudaDriverVersion": "UNKNOWN"})).cuda_version, Unknown
    )


def test_mig_devices_are_counted_across_the_gaps() -> None:
    gpu = first_gpu(FakeNvml(mig=1))
    assert (gpu.mig, gpu.mig_devices) == (Known("on"), Known(3))


def test_a_model_without_mig_has_neither_mode_nor_devices() -> None:
    gpu = first_gpu(FakeNvml(refuse={"Mig": "NOT_SUPPORTED"}))
    assert (gpu.mig, gpu.mig_devices) == (Absent(), Absent())


def test_mig_that_may_not_be_looked_at_is_unknown() -> None:
    gpu = first_gpu(FakeNvml(refuse={"Mig": "NO_PERMISSION"}))
    assert (gpu.mig, gpu.mig_devices) == (unknown("NO_PERMISSION"), unknown("NO_PERMISSION"))
    gpu = first_gpu(FakeNvml(mig=1, refuse={"MigDevice 3": "NO_PERMISSION"}))
    assert (gpu.mig, gpu.mig_devices) == (Known("on"), unknown("NO_PERMISSION"))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (AttributeError("nvmlDeviceGetName"), "this nvidia-ml-py has no such function"),
        (
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd"),
            "NVML's answer can't be read: UnicodeDecodeError",
        ),
        (NvmlError(77), "odd code"),
    ],
)
def test_a_module_that_does_not_fit_its_driver_costs_one_field(
    error: Exception, reason: str
) -> None:
    gpu = first_gpu(FakeNvml(broken={"Name": error}))
    assert gpu == replace(A100, model=Unknown(reason))


def test_a_mode_of_no_known_number_is_unknown() -> None:
    assert isinstance(first_gpu(FakeNvml(persistence=7)).persistence, Unknown)


@pytest.mark.parametrize(
    "answer",
    [
        Absent(),
        unknown("DRIVER_NOT_LOADED"),
        NvmlReport(
            driver_version=Known("550.54.15"),
            cuda_version=unknown("NOT_SUPPORTED"),
            gpus=(A100, unknown("GPU_IS_LOST"), replace(SECOND, mig=Absent())),
        ),
        NvmlReport(driver_version=Absent(), cuda_version=Absent(), gpus=()),
    ],
)
def test_a_report_survives_the_way_between_two_processes(
    answer: NvmlReport | Absent | Unknown,
) -> None:
    assert parse_answer(render_answer(answer)) == answer


@pytest.mark.parametrize("text", ["", "{}", "[]", "1", '"x"', '{"gpus": [1]}', "Traceback"])
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_answer(text)


# --- the process of its own ---------------------------------------------------------------------


def refuse_to_ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
    raise AssertionError(f"{command} was asked")


def library(
    tmp_path: Path,
    module: str,
    *,
    limit_s: float = 20.0,
    environ: dict[str, str] | None = None,
) -> NvmlLibrary:
    """NVML on a machine whose loader has the library, through a ``pynvml`` of this text."""
    write(tmp_path / "root/usr/lib64/libnvidia-ml.so.1")
    write(tmp_path / "module/pynvml.py", module)
    return NvmlLibrary(
        environ or {},
        ask=refuse_to_ask,
        limit_s=limit_s,
        root=tmp_path / "root",
        module_path=tmp_path / "module",
    )


REFUSING = textwrap.dedent("""\
    class NVMLError(Exception):
        value = 9
        def __str__(self):
            return "Driver Not Loaded"
    NVML_ERROR_LIBRARY_NOT_FOUND = 12
    NVML_ERROR_DRIVER_NOT_LOADED = 9
    def nvmlInit():
        raise NVMLError
    """)


def test_a_process_of_its_own_asks(tmp_path: Path) -> None:
    assert library(tmp_path, REFUSING)() == unknown("DRIVER_NOT_LOADED")


def test_a_machine_without_the_library_is_absent_and_nothing_is_started(tmp_path: Path) -> None:
    asked = library(tmp_path, "raise SystemExit(9)")
    (tmp_path / "root/usr/lib64/libnvidia-ml.so.1").unlink()
    assert asked() == Absent()


@pytest.mark.parametrize(
    ("place", "environ"),
    [
        ("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", {}),
        ("usr/lib/wsl/lib/libnvidia-ml.so.1", {}),
        ("opt/driver/libnvidia-ml.so.1", {"LD_LIBRARY_PATH": "relative:/opt/driver"}),
    ],
)
def test_the_library_is_found_where_the_loader_looks(
    tmp_path: Path, place: str, environ: dict[str, str]
) -> None:
    asked = library(tmp_path, REFUSING, environ=environ)
    (tmp_path / "root/usr/lib64/libnvidia-ml.so.1").unlink()
    write(tmp_path / "root" / place)
    assert asked() == unknown("DRIVER_NOT_LOADED")


def test_a_library_in_the_loaders_cache_counts(tmp_path: Path) -> None:
    asked = library(tmp_path, REFUSING)
    (tmp_path / "root/usr/lib64/libnvidia-ml.so.1").unlink()
    write(tmp_path / "root/etc/ld.so.cache", b"glibc-ld.so.cache1.1\0libnvidia-ml.so.1\0/opt/x\0")
    assert asked() == unknown("DRIVER_NOT_LOADED")


def test_a_library_that_hangs_is_given_up(tmp_path: Path) -> None:
    started = time.monotonic()
    asked = library(tmp_path, "import time\ntime.sleep(60)", limit_s=0.7)
    assert asked(timeout_s=30) == Unknown("NVML timed out")
    assert time.monotonic() - started < 10


def test_a_library_that_crashes_takes_only_its_own_process_along(tmp_path: Path) -> None:
    asked = library(tmp_path, "import os\nos.kill(os.getpid(), 11)")
    assert asked() == Unknown("the process that asked NVML ended with -11")


def test_a_module_that_is_no_pynvml_is_unknown(tmp_path: Path) -> None:
    asked = library(tmp_path, "raise ImportError('odd')")
    assert asked() == Unknown("the process that asked NVML ended with 1")


def test_a_module_that_prints_of_its_own_gives_no_report(tmp_path: Path) -> None:
    asked = library(tmp_path, "print('warning')\n" + REFUSING)
    assert asked() == Unknown("the process that asked NVML gave no report")


def test_nvml_is_asked_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    asked = library(tmp_path, f"open({str(count)!r}, 'a').write('x')\n" + REFUSING)
    assert asked() is asked()
    assert count.read_text() == "x"
