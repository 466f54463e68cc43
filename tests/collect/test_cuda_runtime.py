from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.collect.cuda_packages import COMPONENTS
from envtrack.collect.cuda_runtime import CudaRuntimeCollector
from envtrack.collect.interface import Machine
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import (
    add_distribution,
    facts_of,
    machine,
    make_environment,
    site_of,
    write,
)

# What `uv pip install torch==2.6.0` puts there on Linux, by PyPI's metadata of that release.
CU12 = {
    "nvidia_cublas_cu12": "12.4.5.8",
    "nvidia_cuda_cupti_cu12": "12.4.127",
    "nvidia_cuda_nvrtc_cu12": "12.4.127",
    "nvidia_cuda_runtime_cu12": "12.4.127",
    "nvidia_cudnn_cu12": "9.1.0.70",
    "nvidia_cufft_cu12": "11.2.1.3",
    "nvidia_curand_cu12": "10.3.5.147",
    "nvidia_cusolver_cu12": "11.6.1.9",
    "nvidia_cusparse_cu12": "12.3.1.170",
    "nvidia_cusparselt_cu12": "0.6.2",
    "nvidia_nccl_cu12": "2.21.5",
    "nvidia_nvjitlink_cu12": "12.4.127",
    "nvidia_nvtx_cu12": "12.4.127",
}
# torch 2.13.0, the build for CUDA 13.0, as installed here.
CU13 = {
    "cuda_bindings": "13.5.0",
    "cuda_pathfinder": "1.9.1",
    "cuda_toolkit": "13.0.3.0",
    "nvidia_cublas": "13.1.1.3",
    "nvidia_cuda_cupti": "13.0.85",
    "nvidia_cuda_nvrtc": "13.0.88",
    "nvidia_cuda_runtime": "13.0.96",
    "nvidia_cudnn_cu13": "9.20.0.48",
    "nvidia_cufft": "12.0.0.61",
    "nvidia_cufile": "1.15.1.6",
    "nvidia_curand": "10.4.0.35",
    "nvidia_cusolver": "12.0.4.66",
    "nvidia_cusparse": "12.6.3.3",
    "nvidia_cusparselt_cu13": "0.8.1",
    "nvidia_nccl_cu13": "2.29.7",
    "nvidia_nvjitlink": "13.5.37",
    "nvidia_nvshmem_cu13": "3.4.5",
    "nvidia_nvtx": "13.0.85",
}


def facts(where: Machine) -> dict[str, FactState]:
    found = facts_of(CudaRuntimeCollector(), where)
    return {name.removeprefix("cuda-runtime."): state for name, state in found.items()}


def with_wheels(base: Path, wheels: dict[str, str], **environ: str) -> Machine:
    environment = make_environment(base)
    for name, version in wheels.items():
        add_distribution(site_of(environment), name, version)
    return machine(base, environment=environment, environ=environ)


def with_libraries(base: Path, *names: str) -> Path:
    """Library files of wheels, by their path below ``nvidia``."""
    site = site_of(base / "home/alice/project/.venv")
    for name in names:
        write(site / "nvidia" / name)
    return site


def test_wheels_for_cuda_12_are_told_by_component(tmp_path: Path) -> None:
    found = facts(with_wheels(tmp_path, CU12))
    assert found["cudart"] == Known("12.4.127")
    assert found["cudnn"] == Known("9.1.0.70")
    assert (found["cusparse"], found["cusparselt"]) == (Known("12.3.1.170"), Known("0.6.2"))
    assert found["nvshmem"] == Absent()
    assert (found["majors"], found["sources"]) == (Known("12"), Known("wheels"))


def test_wheels_for_cuda_13_have_mostly_no_suffix_and_a_major_all_the_same(
    tmp_path: Path,
) -> None:
    found = facts(with_wheels(tmp_path, CU13))
    assert {part: found[part] for part in COMPONENTS if not isinstance(found[part], Known)} == {}
    assert (found["cudart"], found["nvshmem"]) == (Known("13.0.96"), Known("3.4.5"))
    assert (found["toolkit"], found["cufile"]) == (Known("13.0.3.0"), Known("1.15.1.6"))
    assert found["majors"] == Known("13")


