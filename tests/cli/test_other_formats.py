"""Projects whose lockfile is not uv's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from envtrack.model.paths import LOCKFILE_NAMES
from tests.cli.lab import Lab
from tests.lockfiles.samples import SAMPLES

HOOK_PART = Path(__file__).parents[2] / "hooks" / "parts" / "lockfiles"


def write(lab: Lab, name: str, text: str, message: str) -> None:
    lab.repo.write(name, text)
    lab.repo.commit(message)


def test_the_hook_looks_for_the_lockfiles_that_the_commands_know() -> None:
    block = HOOK_PART.read_text(encoding="utf-8")
    assert tuple(re.findall(r"':\(top,glob\)\*\*/([^']+)'", block)) == LOCKFILE_NAMES


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("poetry.lock", "poetry.lock 2.1"),
        ("pdm.lock", "pdm.lock 4.5"),
        ("pylock.gpu.toml", "pylock.toml"),
        ("Pipfile.lock", "Pipfile.lock"),
        ("pixi.lock", "pixi.lock 7"),
        ("conda-lock.yml", "conda-lock.yml"),
        ("requirements-dev.txt", "requirements.txt"),
        ("environment.yml", "environment.yml"),
    ],
)
def test_two_commits_are_compared(empty_lab: Lab, name: str, sample: str) -> None:
    text = SAMPLES[sample][1]
    write(empty_lab, name, text, "one")
    moved = re.sub(r"13\.9\.4|2\.1\.3|1\.26\.10|0\.28\.1", "99.1", text)
    assert moved != text
    write(empty_lab, name, moved, "two")
    done = empty_lab.run("diff", "HEAD~1", "HEAD", "--exit-code")
    assert done.code == 1
    assert "99.1" in done.out
    assert "upgraded" in done.out


def test_what_is_not_pinned_is_said(empty_lab: Lab) -> None:
    write(empty_lab, "requirements.txt", "numpy==1\ntorch>=2\n-r gone.txt\n", "one")
    write(empty_lab, "requirements.txt", "numpy==2\n", "two")
    out = empty_lab.run("diff", "HEAD~1", "HEAD").out
    assert "not pinned, and not compared: torch>=2" in out
    assert "requirements.txt:3: `gone.txt` is not followed" in out


def test_files_that_a_list_names_are_read_at_the_same_commit(empty_lab: Lab) -> None:
    empty_lab.repo.write("req/base.txt", "numpy==1\n")
    write(empty_lab, "req/requirements.txt", "-r base.txt\nrich==1\n", "one")
    write(empty_lab, "req/base.txt", "numpy==2\n", "two")
    out = empty_lab.run("diff", "HEAD~1", "HEAD").out
    assert "numpy  1 → 2" in out
    assert "not followed" not in out


def test_of_two_lockfiles_in_one_folder_uvs_is_meant(lab: Lab) -> None:
    write(lab, "poetry.lock", SAMPLES["poetry.lock 2.1"][1], "both")
    assert lab.run("snapshot", "--save").code == 0
    assert (lab.repo.path / ".envtrack/snapshots/testbed/uv.lock.json").is_file()


def test_a_wish_is_no_lockfile_where_there_is_one(lab: Lab) -> None:
    write(lab, "requirements.txt", "numpy\n", "both")
    assert lab.run("snapshot", "--save").code == 0
    assert (lab.repo.path / ".envtrack/snapshots/testbed/uv.lock.json").is_file()


def test_bisect_says_that_it_needs_uvs(empty_lab: Lab) -> None:
    write(empty_lab, "poetry.lock", SAMPLES["poetry.lock 2.1"][1], "one")
    done = empty_lab.run("bisect", "HEAD", "--smoke", "true")
    assert done.code == 2
    assert "poetry.lock: `bisect` installs each commit with `uv sync`" in done.err


def test_files_of_two_formats_are_compared(empty_lab: Lab) -> None:
    empty_lab.repo.write("old/poetry.lock", SAMPLES["poetry.lock 2.1"][1])
    empty_lab.repo.write("new/requirements.txt", "numpy==2.2.0\n")
    done = empty_lab.run("diff", "old/poetry.lock", "new/requirements.txt")
    assert done.code == 0
    assert re.search(r"numpy +2\.1\.3 +→ 2\.2\.0 +upgraded", done.out)
