from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.collect.interface import Said
from envtrack.collect.toolchain import ToolchainCollector
from envtrack.collect.versions_said import parse_nvcc_version, parse_tool_version
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import facts_of, machine

Answer = Said | Absent | Unknown

# What this kind of machine prints (Debian 12), and a toolkit of NVIDIA's.
GCC = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n"
NVCC = """\
nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2024 NVIDIA Corporation
Built on Thu_Mar_28_02:18:24_PDT_2024
Cuda compilation tools, release 12.4, V12.4.131
Build cuda_12.4.r12.4/compiler.34097967_0
"""


def said(out: str = "", err: str = "", code: int = 0) -> Said:
    return Said(code=code, out=out, err=err)


class Programs:
    """Answers by the program's name or path; the others are not there."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = answers
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, command: Sequence[str], *, timeout_s: float = 3.0) -> Answer:
        del timeout_s
        self.asked.append(tuple(command))
        return self._answers.get(command[0], Absent())


def read(
    tmp_path: Path,
    answers: Mapping[str, Answer],
    environ: Mapping[str, str] = {},
    environment: Path | None = None,
) -> dict[str, FactState]:
    where = machine(tmp_path, environ=environ, environment=environment)
    facts = facts_of(ToolchainCollector(), replace(where, ask=Programs(answers)))
    return {name.removeprefix("toolchain."): state for name, state in facts.items()}


def test_a_machine_without_tools_has_none_and_nothing_is_unknown(tmp_path: Path) -> None:
    facts = read(tmp_path, {})
    assert set(facts.values()) == {Absent()}
    assert {"gcc.version", "nvcc.release", "nvcc.by-path", "mpi.version"} <= facts.keys()


def test_a_compiler_is_a_number_a_build_and_a_kind(tmp_path: Path) -> None:
    facts = read(tmp_path, {"gcc": said(GCC)})
    assert facts["gcc.version"] == Known("12.2.0")
    assert facts["gcc.build"] == Known("(Debian 12.2.0-14+deb12u1) 12.2.0")
    assert facts["gcc.kind"] == Known("gcc")
    assert facts["gxx.version"] == Absent()


# Where each form comes from: Debian, Ubuntu, Red Hat, SUSE, Alpine, Gentoo and conda-forge print
# their own names in the brackets (bug reports of each); Apple's, AMD's, Intel's and NVIDIA's
# compilers as their makers' documentation and public build logs show them.
COMPILERS = {
    "gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0": ("gcc", "11.4.0"),
    "gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-10)": ("gcc", "8.5.0"),
    "gcc (GCC) 14.1.1 20240522 (Red Hat 14.1.1-4)": ("gcc", "14.1.1"),
    "gcc (SUSE Linux) 7.5.0": ("gcc", "7.5.0"),
    "gcc (Alpine 13.2.1_git20231014) 13.2.1 20231014": ("gcc", "13.2.1"),
    "gcc (Gentoo 13.2.1_p20240210 p14) 13.2.1 20240210": ("gcc", "13.2.1"),
    "g++-12 (Debian 12.2.0-14) 12.2.0": ("gcc", "12.2.0"),
    "x86_64-conda-linux-gnu-gcc (conda-forge gcc 12.3.0-3) 12.3.0": ("gcc", "12.3.0"),
    "gcc (Homebrew GCC 13.2.0) 13.2.0": ("gcc", "13.2.0"),
    "gcc (Compiler (of ours) 2) 9.3.0": ("gcc", "9.3.0"),
    "clang version 17.0.6 (Fedora 17.0.6-2.fc39)": ("clang", "17.0.6"),
    "Ubuntu clang version 14.0.0-1ubuntu1.1": ("clang", "14.0.0"),
    "Debian clang version 14.0.6": ("clang", "14.0.6"),
    "Apple clang version 16.0.0 (clang-1600.0.26.4)": ("apple-clang", "16.0.0"),
    "Apple LLVM version 10.0.0 (clang-1000.11.45.5)": ("apple-clang", "10.0.0"),
    "AMD clang version 17.0.0 (https://github.com/RadeonOpenCompute/llvm-project roc-6.1.2)": (
        "amd-clang",
        "17.0.0",
    ),
    "Intel(R) oneAPI DPC++/C++ Compiler 2024.0.2 (2024.0.2.20231213)": ("icx", "2024.0.2"),
    "icc (ICC) 2021.10.0 20230609": ("icc", "2021.10.0"),
    "\nnvc 23.7-0 64-bit target on x86-64 Linux -tp zen2": ("nvc", "23.7"),
}


@pytest.mark.parametrize("text", COMPILERS)
def test_compilers_of_all_makers_are_told_apart(text: str) -> None:
    found = parse_tool_version("compiler", f"{text}\nTarget: x86_64-pc-linux-gnu\n")
    assert found is not None
    assert (found.kind, found.version) == COMPILERS[text]


def test_a_gcc_that_is_clang_is_called_so(tmp_path: Path) -> None:
    # gcc on macOS, of Xcode's command line tools.
    text = "Apple clang version 15.0.0 (clang-1500.3.9.4)\nTarget: arm64-apple-darwin23.4.0\n"
    facts = read(tmp_path, {"gcc": said(text)})
    assert facts["gcc.kind"] == Known("apple-clang")
    assert facts["gcc.build"] == Known("Apple clang version 15.0.0 (clang-1500.3.9.4)")


# binutils of Debian and Red Hat, LLVM, mold's manual; Open MPI, MPICH and Intel MPI as in public
# installation logs; CMake of Red Hat, a release candidate, Kitware's ninja.
OTHERS = {
    ("ld", "GNU ld (GNU Binutils for Debian) 2.40"): (
        "bfd",
        "2.40",
        "(GNU Binutils for Debian) 2.40",
    ),
    ("ld", "GNU ld version 2.35.2-42.el9"): ("bfd", "2.35.2", "2.35.2-42.el9"),
    ("ld", "GNU gold (GNU Binutils 2.40) 1.16"): ("gold", "1.16", "(GNU Binutils 2.40) 1.16"),
    ("ld", "Ubuntu LLD 14.0.0 (compatible with GNU linkers)"): (
        "lld",
        "14.0.0",
        "Ubuntu LLD 14.0.0 (compatible with GNU linkers)",
    ),
    ("ld", "mold 2.4.0 (compatible with GNU ld)"): (
        "mold",
        "2.4.0",
        "2.4.0 (compatible with GNU ld)",
    ),
    ("ld", "@(#)PROGRAM:ld  PROJECT:ld-1115.7.3\n"): ("apple", "1115.7.3", "ld-1115.7.3"),
    ("cmake", "cmake version 3.31.0-rc2\n\nCMake suite maintained"): (
        "cmake",
        "3.31.0",
        "3.31.0-rc2",
    ),
    ("cmake", "cmake3 version 3.17.5"): ("cmake", "3.17.5", "3.17.5"),
    ("ninja", "1.11.1.git.kitware.jobserver-1\n"): (
        "ninja",
        "1.11.1",
        "1.11.1.git.kitware.jobserver-1",
    ),
    ("make", "GNU Make 4.3\nBuilt for x86_64-pc-linux-gnu"): ("gnu", "4.3", "4.3"),
    ("mpirun", "mpirun (Open MPI) 4.1.2\n\nReport bugs to the project's site\n"): (
        "open-mpi",
        "4.1.2",
        "4.1.2",
    ),
    ("mpirun", "HYDRA build details:\n    Version:          3.3a2\n    CC: gcc\n"): (
        "mpich",
        "3.3",
        "3.3a2",
    ),
    (
        "mpirun",
        "Intel(R) MPI Library for Linux* OS, Version 2021.10 Build 20230619 (id: c2e19c2f3e)",
    ): ("intel-mpi", "2021.10", "2021.10 Build 20230619 (id: c2e19c2f3e)"),
    ("hipcc", "HIP version: 6.1.40093-bd86f1708\nAMD clang version 17.0.0 (x)"): (
        "hipcc",
        "6.1.40093",
        "6.1.40093-bd86f1708",
    ),
}


@pytest.mark.parametrize(("form", "text"), OTHERS)
def test_other_tools_are_numbers_without_the_words_before_them(form: str, text: str) -> None:
    found = parse_tool_version(form, text)
    assert found is not None
    assert (found.kind, found.version, found.build) == OTHERS[form, text]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (said(), Unknown("`gcc` printed nothing")),
        (said("Hallo\n"), Unknown("`gcc` printed something else than its version")),
        (
            said(err="xcrun: error: invalid active developer path", code=1),
            Unknown("`gcc` ended with code 1"),
        ),
        (said(code=-11), Unknown("`gcc` died of SIGSEGV")),
        (said(code=-99), Unknown("`gcc` died of signal 99")),
        (said("\0" * 1_000_000), Unknown("`gcc` printed something else than its version")),
        (said("(" * 1_000_000), Unknown("`gcc` printed something else than its version")),
        (Unknown("`gcc` timed out"), Unknown("`gcc` timed out")),
        # A stand-in of pyenv's for a program that no version has.
        (said(err="pyenv: gcc: command not found", code=127), Absent()),
    ],
)
def test_an_answer_without_a_version_says_why_and_not_what(
    tmp_path: Path, answer: Answer, state: FactState
) -> None:
    assert read(tmp_path, {"gcc": answer})["gcc.version"] == state


def test_one_that_hangs_hides_no_other(tmp_path: Path) -> None:
    facts = read(
        tmp_path, {"gcc": Unknown("`gcc` timed out"), "cmake": said("cmake version 3.25.1")}
    )
    assert facts["cmake.version"] == Known("3.25.1")


@pytest.mark.parametrize(
    "text",
    [
        "gcc (Debian 12.2.0-14) 12.2.0\nCopyright © 2022 Free Software Foundation, Inc.\n",
        "gcc: warning: \\xb2\\xe2\\xca\\xd4\ngcc (Debian 12.2.0-14) 12.2.0\n",
        "gcc (Debian 12.2.0-14) 12.2.0\r\n",
        "gcc (Debian 12.2.0-14) 12.2.0\n" + "x" * 1_000_000,
    ],
)
def test_other_locales_warnings_and_megabytes_do_not_hide_a_version(text: str) -> None:
    found = parse_tool_version("compiler", text)
    assert found is not None
    assert (found.version, found.build) == ("12.2.0", "(Debian 12.2.0-14) 12.2.0")


def test_a_version_on_stderr_or_with_an_odd_exit_code_counts(tmp_path: Path) -> None:
    facts = read(tmp_path, {"ld": said(err="@(#)PROGRAM:ld PROJECT:ld64-609\n", code=1)})
    assert facts["ld.version"] == Known("609")


def test_programs_are_asked_side_by_side(tmp_path: Path) -> None:
    barrier = threading.Barrier(4, timeout=20)

    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Answer:
        if command[0] in {"gcc", "g++", "clang", "ld"}:
            barrier.wait()
        return Absent()

    facts_of(ToolchainCollector(), replace(machine(tmp_path), ask=ask))
    assert not barrier.broken


def test_nvcc_has_its_release_its_build_and_where_it_was_found(tmp_path: Path) -> None:
    facts = read(tmp_path, {"nvcc": said(NVCC)})
    assert facts["nvcc.release"] == Known("12.4")
    assert facts["nvcc.build"] == Known("V12.4.131")
    assert facts["nvcc.path-source"] == Known("PATH")
    assert facts["nvcc.by-path"] == Known("12.4")
    assert facts["nvcc.by-cuda-home"] == Absent()


def test_every_nvcc_has_its_fact_and_the_one_of_cuda_home_counts(tmp_path: Path) -> None:
    old = NVCC.replace("12.4", "11.8").replace("V11.8.131", "V11.8.89")
    answers = {"/opt/cuda-11.8/bin/nvcc": said(old), "nvcc": said(NVCC)}
    facts = read(tmp_path, answers, {"CUDA_HOME": "/opt/cuda-11.8/"})
    assert facts["nvcc.release"] == Known("11.8")
    assert facts["nvcc.build"] == Known("V11.8.89")
    assert facts["nvcc.path-source"] == Known("CUDA_HOME")
    assert facts["nvcc.path"] == Known("/opt/cuda-11.8/bin/nvcc")
    assert facts["nvcc.by-path"] == Known("12.4")


def test_a_cuda_home_without_nvcc_is_said_and_another_one_counts(tmp_path: Path) -> None:
    facts = read(tmp_path, {"nvcc": said(NVCC)}, {"CUDA_HOME": "/gone"})
    assert facts["nvcc.by-cuda-home"] == Unknown("CUDA_HOME is set, but there is no nvcc")
    assert facts["nvcc.path-source"] == Known("PATH")


def test_an_nvcc_that_nobody_named_is_found_where_installers_put_it(tmp_path: Path) -> None:
    facts = read(tmp_path, {"/usr/local/cuda/bin/nvcc": said(NVCC)})
    assert facts["nvcc.path-source"] == Known("/usr/local/cuda")
    assert facts["nvcc.by-path"] == Absent()


def test_condas_nvcc_is_found_in_the_environment(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    answers = {str(environment / "bin/nvcc"): said(NVCC)}
    facts = read(tmp_path, answers, environment=environment)
    assert facts["nvcc.by-environment"] == Known("12.4")


def test_the_compiler_of_cudacxx_is_asked_without_its_options(tmp_path: Path) -> None:
    environ = {"CUDACXX": "ccache /opt/nvcc -ccbin g++-11"}
    facts = read(tmp_path, {"/opt/nvcc": said(NVCC)}, environ)
    assert facts["nvcc.by-cudacxx"] == Known("12.4")


def test_an_nvcc_that_hangs_is_unknown_and_not_absent(tmp_path: Path) -> None:
    facts = read(tmp_path, {"nvcc": Unknown("`nvcc` timed out")})
    assert facts["nvcc.release"] == Unknown("`nvcc` timed out")
    assert facts["nvcc.by-path"] == Unknown("`nvcc` timed out")


@pytest.mark.parametrize(
    "text",
    [
        f"Loading module cuda/12.4 …\n{NVCC}",  # a site's own script around it
        "Cuda compilation tools, release 12.4, V12.4.131\n",
        NVCC.replace("\n", "\r\n"),
    ],
)
def test_what_a_script_prints_before_nvcc_does_no_harm(text: str) -> None:
    assert parse_nvcc_version(text) == ("12.4", "V12.4.131")


@pytest.mark.parametrize("text", ["", "release 12.4", "release twelve, V12", "x" * 1_000_000])
def test_what_is_no_nvcc_has_no_version(text: str) -> None:
    assert parse_nvcc_version(text) is None


CLANG = "Ubuntu clang version 14.0.0-1ubuntu1.1\n"


@pytest.mark.parametrize(
    ("environ", "key", "command", "source"),
    [
        ({"CC": "gcc-12"}, "cc", "gcc-12", "CC"),
        ({"CXX": "ccache gcc-12 -m64 -O2"}, "cxx", "gcc-12", "CXX"),
        ({"CC": "env X=1 gcc-12"}, "cc", "gcc-12", "CC"),
        ({"CUDAHOSTCXX": "gcc-12"}, "cudahostcxx", "gcc-12", "CUDAHOSTCXX"),
        ({"NVCC_CCBIN": "gcc-12"}, "nvcc-ccbin", "gcc-12", "NVCC_CCBIN"),
        (
            {"NVCC_PREPEND_FLAGS": "-O3 -ccbin clang -ccbin gcc-12", "NVCC_CCBIN": "clang"},
            "nvcc-ccbin",
            "gcc-12",
            "NVCC_PREPEND_FLAGS",
        ),
        (
            {
                "NVCC_PREPEND_FLAGS": "-ccbin clang",
                "NVCC_APPEND_FLAGS": "--compiler-bindir='gcc-12' -lineinfo",
            },
            "nvcc-ccbin",
            "gcc-12",
            "NVCC_APPEND_FLAGS",
        ),
    ],
)
def test_the_compilers_that_variables_name_are_asked(
    tmp_path: Path, environ: dict[str, str], key: str, command: str, source: str
) -> None:
    facts = read(tmp_path, {"gcc-12": said(GCC), "clang": said(CLANG)}, environ)
    assert facts[f"{key}.command"] == Known(command)
    assert facts[f"{key}.source"] == Known(source)
    assert facts[f"{key}.version"] == Known("12.2.0")
    assert facts[f"{key}.kind"] == Known("gcc")


def test_a_folder_after_ccbin_means_the_gcc_in_it(tmp_path: Path) -> None:
    answers: dict[str, Answer] = {
        "/opt/gcc/bin": Unknown("is a directory"),
        "/opt/gcc/bin/gcc": said(GCC),
    }
    facts = read(tmp_path, answers, {"NVCC_CCBIN": "/opt/gcc/bin/"})
    assert facts["nvcc-ccbin.version"] == Known("12.2.0")


@pytest.mark.parametrize(
    "flags", ["-ccbin", "'never closed -ccbin", "-Xcompiler -ccbin", "--ccbinary gcc-12", ""]
)
def test_flags_without_a_compiler_name_none(tmp_path: Path, flags: str) -> None:
    facts = read(tmp_path, {}, {"NVCC_PREPEND_FLAGS": flags})
    assert facts["nvcc-ccbin.command"] == Absent()


def test_a_named_compiler_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    facts = read(tmp_path, {}, {"CC": "gcc-9"})
    assert facts["cc.version"] == Unknown("CC names a program that is not there")


def test_nothing_but_versions_is_asked_for(tmp_path: Path) -> None:
    programs = Programs({})
    environ = {"CC": "sh -c 'rm -rf x'", "CUDA_HOME": "/opt/cuda"}
    facts_of(ToolchainCollector(), replace(machine(tmp_path, environ=environ), ask=programs))
    assert {command[1:] for command in programs.asked} == {("--version",)}
