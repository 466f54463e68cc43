"""Whatever else is staged, changed or under way survives; a kill leaves the state whole."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import envtrack
from tests.record.hooked import write_script
from tests.split.lab import RECORD, SplitLab
from tests.split.test_split import THREE, stage_three
from tests.support.repo import UV


def test_other_staged_files_stay_staged_and_other_changes_unstaged(lab: SplitLab) -> None:
    lab.repo.write("a b.py", "1\n")
    lab.repo.write("c.py", "1\n")
    base = lab.repo.commit("code")
    stage_three(lab)
    lab.repo.write("a b.py", "2\n")
    lab.repo.write("new.py", "1\n")
    lab.repo.git("add", "a b.py", "new.py")
    lab.repo.write("a b.py", "3\n")
    lab.repo.write("c.py", "2\n")
    lab.repo.write("untracked", "1\n")
    lab.run()
    assert lab.subjects(f"{base}..") == THREE
    assert lab.repo.git("status", "--porcelain").splitlines() == [
        'MM "a b.py"',
        " M c.py",
        "A  new.py",
        "?? untracked",
    ]
    assert (lab.repo.path / "a b.py").read_text() == "3\n"
    assert lab.show(":a b.py") == "2"


def test_a_record_that_the_user_has_edited_is_left_in_the_working_tree(lab: SplitLab) -> None:
    stage_three(lab)
    lab.run()
    lab.repo.git("reset", "--quiet", "--soft", "HEAD~2")
    text = (lab.repo.path / RECORD).read_text()
    lab.repo.write(RECORD, text.replace('"testbed"', '"edited"'))
    lab.repo.git("reset", "--quiet", "HEAD", RECORD)
    lab.run()
    assert '"edited"' in (lab.repo.path / RECORD).read_text()
    assert lab.repo.git("status", "--porcelain") == f" M {RECORD}"


def test_a_record_that_belongs_and_is_staged_is_the_last_parts(lab: SplitLab) -> None:
    base = stage_three(lab)
    lab.run()
    record = lab.show(f"HEAD:{RECORD}")
    lab.repo.git("reset", "--quiet", "--soft", base)
    index = lab.repo.state()["index"]
    lab.run()
    assert lab.show(f"HEAD:{RECORD}") == record
    assert lab.repo.state()["index"] == index


def test_hooks_of_the_users_do_not_run(lab: SplitLab) -> None:
    mark = lab.repo.path.parent / "mark"
    for name in ("pre-commit", "commit-msg", "post-commit", "post-checkout"):
        write_script(lab.repo.path / ".git/hooks" / name, f"#!/bin/sh\n: >{mark}\nexit 1\n")
    stage_three(lab)
    assert lab.run().code == 0
    assert not mark.exists()


def kill_at(lab: SplitLab, tool: str, word: str, *, after: bool) -> int:
    """Runs `envtrack split`, killed when it calls a tool with a word; gives the exit code."""
    bin_folder = lab.repo.path.parent / "bin"
    real = shutil.which("git") if tool == "git" else UV
    assert real is not None
    kill = "kill -9 $PPID; sleep 0.2"
    then = f'{shlex.quote(real)} "$@"; code=$?; {kill}; exit $code' if after else f"{kill}; exit 1"
    write_script(
        bin_folder / tool,
        f'#!/bin/sh\ncase "$*" in *{shlex.quote(word)}*) {then};; esac\n'
        f'exec {shlex.quote(real)} "$@"\n',
    )
    environ = {
        **os.environ,
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(envtrack.__file__).parents[1]),
    }
    if tool == "uv":
        environ["ENVTRACK_UV"] = str(bin_folder / "uv")
    done = subprocess.run(
        [sys.executable, "-m", "envtrack", "split"],
        cwd=lab.repo.path, env=environ, capture_output=True, check=False, text=True,
    )  # fmt: skip
    (bin_folder / tool).unlink()
    return done.returncode


@pytest.mark.parametrize(
    ("tool", "word", "after"),
    [
        ("git", "worktree add", False),
        ("git", "worktree add", True),
        ("uv", "lock", True),
        ("git", "write-tree", True),
        ("git", "commit-tree", True),
        ("git", "refs/envtrack/split", False),
        ("git", "refs/envtrack/split", True),
        ("git", "update-ref -m envtrack split: staged", False),
        ("git", "update-ref -m envtrack split: staged", True),
    ],
)
def test_a_kill_leaves_the_state_as_it_was_or_the_change_whole(
    lab: SplitLab, tool: str, word: str, *, after: bool
) -> None:
    base = stage_three(lab)
    lab.repo.write("other.py", "1\n")
    lab.repo.git("add", "other.py")
    staged = {name: lab.show(f":{name}") for name in ("uv.lock", "pyproject.toml", "other.py")}
    assert kill_at(lab, tool, word, after=after) == -9
    is_whole = lab.repo.head() != base
    assert lab.subjects(f"{base}..") == (THREE if is_whole else [])
    assert is_whole == (after and "staged" in word)
    assert {name: lab.show(f":{name}") for name in staged} == staged
    assert lab.repo.git("fsck", "--no-dangling") == ""
    left = lab.repo.git("status", "--porcelain").splitlines()
    # The record may be staged beside its lockfile, as pre-commit would have done.
    known = ["A  other.py"] if is_whole else ["A  other.py", "M  pyproject.toml", "M  uv.lock"]
    assert [row for row in left if not row.endswith(RECORD)] == known
    if not is_whole:
        assert lab.run().code == 0
    assert lab.subjects(f"{base}..") == THREE
    assert lab.repo.git("status", "--porcelain") == "A  other.py"
    assert lab.repo.git("worktree", "list", "--porcelain").count("worktree ") == 1
