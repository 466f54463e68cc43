"""pre-push: the commits that the other side does not have yet, judged by the policy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envtrack.git.hooks import install_hooks
from envtrack.git.repository import open_repository
from tests.lockfiles.texts import HEAD, pinned, project
from tests.record.hooked import Hooked, write_script
from tests.support.repo import RepoBuilder

POLICY = ".envtrack/policies/ours.yaml"
OFF = {"ENVTRACK_HOOK": "off"}


def lock(wick: str, flint: str) -> str:
    return HEAD + "\n".join(
        [project("wick", "flint"), pinned("wick", wick), pinned("flint", flint)]
    )


@pytest.fixture
def pushing(hooked: Hooked, tmp_path: Path) -> Hooked:
    """A repository with a policy, a remote that has its `main`, and the hook that judges pushes."""
    hooked.repo.write(".envtrack/config.yaml", "layers: {framework: [wick]}\n")
    hooked.repo.write(POLICY, "kind: UpgradePolicy\nrules: {record: {level: off}}\n")
    commit(hooked, "1", "1")
    remote = RepoBuilder.create(tmp_path / "remote")
    remote.git("config", "core.bare", "true")
    hooked.repo.git("remote", "add", "origin", str(remote.path / ".git"))
    hooked.repo.git("push", "-q", "origin", "main")
    install_hooks(
        open_repository(hooked.repo.path, dict(os.environ)),
        interpreter=str(hooked.python),
        with_push=True,
    )
    hooked.mark.unlink(missing_ok=True)
    return hooked


def commit(hooked: Hooked, wick: str, flint: str) -> None:
    """A commit that no hook of ours looked at."""
    hooked.lock(lock(wick, flint))
    hooked.repo.git("add", "--all")
    hooked.repo.git("commit", "-q", "-m", f"{wick} {flint}", env=OFF)


def push(hooked: Hooked, *arguments: str) -> tuple[int, str]:
    done = hooked.repo.run(["git", "push", "-q", *(arguments or ("origin", "main"))], check=False)
    return done.returncode, done.stderr


def remote_has(hooked: Hooked, name: str = "main") -> str:
    return hooked.repo.git("ls-remote", "origin", f"refs/heads/{name}").split("\t")[0]


def test_a_push_that_breaks_a_rule_is_stopped_and_the_commit_named(pushing: Hooked) -> None:
    commit(pushing, "2", "1")
    before = remote_has(pushing)
    commit(pushing, "3", "2")
    code, said = push(pushing)
    assert code == 1
    assert pushing.repo.head()[:10] in said
    assert "2 layers move, 1 may" in said
    assert remote_has(pushing) == before


def test_a_push_that_keeps_the_rules_passes_in_silence(pushing: Hooked) -> None:
    commit(pushing, "2", "1")
    commit(pushing, "2", "2")
    assert push(pushing) == (0, "")
    assert remote_has(pushing) == pushing.repo.head()
    assert pushing.starts() == ["pre-push"]


def test_what_only_warns_passes(pushing: Hooked) -> None:
    pushing.repo.write(POLICY, "kind: UpgradePolicy\nrules: {one-layer: {level: warn}}\n")
    commit(pushing, "1", "1")
    assert push(pushing)[0] == 0
    commit(pushing, "2", "2")
    code, said = push(pushing)
    assert code == 0
    assert "warn  one-layer" in said


def test_a_push_without_a_lockfile_starts_no_python(pushing: Hooked) -> None:
    pushing.repo.git("commit", "-q", "--allow-empty", "-m", "words")
    assert push(pushing) == (0, "")
    assert pushing.starts() == []


def test_a_new_branch_is_judged_from_where_it_left(pushing: Hooked) -> None:
    pushing.repo.git("switch", "-q", "-c", "topic")
    commit(pushing, "2", "2")
    assert push(pushing, "origin", "topic")[0] == 1
    pushing.repo.git("reset", "-q", "--hard", "main")
    commit(pushing, "2", "1")
    assert push(pushing, "origin", "topic") == (0, "")


def test_what_is_there_on_another_branch_is_not_judged_again(pushing: Hooked) -> None:
    commit(pushing, "2", "2")
    assert push(pushing, "--no-verify", "origin", "main:old")[0] == 0
    assert push(pushing) == (0, "")
    assert pushing.starts() == []


def test_all_refs_of_a_push_are_looked_at(pushing: Hooked) -> None:
    pushing.repo.git("switch", "-q", "-c", "bad")
    commit(pushing, "2", "2")
    pushing.repo.git("switch", "-q", "main", env=OFF)
    pushing.repo.git("tag", "v1", "bad")
    assert push(pushing, "origin", "main", "v1")[0] == 1
    assert push(pushing, "origin", "main", "main:good")[0] == 0


def test_a_branch_that_is_deleted_is_no_business(pushing: Hooked) -> None:
    push(pushing, "origin", "main:gone")
    assert push(pushing, "origin", ":gone") == (0, "")
    assert pushing.starts() == []


def test_a_push_over_what_is_not_here_is_judged(pushing: Hooked, tmp_path: Path) -> None:
    pushing.repo.git("clone", "-q", str(tmp_path / "remote/.git"), str(tmp_path / "other"))
    other = RepoBuilder(tmp_path / "other")
    other.commit("theirs")
    other.git("push", "-q", "origin", "main")
    commit(pushing, "2", "2")
    assert push(pushing, "--force", "origin", "main")[0] == 1


def test_a_remote_without_a_name_is_judged_too(pushing: Hooked, tmp_path: Path) -> None:
    address = str(tmp_path / "remote/.git")
    commit(pushing, "2", "1")
    assert push(pushing, address, "main") == (0, "")
    commit(pushing, "3", "2")
    assert push(pushing, address, "main:other")[0] == 1


def test_a_push_does_not_loosen_its_own_rules(pushing: Hooked) -> None:
    pushing.repo.write(POLICY, "kind: UpgradePolicy\nrules: {one-layer: {level: off}}\n")
    commit(pushing, "2", "2")
    assert push(pushing)[0] == 1


def test_a_first_push_to_an_empty_remote_is_judged_by_its_own_rules(
    pushing: Hooked, tmp_path: Path
) -> None:
    RepoBuilder.create(tmp_path / "empty")
    pushing.repo.git("remote", "add", "fresh", str(tmp_path / "empty/.git"))
    commit(pushing, "2", "2")
    assert push(pushing, "fresh", "main:first")[0] == 1


def test_a_policy_that_can_not_be_read_stops_the_push(pushing: Hooked) -> None:
    pushing.repo.write(POLICY, "kind: UpgradePolicy\nrules: {nonsense: {}}\n")
    commit(pushing, "1", "1")
    push(pushing, "--no-verify", "origin", "main")
    commit(pushing, "2", "1")
    code, said = push(pushing)
    assert code == 1
    assert "rules.nonsense: unknown key" in said


def test_a_fault_of_ours_lets_the_push_through_and_says_so(pushing: Hooked) -> None:
    write_script(pushing.python, "#!/bin/sh\necho Traceback >&2\necho 'Error: no' >&2\nexit 1\n")
    commit(pushing, "2", "2")
    assert push(pushing) == (0, "envtrack: what is pushed was not looked at: Error: no\n")


def test_a_lockfile_that_can_not_be_read_stops_the_push(pushing: Hooked) -> None:
    pushing.lock("version = 99\n")
    pushing.repo.git("commit", "-qm", "newer", env=OFF)
    code, said = push(pushing)
    assert code == 1
    assert "uv.lock" in said


def test_the_hook_from_before_is_sent_what_git_sends_and_may_stop_it(
    pushing: Hooked, tmp_path: Path
) -> None:
    hook = pushing.repo.path / ".git/hooks/pre-push.envtrack-legacy"
    write_script(
        hook, f"#!/bin/sh\ncat >'{tmp_path}/in'\nprintf '%s\\n' \"$@\" >'{tmp_path}/args'\nexit 5\n"
    )
    commit(pushing, "2", "1")
    before = remote_has(pushing)
    assert push(pushing)[0] == 1
    assert (tmp_path / "in").read_text() == (
        f"refs/heads/main {pushing.repo.head()} refs/heads/main {before}\n"
    )
    assert (tmp_path / "args").read_text() == f"origin\n{tmp_path}/remote/.git\n"
    assert pushing.starts() == []
