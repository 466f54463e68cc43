"""Small repositories, each with one hidden dependence; each is named by what decides."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.lab import Ended, Lab, build_lab
from tests.support.repo import UV, RepoBuilder
from tests.support.wheels import write_wheel

PROJECT = """\
[project]
name = "lab"
version = "0.1"
requires-python = ">=3.11"
dependencies = ["wick"]
[tool.uv]
package = false
no-index = true
find-links = ["wheels"]
"""


@pytest.fixture
def lab(
    repo: RepoBuilder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Lab:
    """A committed project that brings its wheels along, with its environment in place."""
    made = build_lab(repo, capsys)
    write_wheel(repo.path / "wheels", "wick", "1.0")
    repo.write("pyproject.toml", PROJECT)
    repo.uv_lock()
    repo.commit("one")
    made.sync()
    monkeypatch.chdir(repo.path)
    # HOME's own file is what git reads without it.
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    return made


def home() -> Path:
    return Path(os.environ["HOME"])


def verify(lab: Lab, smoke: str, *more: str) -> Any:  # noqa: ANN401 - JSON
    before = lab.repo.state()
    files = sorted(str(path) for path in home().rglob("*") if ".cache" not in path.parts)
    done = lab.run("verify", "--fresh", "--no-record", "-c", smoke, "-f", "json", *more)
    assert lab.repo.state() == before
    assert files == sorted(str(path) for path in home().rglob("*") if ".cache" not in path.parts)
    assert list((home() / ".cache/envtrack/verify").iterdir()) == []
    document = json.loads(done.out)
    assert done.code == {"good": 0, "bad": 1}[document["verdict"]]
    return document


def name_hidden(document: dict[str, Any]) -> list[tuple[str, str]]:
    assert document["verdict"] == "bad"
    assert document["ordinary"]["verdict"] == "good"
    return [(one["kind"], one["what"]) for one in document["hidden"]]


def test_a_repository_that_says_all_it_needs_passes(lab: Lab) -> None:
    document = verify(lab, "python -c 'import wick'")
    assert document["verdict"] == "good"
    assert document["hidden"] == []
    assert document["trials"] == 1
    assert document["setup"] == "uv sync --locked"


def test_with_empty_caches_too(lab: Lab) -> None:
    document = verify(lab, 'python -c "import wick" && test -z "$UV_CACHE_DIR"', "--cold")
    assert document["verdict"] == "good"
    assert document["is_cold"] is True


def test_a_variable_of_the_shells_start_up(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    (home() / ".bashrc").write_text("alias ll=ls\nexport DATA_ROOT=/data\n")
    monkeypatch.setenv("DATA_ROOT", "/data")
    monkeypatch.setenv("OTHER_ROOT", "/other")
    document = verify(lab, "python -c \"import os; os.environ['DATA_ROOT']\"")
    assert name_hidden(document) == [("shell", "DATA_ROOT")]
    evidence = document["hidden"][0]["evidence"]
    assert evidence[0] == "without it: bad: the smoke test ended with 1"
    assert "  KeyError: 'DATA_ROOT'" in evidence
    assert evidence[-2:] == ["with it, and nothing else of yours: good", "set in ~/.bashrc:2"]


def test_a_program_below_dot_local(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    program = home() / ".local/bin/fetch-data"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    document = verify(lab, "fetch-data")
    assert name_hidden(document) == [("local", "~/.local/bin")]


def test_a_module_of_the_user_site(lab: Lab) -> None:
    site = home() / ".local/lib/python/helpers"
    site.mkdir(parents=True)
    (site / "plots.py").write_text("")
    smoke = "PYTHONPATH=~/.local/lib/python/helpers python -B -c 'import plots'"
    assert name_hidden(verify(lab, smoke)) == [("local", "~/.local/lib")]


def test_a_global_git_configuration(lab: Lab) -> None:
    document = verify(lab, "git config --get user.email")
    assert name_hidden(document) == [("git-config", "~/.gitconfig")]


def test_a_global_configuration_of_the_index(lab: Lab) -> None:
    config = home() / ".config/pip/pip.conf"
    config.parent.mkdir(parents=True)
    config.write_text("[global]\nindex-url = https://registry.example/simple\n")
    document = verify(lab, "grep -q registry.example ~/.config/pip/pip.conf")
    assert name_hidden(document) == [("index-config", "~/.config/pip")]


def test_an_untracked_file_an_ignored_one_and_an_edit(lab: Lab) -> None:
    lab.repo.write("notes.txt", "words\n")
    lab.repo.write("data/table.csv", "1,2\n")
    assert name_hidden(verify(lab, "test -f data/table.csv")) == [("file", "data")]
    lab.repo.write(".gitignore", ".venv/\n*.bin\n")
    lab.repo.write("weights.bin", "x")
    document = verify(lab, "test -f weights.bin && grep -q bin .gitignore")
    assert name_hidden(document) == [("file", "weights.bin"), ("file", ".gitignore")]


def test_a_system_library_that_only_one_loader_path_finds(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries = tmp_path / "opt/lib"
    libraries.mkdir(parents=True)
    maps = Path("/proc/self/maps").read_text().split()
    libc = next(word for word in maps if "/libc.so" in word or "/libc-" in word)
    shutil.copy(libc, libraries / "libwick.so.1")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(libraries))
    document = verify(lab, "python -c \"import ctypes; ctypes.CDLL('libwick.so.1')\"")
    assert name_hidden(document) == [("library", "libwick.so.1")]
    assert document["hidden"][0]["evidence"][-1] == (
        f"found by LD_LIBRARY_PATH: {libraries / 'libwick.so.1'}"
    )


def test_what_was_only_ever_installed_by_hand(lab: Lab) -> None:
    write_wheel(lab.index, "soot", "3.0")
    source = ("--no-index", "--find-links", str(lab.index))
    lab.repo.run([UV, "pip", "install", "--quiet", "--python", ".venv", *source, "soot"])
    document = verify(lab, "python -c 'import soot'")
    assert name_hidden(document) == [("installed", "soot==3.0")]


def test_what_fails_everywhere_is_no_secret(lab: Lab) -> None:
    document = verify(lab, "exit 7")
    assert document["ordinary"]["verdict"] == "bad"
    assert document["hidden"] == []
    assert "either" in document["notes"][0]


def test_a_stale_lockfile_is_bad_for_a_new_user(lab: Lab) -> None:
    write_wheel(lab.repo.path / "wheels", "soot", "3.0")
    lab.repo.write("pyproject.toml", PROJECT.replace('"wick"', '"wick", "soot"'))
    lab.repo.commit("forgot to lock")
    document = verify(lab, "true")
    assert (document["verdict"], document["stage"]) == ("bad", "set-up")
    assert "needs to be updated" in document["output"]


def test_variables_that_the_documentation_names_are_there(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.repo.write(
        ".envtrack/config.yaml",
        "verify:\n  keep: [DATA_ROOT]\n  setup: |\n    uv sync --locked\n    touch made\n",
    )
    monkeypatch.setenv("DATA_ROOT", "/data")
    document = verify(lab, 'test -f made && test "$DATA_ROOT" = /data')
    assert document["verdict"] == "good"


def test_the_verdict_stands_on_the_commit(lab: Lab) -> None:
    done: Ended = lab.run("verify", "--fresh", "-c", "python -c 'import wick'")
    assert done.out.startswith(f"good: a clone of {lab.short()} in an empty home")
    (note,) = lab.repo.git("notes", "--ref=envtrack", "show", "HEAD").splitlines()
    entry = json.loads(note)
    assert entry["kind"] == "fresh"
    assert entry["verdict"] == "good"
    assert entry["lockfile"]["blob"] == lab.blob().hex


def test_a_lockfile_that_uv_does_not_install_needs_its_set_up_said(lab: Lab) -> None:
    lab.repo.git("rm", "-q", "uv.lock")
    lab.repo.write("requirements.txt", "wick==1.0\n")
    lab.repo.commit("another tool")
    done = lab.run("verify", "--fresh", "-c", "true", "--lockfile", "requirements.txt")
    assert done.code == 2
    assert "verify: setup:" in done.err
