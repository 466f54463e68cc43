"""What stands around a probe: paths, caches, the smoke test's files, other probes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest  # noqa: TC002 - fixtures are annotated with it

from envtrack.model.oid import Oid
from envtrack.model.verdict import Verdict
from envtrack.probe.bounded import stage_environment
from tests.support.history import Script, judge, open_bench, read_log


def test_a_tree_full_of_traps_does_not_reach_our_own_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = "raise SystemExit('trapped')\n"
    names = ("sitecustomize", "usercustomize", "typing", "json", "signal", "envtrack/__init__")
    files = {f"{name}.py": trap for name in names}
    history = Script().add("good", "1.0", files=files).add("last", "1.1").build(tmp_path / "repo")
    monkeypatch.setenv("PYTHONPATH", f"{history.repo.path}{os.pathsep}")
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setenv("PYTHONSTARTUP", str(history.repo.path / "json.py"))
    with open_bench(history.repo, history["good"], smoke="test -f json.py") as rig:
        assert judge(rig, history["good"]).verdict is Verdict.GOOD


def test_pythonpath_into_the_users_tree_leads_into_the_probes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"lib/helper.py": "VALUE = 'committed'\n"}
    history = Script().add("good", "1.0", files=files).add("last", "1.1").build(tmp_path / "repo")
    history.repo.write("lib/helper.py", "VALUE = 'mine'\n")
    (tmp_path / "link").symlink_to("repo")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}/link/lib:relative")
    smoke = "python -c 'import helper; print(helper.VALUE)'; echo $PYTHONPATH"
    with open_bench(history.repo, history["good"], smoke=smoke) as rig:
        judge(rig, history["good"])
        assert read_log(rig).splitlines() == ["committed", f"{rig.tree.top}/lib:relative"]


def test_caches_of_compiled_code_go_with_the_environment(tmp_path: Path) -> None:
    environ = {"PYTHONPYCACHEPREFIX": "/home/ada/pyc", "GIT_DIR": "x", "ENVTRACK_X": "y", "A": "b"}
    made = stage_environment(environ, root=tmp_path, top=tmp_path / "t", caches=tmp_path / "caches")
    assert made.pop("A") == "b"
    assert "TRITON_CACHE_DIR" in made
    assert {Path(place).parent for place in made.values()} == {tmp_path / "caches"}


def test_a_stale_lock_says_nothing_of_another_with_the_same_packages(tmp_path: Path) -> None:
    # Both install the same; only one of them fits its pyproject.toml.
    script = Script().add("good", "1.0")
    fresh = script.commits["good"].files["uv.lock"].decode()
    stale = fresh.replace('">=3.11"', '">=3.10"')
    script.add("stale", files={"uv.lock": stale}).add("fresh", files={"uv.lock": fresh + "\n"})
    history = script.add("last", "2.0").build(tmp_path / "repo")
    with open_bench(history.repo, history["good"]) as rig:
        assert judge(rig, history["stale"]).kind == "lock-stale"
        assert judge(rig, history["fresh"]).verdict is Verdict.GOOD
        # The other way round it helps: what was judged under a lock that fits holds for both.
        assert rig.probe(Oid(history["good"])).same_as == Oid(history["fresh"])


def test_the_smoke_files_stand_in_every_tree_whatever_is_in_their_place(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    script = Script().add("none", "1.0")
    script.add("other", files={"t/check.sh": "exit 1\n", "n": "1"})
    script.add("file", files={"t/check.sh": None, "t": "a file\n", "n": "2"})
    script.add("folder", files={"t": None, "t/check.sh/deep": "x\n", "n": "3"})
    script.add(
        "last", files={"t/check.sh/deep": None, "t/check.sh": "#!/bin/sh\nexit 0\n", "n": "4"}
    )
    history = script.build(tmp_path / "repo")
    repo = history.repo
    repo.git("checkout", "--quiet", "-b", "linked", history["none"])
    (repo.path / "t").symlink_to(outside)
    linked = repo.commit("link")
    repo.git("checkout", "--quiet", "main")
    with open_bench(repo, history["none"], bad="main", smoke="t/check.sh") as rig:
        for commit in (*history.oids.values(), linked):
            assert judge(rig, commit).verdict is Verdict.GOOD, history.names([commit])
    assert list(outside.iterdir()) == []
