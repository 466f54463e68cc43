from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.collect.interface import Said
from envtrack.collect.python import PythonCollector
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import (
    add_distribution,
    facts_of,
    machine,
    make_environment,
    site_of,
    write,
)
from tests.support.repo import UV


def add_base(base: Path, name: str = "_sysconfigdata__linux_x86_64-linux-gnu.py") -> Path:
    """An interpreter outside the environment, with its build data."""
    write(base / "python/lib/python3.11" / name)
    return write(base / "python/bin/python3.11")


def of_the_environment(facts: dict[str, FactState]) -> dict[str, FactState]:
    """All but the tools, which are there without an environment too."""
    return {name: state for name, state in facts.items() if not name.startswith("python.tool.")}


def test_no_environment_is_absent_and_nothing_more_is_said(tmp_path: Path) -> None:
    for environment in (None, tmp_path / "gone"):
        facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
        assert of_the_environment(facts) == {"python.environment": Absent()}


def test_a_file_in_the_environments_place_is_no_environment(tmp_path: Path) -> None:
    file = write(tmp_path / ".venv", "/elsewhere")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=file))
    assert of_the_environment(facts) == {"python.environment": Absent()}


def test_an_empty_folder_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=tmp_path / "env"))
    assert isinstance(facts["python.environment"], Unknown)


def test_a_uv_environment_tells_all(tmp_path: Path) -> None:
    environment = make_environment(
        tmp_path,
        "home = /usr/bin\nimplementation = CPython\nuv = 0.13.9\nversion_info = 3.11.7\n"
        "include-system-site-packages = false\nrelocatable = true\nprompt = mine\n",
    )
    (environment / "bin").mkdir()
    (environment / "bin/python").symlink_to(add_base(tmp_path))
    write(tmp_path / "root/lib64/libc-2.31.so")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert of_the_environment(facts) == {
        "python.environment": Known("uv venv"),
        "python.interpreter": Known(str(tmp_path / "python/bin/python3.11")),
        "python.version": Known("3.11.7"),
        "python.implementation": Known("CPython"),
        "python.abi": Known("cp311"),
        "python.platform": Known("x86_64-linux-gnu"),
        "python.home": Known("/usr/bin"),
        "python.uv": Known("0.13.9"),
        "python.system-site-packages": Known(value=False),
        "python.relocatable": Known(value=True),
        "python.platform-tag": Known("manylinux_2_31_x86_64"),
        "python.user-site": Known(value=False),
        "python.user-site-folder": Absent(),
    }


@pytest.mark.parametrize(
    ("config", "kind", "version"),
    [
        ("home = /usr/bin\nversion = 3.11.7\n", "venv", "3.11.7"),
        ("virtualenv = 20.1\nversion_info = 3.11.7.final.0\n", "virtualenv", "3.11.7"),
        ("version_info = 3.14.0rc1\n", "venv", "3.14.0rc1"),
        ("garbage\n\xff = \n", "venv", "3.11"),
        ("", "venv", "3.11"),
    ],
)
def test_kinds_and_versions(tmp_path: Path, config: str, kind: str, version: str) -> None:
    environment = make_environment(tmp_path, config)
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.environment"] == Known(kind)
    assert facts["python.version"] == Known(version)
    assert facts["python.uv"] == Absent()


def test_without_a_word_on_it_an_environment_sees_the_systems_packages(tmp_path: Path) -> None:
    environment = make_environment(tmp_path, "home = /usr/bin\n")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.system-site-packages"] == Known(value=True)


