"""When the hooks do nothing: no lockfile, or git in the middle of something else."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from envtrack.git.progress import IN_PROGRESS
from envtrack.resources import find_resource
from tests.record.hooked import RECORD, Hooked, write_script
from tests.support.repo import RepoBuilder


def make_side(hooked: Hooked) -> Hooked:
    """Two branches: `side` has changed the lockfile and recorded it, `main` has another file."""
    hooked.repo.git("checkout", "-q", "-b", "side")
    for number in (2, 3, 4):
        hooked.lock_commit(f"version = {number}\n")
    hooked.repo.git("checkout", "-q", "main")
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit()
    hooked.mark.unlink()
    return hooked


def has_notes(hooked: Hooked) -> bool:
    return bool(hooked.repo.git("for-each-ref", "refs/notes"))


def test_python_is_not_started_where_no_lockfile_is_staged(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.repo.write("other", "words\n")
    hooked.repo.write("not-uv.lock.txt", "words\n")
    hooked.repo.git("add", "other", "not-uv.lock.txt")
    hooked.commit()
    hooked.commit("--allow-empty")
    assert hooked.starts() == []


def test_python_is_not_started_on_an_unborn_branch_without_a_lockfile(
    repo: RepoBuilder, tmp_path: Path
) -> None:
    hooked = Hooked.create(repo, tmp_path)
    repo.write("other", "words\n")
    repo.git("add", "other")
    hooked.commit()
    assert hooked.starts() == []


def test_python_is_started_once_for_an_ordinary_lockfile_commit(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    assert hooked.starts() == ["pre-commit"]


def test_python_is_started_for_the_index_only_after_a_commit_of_a_path(hooked: Hooked) -> None:
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    assert hooked.starts() == ["pre-commit", "post-commit"]
    hooked.commit("--allow-empty")
    assert hooked.starts() == ["pre-commit", "post-commit"]


def test_the_guard_variable_keeps_both_hooks_still(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "-qm", "change", env={"ENVTRACK_HOOK": "off"})
    assert hooked.changed() == ["uv.lock"]
    assert hooked.starts() == []


def test_a_rebase_of_several_commits_rewrites_no_record(hooked: Hooked) -> None:
    make_side(hooked)
    hooked.repo.git("checkout", "-q", "side")
    before = hooked.repo.git("rev-parse", *(f"side~{back}:{RECORD}" for back in range(3)))
    hooked.repo.git("rebase", "-q", "main")
    assert hooked.repo.git("rev-parse", *(f"side~{back}:{RECORD}" for back in range(3))) == before
    assert all(hooked.belongs(f"HEAD~{back}") for back in range(3))
    assert hooked.starts() == ["post-checkout"]
    assert hooked.status() == ""


def test_a_commit_made_while_a_rebase_stands_still_gets_no_record(hooked: Hooked) -> None:
    make_side(hooked)
    hooked.repo.git("checkout", "-q", "side")
    hooked.repo.git("rebase", "-i", "HEAD~2", env={"GIT_SEQUENCE_EDITOR": "sed -i 's/^pick/edit/'"})
    hooked.lock("version = 9\n")
    hooked.commit("--amend")
    assert hooked.starts() == ["post-checkout"]
    hooked.repo.git("rebase", "--abort")
    assert hooked.belongs()


def test_git_am_is_left_alone(hooked: Hooked) -> None:
    make_side(hooked)
    patch = hooked.repo.git("format-patch", "--stdout", "-1", "side~2")
    hooked.repo.write("../p.patch", patch + "\n")
    hooked.repo.git("am", "-q", "../p.patch")
    assert hooked.belongs()
    assert hooked.starts() == []


def test_a_cherry_pick_carries_its_record_and_takes_none(hooked: Hooked) -> None:
    make_side(hooked)
    hooked.repo.git("cherry-pick", "side~2", "side~1")
    assert hooked.belongs()
    assert hooked.belongs("HEAD~1")
    assert hooked.starts() == ["post-commit"] * 2
    assert not has_notes(hooked)


def test_a_cherry_pick_with_a_conflict_is_concluded_without_a_record_of_ours(
    hooked: Hooked,
) -> None:
    make_side(hooked)
    hooked.repo.git("cherry-pick", "side", check=False)
    hooked.repo.git("checkout", "--theirs", ".")
    hooked.repo.git("add", "--all")
    hooked.commit()
    assert hooked.starts() == ["post-commit"]
    assert not has_notes(hooked)
    assert hooked.status() == ""


def test_a_revert_goes_back_to_the_record_of_before(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.mark.unlink()
    hooked.repo.git("revert", "--no-edit", "HEAD")
    assert hooked.belongs()
    assert hooked.starts() == ["post-commit"]
    assert not has_notes(hooked)


def test_a_revert_made_as_a_commit_of_ones_own_goes_back_too(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("revert", "--no-commit", "HEAD")
    (hooked.repo.path / ".git/REVERT_HEAD").unlink(missing_ok=True)
    hooked.commit()
    assert hooked.belongs()
    assert hooked.status() == ""


def test_a_clean_merge_is_left_alone(hooked: Hooked) -> None:
    make_side(hooked)
    hooked.repo.git("merge", "-q", "--no-edit", "side")
    assert hooked.belongs()
    assert hooked.starts() == ["post-merge"]
    assert not has_notes(hooked)


def test_a_fast_forward_is_left_alone(hooked: Hooked) -> None:
    hooked.repo.git("checkout", "-q", "-b", "side")
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("checkout", "-q", "main")
    hooked.mark.unlink()
    hooked.repo.git("merge", "-q", "--ff-only", "side")
    assert hooked.starts() == ["post-merge"]
    assert not has_notes(hooked)


def test_the_commit_that_concludes_a_conflicted_merge_keeps_still(hooked: Hooked) -> None:
    make_side(hooked)
    hooked.lock_commit("version = 8\n")
    hooked.mark.unlink()
    hooked.repo.git("merge", "-q", "side", check=False)
    hooked.repo.git("checkout", "--theirs", ".")
    hooked.repo.git("add", "--all")
    hooked.repo.git("commit", "-q", "--no-edit", "-m", "merged")
    assert hooked.starts() == ["post-commit"]
    assert not has_notes(hooked)
    assert hooked.status() == ""


def test_a_squash_merge_is_recorded_as_the_commit_it_is(hooked: Hooked) -> None:
    make_side(hooked)
    hooked.repo.git("merge", "-q", "--squash", "side")
    assert hooked.commit() == ""
    assert hooked.belongs()
    assert hooked.starts() == ["post-merge", "pre-commit"]


def test_a_squash_merge_that_made_a_third_lockfile_is_recorded_anew(hooked: Hooked) -> None:
    make_side(hooked)
    hooked.repo.git("merge", "-q", "--squash", "side")
    hooked.lock("version = 10\n")
    assert hooked.commit() == ""
    assert hooked.belongs()


def test_a_bisect_keeps_the_hooks_still(hooked: Hooked) -> None:
    for number in (2, 3, 4):
        hooked.lock_commit(f"version = {number}\n")
    hooked.mark.unlink()
    hooked.repo.git("bisect", "start", "HEAD", "HEAD~3")
    hooked.lock("version = 'tried'\n")
    hooked.commit()
    hooked.repo.git("bisect", "reset")
    assert hooked.starts() == []


def test_a_bisect_in_a_linked_worktree_keeps_only_that_one_still(
    hooked: Hooked, tmp_path: Path
) -> None:
    for number in (2, 3, 4):
        hooked.lock_commit(f"version = {number}\n")
    hooked.repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = hooked.at(tmp_path / "side")
    side.repo.git("bisect", "start", "HEAD", "HEAD~3")
    hooked.mark.unlink()
    side.lock("version = 'tried'\n")
    side.commit()
    assert hooked.starts() == []
    hooked.lock_commit("version = 5\n")
    assert hooked.starts() == ["pre-commit"]


def test_stash_and_checkout_are_left_alone(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("stash", "-q")
    hooked.repo.git("stash", "pop", "-q", "--index")
    assert hooked.starts() == []
    hooked.commit()
    assert hooked.belongs()


def test_the_shims_and_python_agree_on_what_is_in_progress() -> None:
    text = (find_resource("hooks") / "parts/busy").read_text()
    (signs,) = re.findall(r"^for sign in (.*); do$", text, re.MULTILINE)
    assert tuple(signs.split()) == IN_PROGRESS


@pytest.mark.parametrize("sign", IN_PROGRESS)
def test_each_sign_of_something_in_progress_keeps_the_hook_still(hooked: Hooked, sign: str) -> None:
    hooked.lock("version = 2\n")
    hook = str(hooked.repo.path / ".git/hooks/pre-commit")
    (hooked.repo.path / ".git" / sign).mkdir()
    assert hooked.repo.run([hook]).returncode == 0
    assert hooked.starts() == []


def test_a_configured_lockfile_is_recorded_and_no_other(hooked: Hooked) -> None:
    hooked.repo.write(".envtrack/config.yaml", "lockfiles: [sub/uv.lock]\nmachine: bench\n")
    hooked.lock("version = 1\n", "sub/uv.lock")
    hooked.lock("version = 2\n")
    hooked.repo.git("commit", "-qm", "change", env={"ENVTRACK_MACHINE": ""})
    path = ".envtrack/snapshots/bench/sub/uv.lock.json"
    assert hooked.changed() == [path, "sub/uv.lock", "uv.lock"]
    assert hooked.belongs(lockfile="sub/uv.lock", path=path)


def test_a_configuration_costs_one_look_and_then_no_start_of_python(hooked: Hooked) -> None:
    hooked.repo.write(".envtrack/config.yaml", "lockfiles: ['a b/uv.lock']\n")
    hooked.repo.write("other", "1")
    hooked.repo.git("add", "--all")
    hooked.commit()
    hooked.repo.write("other", "2")
    hooked.lock("version = 2\n")
    hooked.repo.git("add", "--all")
    hooked.commit()
    assert hooked.starts() == ["pre-commit"]
    hooked.lock("version = 1\n", "a b/uv.lock")
    hooked.commit()
    assert hooked.starts() == ["pre-commit"] * 2
    assert hooked.belongs(
        lockfile="a b/uv.lock", path=".envtrack/snapshots/testbed/a b/uv.lock.json"
    )


def test_a_changed_configuration_is_looked_at_again(hooked: Hooked) -> None:
    for name in ("one/uv.lock", "two/uv.lock"):
        hooked.repo.write(".envtrack/config.yaml", f"lockfiles: [{name}]\n")
        hooked.lock("version = 1\n", name)
        hooked.commit()
        assert hooked.belongs(lockfile=name, path=f".envtrack/snapshots/testbed/{name}.json")


def test_a_configuration_that_was_not_touched_since_costs_no_look_at_all(
    hooked: Hooked, tmp_path: Path
) -> None:
    config = hooked.repo.write(".envtrack/config.yaml", "lockfiles: [one/uv.lock]\n")
    os.utime(config, (1, 1))
    hooked.lock("version = 1\n", "one/uv.lock")
    hooked.commit()
    write_script(tmp_path / "bin/cmp", f"#!/bin/sh\ntouch '{tmp_path}/compared'\nexit 1\n")
    path = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    hooked.repo.write("other", "1")
    hooked.repo.git("add", "other")
    hooked.repo.git("commit", "-qm", "change", env=path)
    assert hooked.starts() == ["pre-commit"]
    assert not (tmp_path / "compared").exists()


def test_a_configuration_of_the_same_length_and_second_is_seen_to_be_another(
    hooked: Hooked,
) -> None:
    for name in ("one/uv.lock", "two/uv.lock", "six/uv.lock"):
        config = hooked.repo.write(".envtrack/config.yaml", f"lockfiles: [{name}]\n")
        now = int(time.time())
        os.utime(config, (now, now))
        hooked.lock("version = 1\n", name)
        hooked.commit()
        assert hooked.belongs(lockfile=name, path=f".envtrack/snapshots/testbed/{name}.json")


def test_a_faulty_configuration_is_said_in_one_line_where_a_lockfile_is_staged(
    hooked: Hooked,
) -> None:
    hooked.repo.write(".envtrack/config.yaml", "lockfiles: {}\nsmoke: [\n")
    hooked.repo.write("other", "1")
    hooked.repo.git("add", "other")
    assert hooked.commit() == ""
    hooked.lock("version = 2\n")
    said = hooked.commit()
    assert said.startswith("envtrack: no record of this machine was taken: .envtrack/config.yaml:")
    assert said.count("\n") == 1


def test_a_broken_memory_is_no_hindrance(hooked: Hooked) -> None:
    folder = hooked.repo.path / ".git/envtrack/hook"
    for name in ("written.json", "pending.json", "settings.json"):
        folder.joinpath(name).write_text("{not json")
    hooked.repo.write("uv.lock", "version = 2\n")
    assert hooked.commit("uv.lock") == ""
    assert hooked.belongs()
    assert hooked.status() == ""


def test_a_failing_hook_of_others_does_not_break_a_rebase(hooked: Hooked) -> None:
    make_side(hooked)
    write_script(hooked.repo.path / ".git/hooks/post-commit.envtrack-legacy", "#!/bin/sh\nexit 7\n")
    hooked.repo.git("checkout", "-q", "side")
    hooked.repo.git("rebase", "-q", "main")
    assert not (hooked.repo.path / ".git/rebase-merge").exists()
