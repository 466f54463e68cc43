"""The hook that stood there before: run first, as git would run it, with its exit code kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from envtrack.git.hooks import install_hooks
from envtrack.git.repository import open_repository
from tests.record.hooked import Hooked, install, write_script
from tests.support.repo import RepoBuilder


@pytest.fixture
def chained(repo: RepoBuilder, tmp_path: Path) -> Hooked:
    """A repository in which hooks of others stood before ours."""
    for name in ("pre-commit", "post-commit"):
        write_script(
            repo.path / ".git/hooks" / name,
            f'#!/bin/sh\necho "{name} $#" >>"{tmp_path}/log"\nenv >"{tmp_path}/env-{name}"\n',
        )
    return Hooked.create(repo, tmp_path)


def log(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text().splitlines()


def test_the_hooks_from_before_run_with_and_without_a_lockfile(
    chained: Hooked, tmp_path: Path
) -> None:
    chained.commit("--allow-empty")
    chained.lock_commit("version = 1\n")
    assert log(tmp_path) == ["pre-commit 0", "post-commit 0"] * 2
    assert chained.belongs()


def test_a_failing_hook_from_before_stops_the_commit_before_anything_is_recorded(
    chained: Hooked,
) -> None:
    write_script(
        chained.repo.path / ".git/hooks/pre-commit.envtrack-legacy",
        "#!/bin/sh\necho no >&2\nexit 3\n",
    )
    chained.lock("version = 1\n")
    done = chained.repo.run(["git", "commit", "-m", "x"], check=False)
    assert done.returncode != 0
    assert done.stderr == "no\n"
    assert chained.starts() == []


@pytest.mark.parametrize("name", ["pre-commit", "post-commit"])
def test_the_exit_code_arguments_and_input_of_the_hook_from_before_are_kept(
    chained: Hooked, tmp_path: Path, name: str
) -> None:
    hook = chained.repo.path / ".git/hooks" / name
    write_script(
        hook.with_name(f"{name}.envtrack-legacy"),
        f'#!/bin/sh\ncat >"{tmp_path}/in"\nprintf "%s\\n" "$@" >"{tmp_path}/args"\nexit 42\n',
    )
    done = subprocess.run(
        [hook, "one two", "", "*"], cwd=chained.repo.path, input=b"line\n\0end", check=False
    )
    assert done.returncode == 42
    assert (tmp_path / "in").read_bytes() == b"line\n\0end"
    assert (tmp_path / "args").read_text() == "one two\n\n*\n"


def test_the_hook_from_before_has_the_environment_that_git_gave(
    chained: Hooked, tmp_path: Path
) -> None:
    chained.commit("--allow-empty")
    environ = (tmp_path / "env-pre-commit").read_text()
    assert "GIT_INDEX_FILE=.git/index" in environ
    assert "ENVTRACK_HOOK" not in environ
    assert "GIT_OPTIONAL_LOCKS" not in environ


def test_the_guard_does_not_keep_the_hook_from_before_still(
    chained: Hooked, tmp_path: Path
) -> None:
    chained.repo.git("commit", "-q", "--allow-empty", "-m", "x", env={"ENVTRACK_HOOK": "off"})
    assert log(tmp_path) == ["pre-commit 0", "post-commit 0"]


def test_what_the_hook_from_before_stages_is_recorded(chained: Hooked) -> None:
    write_script(
        chained.repo.path / ".git/hooks/pre-commit.envtrack-legacy",
        "#!/bin/sh\necho 'version = 9' >uv.lock\ngit add uv.lock\n",
    )
    chained.lock_commit("version = 1\n")
    assert chained.repo.git("show", "HEAD:uv.lock") == "version = 9"
    assert chained.belongs()


def test_a_hook_from_before_that_is_not_executable_is_not_run(
    chained: Hooked, tmp_path: Path
) -> None:
    for name in ("pre-commit", "post-commit"):
        (chained.repo.path / f".git/hooks/{name}.envtrack-legacy").chmod(0o644)
    chained.lock_commit("version = 1\n")
    assert not (tmp_path / "log").exists()
    assert chained.belongs()


def test_a_hook_from_before_in_another_language_runs(chained: Hooked, tmp_path: Path) -> None:
    write_script(
        chained.repo.path / ".git/hooks/pre-commit.envtrack-legacy",
        f"#!{sys.executable}\nopen({str(tmp_path / 'log')!r}, 'a').write('python\\n')\n",
    )
    chained.lock_commit("version = 1\n")
    assert log(tmp_path)[0] == "python"


def test_a_hook_of_husky_finds_its_script_by_its_name(repo: RepoBuilder, tmp_path: Path) -> None:
    # Its folder holds one file a hook; each reads `h`, which looks for the script of its own name.
    repo.git("config", "core.hooksPath", ".husky/_")
    dispatcher = '#!/bin/sh\n. "${0%/*}/h"'
    write_script(repo.path / ".husky/_/pre-commit", dispatcher)
    repo.write(
        ".husky/_/h",
        'name=$(basename "$0")\nscript=$(dirname "$(dirname "$0")")/$name\n'
        '[ -f "$script" ] || exit 0\nsh -e "$script" "$@"\nexit $?\n',
    )
    repo.write(".husky/pre-commit", f"echo husky >>'{tmp_path}/log'\nexit $(cat code)\n")
    repo.write("code", "0")
    hooked = Hooked.create(repo, tmp_path)
    hooked.lock_commit("version = 1\n")
    assert log(tmp_path) == ["husky"]
    assert hooked.belongs()
    repo.write("code", "5")
    hooked.lock("version = 2\n")
    assert repo.run(["git", "commit", "-m", "x"], check=False).returncode != 0


FRAMEWORK = """#!/bin/sh
# File generated by pre-commit: https://pre-commit.com
# ID: framework
HERE="$(cd "$(dirname "$0")" && pwd)"
if [ "$PRE_COMMIT_RUNNING_LEGACY" ]; then echo "bug: migration mode" >&2; exit 1; fi
if [ -x "$HERE/pre-commit.legacy" ]; then
    PRE_COMMIT_RUNNING_LEGACY=1 "$HERE/pre-commit.legacy" "$@" || exit
