"""The script that `git bisect run` runs, run by git itself and by hand."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import envtrack
from envtrack.bisect.session import Wish, make_session
from envtrack.config.settings import Stale
from envtrack.git.repository import open_repository
from envtrack.probe.plan import Plan, SessionFiles, read_plan
from envtrack.probe.script import render_script
from tests.support.history import SMOKE, History, Script, run_cli
from tests.support.repo import UV, RepoBuilder

ODD = [
    'it\'s "quoted" & größe-数; @GOOD@ %s \\n',
    "$HOME and `id`",
    "new\nline",
    "-dash",
    ":(top)[x]*",
    os.fsdecode(b"no-utf8-\xff"),
]


def steps(folder: str = "") -> Script:
    script = Script(folder=folder).add("good", "1.0").add("a", "1.1")
    return script.add("guilty", "2.0").add("b", "2.1").add("last", code=0)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return steps().build(tmp_path_factory.mktemp("script") / "repo")


def session(history: History, lockfile: str = "uv.lock", **settings: object) -> SessionFiles:
    from datetime import UTC, datetime

    wish = Wish(
        good=history["good"],
        bad=history["last"],
        lockfile=lockfile,
        smoke=SMOKE,
        smoke_from="",
        listed_files=(),
        settings=Plan.of(uv=UV, machine="testbed", **settings),
    )
    repository = open_repository(history.repo.path, dict(os.environ))
    return make_session(repository, wish, now=datetime.now(UTC))


@pytest.mark.parametrize("stale", list(Stale))
def test_the_script_is_plain_sh_and_ends_in_what_it_says(history: History, stale: Stale) -> None:
    files = session(history, stale=stale, python="3.11; true")
    assert files.script.stat().st_mode & stat.S_IXUSR
    for shell in ("sh", "dash", "bash"):
        if shutil.which(shell):
            subprocess.run([shell, "-n", str(files.script)], check=True)
    text = files.script.read_text()
    assert len(text.splitlines()) < 60
    assert ("--frozen" in text) == (stale is Stale.FROZEN)
    assert "'--python=3.11; true'" in text
    # Every way out is `leave`, which knows its codes, or the one before it is there.
    assert text.count("exit ") == 4


def test_our_own_part_is_deaf_to_pythonpath_unless_envtrack_lives_there(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = session_once(history)
    assert " -P -E -X utf8 -m " in render_script(read_plan(files), files)
    home = Path(envtrack.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", f"/x:{home}")
    assert " -P -X utf8 -m " in render_script(read_plan(files), files)


# What our step answers, and what the script must make of it.
ANSWERS = [
    ("echo 0", 0),
    ("echo 1", 1),
    ("echo 125", 125),
    ("echo 128", 128),
    ("echo 2", 128),
    ("echo 124", 128),
    ("echo 127", 128),
    ("echo nonsense", 128),
    ("echo", 128),
    ("exit 1", 128),
    ("exit 4", 128),
    ("kill -9 $$", 128),
    ("echo 0; exit 1", 128),
    ("kill -TERM $PPID; sleep 0.1", 128),
]


@pytest.mark.parametrize(("step", "code"), ANSWERS)
@pytest.mark.parametrize("action", ["install", "judge"])
def test_its_only_exit_codes_are_0_1_125_and_128(
    history: History, tmp_path: Path, step: str, code: int, action: str
) -> None:
    tool = tmp_path / "python"
    tool.write_text(
        "#!/bin/sh\nfor word; do case $word in\n"
        f"{action}) {step}; exit;; install) echo ready; exit;; end) exit 7;; esac; done\n"
    )
    tool.chmod(0o755)
    plan = replace(read_plan(session_once(history)), id="x")
    text = render_script(plan, session_once(history))
    lines = [line for line in text.splitlines() if line.startswith("step() {")]
    head, _, rest = lines[0].partition(" -m envtrack.probe.step")
    text = text.replace(lines[0], f"step() {{ {tool} -m envtrack.probe.step{rest}")
    assert head.startswith("step() { ")
    done = subprocess.run(["sh", "-c", text], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == code


_ONCE: dict[Path, SessionFiles] = {}


def session_once(history: History) -> SessionFiles:
    return _ONCE.setdefault(history.repo.path, session(history))


def test_a_session_folder_that_is_gone_is_no_verdict(history: History, tmp_path: Path) -> None:
    files = session(history)
    script = tmp_path / "probe.sh"
    script.write_bytes(files.script.read_bytes())
    shutil.rmtree(files.folder)
    done = subprocess.run(["sh", str(script)], cwd=history.repo.path, check=False)
    assert done.returncode >= 128


@pytest.mark.parametrize("place", ["clone", "worktree"])
def test_by_hand_it_finds_the_same_culprit(history: History, tmp_path: Path, place: str) -> None:
    files = session(history)
    tree = RepoBuilder(tmp_path / "by hand")
    if place == "clone":
        subprocess.run(
            ["git", "clone", "--quiet", str(history.repo.path), str(tree.path)], check=True
        )
    else:
        history.repo.git("worktree", "add", "--quiet", "--detach", str(tree.path), "main")
    tree.write("mine", "untracked\n")
    tree.git("bisect", "start", history["last"], history["good"], "--", *read_plan(files).paths)
    done = tree.run(["git", "bisect", "run", str(files.script)])
    assert f"{history['guilty']} is the first bad commit" in done.stdout
    assert tree.git("status", "--porcelain") == "?? mine"
    if place == "worktree":
        history.repo.git("worktree", "remove", "--force", str(tree.path))


def test_by_hand_the_smoke_files_are_lent_and_taken_back(tmp_path: Path) -> None:
    script = Script().add("good", "1.0", files={"n": "1"}).add("guilty", "2.0")
    script.add("other", files={"check.sh": "exit 0\n"}).add("last", "2.1")
    history = script.build(tmp_path / "repo")
    check = history.repo.write("check.sh", f"{SMOKE}\n")
    repository = open_repository(history.repo.path, dict(os.environ))
    from datetime import UTC, datetime

    wish = Wish(
        good=history["good"], bad=history["last"], lockfile="uv.lock", smoke="sh check.sh",
        smoke_from="", listed_files=(), settings=Plan.of(uv=UV),
    )  # fmt: skip
    files = make_session(repository, wish, now=datetime.now(UTC))
    check.write_text("exit 0\n")
    tree = RepoBuilder(tmp_path / "clone")
    subprocess.run(["git", "clone", "--quiet", str(history.repo.path), str(tree.path)], check=True)
    tree.git("bisect", "start", history["last"], history["good"], "--", "uv.lock")
    done = tree.run(["git", "bisect", "run", str(files.script)])
    assert f"{history['guilty']} is the first bad commit" in done.stdout
    assert tree.git("status", "--porcelain") == ""
    # A change of the user's is not overwritten.
    tree.git("bisect", "reset")
    tree.write("check.sh", "mine\n")
    done = tree.run([str(files.script)], check=False)
    assert done.returncode == 128
    assert "has changes that git does not know" in done.stderr
    assert (tree.path / "check.sh").read_text() == "mine\n"


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_odd_paths_are_paths(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # uv itself refuses an environment whose path is no UTF-8; PATH is parted by colons.
    is_text = "\udcff" not in name
    cache = tmp_path / (name if is_text else "plain") / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    (tmp_path / "t").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    folder = name if is_text else "plain"
    script = Script(folder=f"{folder}/").add("good", "1.0").add("guilty", "2.0")
    history = script.build(tmp_path / name / "repo")
    ended = run_cli(
        capsys, history.repo, history["good"], "--smoke", SMOKE,
        "--lockfile", str(history.repo.path / folder / "uv.lock"),
    )  # fmt: skip
    assert ended.out.startswith(f"{history['guilty'][:10]} is the first bad commit"), ended
    assert ended.code == 0
    used = tmp_path / "t" / f"envtrack-{os.getuid()}" if ":" in name else cache / "envtrack"
    assert list((used / "worktrees").iterdir()) == []
