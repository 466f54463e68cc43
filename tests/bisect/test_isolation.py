"""The user's repository, and the world between two probes, through whole searches."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.history import SMOKE, History, Script, run_cli
from tests.support.repo import UV, RepoBuilder


def steps() -> Script:
    """A good lock, a bad one, and another bad one."""
    script = Script().add("good", "1.0")
    for name, dial in (("one", "1.1"), ("guilty", "2.0"), ("last", "2.1")):
        script.add(name, dial)
    return script


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> History:
    return steps().build(tmp_path_factory.mktemp("isolation") / "repo")


@pytest.fixture
def history(shared: History, tmp_path: Path) -> History:
    """A copy that a test may spoil."""
    copy = tmp_path / "repo"
    subprocess.run(["cp", "-a", str(shared.repo.path), str(copy)], check=True)
    return History(RepoBuilder(copy), shared.oids)


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the smoke test knows as OUT."""
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.setenv("OUT", str(folder))
    return folder


def expect_guilty(
    capsys: pytest.CaptureFixture[str], history: History, *arguments: str, smoke: str = SMOKE
) -> None:
    before = history.repo.state()
    ended = run_cli(
        capsys, history.repo, history["good"], history["last"], "--smoke", smoke, *arguments
    )
    assert ended.out.startswith(f"{history['guilty'][:10]} is the first bad commit"), ended
    assert ended.code == 0
    assert history.repo.state() == before
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "envtrack" / "worktrees"
    assert not cache.exists() or not list(cache.iterdir())


