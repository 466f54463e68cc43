"""The same of what the commands print, of what they write, and of what they leave in git."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import envtrack
from envtrack.cli.crash import write_crash_log
from tests.cli.lab import Ended, Lab, build_lab
from tests.privacy.secrets import (
    HOST,
    OTHER_USER,
    USER,
    environ,
    find_leaks,
    plant_environment,
    plant_home,
    plant_project,
    secret,
)
from tests.support.repo import RepoBuilder

FORMS = [["--format", "text", "--full"], ["--format", "json"], ["--format", "markdown"]]
RECORD = ".envtrack/snapshots/testbed/uv.lock.json"
REMOTE = f"https://x-access-token:{secret('remote')}@git.example/lab.git"
HEADER = f"Authorization: Basic {secret('git header')}"


@pytest.fixture
def bare(
    repo: RepoBuilder,
    seal: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Lab:
    """A project with its lockfile and its environment, in a home full of secrets."""
    made = build_lab(repo, capsys)
    made.lock("wick<1.1")
    made.sync()
    plant_home(seal)
    plant_project(repo.path)
    repo.git("config", "remote.origin.url", REMOTE)
    repo.git("config", "http.extraHeader", HEADER)
    repo.write(".gitignore", ".venv/\n.env\nuv.toml\n")
    repo.commit("one")
    monkeypatch.chdir(repo.path)
    return made


@pytest.fixture
def lab(bare: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """The same with secrets in every variable and in what is installed."""
    plant_environment(bare.repo.path / ".venv")
    for name, value in environ().items():
        monkeypatch.setenv(name, value)
    return bare


def find_leaks_of(*texts: str) -> list[str]:
    text = "\n".join(texts)
    mine = [kind for kind in ("remote", "git header", "typed") if secret(kind) in text]
    return find_leaks(text) + mine


def said(done: Ended) -> str:
    assert "unexpected error" not in done.err
    return done.out + done.err


@pytest.mark.parametrize("form", FORMS)
def test_a_snapshot_says_none(lab: Lab, form: list[str]) -> None:
    done = lab.run("snapshot", *form)
    assert done.code == 0
    assert "planted0" in done.out
    assert find_leaks_of(said(done)) == []


def test_a_record_and_its_commit_hold_none(lab: Lab) -> None:
    done = lab.run("snapshot", "--commit", "-m", "driver 560")
    assert done.code == 0, done.err
    assert find_leaks_of(said(done), lab.repo.git("show", f"HEAD:{RECORD}")) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_record_is_shown_without_any(lab: Lab, form: list[str]) -> None:
    assert lab.run("snapshot", "--commit", "-m", "record").code == 0
    done = lab.run("show", *form)
    assert done.code == 0
    assert find_leaks_of(said(done)) == []


@pytest.mark.parametrize("form", FORMS)
def test_changed_secrets_are_compared_and_neither_old_nor_new_is_said(
    lab: Lab, form: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lab.run("snapshot", "--commit", "-m", "record").code == 0
    changed = {
        "PIP_INDEX_URL": f"https://lab:{secret('typed')}@index.example/simple",
        "UV_FIND_LINKS": f"https://files.example/wheels?sig={secret('typed')}",
        "OMP_NUM_THREADS": secret("typed"),
        "PYTHONPATH": f"/scratch/{USER}/other",
    }
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    done = lab.run("diff", *form)
    assert "settings.PYTHONPATH" in done.out
    assert find_leaks_of(said(done)) == []


@pytest.mark.parametrize("form", FORMS)
def test_the_doctor_says_none(lab: Lab, form: list[str]) -> None:
    done = lab.run("doctor", *[part for part in form if part != "--full"])
    assert done.code in {0, 1, 3}, done.err
    assert find_leaks_of(said(done)) == []


def test_a_snapshot_of_the_python_interface_holds_none(lab: Lab) -> None:
    taken = envtrack.take_snapshot(lab.repo.path, environment=lab.repo.path / ".venv")
    path = taken.save(lab.repo.path / "environment.json")
    assert "planted0" in taken.installed
    assert find_leaks_of(path.read_text(), repr(taken)) == []


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_the_verdict_of_a_command_with_secrets_in_it_holds_none(bare: Lab, form: str) -> None:
    command = (
        f"true --header 'Authorization: Bearer {secret('typed')}' --password={secret('typed')}"
        f" https://lab:{secret('typed')}@files.example/x?token={secret('typed')}"
    )
    done = bare.run("smoke", "--command", command, "--format", form)
    assert (done.code, "not recorded" in done.err) == (0, False)
    note = bare.repo.git("notes", "--ref=envtrack", "show", "HEAD")
    assert json.loads(note)["verdict"] == "good"
    assert find_leaks_of(said(done), note) == []


@pytest.mark.parametrize(
    ("file", "text", "arguments"),
    [
        (".envtrack/config.yaml", "smoke:\n  command: [{}]\n", ["snapshot"]),
        (".envtrack/config.yaml", "machine: https://lab:{}@x.example\n", ["snapshot"]),
        (".envtrack/config.yaml", "api: {}\n  token: [\n", ["snapshot"]),
        ("uv.lock", "version = 1\nurl = https://lab:{}@x.example\n", ["diff"]),
        ("uv.lock", '[[package]]\nname = "a"\nsource = {{ url = "{}" }}\n', ["diff"]),
        ("one.json", '{{"schema": 1, "machine": ["{}"]}}', ["diff", "one.json", "now"]),
        ("one.json", "token={}", ["diff", "one.json", "now"]),
    ],
)
def test_an_error_about_a_file_does_not_quote_its_secrets(
    lab: Lab, file: str, text: str, arguments: list[str]
) -> None:
    lab.repo.write(file, text.format(secret("typed")))
    done = lab.run(*arguments)
    assert done.code == 2
    assert find_leaks_of(said(done)) == []


def test_a_crash_log_holds_none(lab: Lab) -> None:
    trouble = RuntimeError(
        f"GET https://lab:{secret('typed')}@x.example/?token={secret('typed')} failed;"
        f" HF_TOKEN=hf_{secret('HF_TOKEN')}; password: {secret('typed')}"
    )
    arguments = ["snapshot", "--output", f"https://lab:{secret('typed')}@files.example/x"]
    assert find_leaks_of(write_crash_log(trouble, arguments).read_text()) == []


def test_a_crash_log_names_no_person_and_no_machine(lab: Lab) -> None:
    trouble = FileNotFoundError(2, "No such file", f"/home/{OTHER_USER}/x")
    arguments = ["snapshot", "--output", f"/scratch/{USER}/{HOST}/x"]
    assert find_leaks_of(write_crash_log(trouble, arguments).read_text()) == []


def test_the_note_of_a_verdict_names_no_person(bare: Lab) -> None:
    done = bare.run("smoke", "--command", f"true /home/{OTHER_USER}/smoke.py")
    assert (done.code, "not recorded" in done.err) == (0, False)
    note = bare.repo.git("notes", "--ref=envtrack", "show", "HEAD")
    assert find_leaks_of(note) == []
