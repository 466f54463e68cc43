from __future__ import annotations

import pytest

from envtrack.compat.plan import parse_planned, parse_requirement
from envtrack.errors import UsageProblem
from envtrack.model.finding import Finding, Fit
from tests.compat.stacks import judge, judge_rule


def fit(line: str, rule: str) -> Fit | None:
    found = judge_rule(line, rule)
    return found.fit if isinstance(found, Finding) else None


def test_a_planned_driver_replaces_all_that_was_read_of_the_old_one() -> None:
    now = "driver=535.54.03 library=535.98.01 agrees=no cuda=12.2 torch=2.9.0+cu130"
    assert fit(now, "driver-agreement") is Fit.MISFIT
    assert fit(now, "driver-runtime") is Fit.MISFIT
    planned = f"{now} --driver 580.65.06"
    assert fit(planned, "driver-agreement") is Fit.FITS
    assert fit(planned, "driver-runtime") is Fit.FITS


def test_a_planned_torch_is_judged_by_the_tables_and_not_by_the_old_one_s_facts() -> None:
    now = 'gpu="NVIDIA GeForce RTX 5090" torch=2.6.0 torch.cuda=12.4 torch.archs="sm_80 sm_90"'
    assert fit(now, "gpu-architectures") is Fit.MISFIT
    assert fit(f"{now} --with torch==2.7.0+cu128", "gpu-architectures") is Fit.FITS


def test_a_planned_torch_takes_the_old_one_s_libraries_with_it() -> None:
    now = "torch==2.6.0 torch=2.6.0 nvidia-cuda-runtime-cu12==12.4.127 nvidia-nccl-cu12==2.18.1"
    planned = f"{now} --with torch==2.9.0+cu130"
    assert judge_rule(planned, "several-runtimes") == "no package here was made for one CUDA"
    assert judge_rule(planned, "runtime-pins") == (
        "what the planned torch requires is installed with it"
    )


def test_extensions_stay_and_are_held_against_the_planned_torch() -> None:
    now = "torch=2.6.0+cu124 flash-attn==2.7.4+cu12torch2.6cxx11abiFALSE"
    assert fit(now, "extension-abi") is Fit.FITS
    assert fit(f"{now} --with torch==2.7.0+cu126", "extension-abi") is Fit.MISFIT


def test_a_planned_package_leaves_the_lockfile_s_wheels_of_it_out() -> None:
    now = "cpu=x86_64 libc=glibc lock:b-1.0-cp311-cp311-win_amd64.whl"
    assert fit(now, "cpu-architecture") is Fit.MISFIT
    assert fit(f"{now} --with b==2.0", "cpu-architecture") is None


def test_several_gpus_can_be_planned() -> None:
    diagnosis = judge("torch=2.6.0+cu124 --gpu H100 --gpu 'RTX 5090'")
    found = [f for f in diagnosis.findings if f.rule == "gpu-architectures"]
    assert [finding.fit for finding in found] == [Fit.FITS, Fit.MISFIT]


def test_a_capability_can_be_planned_without_a_model_and_for_one() -> None:
    assert fit("torch=2.6.0+cu124 --compute-capability 9.0", "gpu-architectures") is Fit.FITS
    assert fit("gpu=X900 torch=2.6.0+cu124", "gpu-architectures") is Fit.UNKNOWN
    planned = "gpu=X900 torch=2.6.0+cu124 --compute-capability 9.0"
    assert fit(planned, "gpu-architectures") is Fit.FITS


def test_an_old_gpu_stops_a_driver_upgrade() -> None:
    now = 'driver=580.65.06 gpu="Tesla V100-SXM2-16GB" gpu.cc=7.0'
    assert fit(now, "driver-gpu") is Fit.FITS
    assert fit(f"{now} --driver 595.45.04", "driver-gpu") is Fit.MISFIT


def test_a_planned_compiler_goes_before_the_variables() -> None:
    now = "nvcc=12.4 cc=gcc-12 cc.version=12.3.0 cc.kind=gcc gxx=12.3.0"
    assert fit(now, "host-compiler") is Fit.FITS
    assert fit(f"{now} --gcc 14.2", "host-compiler") is Fit.MISFIT


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("torch==2.6.0+cu126", ("torch", "2.6.0+cu126")),
        ("Flash_Attn == 2.7.4.post1", ("flash-attn", "2.7.4.post1")),
    ],
)
def test_a_planned_package_is_named_with_its_version(text: str, wanted: tuple[str, str]) -> None:
    assert parse_requirement(text) == wanted


@pytest.mark.parametrize("text", ["torch", "torch>=2.6", "torch==", "==2.6", "torch==2.6; x", ""])
def test_a_range_names_no_build(text: str) -> None:
    with pytest.raises(UsageProblem, match="name and version are wanted"):
        parse_requirement(text)


@pytest.mark.parametrize("text", ["", "new", "12.4x", "v12"])
def test_an_option_wants_a_version(text: str) -> None:
    with pytest.raises(UsageProblem, match="--nvcc"):
        parse_planned(text, "--nvcc")
