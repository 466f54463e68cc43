from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.collect.interface import Said
from envtrack.collect.operating_system import OperatingSystemCollector
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import facts_of, machine, make_environment, write

UBUNTU = """\
# comment
PRETTY_NAME="Ubuntu 22.04.5 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
ID=ubuntu
BROKEN="never closed
"""


def test_the_distribution_is_read_from_etc_first(tmp_path: Path) -> None:
    write(tmp_path / "root/etc/os-release", UBUNTU)
    write(tmp_path / "root/usr/lib/os-release", "ID=other\n")
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.distribution.id"] == Known("ubuntu")
    assert facts["os.distribution.version"] == Known("22.04")
    assert facts["os.distribution.name"] == Known("Ubuntu 22.04.5 LTS")


def test_a_rolling_distribution_has_no_version(tmp_path: Path) -> None:
    write(tmp_path / "root/usr/lib/os-release", "ID=arch\nPRETTY_NAME='Arch Linux'\n")
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.distribution.id"] == Known("arch")
    assert facts["os.distribution.version"] == Absent()


def test_a_value_whose_quotes_do_not_match_is_taken_as_it_stands(tmp_path: Path) -> None:
    write(tmp_path / "root/etc/os-release", 'PRETTY_NAME="Odd\n')
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.distribution.name"] == Known("Odd")
    assert facts["os.distribution.id"] == Known("linux")


def test_an_empty_image_has_neither(tmp_path: Path) -> None:
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert len(facts) == 8
    assert set(facts.values()) == {Absent()}


def test_os_release_that_can_not_be_read_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "root/etc/os-release").mkdir(parents=True)
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.distribution.id"] == Unknown("is a directory")


@pytest.mark.parametrize(
    ("files", "name", "version"),
    [
        ({"lib/x86_64-linux-gnu/libc-2.31.so": ""}, "glibc", Known("2.31")),
        ({"lib64/ld-2.28.so": "", "lib64/libc.so.6": ""}, "glibc", Known("2.28")),
        (
            {
                "usr/lib/x86_64-linux-gnu/libc.so.6": "\0GNU C Library (Debian) stable release version 2.36.\n"
            },
            "glibc",
            Known("2.36"),
        ),
        ({"lib/libc.so.6": "\0"}, "glibc", Unknown("the C library does not say it")),
        (
            {
                "lib/ld-musl-x86_64.so.1": "",
                "lib/apk/db/installed": "C:x\nP:mawk\nV:9\n\nC:Q1\nP:musl\nA:x\nV:1.2.5-r0\n\n",
            },
            "musl",
            Known("1.2.5-r0"),
        ),
        ({"lib/ld-musl-x86_64.so.1": ""}, "musl", Unknown("musl says its version in no file")),
    ],
)
def test_the_c_library_is_told_from_its_files(
    tmp_path: Path, files: dict[str, str], name: str, version: Known | Unknown
) -> None:
    for path, text in files.items():
        write(tmp_path / "root" / path, text)
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.libc.name"] == Known(name)
    assert facts["os.libc.version"] == version


def test_musl_without_a_package_list_is_asked_itself(tmp_path: Path) -> None:
    # What musl's loader prints without arguments (ldso/dynlink.c).
    text = "musl libc (x86_64)\nVersion 1.2.4\nDynamic Program Loader\nUsage: ld-musl [options]\n"
    write(tmp_path / "root/lib/ld-musl-x86_64.so.1")
    asked: list[Sequence[str]] = []

    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said:
        asked.append(command)
        return Said(code=1, out="", err=text)

    facts = facts_of(OperatingSystemCollector(), replace(machine(tmp_path), ask=ask))
    assert facts["os.libc.version"] == Known("1.2.4")
    assert asked == [["/lib/ld-musl-x86_64.so.1"]]


def test_musl_under_the_name_of_glibc_is_still_musl(tmp_path: Path) -> None:
    lib = write(tmp_path / "root/lib/ld-musl-x86_64.so.1").parent
    write(lib / "libc.musl-x86_64.so.1")
    (lib / "libc.so.6").symlink_to("libc.musl-x86_64.so.1")
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.libc.name"] == Known("musl")


