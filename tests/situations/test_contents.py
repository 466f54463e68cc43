"""Line ends, filters, attributes: the record names the blob, and is stored as it is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from envtrack.git.repository import open_repository
from envtrack.record.setting_up import write_attributes
from tests.record.hooked import RECORD, Hooked, install, write_script
from tests.situations.after import FITS, files, first, settled, version
from tests.support.repo import RepoBuilder


def stored(hooked: Hooked) -> bytes:
    """The record of the last commit, byte for byte."""
    done = subprocess.run(
        ["git", "cat-file", "blob", f"HEAD:{RECORD}"],
        cwd=hooked.repo.path,
        capture_output=True,
        check=True,
    )
    return done.stdout


def attribute(hooked: Hooked, text: str) -> dict[str, str]:
    hooked.repo.write(".gitattributes", text)
    hooked.repo.git("add", ".gitattributes")
    hooked.commit()
    return {".gitattributes": text}


@pytest.mark.parametrize("value", ["true", "input", "false"])
def test_a_lockfile_with_windows_line_ends_is_recorded(hooked: Hooked, value: str) -> None:
    hooked.repo.git("config", "core.autocrlf", value)
    hooked.repo.git("config", "core.safecrlf", "false")
    (hooked.repo.path / "uv.lock").write_bytes(b"version = 2\r\n")
    hooked.repo.git("add", "uv.lock")
    hooked.commit()
    assert hooked.belongs()
    assert b"\r" not in stored(hooked)
    settled(hooked)
    (hooked.repo.path / "uv.lock").write_bytes(b"version = 3\r\n")
    hooked.commit("uv.lock")
    assert hooked.belongs()
    settled(hooked)


def test_a_checkout_with_windows_line_ends_is_recorded_as_ever(
    hooked: Hooked, tmp_path: Path
) -> None:
    subprocess.run(
        ["git", "clone", "-q", "-c", "core.autocrlf=true", hooked.repo.path, tmp_path / "clone"],
        check=True,
    )
    clone = hooked.at(tmp_path / "clone")
    install(clone.repo, hooked.python)
    assert b"\r\n" in (clone.repo.path / RECORD).read_bytes()
    clone.repo.write("uv.lock", "version = 2\r\n")
    assert clone.commit("--all") == ""
    assert files(clone) == version(2)
    settled(clone)


@pytest.mark.parametrize(
    "attributes",
    [
        "* text=auto eol=crlf\n",
        "*.json text eol=crlf\n",
        "* -text\n",
        "*.json binary\n",
        "* ident\n",
        "* -diff merge=union\n",
        "* export-ignore\n",
    ],
)
def test_attributes_change_neither_the_record_nor_the_status(
    hooked: Hooked, attributes: str
) -> None:
    added = attribute(hooked, attributes)
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2, **added)
    assert b"\r" not in stored(hooked)
    settled(hooked)
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit("uv.lock")
    assert files(hooked) == version(3, **added)
    settled(hooked)


@pytest.mark.parametrize("arguments", [[], ["--all"], ["uv.lock"]])
def test_a_filter_on_the_lockfile_does_not_hide_its_blob(
    hooked: Hooked, arguments: list[str]
) -> None:
    hooked.repo.git("config", "filter.upper.clean", "tr a-z A-Z")
    hooked.repo.git("config", "filter.upper.smudge", "tr A-Z a-z")
    added = attribute(hooked, "uv.lock filter=upper -diff binary\n")
    hooked.repo.write("uv.lock", "version = 2\n")
    if not arguments:
        hooked.repo.git("add", "uv.lock")
    hooked.commit(*arguments)
    assert files(hooked) == first(**added, **{"uv.lock": "VERSION = 2\n"})
    settled(hooked)


def test_a_lockfile_kept_as_a_pointer_is_recorded_by_its_pointer(
    hooked: Hooked, tmp_path: Path
) -> None:
    # As git-lfs does it: the blob is a pointer, and the content lies elsewhere.
    clean = write_script(
        tmp_path / "clean", f'#!/bin/sh\ntee "{tmp_path}/kept" | sha1sum | sed "s/^/oid /"\n'
    )
    hooked.repo.git("config", "filter.lfs.clean", str(clean))
    hooked.repo.git("config", "filter.lfs.smudge", f"cat >/dev/null; cat {tmp_path}/kept")
    hooked.repo.git("config", "filter.lfs.required", "true")
    attribute(hooked, "*.lock filter=lfs diff=lfs merge=lfs -text\n")
    hooked.lock_commit("version = 2\n")
    assert hooked.belongs()
    assert hooked.repo.git("show", "HEAD:uv.lock").startswith("oid ")
    assert hooked.changed() == [RECORD, "uv.lock"]
    settled(hooked)


@pytest.mark.parametrize("rule", ["filter=upper", "working-tree-encoding=UTF-16"])
def test_init_keeps_filters_of_the_repository_away_from_records(
    hooked: Hooked, tmp_path: Path, rule: str
) -> None:
    hooked.repo.git("config", "filter.upper.clean", "tr a-z A-Z")
    hooked.repo.git("config", "filter.upper.smudge", "tr A-Z a-z")
    hooked.repo.write(".gitattributes", f"*.json {rule}\n")
    write_attributes(open_repository(hooked.repo.path, dict(os.environ)))
    hooked.lock("version = 2\n")
    hooked.repo.git("add", "--all")
    hooked.commit()
    assert hooked.belongs()
    settled(hooked)
    hooked.repo.write("uv.lock", "version = 3\n")
    hooked.commit("uv.lock")
    assert hooked.belongs()
    settled(hooked)
    subprocess.run(["git", "clone", "-q", hooked.repo.path, tmp_path / "clone"], check=True)
    assert (tmp_path / "clone" / RECORD).read_bytes() == stored(hooked)


def test_an_external_diff_and_a_text_conversion_are_not_started(
    hooked: Hooked, tmp_path: Path
) -> None:
    spy = write_script(tmp_path / "spy", f"#!/bin/sh\ntouch '{tmp_path}/spied'\n")
    hooked.repo.git("config", "diff.external", str(spy))
    hooked.repo.git("config", "diff.lock.textconv", str(spy))
    hooked.repo.git("config", "diff.relative", "true")
    hooked.repo.git("config", "diff.renames", "copies")
    hooked.repo.git("config", "status.renames", "copies")
    hooked.repo.git("config", "diff.noprefix", "true")
    added = attribute(hooked, "uv.lock diff=lock\n")
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2, **added)
    assert not (tmp_path / "spied").exists()
    settled(hooked)


SETTINGS = {
    "the index": "core.splitIndex=true core.untrackedCache=true index.version=4",
    "the files": "core.checkStat=minimal core.sharedRepository=group core.bigFileThreshold=1",
    "the names": "core.ignoreCase=true core.precomposeUnicode=true core.quotePath=false",
    "what is shown": "color.ui=always core.pager=false commit.verbose=true commit.cleanup=scissors",
    "the history": "core.logAllRefUpdates=false gc.auto=1 core.useReplaceRefs=false",
}


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_of_the_users_are_no_hindrance(hooked: Hooked, settings: str) -> None:
    for setting in SETTINGS[settings].split():
        hooked.repo.git("config", *setting.split("="))
    hooked.lock_commit("version = 2\n")
    assert files(hooked) == version(2)
    hooked.repo.write("uv.lock", "version = 3\n")
    assert hooked.commit("uv.lock") == ""
    assert files(hooked) == version(3)
    settled(hooked)


def test_an_object_format_of_longer_names_is_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.mkdir()
    repo = RepoBuilder(path)
    repo.git("init", "-q", "--object-format=sha256")
    hooked = Hooked.create(repo, tmp_path)
    hooked.lock_commit("version = 1\n")
    repo.write("uv.lock", "version = 2\n")
    hooked.commit("uv.lock")
    assert files(hooked) == {RECORD: FITS, "uv.lock": "version = 2\n"}
    repo.git("rm", "-q", "uv.lock")
    hooked.commit()
    assert files(hooked) == {}
    settled(hooked)


def test_literal_pathspecs_hide_no_lockfile(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    hooked.repo.git("--literal-pathspecs", "commit", "-qm", "change")
    assert files(hooked) == version(2)
    settled(hooked)


def test_git_replace_and_grafts_change_no_blob_that_is_recorded(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.repo.git("replace", "HEAD", "HEAD~1")
    hooked.lock_commit("version = 3\n")
    assert hooked.repo.git("--no-replace-objects", "show", "HEAD:uv.lock") == "version = 3"
    assert files(hooked) == version(3)
    settled(hooked)
