"""Which hooks git itself fires, with what, in which index: the ground on which ours stand.

Nothing of envtrack runs here. Where another git does otherwise, the table in
``docs/git-situations.md`` has to be thought over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.record.hooked import write_script
from tests.support.repo import RepoBuilder

NAMES = """
    applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg
    commit-msg post-commit pre-rebase post-checkout post-merge pre-push post-rewrite
""".split()  # noqa: SIM905 - a list of names reads better so
COMMIT = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"]
UNVERIFIED = ["prepare-commit-msg", "post-commit"]
RECORDER = """#!/bin/sh
case ${GIT_INDEX_FILE-} in
    */index.lock) index=lock ;;
    */next-index-*.lock) index=next ;;
    */worktrees/*/index) index=linked ;;
    .git/index) index=own ;;
    '') index=none ;;
    *) index=absolute ;;
esac
signs=
for sign in rebase-merge rebase-apply MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG; do
    [ -e "$(git rev-parse --git-dir)/$sign" ] && signs="$signs $sign"
done
echo "NAME $index ${GIT_DIR+dir}$signs" >>'LOG'
"""


@dataclass(frozen=True, slots=True)
class Watched:
    """A repository in which every hook leaves a line."""

    repo: RepoBuilder
    log: Path

    def lines(self) -> list[str]:
        """What the hooks left since it was last asked."""
        if not self.log.exists():
            return []
        lines = [" ".join(line.split()) for line in self.log.read_text().splitlines()]
        self.log.unlink()
        return lines

    def names(self) -> list[str]:
        return [line.split()[0] for line in self.lines()]

    def write(self, text: str, name: str = "file") -> None:
        self.repo.write(name, text)
        self.repo.git("add", name)

    def do(self, *arguments: str) -> list[str]:
        """The hooks that one git command fires."""
        self.lines()
        environ = {"GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": "true"}
        self.repo.git(*arguments, check=False, env=environ)
        return self.names()


@pytest.fixture
def watched(repo: RepoBuilder, tmp_path: Path) -> Watched:
    """Two branches: `side` has two commits of `file`, `main` one of `main`."""
    made = Watched(repo, tmp_path / "log")
    made.write("1\n")
    repo.commit("first")
    repo.git("checkout", "-q", "-b", "side")
    for number in (2, 3):
        made.write(f"{number}\n")
        repo.commit(f"side {number}")
    repo.git("checkout", "-q", "main")
    made.write("words\n", "main")
    repo.commit("main")
    for name in NAMES:
        text = RECORDER.replace("NAME", name).replace("LOG", str(made.log))
        write_script(repo.path / ".git/hooks" / name, text)
    return made


@pytest.mark.parametrize(
    ("arguments", "index"),
    [
        ([], "own"),
        (["--amend"], "own"),
        (["--allow-empty"], "own"),
        (["--all"], "lock"),
        (["--include", "file"], "lock"),
        (["--amend", "--all"], "lock"),
        (["file"], "next"),
        (["--amend", "file"], "next"),
    ],
)
def test_a_commit_fires_four_hooks_in_the_index_of_the_commit(
    watched: Watched, arguments: list[str], index: str
) -> None:
    watched.write("staged\n", "staged")
    watched.repo.write("file", "changed\n")
    watched.repo.git("commit", "-qm", "x", *arguments)
    lines = watched.lines()
    # Before the message a hook sees the commit's index; afterwards the user's own again.
    assert lines[0] == f"pre-commit {index}"
    rewrites = ["post-rewrite none"] if "--amend" in arguments else []
    assert lines[3:] == ["post-commit own", *rewrites]
    assert [line.split()[0] for line in lines[:4]] == COMMIT


def test_a_commit_that_is_not_verified_fires_two(watched: Watched) -> None:
    assert watched.do("commit", "--allow-empty", "-m", "x", "--no-verify") == UNVERIFIED


def test_a_dry_run_fires_none(watched: Watched) -> None:
    watched.write("2\n")
    assert watched.do("commit", "--dry-run") == []


def test_the_first_commit_fires_four(watched: Watched) -> None:
    watched.repo.git("checkout", "-q", "--orphan", "new")
    assert watched.do("commit", "-m", "x") == COMMIT


def test_a_clean_merge_fires_no_commit_hook(watched: Watched) -> None:
    assert watched.do("merge", "--no-edit", "side") == [
        "pre-merge-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-merge",
    ]


def test_a_fast_forward_fires_post_merge_alone(watched: Watched) -> None:
    watched.repo.git("reset", "-q", "--hard", "HEAD~1")
    assert watched.do("merge", "side") == ["post-merge"]


@pytest.mark.parametrize("end", [["commit", "--no-edit"], ["merge", "--continue"]])
def test_a_merge_in_conflict_is_concluded_by_an_ordinary_commit(
    watched: Watched, end: list[str]
) -> None:
    watched.write("4\n")
    watched.repo.git("commit", "-qm", "main again")
    assert watched.do("merge", "side") == []
    watched.write("5\n")
    watched.repo.git(*end, env={"GIT_EDITOR": "true"})
    lines = watched.lines()
    assert [line.split()[0] for line in lines] == COMMIT
    assert lines[0] == "pre-commit own MERGE_HEAD"
    assert lines[3] == "post-commit own"


def test_a_squashed_merge_fires_post_merge_and_then_a_commits_four(watched: Watched) -> None:
    assert watched.do("merge", "--squash", "side") == ["post-merge"]
    assert watched.do("commit", "--no-edit") == COMMIT


@pytest.mark.parametrize("command", ["cherry-pick", "revert"])
def test_a_pick_and_a_revert_fire_no_pre_commit(watched: Watched, command: str) -> None:
    what = "side~1" if command == "cherry-pick" else "HEAD"
    assert watched.do(command, "--no-edit", what) == UNVERIFIED


def test_a_pick_without_commit_is_concluded_by_an_ordinary_commit(watched: Watched) -> None:
    assert watched.do("cherry-pick", "--no-commit", "side~1") == []
    assert watched.do("commit", "-m", "x") == COMMIT


def test_a_pick_in_conflict_is_concluded_by_an_ordinary_commit(watched: Watched) -> None:
    assert watched.do("cherry-pick", "side") == []
    watched.write("5\n")
    watched.repo.git("commit", "--no-edit")
    lines = watched.lines()
    assert [line.split()[0] for line in lines] == COMMIT
    assert lines[0] == "pre-commit own CHERRY_PICK_HEAD"


def test_a_rebase_fires_post_commit_for_each_and_post_rewrite_at_the_end(
    watched: Watched,
) -> None:
    watched.repo.git("checkout", "-q", "side")
    watched.lines()
    watched.repo.git("rebase", "-q", "main")
    lines = watched.lines()
    assert [line.split()[0] for line in lines] == [
        "pre-rebase",
        "post-checkout",
        *UNVERIFIED * 2,
        "post-rewrite",
    ]
    assert all("rebase-merge" in line for line in lines if line.startswith("post-commit"))


@pytest.mark.parametrize("command", ["rebase", "am"])
def test_mailed_patches_fire_hooks_of_their_own(
    watched: Watched, tmp_path: Path, command: str
) -> None:
    patch = watched.repo.git("format-patch", "--stdout", "-1", "side~1")
    (tmp_path / "p").write_text(patch + "\n")
    mailed = ["applypatch-msg", "pre-applypatch", "post-applypatch"]
    if command == "am":
        assert watched.do("am", str(tmp_path / "p")) == mailed
        return
    watched.repo.git("checkout", "-q", "side")
    fired = watched.do("rebase", "--apply", "main")
    assert fired == ["pre-rebase", "post-checkout", *mailed * 2, "post-rewrite"]


def stash(watched: Watched) -> list[str]:
    watched.write("2\n")
    return watched.do("stash") + watched.do("stash", "pop")


def checkout_file(watched: Watched) -> list[str]:
    return watched.do("checkout", "side", "--", "file")


def switch(watched: Watched) -> list[str]:
    return watched.do("checkout", "side")


def add_worktree(watched: Watched) -> list[str]:
    return watched.do("worktree", "add", "../linked", "side")


def reset(watched: Watched) -> list[str]:
    return watched.do("reset", "--hard", "HEAD~1")


def plumb(watched: Watched) -> list[str]:
    made = watched.repo.git("commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}")
    return watched.do("update-ref", "HEAD", made)


@pytest.mark.parametrize(
    ("act", "fired"),
    [
        (stash, []),
        (checkout_file, ["post-checkout"]),
        (switch, ["post-checkout"]),
        (add_worktree, ["post-checkout"]),
        (reset, []),
        (plumb, []),
    ],
)
def test_what_makes_no_commit_fires_post_checkout_or_nothing(
    watched: Watched, act: Callable[[Watched], list[str]], fired: list[str]
) -> None:
    assert act(watched) == fired


def test_each_step_of_a_bisect_fires_post_checkout(watched: Watched) -> None:
    watched.repo.git("checkout", "-q", "side")
    assert set(watched.do("bisect", "start", "HEAD", "HEAD~2")) == {"post-checkout"}
    assert watched.do("commit", "--allow-empty", "-m", "x") == COMMIT
    assert set(watched.do("bisect", "reset")) == {"post-checkout"}


def test_in_a_linked_worktree_git_names_its_folder_and_index(
    watched: Watched, tmp_path: Path
) -> None:
    watched.repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "side")
    watched.lines()
    linked = RepoBuilder(tmp_path / "linked")
    linked.git("commit", "-q", "--allow-empty", "-m", "x")
    assert watched.lines()[0] == "pre-commit linked dir"


def test_a_relative_hooks_path_that_is_not_there_runs_nothing_and_says_nothing(
    watched: Watched,
) -> None:
    watched.repo.git("config", "core.hooksPath", ".hooks")
    done = watched.repo.run(["git", "commit", "-q", "--allow-empty", "-m", "x"])
    assert (done.stdout, done.stderr, watched.lines()) == ("", "", [])