fi
echo framework >>"$FRAMEWORK_LOG"
"""


def install_framework(repo: RepoBuilder) -> None:
    """As the pre-commit framework does it: what is not its own goes to `.legacy` and is run."""
    hook = repo.path / ".git/hooks/pre-commit"
    if hook.exists() and "ID: framework" not in hook.read_text():
        hook.rename(hook.with_name("pre-commit.legacy"))
    write_script(hook, FRAMEWORK)


@pytest.mark.parametrize("order", ["FE", "EF", "FEF", "EFE", "FEFE", "EFEF", "FEFEF"])
def test_the_pre_commit_framework_and_we_both_run_in_every_order_of_installing(
    repo: RepoBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    monkeypatch.setenv("FRAMEWORK_LOG", str(tmp_path / "log"))
    hooked = Hooked.create(repo, tmp_path) if order[0] == "E" else None
    for tool in order[0 if hooked is None else 1 :]:
        if tool == "F":
            install_framework(repo)
        elif hooked is None:
            hooked = Hooked.create(repo, tmp_path)
        else:
            install(repo, hooked.python)
    assert hooked is not None
    hooked.lock_commit("version = 1\n")
    assert log(tmp_path) == ["framework"]
    assert hooked.starts() == ["pre-commit"]
    assert hooked.belongs()


def test_a_hooks_path_of_everyone_runs_the_shim_in_each_repository(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    hooked = Hooked.create(repo, tmp_path)
    shared = tmp_path / "shared"
    repo.git("config", "--global", "core.hooksPath", str(shared))
    install_hooks(
        open_repository(repo.path, dict(os.environ)), interpreter=str(hooked.python), force=True
    )
    other = hooked.at(RepoBuilder.create(tmp_path / "other").path)
    other.lock_commit("version = 1\n")
    assert other.belongs()


def test_a_relative_hooks_path_works_in_the_worktree_that_has_the_folder(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    repo.git("config", "core.hooksPath", ".hooks")
    hooked = Hooked.create(repo, tmp_path)
    hooked.lock_commit("version = 1\n")
    assert hooked.belongs()
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = hooked.at(tmp_path / "side")
    side.lock_commit("version = 2\n")
    assert not side.belongs()
    install(side.repo, hooked.python)
    side.lock_commit("version = 3\n")
    assert side.belongs()
