"""environment.yml, as `conda env export` and people write it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.environment_yml import parse
from envtrack.lockfiles.select import explain_selection
from envtrack.model.lock import Knowledge, Lock, SourceKind
from envtrack.model.selection import Selection
from tests.lockfiles.mutations import check_read, mutated
from tests.lockfiles.texts import LINUX, MAC, by_name, names

FILE = """\
name: lab
channels:
  - pytorch
  - conda-forge
dependencies:
  - python=3.11
  - pytorch::pytorch=2.5.1=py3.11_cuda12.4_cudnn9.1.0_0  # the GPU build
  - numpy==1.26.4
  - "scipy 1.14.1 py311_0"
  - https://conda.example/conda-forge/linux-64/zlib-1.3.1-hb9d3cd8_2.conda
  - cuda-version>=12
  - sel(win): pywin32
  - pip:
      - --extra-index-url https://registry.example/cu124
      - rich==13.9.4
      - 'lab @ git+https://git.example/lab.git@0123456789abcdef'
      - -r more.txt
      - httpx>=0.27
variables:
  CUDA_HOME: /opt/cuda
"""


def read(*rows: str, head: str = "channels: [conda-forge]\n", end: str = "") -> Lock:
    """A file of these rows."""
    body = "".join(f"- {row}\n" for row in rows)
    return parse(f"{head}dependencies:\n{body}{end}", path="environment.yml")


def test_a_file_is_read_with_its_lines() -> None:
    lock = parse(FILE, path="environment.yml")
    assert {(p.name, p.version, p.build, p.ecosystem): p.line for p in lock.packages} == {
        ("pytorch", "2.5.1", "py3.11_cuda12.4_cudnn9.1.0_0", "conda"): 7,
        ("numpy", "1.26.4", "", "conda"): 8,
        ("scipy", "1.14.1", "py311_0", "conda"): 9,
        ("zlib", "1.3.1", "hb9d3cd8_2", "conda"): 10,
        ("rich", "13.9.4", "", "pypi"): 15,
        ("lab", None, "", "pypi"): 16,
    }
    assert lock.unpinned == ("python=3.11", "cuda-version>=12", "httpx>=0.27")
    assert lock.notes == (
        "`sel(win)` is passed over",
        "environment.yml:17: `more.txt` is not followed",
    )
    assert lock.knows == {Knowledge.REQUESTS}
    assert by_name(lock, "lab").source.kind is SourceKind.GIT


@pytest.mark.parametrize(
    ("row", "pin"),
    [
        ("numpy=1.26.4=py311_0", ("1.26.4", "py311_0")),
        ("numpy==1.26.4", ("1.26.4", "")),
        ("numpy ==1.26.4", ("1.26.4", "")),
        ("numpy == 1.26.4", ("1.26.4", "")),
        ("numpy 1.26.4 py311_0", ("1.26.4", "py311_0")),
        ("numpy ==1.26.4 py311_0", ("1.26.4", "py311_0")),
        ("conda-forge/linux-64::numpy=1.26.4=py311_0", ("1.26.4", "py311_0")),
        ("NumPy=1.26.4=py311_0", ("1.26.4", "py311_0")),
        ("numpy", None),
        ("numpy=1.26", None),
        ("numpy 1.26.*", None),
        ("numpy=1.26.4=*cuda*", None),
        ("numpy>=1.26,<2", None),
        ("numpy !=1.26.0", None),
        ("numpy=1.26|2.0", None),
        ("numpy[version='1.26.4']", None),
    ],
)
def test_what_a_row_pins(row: str, pin: tuple[str, str] | None) -> None:
    lock = read(f'"{row}"')
    assert [(p.name, p.version, p.build) for p in lock.packages] == (
        [("numpy", *pin)] if pin else []
    )
    assert lock.unpinned == (() if pin else (row,))


def test_an_export_without_builds_pins_what_it_names() -> None:
    rows = "python=3.11.9", "numpy=1.26.4", "pip"
    export = read(*rows, end="prefix: /opt/lab\n")
    assert names(export.packages) == ["python 3.11.9", "numpy 1.26.4"]
    assert export.unpinned == ("pip",)
    assert Knowledge.REQUESTS not in export.knows
    assert read(*rows).unpinned == rows


def test_the_channel_is_that_of_the_row_or_the_only_one() -> None:
    row = "a=1=0"
    assert by_name(read(row), "a").source.location == "conda-forge"
    assert by_name(read(f"nvidia::{row}"), "a").source.location == "nvidia"
    several = read(row, head="channels: [nvidia, conda-forge]\n")
    assert by_name(several, "a").source.location == ""


def test_a_build_by_its_address_is_for_its_platform() -> None:
    lock = read("https://conda.example/c/linux-64/a-1-h0_0.conda", "https://conda.example/a.zip")
    (package,) = lock.packages
    assert (package.platforms, package.source.location) == (
        ("linux-64",),
        "https://conda.example/c",
    )
    assert names(explain_selection(lock, Selection(), LINUX).packages) == ["a 1"]
    assert explain_selection(lock, Selection(), MAC).packages == ()
    assert lock.unpinned == ("https://conda.example/a.zip",)


def test_files_of_the_pip_part_are_followed() -> None:
    lock = parse(FILE, path="environment.yml", include={"more.txt": "a==1\n"}.get)
    assert names(lock.packages)[-3:] == ["rich 13.9.4", "lab None", "a 1"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: a\n", None, "`dependencies` is missing"),
        ("dependencies: numpy\n", 1, "`dependencies` is no list"),
        ("dependencies:\n- numpy\n- '!!'\n", 3, "no package: `!!`"),
        ("dependencies:\n- [numpy]\n", None, "no package: ``"),
        ("dependencies:\n- pip:\n  - a==1\n  - '???'\n", 4, "no requirement: `???`"),
        ("dependencies:\n- pip: {a: b}\n", 2, "`pip` is not an array of strings"),
        ("channels: {a: b}\ndependencies:\n- numpy\n", 1, "`channels` is not an array"),
        ("dependencies:\n- a\n\t- b\n", 3, "not YAML"),
    ],
)
def test_a_fault_says_its_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(LockfileProblem) as caught:
        parse(text, path="environment.yml")
    assert words in str(caught.value)
    assert caught.value.line == line


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_text_is_a_lock_or_one_problem(data: st.DataObject) -> None:
    check_read(data.draw(mutated(FILE)), "environment.yml")
