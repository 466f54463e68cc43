from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from envtrack.collect.python import PythonCollector
from envtrack.model.fact import Absent, Known, Unknown
from tests.collect.places import facts_of, machine, make_environment, write
from tests.support.repo import UV


def add_base(base: Path, name: str = "_sysconfigdata__linux_x86_64-linux-gnu.py") -> Path:
    """An interpreter outside the environment, with its build data."""
    write(base / "python/lib/python3.11" / name)
    return write(base / "python/bin/python3.11")


def test_no_environment_is_absent_and_nothing_more_is_said(tmp_path: Path) -> None:
    for environment in (None, tmp_path / "gone"):
        facts = facts_of(PythonCollector(), machine(tmp_path, environment=environment))
        assert facts == {"python.environment": Absent()}


def test_a_file_in_the_environments_place_is_no_environment(tmp_path: Path) -> None:
    file = write(tmp_path / ".venv", "/elsewhere")
    facts = facts_of(PythonCollector(), machine(tmp_path, environment=file))
    assert facts == {"python.environment": Absent()}


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
    assert facts_of(PythonCollector(), machine(tmp_path, environment=environment)) == {
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
