"""nvidia-smi in NVML's place.

Its texts are those of the manual page nvidia-smi(1) and of public captures, what is personal
replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envtrack.collect.interface import GpuInfo, NvmlReport, Said
from envtrack.collect.nvml import NvmlLibrary
from envtrack.collect.nvml_library import read_nvml_report
from envtrack.collect.nvml_program import ask_nvidia_smi
from envtrack.model.fact import Absent, Known, Unknown
from tests.collect.places import write
from tests.support.nvml import A100, SECOND, FakeNvml

BANNER = """\
Thu Aug 27 18:05:38 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|    0   N/A  N/A      4242      C   /home/mallory/secret/train.py                 1024MiB |
"""
NEW_BANNER = "| NVIDIA-SMI 610.57.04     KMD Version: 610.57.04     CUDA UMD Version: 13.3     |\n"
MISMATCH = """\
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 570.124
"""
NOT_RUNNING = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that"
    " the latest NVIDIA driver is installed and running."
)
ROW = "0, NVIDIA A100-SXM4-80GB, 550.54.15, 8.0, 81920, 00000000:17:00.0, Disabled, Enabled\n"
ROW_1 = ROW.replace("0, NVIDIA", "1, NVIDIA").replace(":17:", ":18:")


def smi(
    rows: str, *, banner: str = BANNER, code: int = 0, listing: str = ""
) -> Callable[..., Said | Absent | Unknown]:
    """An nvidia-smi that answers a query, its plain call and ``-L``."""

    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
        assert command[0] == "nvidia-smi"
        if len(command) == 1:
            return Said(code=code, out=banner, err="")
        if command[1] == "-L":
            return Said(code=code, out=listing, err="")
        return Said(code=code, out=rows, err="")

    return ask


def smi_report(ask: Callable[..., Said | Absent | Unknown]) -> NvmlReport:
    answer = ask_nvidia_smi(ask, timeout_s=3)
    assert isinstance(answer, NvmlReport)
    return answer


def test_nvidia_smi_gives_the_same_report_as_the_library() -> None:
    assert smi_report(smi(ROW + ROW_1)) == read_nvml_report(FakeNvml())


def test_nothing_of_other_peoples_processes_is_taken_from_the_banner() -> None:
    assert "mallory" not in repr(smi_report(smi(ROW)))


@pytest.mark.parametrize(
    ("banner", "state"),
    [
        (NEW_BANNER, Known("13.3")),
        (BANNER.replace("12.4 ", "12.10"), Known("12.10")),
        (BANNER.replace("12.4", "N/A "), Unknown("nvidia-smi says N/A")),
        (BANNER.replace("12.4", "ERR!"), Unknown("nvidia-smi says ERR!")),
        ("", Unknown("nvidia-smi does not say it")),
    ],
)
def test_the_newest_cuda_is_in_the_banner_of_every_age(banner: str, state: Known | Unknown) -> None:
    assert smi_report(smi(ROW, banner=banner)).cuda_version == state


def test_without_nvidia_smi_it_is_absent() -> None:
    assert ask_nvidia_smi(lambda *_, **__: Absent(), timeout_s=3) == Absent()


def test_under_wsl_it_is_found_where_windows_puts_it() -> None:
    answer = smi(ROW)

    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
        if command[0] != "/usr/lib/wsl/lib/nvidia-smi":
            return Absent()
        return answer(["nvidia-smi", *command[1:]])

    assert smi_report(ask) == smi_report(smi(ROW))


def test_an_nvidia_smi_that_hangs_is_unknown() -> None:
    hung = Unknown("`nvidia-smi` timed out")
    assert ask_nvidia_smi(lambda *_, **__: hung, timeout_s=3) == hung


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MISMATCH, "Driver/library version mismatch"),
        (f"{NOT_RUNNING}\n\n", NOT_RUNNING),
        ("Failed to initialize NVML: Insufficient Permissions\n", "Insufficient Permissions"),
        ("", "nvidia-smi ended with 9 and said nothing"),
        ("x" * 5000, "x" * 200),
    ],
)
def test_an_nvidia_smi_that_fails_is_unknown_in_its_words(text: str, reason: str) -> None:
    assert ask_nvidia_smi(smi(text, code=9), timeout_s=3) == Unknown(reason)


def test_no_devices_are_no_gpus() -> None:
    answer = smi_report(smi("No devices were found\n", banner="No devices were found\n"))
    assert answer.gpus == ()
    assert answer.driver_version == Unknown("No devices were found")


@pytest.mark.parametrize(
    "line",
    [
        "Unable to determine the device handle for GPU0: 0000:17:00.0: GPU is lost.",
        "Unable to determine the device handle for GPU 0: GPU is lost.",
    ],
)
def test_a_lost_gpu_is_unknown_in_its_place_and_hides_no_other(line: str) -> None:
    assert smi_report(smi(f"{line}\n{ROW_1}", code=15)).gpus == (Unknown("GPU is lost."), SECOND)


def test_a_lost_gpu_that_is_named_by_its_bus_alone_comes_last() -> None:
    line = "Unable to determine the device handle for GPU0000:08:00.0: Unknown Error\n"
    assert smi_report(smi(line + ROW)).gpus == (A100, Unknown("Unknown Error"))


@pytest.mark.parametrize(
    ("old", "new", "part", "state"),
    [
        ("8.0", "[N/A]", "compute_capability", Unknown("N/A")),
        ("81920", "[GPU is lost]", "memory_mib", Unknown("GPU is lost")),
        ("81920", "80 GB", "memory_mib", Unknown("nvidia-smi says no number")),
        ("Enabled", "[Unknown Error]", "persistence", Unknown("Unknown Error")),
        ("Enabled", "Perhaps", "persistence", Unknown("nvidia-smi says Perhaps")),
    ],
)
def test_a_field_that_nvidia_smi_refuses_is_unknown(
    old: str, new: str, part: str, state: Unknown
) -> None:
    (gpu,) = smi_report(smi(ROW.replace(old, new, 1))).gpus
    expected: dict[str, Any] = {"model": A100.model, part: state}
    assert gpu == replace(A100, **expected)


@pytest.mark.parametrize("word", ["[N/A]", "[Not Supported]"])
def test_a_model_without_mig_is_absent_there(word: str) -> None:
    (gpu,) = smi_report(smi(ROW.replace("Disabled", word))).gpus
    assert gpu == replace(A100, mig=Absent(), mig_devices=Absent())


def test_mig_devices_are_counted_in_the_list() -> None:
    rows = ROW.replace("Disabled", "Enabled") + ROW_1
    listing = (
        "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-0000-0000-000000000000)\n"
        "  MIG 1g.10gb     Device  0: (UUID: MIG-00000000-0000-0000-0000-000000000000)\n"
        "  MIG 1c.2g.20gb  Device  1: (UUID: MIG-00000000-0000-0000-0000-000000000001)\n"
        "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
    )
    gpus = smi_report(smi(rows, listing=listing)).gpus
    assert gpus == (replace(A100, mig=Known("on"), mig_devices=Known(2)), SECOND)


def test_mig_devices_that_are_not_listed_are_unknown() -> None:
    (gpu,) = smi_report(smi(ROW.replace("Disabled", "Enabled"))).gpus
    assert isinstance(gpu, GpuInfo)
    assert gpu.mig_devices == Unknown("nvidia-smi did not list them")


def test_an_old_nvidia_smi_is_asked_again_without_the_field_it_does_not_know() -> None:
    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said:
        query = command[-2] if len(command) > 1 else ""
        for name in ("compute_cap", "mig.mode.current"):
            if name in query:
                said = f'Field "{name}" is not a valid field to query.\n\n'
                return Said(code=2, out=said, err="")
        row = "0, Tesla V100-SXM2-16GB, 440.33.01, 16160, 00000000:1A:00.0, Disabled\n"
        return Said(code=0, out=row if query else BANNER, err="")

    (gpu,) = smi_report(ask).gpus
    assert isinstance(gpu, GpuInfo)
    assert gpu.model == Known("Tesla V100-SXM2-16GB")
    assert gpu.pci_id == Known("0000:1a:00.0")
    assert gpu.compute_capability == Unknown("this nvidia-smi does not know the field")


def test_without_nvidia_ml_py_nvidia_smi_is_asked(tmp_path: Path) -> None:
    asked = NvmlLibrary({}, ask=smi(ROW), limit_s=5, root=tmp_path)
    assert asked() == smi_report(smi(ROW))


def test_without_either_a_library_that_is_there_can_not_be_asked(tmp_path: Path) -> None:
    write(tmp_path / "usr/lib64/libnvidia-ml.so.1")
    asked = NvmlLibrary({}, ask=lambda *_, **__: Absent(), limit_s=5, root=tmp_path)
    assert asked() == Unknown("nvidia-ml-py is not installed")


def test_without_either_and_without_the_library_it_is_absent(tmp_path: Path) -> None:
    asked = NvmlLibrary({}, ask=lambda *_, **__: Absent(), limit_s=5, root=tmp_path)
    assert asked() == Absent()
