"""Working trees of every kind: linked, nested, sparse, shallow, partial."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked, install, write_script
from tests.situations.after import FITS, files, first, settled, version
from tests.support.repo import RepoBuilder


def link(hooked: Hooked, folder: Path, *arguments: str) -> Hooked:
    """A linked working tree on a branch of its own name."""
    hooked.repo.git("worktree", "add", "-q", *(arguments or ("-b", folder.name)), str(folder))
    return hooked.at(folder)


def clone(hooked: Hooked, folder: Path, *arguments: str) -> Hooked:
    source = hooked.repo.path.as_uri()
    subprocess.run(["git", "clone", "-q", *arguments, source, folder], check=True)
    made = hooked.at(folder)
    install(made.repo, hooked.python)
    return made


@pytest.mark.parametrize("arguments", [[], ["uv.lock"], ["--all"], ["--amend", "--all"]])
def test_a_commit_in_a_linked_worktree_holds_its_record(
    hooked: Hooked, tmp_path: Path, arguments: list[str]
) -> None:
    side = link(hooked, tmp_path / "side")
    side.repo.write("uv.lock", "version = 2\n")
    if not arguments:
        side.repo.git("add", "uv.lock")
    side.commit(*arguments)
    assert files(side) == version(2)
    settled(side, on="side")
    settled(hooked)


def test_a_linked_worktree_on_a_detached_head_is_no_different(
    hooked: Hooked, tmp_path: Path
) -> None:
    side = link(hooked, tmp_path / "side", "--detach")
    side.lock_commit("version = 2\n")
    assert files(side) == version(2)
    settled(side, on="")
    assert files(hooked) == first()
    settled(hooked)


def test_two_commits_at_once_in_two_worktrees_mix_nothing(hooked: Hooked, tmp_path: Path) -> None:
    sides = [link(hooked, tmp_path / name) for name in ("one", "two", "three")]
    for number, side in enumerate(sides, 2):
        side.lock(f"version = {number}\n")
    running = [
        subprocess.Popen(["git", "commit", "-qm", "change"], cwd=side.repo.path) for side in sides
    ]
    assert [child.wait() for child in running] == [0, 0, 0]
    for number, side in enumerate(sides, 2):
        assert files(side) == version(number)
        settled(side, on=side.repo.path.name)
    settled(hooked)


@pytest.mark.parametrize("arguments", [[], ["--all"], ["uv.lock"]])
def test_two_commits_at_once_in_one_worktree_lose_nothing(
    hooked: Hooked, arguments: list[str]
) -> None:
    hooked.lock("version = 2\n")
    command = ["git", "commit", "-qm", "change", *arguments]
    running = [
        subprocess.Popen(command, cwd=hooked.repo.path, stderr=subprocess.DEVNULL) for _ in range(2)
    ]
    # git itself lets one of them through.
    assert 0 in [child.wait() for child in running]
    assert files(hooked) == version(2)
    hooked.lock_commit("version = 3\n")
    assert files(hooked) == version(3)
    settled(hooked)


@pytest.fixture
def inner(hooked: Hooked, tmp_path: Path) -> Hooked:
    """A submodule called `inner`, in a superproject with hooks of its own."""
    outer = RepoBuilder.create(tmp_path / "outer")
    outer.git("submodule", "--quiet", "add", str(hooked.repo.path), "inner")
    install(outer, hooked.python)
    outer.commit("with a submodule")
    made = hooked.at(outer.path / "inner")
    install(made.repo, hooked.python)
    return made


def test_a_commit_in_a_submodule_holds_its_record(inner: Hooked) -> None:
    inner.lock_commit("version = 2\n")
    assert files(inner) == version(2)
    inner.repo.write("uv.lock", "version = 3\n")
    inner.commit("uv.lock")
    assert files(inner) == version(3)
    settled(inner)


def test_a_superproject_whose_submodule_moved_has_nothing_to_record(inner: Hooked) -> None:
    inner.lock_commit("version = 2\n")
    outer = inner.at(inner.repo.path.parent)
    starts = inner.starts()
    outer.commit("--all")
    assert outer.changed() == ["inner"]
    assert inner.starts() == starts
    settled(outer)


def test_a_superproject_records_its_own_lockfile_and_no_submodules(inner: Hooked) -> None:
    inner.lock_commit("version = 2\n")
    outer = inner.at(inner.repo.path.parent)
    outer.repo.git("add", "inner")
    outer.lock_commit("version = 7\n")
    assert outer.changed() == [RECORD, "inner", "uv.lock"]
    assert outer.belongs()
    settled(outer)


def test_a_commit_made_in_a_hook_of_another_repository_is_recorded(
    hooked: Hooked, tmp_path: Path
) -> None:
    other = Hooked.create(RepoBuilder.create(tmp_path / "other"), tmp_path)
    other.lock("version = 5\n")
    write_script(
        hooked.repo.path / ".git/hooks/pre-commit.envtrack-legacy",
        "#!/bin/sh\nunset $(git rev-parse --local-env-vars)\n"
        f"cd '{other.repo.path}' && git commit -qm inside\n",
    )
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    assert files(other) == {RECORD: FITS, "uv.lock": "version = 5\n"}
    settled(hooked)
    settled(other)


@pytest.mark.parametrize(
    "pattern", [["--no-cone", "/sub/"], ["--cone", "sub"], ["--cone", "--sparse-index", "sub"]]
)
def test_a_sparse_checkout_without_our_folder_records_and_stays_clean(
    hooked: Hooked, pattern: list[str]
) -> None:
    hooked.lock_commit("version = 1\n", "sub/uv.lock")
    hooked.repo.write("deep/er/x", "x")
    hooked.repo.git("add", "deep")
    hooked.commit()
    hooked.repo.git("sparse-checkout", "set", *pattern)
    assert not (hooked.repo.path / RECORD).exists()
    record = ".envtrack/snapshots/testbed/sub/uv.lock.json"
    expected = first(**{"deep/er/x": "x", record: FITS})
    hooked.lock("version = 2\n", "sub/uv.lock")
    hooked.commit()
    assert files(hooked) == expected | {"sub/uv.lock": "version = 2\n"}
    settled(hooked)
    hooked.repo.write("sub/uv.lock", "version = 3\n")
    hooked.commit("sub/uv.lock")
    assert files(hooked) == expected | {"sub/uv.lock": "version = 3\n"}
    settled(hooked)
    hooked.repo.git("sparse-checkout", "disable")
    settled(hooked)


def test_a_shallow_clone_is_no_hindrance(hooked: Hooked, tmp_path: Path) -> None:
    hooked.lock_commit("version = 2\n")
    shallow = clone(hooked, tmp_path / "shallow", "--depth=1")
    shallow.repo.write("uv.lock", "version = 3\n")
    assert shallow.commit("uv.lock") == ""
    assert files(shallow) == version(3)
    settled(shallow)
    shallow.repo.write("uv.lock", "version = 4\n")
    shallow.commit("--all", "--amend")
    assert files(shallow) == version(4)
    settled(shallow)


def test_a_partial_clone_fetches_nothing(hooked: Hooked, tmp_path: Path) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("config", "uploadpack.allowFilter", "true")
    part = clone(hooked, tmp_path / "part", "--filter=blob:none")
    spy = write_script(tmp_path / "spy", f"#!/bin/sh\ntouch '{tmp_path}/fetched'\nexit 1\n")
    part.repo.git("config", "remote.origin.uploadpack", str(spy))
    part.lock("version = 3\n")
    assert part.commit() == ""
    assert files(part) == version(3)
    settled(part)
    assert not (tmp_path / "fetched").exists()
    assert part.repo.run(["git", "show", f"HEAD~2:{RECORD}"], check=False).returncode != 0
    assert (tmp_path / "fetched").exists()