def test_two_cudas_in_one_environment_show_both_and_their_majors(tmp_path: Path) -> None:
    # A public pip freeze of 2025: nvidia-cuda-runtime 13.1.80 beside nvidia-cuda-runtime-cu12.
    found = facts(
        with_wheels(
            tmp_path, {"nvidia_cuda_runtime": "13.1.80", "nvidia_cuda_runtime_cu12": "12.9.79"}
        )
    )
    assert found["cudart"] == Known("12.9.79 | 13.1.80")
    assert found["majors"] == Known("12 13")


@pytest.mark.parametrize(
    ("wheel", "version", "component", "majors"),
    [
        ("nvidia_cuda_runtime_cu117", "11.7.99", "cudart", "11"),
        ("nvidia_cudnn_cu11", "8.9.6.50", "cudnn", "11"),
        ("nvidia.cublas.cu12", "12.1.3.1", "cublas", "12"),
        ("nvidia_cuda_nvcc_cu12", "12.6.85", "nvcc", "12"),
    ],
)
def test_older_spellings_of_the_names_are_understood(
    tmp_path: Path, wheel: str, version: str, component: str, majors: str
) -> None:
    found = facts(with_wheels(tmp_path, {wheel: version}))
    assert (found[component], found["majors"]) == (Known(version), Known(majors))


def test_wheels_that_carry_no_library_of_cuda_are_none_of_ours(tmp_path: Path) -> None:
    wheels = {"nvidia_ml_py": "13.580.65", "nvidia_dali_cuda120": "1.30.0", "cuda_python": "13.3.1"}
    found = facts(with_wheels(tmp_path, {**wheels, "~vidia_cublas_cu12": "12.4.5.8"}))
    assert all(found[part] == Absent() for part in COMPONENTS)
    assert (found["majors"], found["sources"]) == (Absent(), Absent())


def test_a_machine_without_an_environment_has_no_components(tmp_path: Path) -> None:
    found = facts(machine(tmp_path))
    assert set(found.values()) == {Absent()}


