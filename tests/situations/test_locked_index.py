"""An index that another program holds: waited for, and made good later if need be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.record.hooked import RECORD, Hooked, make_python, write_script
from tests.situations.after import files, settled, version
from tests.situations.test_surroundings import is_one_warning


def test_an_index_that_another_program_locks_lets_the_commit_through(hooked: Hooked) -> None:
    hooks = hooked.repo.path / ".git/hooks"
    write_script(hooks / "pre-commit.envtrack-legacy", "#!/bin/sh\ntouch .git/index.lock\n")
    write_script(hooks / "commit-msg", "#!/bin/sh\nrm -f .git/index.lock\n")
    hooked.lock("version = 2\n")
    assert is_one_warning(hooked.commit())
    assert hooked.changed() == ["uv.lock"]
    (hooks / "pre-commit.envtrack-legacy").unlink()
    hooked.lock_commit("version = 3\n")
    assert files(hooked) == version(3)
    settled(hooked)


@pytest.mark.parametrize("is_another_path_first", [False, True])
def test_an_index_that_is_locked_after_commit_path_is_squared_by_the_next_commit(
    hooked: Hooked, *, is_another_path_first: bool
) -> None:
    hooks = hooked.repo.path / ".git/hooks"
    legacy = write_script(
        hooks / "post-commit.envtrack-legacy", "#!/bin/sh\ntouch .git/index.lock\n"
    )
    hooked.repo.write("uv.lock", "version = 2\n")
    said = hooked.commit("uv.lock")
    assert "the index was not squared with the new record" in said
    (hooked.repo.path / ".git/index.lock").unlink()
    legacy.unlink()
    assert files(hooked) == version(2)
    if is_another_path_first:
        hooked.repo.write("README", "more\n")
        hooked.commit("README")
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit()
    assert files(hooked)["other"] == "words\n"
    assert hooked.belongs()
    settled(hooked)


def test_an_index_that_nobody_squared_is_squared_by_the_next_commit(hooked: Hooked) -> None:
    hook = hooked.repo.path / ".git/hooks/post-commit"
    hook.rename(hook.with_name("away"))
    hooked.repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    hook.with_name("away").rename(hook)
    assert hooked.status() == f"MM {RECORD}"
    hooked.repo.write("other", "words\n")
    hooked.repo.git("add", "other")
    hooked.commit()
    assert files(hooked) == version(2, other="words\n")
    settled(hooked)


def test_an_index_that_is_locked_for_a_moment_is_waited_for(hooked: Hooked, tmp_path: Path) -> None:
    git = shutil.which("git")
    write_script(
        tmp_path / "held/git",
        f'#!/bin/sh\n[ "$1" = update-index ] && [ ! -e "{tmp_path}/tried" ] || '
        f'{{ rm -f .git/index.lock; exec {git} "$@"; }}\n'
        f'touch "{tmp_path}/tried" .git/index.lock\nexec {git} "$@"\n',
    )
    make_python(hooked.python, hooked.mark, before=f"PATH={tmp_path}/held:$PATH")
    hooked.lock("version = 2\n")
    assert hooked.commit() == ""
    assert (tmp_path / "tried").exists()
    assert files(hooked) == version(2)
    settled(hooked)


def test_git_is_asked_without_taking_optional_locks(hooked: Hooked, tmp_path: Path) -> None:
    git = shutil.which("git")
    write_script(
        tmp_path / "seen/git",
        f'#!/bin/sh\necho "${{GIT_OPTIONAL_LOCKS-unset}}" >>"{tmp_path}/locks"\nexec {git} "$@"\n',
    )
    make_python(hooked.python, hooked.mark, before=f"PATH={tmp_path}/seen:$PATH")
    hooked.lock_commit("version = 2\n")
    assert set((tmp_path / "locks").read_text().split()) == {"0"}