def test_no_git_variable_reaches_uv_or_the_smoke_test_and_no_hook_fires(
    history: History,
    out: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    hooks = history.repo.path / ".git" / "hooks"
    # Not `reference-transaction`: git 2.39 runs it for bisect's own refs whatever it is told.
    for name in ("post-checkout", "post-index-change", "post-commit"):
        (hooks / name).parent.mkdir(exist_ok=True)
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> '{out}/hooks'\n")
        (hooks / name).chmod(0o755)
    tool = tmp_path / "uv"
    tool.write_text(f'#!/bin/sh\nenv > "$OUT/uv.$$"\nexec {UV} "$@"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("ENVTRACK_UV", str(tool))
    for name in ("GIT_PREFIX", "GIT_NAMESPACE_X", "GIT_CEILING_DIRECTORIES", "GIT_TRACE_SETUP"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("GIT_DIR", str(history.repo.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(history.repo.path))
    expect_guilty(capsys, history, smoke=f'env > "$OUT/smoke.$$"; {SMOKE}')
    seen = [path.read_text() for path in out.iterdir() if path.name.startswith(("uv.", "smoke."))]
    synced = [text for text in seen if "UV_PROJECT_ENVIRONMENT=" in text]
    assert len(synced) >= 6
    for text in synced:
        names = {line.partition("=")[0] for line in text.splitlines()}
        assert not {name for name in names if name.startswith("GIT_")}
        if "VIRTUAL_ENV" in names:
            assert not {name for name in names if name.startswith("ENVTRACK_")}
    monkeypatch.delenv("GIT_DIR")
    assert not (out / "hooks").exists()


# What a smoke test may leave behind: it ends the next probe if it is still there.
MESS = """
[ -z "$(git status --porcelain --ignored --untracked-files=all)" ] || exit 1
[ -f code ] && [ "$(cat code)" = 0 ] && [ ! -e build ] || exit 1
[ -z "$TRITON_CACHE_DIR" ] || [ ! -e "$TRITON_CACHE_DIR" ] || exit 1
mkdir -p build/deep __pycache__ "$TRITON_CACHE_DIR" && echo x > build/deep/f && echo x > __pycache__/f
echo ignored >> .git-ignored; git init --quiet nested; ln -s / link
""".strip().replace("\n", "; ")
# What it may do to the tree with git: the search goes on, and takes no commit for another.
DEEDS = {
    "dirty": "echo 9 > code; rm steps; chmod +x pyproject.toml; git add --all;"
    " mkdir shut; touch shut/f; chmod 0 shut; chmod a-w index;"
    ' touch "$(git rev-parse --git-dir)/index.lock"',
    "commit": "echo 9 > code; git commit --quiet --all --message mine;"
    " git merge --quiet --no-commit --no-ff -s ours HEAD~1 || true",
    "checkout": "git checkout --quiet --detach HEAD~1",
    "no git": "rm -f .git; git init --quiet; git add --all",
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_a_smoke_test_does_to_its_tree_misleads_nobody(
    history: History, capsys: pytest.CaptureFixture[str], deed: str
) -> None:
    # The verdict first: the deed must not decide it.
    smoke = f"{MESS}; {SMOKE}; code=$?; {DEEDS[deed]}; exit $code"
    expect_guilty(capsys, history, smoke=smoke)


def test_a_branch_that_a_smoke_test_makes_is_its_own_doing(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    deed = "git checkout --quiet --force -B envtrack-test-branch HEAD~1"
    smoke = f"{SMOKE}; code=$?; {deed}; exit $code"
    ended = run_cli(capsys, history.repo, history["good"], "--smoke", smoke)
    assert ended.out.startswith(f"{history['guilty'][:10]} is the first bad commit")
    refs = history.repo.git("for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/heads/envtrack-test-branch", "refs/heads/main"]


@pytest.mark.parametrize(
    "deed", ["git bisect reset HEAD", 'rm -rf "$(git rev-parse --git-dir)" .git']
)
def test_a_smoke_test_that_ends_the_search_itself_is_told_so(
    history: History, capsys: pytest.CaptureFixture[str], deed: str
) -> None:
    # A repository around the cache must not be taken for the one whose tree is cleaned.
    around = Path(os.environ["XDG_CACHE_HOME"])
    around.mkdir()
    subprocess.run(["git", "init", "--quiet", str(around)], check=True)
    (around / "precious").write_text("")
    before = history.repo.state()
    ended = run_cli(capsys, history.repo, history["good"], "--smoke", f"{deed}; {SMOKE}")
    assert ended.code == 4, ended
    assert len(ended.errors) == 2  # the session, and the end
    assert history.repo.state() == before
    assert (around / "precious").exists()


def test_a_user_in_the_middle_of_everything_is_left_there(
    history: History, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = history.repo
    repo.git("stash", "list")
    repo.write("code", "7\n")
    repo.git("stash", "push", "--quiet")
    repo.git("bisect", "start", "main", history["good"])
    repo.git("sparse-checkout", "set", "--no-cone", "/*", "!/index", "!/uv.lock")
    repo.write("steps", "dirty\n")
    repo.write("staged", "s\n")
    repo.git("add", "staged")
    # Untracked, and nowhere in history.
    repo.write("check.sh", f"#!/bin/sh\n{SMOKE}\n")
    assert not (repo.path / "uv.lock").exists()
    config = repo.path / ".git" / "config.worktree"
    before = config.read_text()
    expect_guilty(capsys, history, "--lockfile", "uv.lock", smoke="sh check.sh")
    assert config.read_text() == before
    assert "bisecting" in repo.git("-c", "advice.statusHints=false", "status")


def settings_of_all_sorts(repo: RepoBuilder) -> None:
    """What users tell their git; it does not reach the probe's tree."""
    for name, value in (
        ("submodule.recurse", "true"),
        ("core.fsmonitor", "true"),
        ("checkout.workers", "4"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("core.untrackedCache", "true"),
        ("clean.requireForce", "true"),
        ("extensions.worktreeConfig", "true"),
    ):
        repo.git("config", name, value)


def test_a_linked_worktree_of_the_users_is_as_good_as_any(
    history: History, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings_of_all_sorts(history.repo)
    mine = tmp_path / "mine"
    history.repo.git("worktree", "add", "--quiet", "--detach", str(mine), "main")
    before = history.repo.git("worktree", "list", "--porcelain")
    ended = run_cli(capsys, RepoBuilder(mine), history["good"], "--smoke", SMOKE)
    assert ended.out.startswith(f"{history['guilty'][:10]} is the first bad commit")
    assert history.repo.git("worktree", "list", "--porcelain") == before


def test_a_lockfile_in_a_subfolder_is_judged_in_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(folder="apps/one two/").add("good", "1.0").add("a", "1.1")
    history = script.add("guilty", "2.0").add("last", "2.1").build(tmp_path / "repo")
    expect_guilty(capsys, history)


def test_keep_keeps_the_worktree(history: History, capsys: pytest.CaptureFixture[str]) -> None:
    ended = run_cli(capsys, history.repo, history["good"], "--smoke", SMOKE, "--keep")
    assert ended.code == 0
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "envtrack" / "worktrees"
    assert len(list(cache.iterdir())) == 1
    assert len(history.repo.git("worktree", "list").splitlines()) == 2