def test_a_link_to_an_interpreter_that_is_gone_is_said(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    (environment / "bin").mkdir()
    (environment / "bin/python").symlink_to(tmp_path / "gone/python3.11")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.interpreter"] == Unknown("link to a file that is gone")
    assert facts["python.version"] == Known("3.11.7")


def test_a_link_to_itself_is_unknown(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    (environment / "bin").mkdir()
    (environment / "bin/python").symlink_to(environment / "bin/python")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert isinstance(facts["python.interpreter"], Unknown)


def test_a_free_threaded_build_is_told_by_its_folder_and_its_build_data(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    (environment / "lib/python3.13t/site-packages").mkdir(parents=True)
    write(environment / "pyvenv.cfg", "version = 3.13.1\n")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.abi"] == Known("cp313t")


def test_a_debug_build_is_told_by_its_build_data(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    (environment / "bin").mkdir()
    base = add_base(tmp_path, "_sysconfigdata_d_linux_aarch64-linux-gnu.py")
    (environment / "bin/python").symlink_to(base)
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.abi"] == Known("cp311d")
    assert facts["python.platform"] == Known("aarch64-linux-gnu")


def test_pypy_has_no_abi_to_be_read(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    (environment / "lib/pypy3.10/site-packages").mkdir(parents=True)
    write(environment / "pyvenv.cfg", "")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.implementation"] == Known("PyPy")
    assert isinstance(facts["python.abi"], Unknown)


def test_conda_tells_its_python_by_the_record(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    (environment / "lib/python3.12/site-packages").mkdir(parents=True)
    write(environment / "conda-meta/python-dateutil-2.9.0-pyhd8ed1ab_0.json", "{}")
    write(environment / "conda-meta/python-3.12.4-h955ad1f_1.json", "{}")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.environment"] == Known("conda")
    assert facts["python.version"] == Known("3.12.4")
    assert facts["python.build"] == Known("h955ad1f_1")
    assert facts["python.abi"] == Known("cp312")


@pytest.mark.parametrize(
    ("text", "version"),
    [('{"version": "3.12.9", "build": "h_0"}', "3.12.9"), ("{broken", "3.12"), ("[]", "3.12")],
)
def test_a_conda_record_of_another_name_is_read(tmp_path: Path, text: str, version: str) -> None:
    environment = tmp_path / "env"
    (environment / "lib/python3.12").mkdir(parents=True)
    write(environment / "conda-meta/python-3.12.json", text)
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.version"] == Known(version)


def test_a_system_prefix_is_told_from_an_environment(tmp_path: Path) -> None:
    (tmp_path / "python/lib/python3.11/site-packages").mkdir(parents=True)
    add_base(tmp_path)
    write(tmp_path / "python/bin/python3")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=tmp_path / "python"))
    assert facts["python.environment"] == Known("system")
    assert facts["python.version"] == Known("3.11")


def test_the_layout_of_windows_is_read(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    (environment / "Lib/site-packages").mkdir(parents=True)
    write(environment / "Scripts/python.exe")
    write(environment / "pyvenv.cfg", "version_info = 3.12.1\nuv = 0.9\n")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.interpreter"] == Known(str(environment / "Scripts/python.exe"))
    assert facts["python.abi"] == Known("cp312")


def test_a_real_environment_made_by_uv(tmp_path: Path) -> None:
    environment = tmp_path / "real"
    command = [UV, "venv", "--quiet", "--python", sys.executable, str(environment)]
    subprocess.run(command, check=True)
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
    assert facts["python.environment"] == Known("uv venv")
    assert facts["python.version"] == Known(platform.python_version())
    assert facts["python.implementation"] == Known(platform.python_implementation())
    assert isinstance(facts["python.abi"], Known)
    assert isinstance(facts["python.platform"], Known)
    assert isinstance(facts["python.uv"], Known)


def fact_of(tmp_path: Path, name: str, environment: Path, **environ: str) -> FactState:
    where = machine(tmp_path, environment=environment, environ=environ)
    return facts_of(PythonCollector(), where)[f"python.{name}"]


MUSL = "P:musl\nV:1.2.5-r0\n\n"


@pytest.mark.parametrize(
    ("build", "files", "tag"),
    [
        ("linux_aarch64-linux-gnu", {"lib64/libc-2.28.so": ""}, "manylinux_2_28_aarch64"),
        ("linux_powerpc64le-linux-gnu", {"lib64/libc-2.17.so": ""}, "manylinux_2_17_ppc64le"),
        ("linux_arm-linux-gnueabihf", {"lib/libc-2.31.so": ""}, "manylinux_2_31_armv7l"),
        ("linux_i386-linux-gnu", {"lib/libc-2.31.so": ""}, "manylinux_2_31_i686"),
        (
            "linux_x86_64-linux-musl",
            {"lib/ld-musl-x86_64.so.1": "", "lib/apk/db/installed": MUSL},
            "musllinux_1_2_x86_64",
        ),
    ],
)
def test_the_newest_platform_tag_is_that_of_the_c_library(
    tmp_path: Path, build: str, files: dict[str, str], tag: str
) -> None:
    environment = make_environment(tmp_path)
    (environment / "bin").mkdir()
    base = add_base(tmp_path, f"_sysconfigdata__{build}.py")
    (environment / "bin/python").symlink_to(base)
    for file, text in files.items():
        write(tmp_path / "root" / file, text)
    assert fact_of(tmp_path, "platform-tag", environment) == Known(tag)


def test_without_build_data_the_kernels_architecture_counts(tmp_path: Path) -> None:
    write(tmp_path / "root/lib64/libc-2.36.so")
    write(tmp_path / "root/proc/sys/kernel/arch", "x86_64\n")
    tag = fact_of(tmp_path, "platform-tag", make_environment(tmp_path))
    assert tag == Known("manylinux_2_36_x86_64")


def test_a_python_for_another_c_library_has_no_tag_to_be_told(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    (environment / "bin").mkdir()
    base = add_base(tmp_path, "_sysconfigdata__linux_x86_64-linux-musl.py")
    (environment / "bin/python").symlink_to(base)
    write(tmp_path / "root/lib64/libc-2.36.so")
    assert isinstance(fact_of(tmp_path, "platform-tag", environment), Unknown)


def test_a_c_library_that_can_not_be_read_leaves_the_tag_unknown(tmp_path: Path) -> None:
    write(tmp_path / "root/lib/libc.so.6", "text")
    tag = fact_of(tmp_path, "platform-tag", make_environment(tmp_path))
    assert tag == Unknown("the C library does not say it")


@pytest.mark.parametrize(
    ("config", "environ", "is_on"),
    [
        ("home = /usr/bin\ninclude-system-site-packages = false\n", {}, False),
        ("home = /usr/bin\ninclude-system-site-packages = true\n", {}, True),
        (
            "home = /usr/bin\ninclude-system-site-packages = true\n",
            {"PYTHONNOUSERSITE": "0"},
            False,
        ),
        (
            "home = /usr/bin\ninclude-system-site-packages = true\n",
            {"PYTHONNOUSERSITE": ""},
            True,
        ),
    ],
)
def test_user_packages_are_seen_by_the_rules_of_site(
    tmp_path: Path, config: str, environ: dict[str, str], is_on: object
) -> None:
    environment = make_environment(tmp_path, config)
    assert fact_of(tmp_path, "user-site", environment, **environ) == Known(bool(is_on))


def test_conda_sees_the_users_packages_unless_told_otherwise(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    (environment / "lib/python3.12/site-packages").mkdir(parents=True)
    write(environment / "conda-meta/python-3.12.4-h955ad1f_1.json", "{}")
    assert fact_of(tmp_path, "user-site", environment) == Known(value=True)
    off = fact_of(tmp_path, "user-site", environment, PYTHONNOUSERSITE="1")
    assert off == Known(value=False)


def test_the_users_folder_is_told_where_it_exists(tmp_path: Path) -> None:
    environment = make_environment(tmp_path, "version = 3.11.7\n")
    folder = tmp_path / "home/alice/.local/lib/python3.11/site-packages"
    assert fact_of(tmp_path, "user-site-folder", environment) == Absent()
    folder.mkdir(parents=True)
    assert fact_of(tmp_path, "user-site-folder", environment) == Known(str(folder))
    other = fact_of(tmp_path, "user-site-folder", environment, PYTHONUSERBASE=str(tmp_path / "o"))
    assert other == Absent()


def test_pip_is_the_environments_own(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    assert fact_of(tmp_path, "tool.pip", environment) == Absent()
    add_distribution(site_of(environment), "pip_tools", "7.4")
    add_distribution(site_of(environment), "pip", "24.0")
    assert fact_of(tmp_path, "tool.pip", environment) == Known("24.0")


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (
            Said(code=0, out="uv 0.7.3 (3c413f74b 2025-05-07)\n", err=""),
            Known("0.7.3"),
        ),
        (Said(code=0, out="uv 0.13.9 (x86_64-unknown-linux-gnu)\n", err=""), Known("0.13.9")),
        (Said(code=2, out="", err="error: odd"), Unknown("`uv` does not say its version")),
        (Absent(), Absent()),
        (Unknown("`uv` timed out"), Unknown("`uv` timed out")),
    ],
)
def test_uv_is_asked_for_its_version(
    tmp_path: Path, said: Said | Absent | Unknown, state: FactState
) -> None:
    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
        assert list(command) == ["uv", "--version"]
        return said

    facts = facts_of(PythonCollector(), replace(machine(tmp_path), ask=ask))
    assert facts["python.tool.uv"] == state


@pytest.mark.parametrize("place", ["", "envs/mine"])
def test_conda_is_told_by_its_own_record_in_the_base(tmp_path: Path, place: str) -> None:
    base = tmp_path / "miniconda3"
    write(base / "conda-meta/conda-24.5.0-py312h06a4308_0.json", "{}")
    write(base / "conda-meta/conda-libmamba-solver-24.1.0-pyhd3eb1b0_0.json", "{}")
    environment = base / place
    write(environment / "conda-meta/history")
    assert fact_of(tmp_path, "tool.conda", environment) == Known("24.5.0")


def test_the_active_conda_counts_for_an_environment_elsewhere(tmp_path: Path) -> None:
    base = tmp_path / "miniconda3"
    write(base / "conda-meta/conda-24.5.0-py312h06a4308_0.json", "{}")
    program = str(base / "bin/conda")
    state = fact_of(tmp_path, "tool.conda", make_environment(tmp_path), CONDA_EXE=program)
    assert state == Known("24.5.0")
    assert fact_of(tmp_path, "tool.conda", tmp_path / "home/alice/project/.venv") == Absent()
