"""pixi.lock of every age."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.pixi import parse
from envtrack.lockfiles.select import explain_selection
from envtrack.model.lock import Dependency, Lock, Source, SourceKind
from envtrack.model.selection import Selection
from tests.lockfiles.mutations import check_read, mutated
from tests.lockfiles.texts import LINUX, MAC, by_name, names

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CHANNEL = "https://conda.example/conda-forge"
V7 = f"""\
version: 7
platforms:
- name: gpu
  subdir: linux-64
  virtual-packages:
  - __cuda=13.0.2
  - __archspec=0=x86_64
- name: osx-arm64
environments:
  default:
    channels:
    - url: {CHANNEL}/
    packages:
      gpu:
      - conda: {CHANNEL}/linux-64/numpy-2.1.3-py312_0.conda
      - conda_source: lab-core[1234abcd] @ ./core
      - pypi: ./
      osx-arm64:
      - conda: {CHANNEL}/osx-arm64/numpy-2.1.3-py312_0.conda
  dev:
    channels:
    - url: {CHANNEL}/
    packages:
      gpu:
      - conda: {CHANNEL}/linux-64/numpy-1.26.4-py312_0.conda
      - conda_source: lab-core[1234abcd] @ ./core
      - conda_source: tool[99] @ git+https://git.example/tool?tag=v1&subdirectory=pkg%2Ftool#{COMMIT}
      - pypi: git+https://git.example/mike?rev=main#{COMMIT}
      - pypi: https://files.example/rich-13.9.4-py3-none-any.whl
      - pypi: ./wheels/own-1.0-py3-none-any.whl
  empty:
    channels: []
    packages: {{}}
packages:
- conda: {CHANNEL}/linux-64/numpy-1.26.4-py312_0.conda
  sha256: aa
- conda: {CHANNEL}/linux-64/numpy-2.1.3-py312_0.conda
  sha256: bb
  md5: cc
  depends:
  - libblas >=3.9,<4
  - __glibc >=2.17
- conda: {CHANNEL}/osx-arm64/numpy-2.1.3-py312_0.conda
  sha256: dd
- conda_source: lab-core[1234abcd] @ ./core
  version: 0.2.0
  build: py312_0
  subdir: linux-64
  depends:
  - python >=3.12
- conda_source: tool[99] @ git+https://git.example/tool?tag=v1&subdirectory=pkg%2Ftool#{COMMIT}
  version: '3.10'
- pypi: ./
  name: lab
  version: 0.1.0
  editable: true
- pypi: git+https://git.example/mike?rev=main#{COMMIT}
  name: Mike_Docs
  version: 2.2.0
- pypi: https://files.example/rich-13.9.4-py3-none-any.whl
  name: rich
  version: 13.9.4
  sha256: ee
  requires_dist:
  - pygments>=2.13 ; python_full_version >= '3.8'
- pypi: ./wheels/own-1.0-py3-none-any.whl
  name: own
  version: '1.0'
  sha256: ff
"""
V6_SOURCES = """\
version: 6
environments:
  default:
    channels: []
    packages:
      linux-64:
      - conda: ../lab
        name: lab
      - conda: ../lab
        name: lab-tools
packages:
- conda: ../lab
  name: lab
  version: 0.1.0
  build: hbf21a9e_0
  subdir: linux-64
  input:
    hash: aa
- conda: ../lab
  name: lab-tools
  version: 0.2.0
  build: hbf21a9e_0
  subdir: linux-64
"""
V5 = f"""\
version: 5
environments:
  default:
    channels:
    - url: {CHANNEL}/
    packages:
      linux-64:
      - conda: {CHANNEL}/linux-64/numpy-1.26.4-py312heda63a1_0.conda
      - pypi: https://files.example/click-8.1.7-py3-none-any.whl
      - pypi: .
packages:
- kind: conda
  name: numpy
  version: 1.26.4
  build: py312heda63a1_0
  subdir: linux-64
  url: {CHANNEL}/linux-64/numpy-1.26.4-py312heda63a1_0.conda
  sha256: aa
- kind: pypi
  name: click
  version: 8.1.7
  url: https://files.example/click-8.1.7-py3-none-any.whl
  sha256: bb
  requires_dist:
  - colorama ; platform_system == 'Windows'
- kind: pypi
  name: lab
  version: 0.1.0
  path: .
  sha256: cc
