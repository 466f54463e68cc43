from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.cli.lab import Lab
from tests.lockfiles.samples import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_a_line_a_package_sorted(lab: Lab, tmp_path: Path, name: str) -> None:
    filename, text = SAMPLES[name]
    path = tmp_path / filename
    path.write_text(text, encoding="utf-8")
    done = lab.run("lockfiles", "textconv", str(path))
    assert done.code == 0
    lines = [
        line
        for line in done.out.splitlines()
        if not line.startswith(("requires-python", "not pinned: "))
    ]
    assert lines == sorted(lines)
    assert len(lines) > 0
    assert "secret" not in done.out


def test_git_shows_what_moved(lab: Lab) -> None:
    command = f"{sys.executable} -m envtrack lockfiles textconv"
    lab.repo.git("config", "diff.envtrack.textconv", command)
    lab.repo.write(".gitattributes", "uv.lock diff=envtrack\n")
    lab.lock("wick")
    told = lab.repo.git("diff", "HEAD", "--", "uv.lock")
    moved = {line for line in told.splitlines() if re.match(r"[+-]\w", line)}
    assert moved == {"-flint 1.5", "+flint 2.0", "-wick 1.0", "+wick 1.1"}


def test_what_can_not_be_read_goes_through_as_it_is(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "uv.lock"
    path.write_bytes(b"<<<<<<< HEAD\n\xff\n")
    assert lab.run("lockfiles", "textconv", str(path)).out == "<<<<<<< HEAD\n\\xff\n"
    assert lab.run("lockfiles", "textconv", str(tmp_path / "none")).code == 2


def test_no_value_steers_the_terminal(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "environment.yml"
    path.write_text('dependencies:\n- "a=1\\e[2J"\n- b=1=2\n', encoding="utf-8")
    assert lab.run("lockfiles", "textconv", str(path)).out == ("b 1 2\nnot pinned: a=1\\x1b[2J\n")
    path = tmp_path / "uv.lock"
    path.write_text('version = 1\nrequires-python = "\\u001b[2J"\n', encoding="utf-8")
    assert lab.run("lockfiles", "textconv", str(path)).out == "requires-python \\x1b[2J\n"


def test_a_long_name_of_a_platform_is_cut_in_every_line(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "conda-linux-64.lock"
    url = "https://conda.example/conda-forge/noarch/a-{}-0.conda\n"
    rows = "".join(url.format(number) for number in range(500))
    path.write_text(f"# platform: {'x' * 40_000}\n@EXPLICIT\n{rows}", encoding="utf-8")
    out = lab.run("lockfiles", "textconv", str(path)).out
    assert len(out) < 100_000
    assert out.startswith(f"a 0 0 for {'x' * 99}…\n")
