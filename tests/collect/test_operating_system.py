from __future__ import annotations

from pathlib import Path

import pytest

from envtrack.collect.operating_system import OperatingSystemCollector
from envtrack.model.fact import Absent, Known, Unknown
from tests.collect.places import facts_of, machine, write

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
    assert len(facts) == 5
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


def test_the_running_machine_has_a_distribution_and_a_c_library(tmp_path: Path) -> None:
    facts = facts_of(OperatingSystemCollector(), machine(tmp_path, root=Path("/")))
    assert isinstance(facts["os.libc.name"], Known)
