"""What the shim starts: an interpreter at an odd path, one that is gone, broken, or not alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from git import Repo

from tests.record.hooked import RECORD, Hooked, make_python, write_script
from tests.situations.after import FITS, OTHER, files, settled, version
from tests.situations.test_surroundings import NOT_RECORDED, WARNING, is_one_warning
from tests.support.repo import RepoBuilder


def test_the_interpreter_may_have_an_odd_path(repo: RepoBuilder, tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s "so" $HOME `odd` \\ é\udcff' / "venv"
    odd.mkdir(parents=True)
    hooked = Hooked.create(repo, odd)
    hooked.lock_commit("version = 1\n")
    assert files(hooked) == {RECORD: FITS, "uv.lock": "version = 1\n"}
    settled(hooked)


def test_a_module_in_the_repository_stands_in_for_none_of_ours(hooked: Hooked) -> None:
    hooked.repo.write("envtrack/__init__.py", "raise SystemExit('hijacked')")
    hooked.repo.write("json.py", "raise SystemExit('hijacked')")
    hooked.lock("version = 2\n")
    assert hooked.commit() == ""
    assert files(hooked) == version(2)
    settled(hooked, status="?? envtrack/\n?? json.py")


def test_without_its_interpreter_the_hook_takes_the_envtrack_on_the_path(
    hooked: Hooked, tmp_path: Path
) -> None:
    python = make_python(tmp_path / "another", hooked.mark)
    hooked.python.unlink()
    write_script(
        tmp_path / "bin/envtrack",
        f"#!/bin/sh\nshift 2\nexec '{python}' -P -m envtrack.record.hook \"$@\"\n",
    )
    hooked.lock("version = 2\n")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    hooked.repo.git("commit", "-qm", "change", env={"PATH": path})
    assert files(hooked) == version(2)
    settled(hooked)


def test_an_interpreter_without_envtrack_is_said_in_one_line(hooked: Hooked) -> None:
    write_script(
        hooked.python, "#!/bin/sh\necho one >&2\necho No module named envtrack >&2\nexit 1"
    )
    hooked.lock("version = 2\n")
    assert hooked.commit() == f"{WARNING}No module named envtrack\n"
    assert files(hooked) == version(2, **NOT_RECORDED)
    settled(hooked)


def test_an_interpreter_that_dies_silently_is_still_said(hooked: Hooked) -> None:
    write_script(hooked.python, "#!/bin/sh\nkill -9 $$\n")
    hooked.lock("version = 2\n")
    assert is_one_warning(hooked.commit())
    assert files(hooked) == version(2, **NOT_RECORDED)
    settled(hooked)


def test_a_machine_name_that_cannot_be_one_is_said(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    done = hooked.repo.run(
        ["git", "commit", "-qm", "change"], env={"ENVTRACK_MACHINE": "../../etc"}
    )
    assert is_one_warning(done.stderr)
    assert files(hooked) == version(2, **NOT_RECORDED)
    settled(hooked)


def test_a_commit_that_a_library_makes_of_its_own_index_goes_through(
    hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GitPython reads no ISO date from these.
    monkeypatch.delenv("GIT_AUTHOR_DATE")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    hooked.lock("version = 2\n")
    Repo(hooked.repo.path).index.commit("through a library")
    found = files(hooked)
    assert found.pop(RECORD) in {FITS, OTHER}
    assert found == {"README": "words\n", "uv.lock": "version = 2\n"}


def test_a_record_says_nothing_of_the_hook_in_which_it_was_taken(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    assert not any("GIT_" in name for name in hooked.record()["facts"])


@pytest.mark.parametrize("shell", ["bash", "bash --posix", "dash", "busybox sh"])
def test_the_shims_run_under_other_shells(hooked: Hooked, shell: str) -> None:
    program = shell.split(maxsplit=1)[0]
    if hooked.repo.run(["sh", "-c", f"command -v {program}"], check=False).returncode != 0:
        pytest.skip(f"no {program} here")
    for hook in (hooked.repo.path / ".git/hooks").iterdir():
        if "envtrack-hook" in hook.read_text():
            text = hook.read_text().replace("#!/bin/sh", f"#!/usr/bin/env -S {shell}", 1)
            write_script(hook, text)
    hooked.repo.write("uv.lock", "version = 2\n")
    assert hooked.commit("uv.lock") == ""
    assert files(hooked) == version(2)
    settled(hooked)
