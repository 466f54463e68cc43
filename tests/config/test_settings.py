from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.config.reader import ConfigProblem
from envtrack.config.settings import Settings, Smoke, Stale, parse_settings, read_settings
from envtrack.errors import UsageProblem
from envtrack.model.layer import Layer
from envtrack.model.selection import Selection
from envtrack.model.verdict import Verdict

EVERYTHING = """\
schema: 1
lockfiles: [uv.lock, ./services/api/uv.lock, uv.lock]
machine: box-1
salt: "00ff"
smoke:
  command: python train.py --steps 3
  timeout: 90s
  timeout-is: untestable
  files: [train.py]
selection:
  extras: [gpu]
  groups: [train]
  without-groups: [dev]
  all-extras: false
  all-groups: true
  package: lab
python: 3.10
stale: relock
"""


def faults_of(text: str) -> list[str]:
    with pytest.raises(ConfigProblem) as caught:
        parse_settings(text, "c.yaml")
    assert caught.value.exit_code == 2
    return caught.value.message.split("\n")


def test_every_key_is_read() -> None:
    assert parse_settings(EVERYTHING, "c.yaml") == Settings(
        lockfiles=("uv.lock", "services/api/uv.lock"),
        machine="box-1",
        salt="00ff",
        smoke=Smoke(
            command="python train.py --steps 3",
            timeout_s=90.0,
            timeout_is=Verdict.UNTESTABLE,
            files=("train.py",),
        ),
        selection=Selection(
            extras=("gpu",),
            groups=("train",),
            without_groups=("dev",),
            all_groups=True,
            package="lab",
        ),
        python="3.10",
        stale=Stale.RELOCK,
    )


def test_patterns_of_names_are_normalised_as_names_are() -> None:
    text = "layers:\n  framework: [Our_Torch*]\n  packages: [jax]\n"
    assert parse_settings(text, "c.yaml").layers == (
        (Layer.FRAMEWORK, ("our-torch*",)),
        (Layer.PACKAGES, ("jax",)),
    )


@pytest.mark.parametrize(
    "text", ["", "# only words\n", "smoke:\nselection:\nlockfiles:\n", "---\n"]
)
def test_what_is_left_out_has_its_default(text: str) -> None:
    assert parse_settings(text, "c.yaml") == Settings()


def test_a_missing_file_is_the_defaults(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()


def test_a_folder_in_its_place_is_said(tmp_path: Path) -> None:
    (tmp_path / ".envtrack/config.yaml").mkdir(parents=True)
    with pytest.raises(UsageProblem, match="can't be read"):
        read_settings(tmp_path)


def test_all_faults_come_at_once_in_the_order_of_the_file() -> None:
    text = """\
schema: 2
lockfile: [a]
smoke:
  command: ""
  timeout: 10x
  timeout-is: never
  time_out: 3
  files: uv.lock
machine: yes
salt: [1]
stale: old
selection: {package: a, all-packages: true}
lockfiles: [/etc/passwd, ../x]
python: 3.11
python: 3.12
"""
    expected = """\
c.yaml:1: schema: schema 2 is newer than this envtrack reads (1); upgrade envtrack
c.yaml:2: lockfile: unknown key; did you mean `lockfiles`?
c.yaml:4: smoke.command: expected text that is not empty
c.yaml:5: smoke.timeout: expected a time such as 90s, 10m or 1h, above 0 and at most 30d
c.yaml:6: smoke.timeout-is: expected bad or untestable
c.yaml:7: smoke.time_out: unknown key; did you mean `timeout`?
c.yaml:8: smoke.files: expected a list (`- one` a line, or [one, two])
c.yaml:9: machine: expected text; in quotes if it is meant to be the word
c.yaml:10: salt: expected text
c.yaml:11: stale: expected skip, frozen or relock
c.yaml:12: selection: `package` and `all-packages` contradict each other; keep one
c.yaml:13: lockfiles[1]: expected a path from the repository's top level, such as services/api/uv.lock
c.yaml:13: lockfiles[2]: expected a path from the repository's top level, such as services/api/uv.lock
c.yaml:15: python: said twice; first in line 14"""
    assert faults_of(text) == expected.split("\n")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "layers:\n  frame: [a]\n",
            (
                "c.yaml:2: layers.frame: expected layers (hardware, kernel, driver, os, container, "
                "toolchain, python, cuda-runtime, framework, packages, settings), each with a list of "
                "package names"
            ),
        ),
        (
            "layers:\n  framework: [a, b c]\n",
            (
                "c.yaml:2: layers.framework[2]: expected the name of a package, or a pattern of names "
                "such as nvidia-*"
            ),
        ),
        (
            "layers:\n  framework: a\n",
            "c.yaml:2: layers.framework: expected a list (`- one` a line, or [one, two])",
        ),
        ("layers: [a]\n", "c.yaml:1: layers: expected keys and values (`key: value`)"),
        ("a: [", "c.yaml:1: not YAML: expected the node content, but found '<stream end>'"),
        ("- x\n", "c.yaml:1: expected keys and values (`key: value`)"),
        ("word\n", "c.yaml:1: expected keys and values (`key: value`)"),
        ("stale: skip\n---\nstale: skip\n", "c.yaml:2: not YAML: but found another document"),
        (
            "stale: skip\n\tx: 1\n",
            "c.yaml:2: not YAML: found character '\\t' that cannot start any token",
        ),
        ("salt: a\nstale: \x07\n", "c.yaml:2: not YAML: a control character stands here"),
        ("? [a]\n: 3\n", "c.yaml:1: a key must be plain text"),
        (
            "salt: !!python/name:os.system x\n",
            "c.yaml:1: salt: the tag tag:yaml.org,2002:python/name:os.system is not read here",
        ),
        ("[" * 5000, "c.yaml:1: not a configuration: nested too deeply"),
        (
            "salt: x\n<<<<<<< ours\nstale: skip\n=======\n",
            "c.yaml:2: conflict markers of an unfinished merge",
        ),
        (
            "#" + "x" * 300_000 + "\nsalt: x\n",
            "c.yaml:1: larger than 256 KiB, which no configuration is",
        ),
    ],
)
def test_what_is_no_configuration_is_one_line(text: str, fault: str) -> None:
    assert faults_of(text) == [fault]


def test_an_anchor_may_be_used() -> None:
    text = "selection:\n  extras: &list [gpu]\n  groups: *list\n"
    assert parse_settings(text, "c.yaml").selection.groups == ("gpu",)


def test_anchors_that_multiply_or_contain_themselves_are_refused() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    for text in ("\n".join(rows), "salt: &a [*a]\n", "smoke: &a {files: *a}\n"):
        (fault,) = faults_of(text)
        assert fault.endswith("more values, or deeper ones, than a configuration has (anchors?)")


def test_the_defaults_cost_no_heavy_import() -> None:
    code = (
        "import sys; from envtrack.config.settings import parse_settings as p; p('# x', 'c');"
        "print([m for m in ('yaml', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.strip() == "[]"


@given(st.text(max_size=60))
def test_any_text_is_settings_or_a_named_fault(text: str) -> None:
    with contextlib.suppress(ConfigProblem):
        parse_settings(text, "c.yaml")