"""


def read(text: str) -> Lock:
    return parse(text, path="pixi.lock")


def chosen(lock: Lock, environment: dict[str, str] = LINUX, **asked: Any) -> list[str]:  # noqa: ANN401 - as Selection takes them
    return names(explain_selection(lock, Selection(**asked), environment).packages)


def test_one_environment_is_installed_and_not_all_that_are_asked_for_by_default() -> None:
    lock = read(V7)
    assert lock.group_names == ("main", "dev", "empty")
    default = ["numpy 2.1.3", "lab-core 0.2.0", "lab 0.1.0"]
    # `dev` is a default group of uv, and here an environment with another numpy.
    assert chosen(lock) == chosen(lock, groups=("default",)) == default
    assert chosen(lock, groups=("dev",)) == [
        *(
            "lab-core 0.2.0",
            "numpy 1.26.4",
            "tool 3.10",
            "mike-docs 2.2.0",
            "rich 13.9.4",
            "own 1.0",
        )
    ]
    assert chosen(lock, groups=("empty",)) == []
    assert len(chosen(lock, all_groups=True)) == 8
    assert chosen(lock, MAC) == ["numpy 2.1.3"]
    assert explain_selection(lock, Selection(groups=("gone",)), LINUX).notes == (
        "no group gone in the lock",
    )


def test_rows_are_packages_with_their_lines() -> None:
    lock = read(V7)
    numpy = lock.packages[0]
    assert (numpy.build, numpy.platforms, numpy.belongs_to) == ("py312_0", ("linux-64",), ("main",))
    assert numpy.dependencies == (Dependency(name="libblas"),)
    assert [a.hash for a in numpy.artifacts] == ["sha256:bb"]
    rich = by_name(lock, "rich")
    assert rich.dependencies == (
        Dependency(name="pygments", marker='python_full_version >= "3.8"'),
    )
    lines = V7.splitlines()
    for package in lock.packages:
        assert lines[package.line - 1].startswith("- "), package.name


def test_what_platforms_ask_of_the_machine() -> None:
    lock = read(V7)
    assert lock.options == {"platform.gpu.__cuda": "13.0.2", "platform.gpu.__archspec": "0=x86_64"}
    assert lock.notes == ()


def test_two_platforms_of_one_kind_of_machine_are_noted() -> None:
    lock = read(V7.replace("- name: osx-arm64\n", "- name: osx-arm64\n- name: linux-64\n"))
    assert lock.notes == (
        (
            "several platforms are linux-64, and the packages of all of them count: "
            "gpu __cuda=13.0.2 __archspec=0=x86_64, linux-64"
        ),
    )


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("lab-core", Source(kind=SourceKind.DIRECTORY, location="./core")),
        (
            "tool",
            Source(
                kind=SourceKind.GIT,
                location="https://git.example/tool",
                commit=COMMIT,
                reference="tag=v1",
                subdirectory="pkg/tool",
            ),
        ),
        ("lab", Source(kind=SourceKind.EDITABLE, location="./")),
        (
            "mike-docs",
            Source(
                kind=SourceKind.GIT,
                location="https://git.example/mike",
                commit=COMMIT,
                reference="rev=main",
            ),
        ),
        ("rich", Source(kind=SourceKind.REGISTRY, location="")),
        ("own", Source(kind=SourceKind.PATH, location="./wheels/own-1.0-py3-none-any.whl")),
    ],
)
def test_sources(name: str, source: Source) -> None:
    package = by_name(read(V7), name)
    assert package.source == source
    assert bool(package.artifacts) is (name in {"rich", "own"})
    assert package.ecosystem == ("conda" if name in {"lab-core", "tool"} else "pypi")


def test_outputs_of_one_source_share_its_place() -> None:
    lock = read(V6_SOURCES)
    assert names(lock.packages) == ["lab 0.1.0", "lab-tools 0.2.0"]
    assert {p.source for p in lock.packages} == {
        Source(kind=SourceKind.DIRECTORY, location="../lab")
    }


def test_rows_of_versions_4_and_5_name_their_kind() -> None:
    lock = read(V5)
    assert [(p.name, p.version, p.build, p.ecosystem) for p in lock.packages] == [
        ("numpy", "1.26.4", "py312heda63a1_0", "conda"),
        ("click", "8.1.7", "", "pypi"),
        ("lab", "0.1.0", "", "pypi"),
    ]
    assert by_name(lock, "click").dependencies == (
        Dependency(name="colorama", marker='platform_system == "Windows"'),
    )
    assert by_name(lock, "lab").is_root
    assert chosen(lock) == ["numpy 1.26.4", "click 8.1.7", "lab 0.1.0"]


def test_a_version_of_a_project_moves_and_its_place_stays() -> None:
    before, after = read(V7), read(V7.replace("version: 0.1.0", "version: 0.2.0"))
    assert by_name(before, "lab").source == by_name(after, "lab").source
    assert by_name(after, "lab").version == "0.2.0"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (V7.replace("version: 7", "version: 8"), 1, "`version` 8 is newer than the version that is read (7)"),
        (V7.replace("- pypi: ./\n", "- other: ./\n", 1), 14, "an entry of `gpu` names no package"),
        (V7.replace("- pypi: ./\n  name", "- other: ./\n  name"), 34, "a row of `packages` has no address"),
        ("version: 6\nenvironments: []\n", 2, "`environments` is an array, not a table"),
    ],
)  # fmt: skip
def test_a_fault_says_its_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(LockfileProblem) as caught:
        read(text)
    assert words in str(caught.value)
    assert caught.value.line == line


@settings(max_examples=60, deadline=None)
@given(data=st.data(), text=st.sampled_from([V7, V6_SOURCES, V5]))
def test_any_text_is_a_lock_or_one_problem(data: st.DataObject, text: str) -> None:
    check_read(data.draw(mutated(text)), "pixi.lock")
