"""Wheel tags, held against what `packaging` says of the same Python and platform."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import Tag, compatible_tags, cpython_tags

from envtrack.compat.versions import numbers
from envtrack.compat.wheel_tags import (
    Interpreter,
    fits_architecture,
    fits_libc,
    fits_python,
    parse_platform,
    parse_wheel,
)

PYTHONS = (
    "py3",
    "py2.py3",
    "py2",
    "py39",
    "py313",
    "cp38",
    "cp310",
    "cp311",
    "cp313",
    "cp27",
    "pp310",
)
ABIS = ("none", "abi3", "cp38", "cp310", "cp311", "cp313", "cp313t", "cp27mu", "pypy310_pp73")
PLATFORM = "manylinux_2_28_x86_64"


def fits(python: str, abi: str, interpreter: Interpreter) -> bool:
    wheel = parse_wheel(f"a-1.0-{python}-{abi}-{PLATFORM}.whl")
    assert wheel is not None
    return fits_python(wheel, interpreter)


@given(st.sampled_from(PYTHONS), st.sampled_from(ABIS), st.sampled_from([8, 10, 11, 12, 13]))
def test_python_and_abi_fit_as_packaging_says(python: str, abi: str, minor: int) -> None:
    series = (3, minor)
    known: set[Tag] = {
        *cpython_tags(series, abis=[f"cp3{minor}"], platforms=[PLATFORM]),
        *compatible_tags(series, interpreter=f"cp3{minor}", platforms=[PLATFORM]),
    }
    wanted = any(Tag(one, abi, PLATFORM) in known for one in python.split("."))
    # packaging knows cp311-none-any, but with a platform only for the running one.
    assert fits(python, abi, Interpreter(version=numbers(f"3.{minor}"))) == wanted


def test_a_free_threaded_python_takes_its_own_wheels_and_pure_ones() -> None:
    free = Interpreter(version=numbers("3.13"), is_free_threaded=True)
    assert free.abi == "cp313t"
    assert fits("cp313", "cp313t", free)
    assert fits("py3", "none", free)
    assert not fits("cp313", "cp313", free)
    assert not fits("cp39", "abi3", free)


@pytest.mark.parametrize(
    ("tag", "libc", "version", "architecture"),
    [
        ("manylinux_2_28_x86_64", "glibc", "2.28", "x86_64"),
        ("manylinux1_x86_64", "glibc", "2.5", "x86_64"),
        ("manylinux2010_i686", "glibc", "2.12", "i686"),
        ("manylinux2014_aarch64", "glibc", "2.17", "aarch64"),
        ("musllinux_1_2_x86_64", "musl", "1.2", "x86_64"),
    ],
)
def test_a_linux_tag_names_library_version_and_architecture(
    tag: str, libc: str, version: str, architecture: str
) -> None:
    found = parse_platform(tag)
    assert (found.libc, found.version, found.architecture) == (
        libc,
        numbers(version),
        architecture,
    )


def test_a_tag_of_another_system_fits_no_linux() -> None:
    for tag in ("macosx_11_0_arm64", "win_amd64", "macosx_10_9_x86_64"):
        wheel = parse_wheel(f"a-1.0-py3-none-{tag}.whl")
        assert wheel is not None
        assert not fits_architecture(wheel, "x86_64")


def test_one_of_several_platforms_is_enough() -> None:
    wheel = parse_wheel("a-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl")
    assert wheel is not None
    assert fits_libc(wheel, "x86_64", "glibc", numbers("2.17"))
    assert not fits_libc(wheel, "x86_64", "glibc", numbers("2.12"))
    assert not fits_libc(wheel, "x86_64", "musl", numbers("1.2"))
    assert not fits_libc(wheel, "aarch64", "glibc", numbers("2.39"))


def test_a_plain_linux_tag_asks_for_no_library() -> None:
    wheel = parse_wheel("a-1.0-cp311-cp311-linux_x86_64.whl")
    assert wheel is not None
    assert fits_libc(wheel, "x86_64", "musl", numbers("1.2"))


def test_two_nine_is_older_than_two_twelve() -> None:
    wheel = parse_wheel("a-1.0-cp311-cp311-manylinux_2_12_x86_64.whl")
    assert wheel is not None
    assert not fits_libc(wheel, "x86_64", "glibc", numbers("2.9"))


def test_a_build_number_stands_in_nobody_s_way() -> None:
    wheel = parse_wheel("a-1.0-2-cp311-cp311-manylinux_2_28_x86_64.whl")
    assert wheel is not None
    assert wheel.pythons == ("cp311",)


@pytest.mark.parametrize("name", ["a-1.0.tar.gz", "a-1.0.whl", "a.whl", "", "a-1.0-py3-none.whl"])
def test_a_file_of_another_form_has_no_tags(name: str) -> None:
    assert parse_wheel(name) is None
