from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.lab import Lab


def two_services(lab: Lab) -> None:
    for name in ("api", "web"):
        lab.lock("wick", folder=f"services/{name}/")
    lab.repo.commit("services")


def chosen(lab: Lab, *arguments: str) -> str:
    """The lockfile that a command took, as its error message names it."""
    said = lab.run("show", *arguments).err.split("\n")[0]
    return said.rpartition(" beside ")[2]


def test_the_lockfile_beside_or_above_the_folder_is_meant(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_services(lab)
    below = lab.repo.path / "services/api/src"
    below.mkdir()
    for folder, expected in (
        (lab.repo.path, "uv.lock"),
        (below, "services/api/uv.lock"),
        (lab.repo.path / "services", "uv.lock"),
    ):
        monkeypatch.chdir(folder)
        assert chosen(lab) == expected


def test_directory_is_as_if_started_there(lab: Lab) -> None:
    two_services(lab)
    assert chosen(lab, "-C", "services/web") == "services/web/uv.lock"


def test_lockfile_names_one(lab: Lab) -> None:
    two_services(lab)
    assert chosen(lab, "--lockfile", "services/web/uv.lock") == "services/web/uv.lock"
    assert chosen(lab, "-C", "services/web", "--lockfile", "uv.lock") == "services/web/uv.lock"


def test_a_lockfile_of_the_past_may_be_named(lab: Lab) -> None:
    two_services(lab)
    lab.repo.git("rm", "-q", "services/web/uv.lock")
    lab.repo.commit("gone")
    assert chosen(lab, "--lockfile", "services/web/uv.lock") == "services/web/uv.lock"


def test_a_lockfile_that_never_was_is_refused(lab: Lab) -> None:
    done = lab.run("show", "--lockfile", "no/uv.lock")
    assert done.code == 2
    assert done.err == "envtrack: no/uv.lock: there is no such lockfile, now or in any commit\n"
    assert lab.run("show", "--lockfile", "/uv.lock").code == 2


def test_the_only_one_is_meant_from_anywhere(empty_lab: Lab) -> None:
    empty_lab.lock("wick", folder="deep/down/")
    empty_lab.repo.commit("one")
    assert chosen(empty_lab) == "deep/down/uv.lock"


def test_several_and_none_near_are_listed(empty_lab: Lab) -> None:
    two_services(empty_lab)
    done = empty_lab.run("show")
    assert done.code == 2
    assert (
        done.err
        == """\
envtrack: 2 lockfiles, none of them beside or above this folder:
  services/api/uv.lock
  services/web/uv.lock
  `--lockfile services/api/uv.lock` says which, or start in its folder
"""
    )


def test_two_of_one_kind_in_one_folder_are_listed(empty_lab: Lab) -> None:
    for name in ("pylock.cpu.toml", "pylock.gpu.toml"):
        empty_lab.repo.write(name, "")
    empty_lab.repo.commit("one")
    done = empty_lab.run("show")
    assert done.code == 2
    assert (
        done.err
        == """\
envtrack: 2 lockfiles in one folder, and none is meant more than the others:
  pylock.cpu.toml
  pylock.gpu.toml
  `--lockfile pylock.cpu.toml` says which
"""
    )


def test_of_lists_of_requirements_the_plain_name_is_meant(empty_lab: Lab) -> None:
    for name in ("requirements-dev.txt", "requirements.txt"):
        empty_lab.repo.write(name, "a==1\n")
    empty_lab.repo.commit("one")
    assert "beside requirements.txt" in empty_lab.run("show").err


def test_configured_lockfiles_are_the_ones(lab: Lab) -> None:
    two_services(lab)
    lab.repo.write(".envtrack/config.yaml", "lockfiles: [services/api/uv.lock]\n")
    assert chosen(lab) == "services/api/uv.lock"


def test_no_lockfile_is_said(empty_lab: Lab) -> None:
    empty_lab.repo.commit("nothing")
    done = empty_lab.run("diff")
    assert done.code == 2
    assert "no lockfile in this repository (uv.lock, pylock.toml, " in done.err


def test_no_repository_is_said(tmp_path: Path, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    done = lab.run("diff")
    assert done.code == 2
    assert "not inside a git repository" in done.err
    assert lab.run("diff", "-C", "nowhere").code == 2


def test_a_broken_configuration_shows_all_its_faults(lab: Lab) -> None:
    lab.repo.write(".envtrack/config.yaml", "stale: no\nsmok: {}\n")
    done = lab.run("diff")
    assert done.code == 2
    assert (
        done.err
        == """\
envtrack: .envtrack/config.yaml:1: stale: expected skip, frozen or relock
.envtrack/config.yaml:2: smok: unknown key; did you mean `smoke`?
"""
    )


def test_the_environment_names_the_machine_before_the_configuration(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.repo.write(".envtrack/config.yaml", "machine: shared\n")
    assert "now (testbed)" in lab.run("diff", "HEAD").out
    monkeypatch.delenv("ENVTRACK_MACHINE")
    assert "now (shared)" in lab.run("diff", "HEAD").out
    lab.repo.write(".envtrack/config.yaml", "salt: abc\n")
    assert "now (m-" in lab.run("diff", "HEAD").out
    assert lab.run("show", "--machine", "a/b").code == 2


@pytest.mark.parametrize("name", ["sp ace", "ü中", "-dash", "a*b", "[x]", "tab\tname"])
def test_odd_folder_names(lab: Lab, name: str) -> None:
    lab.lock("wick", folder=f"{name}/")
    lab.repo.commit("odd")
    done = lab.run("snapshot", "-C", f"./{name}", "--commit", "-m", "record")
    assert done.code == 0, done.err
    shown = lab.run("show", "-C", f"./{name}")
    assert shown.code == 0
    assert "\t" not in shown.out


def test_a_folder_name_that_is_no_utf8(lab: Lab) -> None:
    folder = lab.repo.path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    for name in ("pyproject.toml", "uv.lock"):
        (folder / name).write_bytes((lab.repo.path / name).read_bytes())
    lab.repo.commit("odd")
    done = lab.run("snapshot", "-C", str(folder), "--commit", "-m", "record")
    assert done.code == 0, done.err
    shown = lab.run("show", "-C", str(folder))
    assert (shown.code, "caf\\xe9/uv.lock" in shown.out) == (0, True)