def symbols(glibcxx: str, cxxabi: str) -> bytes:
    """As in a library's table of strings: versions in no order, and other words among them."""
    words = [f"GLIBCXX_{v}" for v in glibcxx.split()] + [f"CXXABI_{v}" for v in cxxabi.split()]
    words += ["CXXABI_FLOAT128", "CXXABI_TM_1", "GLIBCXX_LDBL_3.4", "_ZNSt6GLIBCXX_9.9"]
    return b"\x7fELF" + "\0".join(["", *words, "", ".text"]).encode()


SYSTEM = symbols("3.4 3.4.9 3.4.30 3.4.29", "1.3 1.3.9 1.3.13")
CONDA = symbols("3.4.33 3.4", "1.3.15 1.3")


def ceilings(facts: dict[str, FactState]) -> list[FactState]:
    return [facts[f"os.libstdcxx.{part}"] for part in ("path", "glibcxx", "cxxabi")]


@pytest.mark.parametrize(
    "folder",
    ["usr/lib64", "lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib"],
)
def test_the_systems_libstdcxx_tells_its_newest_symbols(tmp_path: Path, folder: str) -> None:
    write(tmp_path / "root" / folder / "libstdc++.so.6", SYSTEM)
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    path = f"/{folder}/libstdc++.so.6"
    assert ceilings(facts) == [Known(path), Known("3.4.30"), Known("1.3.13")]


def test_a_library_of_32_bits_beside_it_is_not_taken(tmp_path: Path) -> None:
    write(tmp_path / "root/usr/lib/i386-linux-gnu/libstdc++.so.6", symbols("3.4.1", "1.3.1"))
    write(tmp_path / "root/usr/lib/x86_64-linux-gnu/libstdc++.so.6", SYSTEM)
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.libstdcxx.glibcxx"] == Known("3.4.30")


def test_conda_brings_a_libstdcxx_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "root/usr/lib64/libstdc++.so.6", SYSTEM)
    write(tmp_path / "env/conda-meta/history")
    write(tmp_path / "env/lib/libstdc++.so.6", CONDA)
    where = machine(tmp_path, environment=tmp_path / "env")
    assert ceilings(facts_of(OperatingSystemCollector(), where))[1:] == [
        Known("3.4.33"),
        Known("1.3.15"),
    ]


def test_an_environment_over_a_conda_python_uses_condas(tmp_path: Path) -> None:
    write(tmp_path / "conda/conda-meta/history")
    write(tmp_path / "conda/lib/libstdc++.so.6", CONDA)
    environment = make_environment(tmp_path)
    (environment / "bin").mkdir()
    (environment / "bin/python").symlink_to(write(tmp_path / "conda/bin/python3.11"))
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path, environment=environment))
    assert facts["os.libstdcxx.glibcxx"] == Known("3.4.33")


def test_the_loaders_variable_comes_before_the_system(tmp_path: Path) -> None:
    write(tmp_path / "root/usr/lib64/libstdc++.so.6", SYSTEM)
    write(tmp_path / "root/opt/gcc/lib64/libstdc++.so.6", CONDA)
    where = machine(tmp_path, environ={"LD_LIBRARY_PATH": "relative::/opt/gcc/lib64"})
    assert facts_of(OperatingSystemCollector(), where)["os.libstdcxx.path"] == Known(
        "/opt/gcc/lib64/libstdc++.so.6"
    )


def test_a_libstdcxx_that_says_nothing_is_unknown(tmp_path: Path) -> None:
    write(tmp_path / "root/usr/lib64/libstdc++.so.6", "/* GNU ld script */")
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.libstdcxx.glibcxx"] == Unknown("the library does not say it")


def test_a_libstdcxx_that_can_not_be_read_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "root/usr/lib64/libstdc++.so.6").mkdir(parents=True)
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path))
    assert facts["os.libstdcxx.cxxabi"] == Unknown("is a directory")


def test_the_running_machine_has_a_distribution_and_a_c_library(tmp_path: Path) -> None:
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path, root=Path("/")))
    assert isinstance(facts["os.libc.name"], Known)
