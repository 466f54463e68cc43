from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from envtrack.collect.machine_name import find_machine_name
from envtrack.errors import UsageProblem
from tests.collect.places import write


def pseudonym(root: Path, salt: str = "key") -> str:
    return find_machine_name({}, configured=None, salt=salt, root=root)


def test_the_variable_comes_first_then_the_configuration() -> None:
    environ = {"ENVTRACK_MACHINE": "gpu-1"}
    assert find_machine_name(environ, configured="lab", salt="") == "gpu-1"
    assert find_machine_name({"ENVTRACK_MACHINE": ""}, configured="lab", salt="") == "lab"


@pytest.mark.parametrize("name", ["a b", "a/b", "..", ".", "é", "x" * 65, "a\n"])
def test_a_name_that_can_be_no_folder_is_refused(name: str) -> None:
    with pytest.raises(UsageProblem, match="ENVTRACK_MACHINE"):
        find_machine_name({"ENVTRACK_MACHINE": name}, configured=None, salt="")
    with pytest.raises(UsageProblem, match="configured"):
        find_machine_name({}, configured=name, salt="")


def test_the_pseudonym_is_stable_and_another_in_every_repository(tmp_path: Path) -> None:
    write(tmp_path / "etc/machine-id", "0a" * 16 + "\n")
    assert re.fullmatch(r"m-[0-9a-f]{10}", pseudonym(tmp_path))
    assert pseudonym(tmp_path) == pseudonym(tmp_path)
    assert pseudonym(tmp_path) != pseudonym(tmp_path, "other")


@pytest.mark.parametrize("text", ["", "uninitialized\n", "0a"])
def test_without_a_machine_id_the_host_name_is_hashed(tmp_path: Path, text: str) -> None:
    write(tmp_path / "etc/machine-id", text)
    write(tmp_path / "etc/hostname", "one\n")
    first = pseudonym(tmp_path)
    write(tmp_path / "etc/hostname", "two\n")
    assert pseudonym(tmp_path) != first


def test_the_host_name_itself_is_never_the_name(tmp_path: Path) -> None:
    name = pseudonym(Path("/"), "\udcff")
    assert re.fullmatch(r"m-[0-9a-f]{10}", name)
    assert os.uname().nodename not in name
    assert re.fullmatch(r"m-[0-9a-f]{10}", pseudonym(tmp_path))
