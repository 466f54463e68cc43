"""What is installed at a commit, and that its code is the commit's own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from envtrack.lockfiles.interface import parse_lock
from envtrack.model.verdict import Verdict
from envtrack.probe.verify import Trees, find_misfits
from tests.support.history import judge, open_bench, read_log
from tests.support.repo import UV, RepoBuilder
from tests.support.wheels import write_wheel

INDEX = '[[tool.uv.index]]\nname = "shelf"\nurl = "{up}index"\nformat = "flat"\ndefault = true\n'
BUILD = '[build-system]\nrequires = ["uv_build>=0.8,<1"]\nbuild-backend = "uv_build"\n'


def project(name: str, *needs: str, more: str = "", up: str = "") -> str:
    listed = ", ".join(f'"{need}"' for need in needs)
    return (
        f'[project]\nname = "{name}"\nversion = "0.1"\nrequires-python = ">=3.11"\n'
        f"dependencies = [{listed}]\n{more}{INDEX.format(up=up)}"
    )


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OUT", str(tmp_path / "out"))
    return tmp_path / "out"


@pytest.mark.parametrize("kind", ["editable", "wheel"])
def test_the_project_is_rebuilt_when_only_its_source_moved(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "wheel":
        monkeypatch.setenv("UV_NO_EDITABLE", "1")
    repo.write("pyproject.toml", project("lab", more=BUILD))
    repo.write("index/.keep", "")
    commits = []
    for value in ("one", "two"):
        # Of one length, and maybe of one second: byte code could not tell them apart.
        repo.write("src/lab/__init__.py", f"VALUE = {value!r}\n")
        if value == "one":
            repo.uv_lock()
        commits.append(repo.commit(value))
    # The user's own tree has yet another code, and an environment of its own.
    repo.write("src/lab/__init__.py", "VALUE = 'mine'\n")
    smoke = "python -c 'import lab; print(lab.VALUE, lab.__file__)'"
    with open_bench(repo, commits[0], smoke=smoke) as rig:
        for commit, value in zip(commits, ("one", "two"), strict=True):
            assert judge(rig, commit).verdict is Verdict.GOOD
            said, place = read_log(rig).split()
            assert said == value
            home = rig.tree.top if kind == "editable" else rig.tree.top.parent / "env"
            assert Path(place).is_relative_to(home)


def test_a_project_that_names_the_users_tree_is_not_believed(repo: RepoBuilder) -> None:
    repo.write("lib/pyproject.toml", project("lib", more=BUILD, up="../"))
    repo.write("lib/src/lib/__init__.py", "")
    source = f'[tool.uv.sources]\nlib = {{ path = "{repo.path}/lib", editable = true }}\n'
    repo.write(
        "pyproject.toml", project("lab", "lib", more=source + "[tool.uv]\npackage = false\n")
    )
    repo.write("index/.keep", "")
    repo.uv_lock()
    one = repo.commit("one")
    repo.commit("two")
    with open_bench(repo, one, smoke="python -c 'import lib'") as rig:
        judged = judge(rig, one)
    assert judged.kind == "environment"
    assert f"lib comes from {repo.path}/lib, not from the probe's tree" in judged.reason


def test_members_in_folders_and_in_nested_submodules_are_brought_along(
    repo: RepoBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = RepoBuilder.create(tmp_path / "inner")
    inner.write("value", "inner one\n")
    inner.commit("one")
    outer = RepoBuilder.create(tmp_path / "outer")
    outer.write("pyproject.toml", project("tail", more=BUILD, up="../"))
    outer.write("src/tail/__init__.py", "VALUE = 'outer one'\n")
    outer.git("submodule", "--quiet", "add", str(inner.path), "deep/inner")
    outer.commit("one")
    workspace = '[tool.uv.workspace]\nmembers = ["packages/*", "tail"]\n'
    sources = "[tool.uv.sources]\nhead = { workspace = true }\ntail = { workspace = true }\n"
    more = f"[tool.uv]\npackage = false\n{workspace}{sources}"
    repo.write("pyproject.toml", project("lab", "head", "tail", more=more))
    repo.write("packages/head/pyproject.toml", project("head", more=BUILD, up="../../"))
    repo.write("packages/head/src/head/__init__.py", "")
    repo.write("index/.keep", "")
    repo.git("submodule", "--quiet", "add", "--name", "odd name", str(outer.path), "tail")
    repo.git("submodule", "--quiet", "update", "--init", "--recursive")
    repo.uv_lock()
    commits = [repo.commit("one")]
    inside = RepoBuilder(repo.path / "tail")
    inside.write("src/tail/__init__.py", "VALUE = 'outer two'\n")
    deep = RepoBuilder(repo.path / "tail" / "deep" / "inner")
    deep.write("value", "inner two\n")
    deep.commit("two")
    inside.commit("two")
    commits.append(repo.commit("two"))
    # Then it is taken out again, and a folder of the same name stands in its place.
    repo.git("rm", "--quiet", "--cached", "tail")
    shutil.rmtree(repo.path / "tail")
    repo.write("tail/pyproject.toml", project("tail", more=BUILD, up="../"))
    repo.write("tail/src/tail/__init__.py", "VALUE = 'no submodule'\n")
    repo.write("tail/deep/inner/value", "of our own\n")
    commits.append(repo.commit("three"))
    before = repo.state()
    smoke = (
        "cat tail/deep/inner/value; touch tail/stray tail/deep/inner/stray; "
        "python -c 'import head, tail; print(tail.VALUE)'"
    )
    said = []
    with open_bench(repo, commits[0], smoke=smoke) as rig:
        for commit in (*commits, commits[0]):
            rig.store._path.unlink(missing_ok=True)
            rig.store.__init__(rig.store._path)  # type: ignore[misc]
            assert judge(rig, commit).verdict is Verdict.GOOD, commit
            said.append(read_log(rig).splitlines())
            assert not (rig.tree.top / "tail" / "stray").exists()
    first = ["inner one", "outer one"]
    assert said == [first, ["inner two", "outer two"], ["of our own", "no submodule"], first]
    assert repo.state() == before


def test_a_submodule_that_is_not_here_is_told_of(repo: RepoBuilder, tmp_path: Path) -> None:
    other = RepoBuilder.create(tmp_path / "other")
    other.write("f", "")
    other.commit("one")
    clone = RepoBuilder(tmp_path / "clone")
    repo.write("pyproject.toml", project("lab", more="[tool.uv]\npackage = false\n"))
    repo.write("index/.keep", "")
    repo.uv_lock()
    repo.git("submodule", "--quiet", "add", str(other.path), "sub")
    repo.commit("one")
    repo.commit("two")
    subprocess.run(["git", "clone", "--quiet", str(repo.path), str(clone.path)], check=True)
    with open_bench(clone, "HEAD~1", smoke='test -z "$(ls sub)"') as rig:
        assert judge(rig, clone.head()).verdict is Verdict.GOOD
        assert read_log(rig, "tree.log") == "submodule sub: not on this machine, left empty\n"


def test_odd_wheels_are_no_misfits(repo: RepoBuilder) -> None:
    """A version spelt otherwise, two packages that share a file, a record of a file too many."""
    index = repo.path / "index"
    write_wheel(index, "odd", "1.0rc1", spelt="1.0.0-rc.1")
    for name in ("cv", "cv-headless"):
        files = {"cv2/__init__.py": f"NAME = {name!r}\n", f"{name.replace('-', '_')}_own.py": ""}
        write_wheel(index, name, "1.0", files=files, recorded_only=("cv2/gone.py",))
    repo.write(
        "pyproject.toml",
        project("lab", "odd==1.0rc1", "cv", "cv-headless", more="[tool.uv]\npackage = false\n"),
    )
    repo.uv_lock()
    one = repo.commit("one")
    repo.commit("two")
    with open_bench(repo, one, smoke="python -c 'import cv2, odd, cv_own, cv_headless_own'") as rig:
        assert judge(rig, one).verdict is Verdict.GOOD


def test_an_environment_that_is_not_the_locks_is_noticed(repo: RepoBuilder, tmp_path: Path) -> None:
    index = repo.path / "index"
    for version in ("1.0", "1.1"):
        write_wheel(index, "dial", version)
    write_wheel(index, "other", "1.0")
    repo.write("pyproject.toml", project("lab", "dial==1.0", more="[tool.uv]\npackage = false\n"))
    repo.uv_lock()
    lock = parse_lock((repo.path / "uv.lock").read_text(), path="uv.lock")
    repo.run([UV, "sync", "--quiet"])
    env = repo.path / ".venv"
    trees = Trees(top=repo.path, project=repo.path, users=tmp_path / "users")

    def look(*selected: str) -> list[str]:
        chosen = [package for package in lock.packages if package.name in selected]
        return [f"{m.package} {m.what}" for m in find_misfits(env, lock, chosen, trees=trees)]

    assert look("dial") == []
    repo.run([UV, "pip", "install", "--quiet", "--no-index", "--find-links", "index", "other"])
    assert look("dial") == ["other 1.0 is installed and not locked"]
    repo.run([UV, "pip", "uninstall", "--quiet", "other"])
    repo.run([UV, "pip", "install", "--quiet", "--no-index", "--find-links", "index", "dial==1.1"])
    assert look("dial") == ["dial 1.1 is installed, 1.0 is locked"]
    repo.run([UV, "sync", "--quiet"])
    next(env.rglob("dial.py")).unlink()
    assert look("dial") == ["dial its file dial.py is gone"]
    repo.run([UV, "pip", "uninstall", "--quiet", "dial"])
    assert look("dial") == ["dial is locked and not installed"]
    shutil.rmtree(env)
    assert look("dial") == [f" there is no environment at {env}"]


def test_what_is_missing_from_the_environment_is_installed_anew(
    repo: RepoBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(repo.path / "index", "dial", "1.0")
    repo.write("pyproject.toml", project("lab", "dial==1.0", more="[tool.uv]\npackage = false\n"))
    repo.uv_lock()
    one = repo.commit("one")
    repo.commit("two")
    # A uv that loses a file, as two packages that share one can make it do.
    tool = tmp_path / "uv"
    tool.write_text(
        f'#!/bin/sh\n{UV} "$@" || exit\ncase "$*" in *--reinstall) ;; *sync*) '
        'rm "$UV_PROJECT_ENVIRONMENT"/lib/*/site-packages/dial.py ;; esac\n'
    )
    tool.chmod(0o755)
    with open_bench(repo, one, smoke="python -c 'import dial'", uv=str(tool)) as rig:
        assert judge(rig, one).verdict is Verdict.GOOD
        assert "dial==1.0" in read_log(rig, "sync.1.log")


def test_what_the_users_settings_keep_out_is_not_missed(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dial", "tool"):
        write_wheel(repo.path / "index", name, "1.0")
    groups = '[dependency-groups]\ndev = ["tool"]\n[tool.uv]\npackage = false\n'
    repo.write("pyproject.toml", project("lab", "dial", more=groups))
    repo.uv_lock()
    one = repo.commit("one")
    repo.commit("two")
    monkeypatch.setenv("UV_NO_DEV", "1")
    smoke = "python -c 'import dial'; ! python -c 'import tool' 2>/dev/null"
    with open_bench(repo, one, smoke=smoke) as rig:
        assert judge(rig, one).verdict is Verdict.GOOD