def test_an_environment_that_can_not_be_read_is_unknown(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    found = facts(machine(tmp_path, environment=loop))
    assert isinstance(found["cudart"], Unknown)
    assert found["majors"] == found["shadows"] == found["cudart"]
    assert found["system.version"] == Absent()


def conda(base: Path, *records: str) -> Machine:
    environment = base / "conda"
    for record in records:
        write(environment / "conda-meta" / f"{record}.json", "{}")
    write(environment / "conda-meta/history")
    return machine(base, environment=environment)


def test_condas_packages_are_told_by_component_and_with_the_cuda_they_are_for(
    tmp_path: Path,
) -> None:
    # Names and builds as in ContinuumIO/anaconda-issues#13398 and conda-forge's listings.
    found = facts(
        conda(
            tmp_path,
            "cuda-version-12.4-h3060b56_3",
            "cuda-cudart-12.4.127-h99ab3db_0",
            "cuda-cudart_linux-64-12.4.127-hd681fbe_0",
            "libcublas-12.4.5.8-h99ab3db_1",
            "libcublas-dev-12.4.5.8-h99ab3db_1",
            "cudnn-8.9.7.29-h092f7fd_3",
        )
    )
    assert found["conda.cuda-version"] == Known("12.4")
    assert (found["cudart"], found["cublas"]) == (Known("12.4.127"), Known("12.4.5.8"))
    assert found["cudnn"] == Known("8.9.7.29")
    assert (found["majors"], found["sources"]) == (Known("12"), Known("conda"))


def test_the_old_cudatoolkit_of_conda_is_recorded(tmp_path: Path) -> None:
    found = facts(conda(tmp_path, "cudatoolkit-11.3.1-ha36c431_9"))
    assert found["conda.cudatoolkit"] == Known("11.3.1")
    assert found["majors"] == Known("11")


def test_wheels_in_a_conda_environment_are_both_sources(tmp_path: Path) -> None:
    where = conda(tmp_path, "cudatoolkit-11.8.0-h4ba93d1_13")
    assert where.environment is not None
    add_distribution(
        where.environment / "lib/python3.11/site-packages", "nvidia_cuda_runtime_cu12", "12.1.105"
    )
    found = facts(where)
    assert (found["majors"], found["sources"]) == (Known("11 12"), Known("conda wheels"))


def test_a_copy_on_ld_library_path_shadows_the_environments_own(tmp_path: Path) -> None:
    where = with_wheels(tmp_path, CU12, LD_LIBRARY_PATH="/usr/local/cuda/lib64")
    with_libraries(tmp_path, "cuda_runtime/lib/libcudart.so.12", "cublas/lib/libcublasLt.so.12")
    write(where.root / "usr/local/cuda-12.1/lib64/libcudart.so.12.1.105")
    write(where.root / "usr/local/cuda-12.1/lib64/libcudart.so.12")
    (where.root / "usr/local/cuda").symlink_to("/usr/local/cuda-12.1")
    found = facts(where)
    assert found["shadow.cudart"] == Known(
        "/usr/local/cuda/lib64/libcudart.so.12 (LD_LIBRARY_PATH)"
    )
    assert found["shadows"] == Known(1)
    assert "shadow.cublas" not in found


def test_the_copy_that_the_loader_meets_first_is_named(tmp_path: Path) -> None:
    where = with_wheels(tmp_path, CU12, LD_LIBRARY_PATH="/opt/a:/opt/b")
    with_libraries(tmp_path, "cudnn/lib/libcudnn.so.9", "cudnn/lib/libcudnn_ops.so.9")
    for folder in ("opt/b", "usr/lib/x86_64-linux-gnu"):
        write(where.root / folder / "libcudnn.so.9")
    assert facts(where)["shadow.cudnn"] == Known("/opt/b/libcudnn.so.9 (LD_LIBRARY_PATH)")


def test_a_copy_in_a_configured_or_built_in_folder_says_how_it_is_reached(tmp_path: Path) -> None:
    where = with_wheels(tmp_path, CU13)
    with_libraries(tmp_path, "cu13/lib/libcublas.so.13", "nccl/lib/libnccl.so.2")
    write(where.root / "etc/ld.so.conf", "/usr/local/cuda-13.0/lib\n")
    write(where.root / "usr/local/cuda-13.0/lib/libcublas.so.13")
    write(where.root / "usr/lib64/libnccl.so.2")
    found = facts(where)
    assert found["shadow.cublas"] == Known(
        "/usr/local/cuda-13.0/lib/libcublas.so.13 (/etc/ld.so.conf)"
    )
    assert found["shadow.nccl"] == Known("/usr/lib64/libnccl.so.2 (default)")


def test_a_library_of_another_soname_does_not_stand_in_the_way(tmp_path: Path) -> None:
    where = with_wheels(tmp_path, CU12, LD_LIBRARY_PATH="/usr/local/cuda-11.8/lib64")
    with_libraries(tmp_path, "cuda_runtime/lib/libcudart.so.12")
    write(where.root / "usr/local/cuda-11.8/lib64/libcudart.so.11.0")
    assert facts(where)["shadows"] == Known(0)


def test_a_variable_that_leads_into_the_environment_itself_shadows_nothing(tmp_path: Path) -> None:
    where = with_wheels(tmp_path, CU12)
    site = with_libraries(tmp_path, "cudnn/lib/libcudnn.so.9")
    folder = f"{site}/nvidia/cudnn/lib"
    # The same path below the root of the machine, as it is where the root is /.
    write(where.root / folder[1:] / "libcudnn.so.9")
    assert facts(replace(where, environ={"LD_LIBRARY_PATH": folder}))["shadows"] == Known(0)


def test_a_system_copy_of_what_the_environment_does_not_have_is_no_shadow(tmp_path: Path) -> None:
    where = with_wheels(tmp_path, {}, LD_LIBRARY_PATH="/opt/cuda/lib64")
    write(where.root / "opt/cuda/lib64/libcudart.so.12")
    assert facts(where)["shadows"] == Known(0)


def test_a_folder_of_the_path_that_can_not_be_read_makes_their_number_unknown(
    tmp_path: Path,
) -> None:
    where = with_wheels(tmp_path, CU12, LD_LIBRARY_PATH="/opt/loop")
    with_libraries(tmp_path, "cudnn/lib/libcudnn.so.9")
    (where.root / "opt").mkdir(parents=True)
    (where.root / "opt/loop").symlink_to("loop")
    state = facts(where)["shadows"]
    assert isinstance(state, Unknown)
    assert state.reason.startswith("/opt/loop: ")


def test_condas_libraries_can_be_shadowed_too(tmp_path: Path) -> None:
    where = conda(tmp_path, "cuda-cudart-12.4.127-h99ab3db_0")
    assert where.environment is not None
    write(where.environment / "lib/libcudart.so.12")
    write(where.root / "usr/lib64/libcudart.so.12")
    assert facts(where)["shadow.cudart"] == Known("/usr/lib64/libcudart.so.12 (default)")


VERSION_JSON = """\
{
   "cuda" : {
      "name" : "CUDA SDK",
      "version" : "12.4.1"
   },
   "cuda_cudart" : {
      "name" : "CUDA Runtime (cudart)",
      "version" : "12.4.127"
   }
}
"""


def test_toolkits_of_the_system_are_told_by_their_own_files(tmp_path: Path) -> None:
    where = machine(tmp_path)
    local = where.root / "usr/local"
    write(local / "cuda-12.4/version.json", VERSION_JSON)
    write(local / "cuda-10.2/version.txt", "CUDA Version 10.2.89\n")
    write(local / "cuda-9.0/bin/nvcc")
    (local / "cuda-12").symlink_to("/usr/local/cuda-12.4")
    (local / "cuda").symlink_to("/etc/alternatives/cuda")
    write(where.root / "etc/alternatives/.keep")
    (where.root / "etc/alternatives/cuda").symlink_to("/usr/local/cuda-12.4")
    found = facts(where)
    assert found["system.version"] == Known("12.4.1")
    assert found["system.toolkits"] == Known("9.0 10.2.89 12.4.1")


@pytest.mark.parametrize("text", ["not json", "[]", '{"cuda": 12}', '{"cuda": {"version": 12}}'])
def test_a_version_file_of_another_form_leaves_the_folders_name(tmp_path: Path, text: str) -> None:
    where = machine(tmp_path)
    write(where.root / "usr/local/cuda-12.4/version.json", text)
    assert facts(where)["system.toolkits"] == Known("12.4")


def test_a_toolkit_that_tells_nothing_is_unknown_and_not_absent(tmp_path: Path) -> None:
    where = machine(tmp_path)
    write(where.root / "usr/local/cuda/bin/nvcc")
    found = facts(where)
    assert found["system.version"] == Unknown("the toolkit says its version in no file")
    assert found["system.toolkits"] == Absent()


def test_cudnns_headers_tell_its_version(tmp_path: Path) -> None:
    where = machine(tmp_path)
    header = "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n"
    write(where.root / "usr/include/x86_64-linux-gnu/cudnn_version.h", header)
    assert facts(where)["system.cudnn.version"] == Known("8.9.7")


def test_cudnn_7_has_one_header_for_all(tmp_path: Path) -> None:
    where = machine(tmp_path)
    header = "#define CUDNN_MAJOR      7\n#define CUDNN_MINOR      3\n#define CUDNN_PATCHLEVEL 0\n"
    write(where.root / "usr/local/cuda/include/cudnn.h", f"#if !defined(CUDNN_H_)\n{header}")
    assert facts(where)["system.cudnn.version"] == Known("7.3.0")


def test_a_header_that_can_not_be_read_is_unknown(tmp_path: Path) -> None:
    where = machine(tmp_path)
    (where.root / "usr/include/cudnn_version.h").mkdir(parents=True)
    assert facts(where)["system.cudnn.version"] == Unknown("is a directory")


def test_records_of_conda_that_can_not_be_listed_are_unknown(tmp_path: Path) -> None:
    environment = tmp_path / "conda"
    environment.mkdir()
    (environment / "conda-meta").symlink_to("conda-meta")
    state = facts(machine(tmp_path, environment=environment))["cudart"]
    assert isinstance(state, Unknown)
