from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.lab import Lab
from tests.lockfiles.samples import SAMPLES
from tests.lockfiles.texts import HEAD, project
from tests.support.repo import UV

MOVED = """\
packages  2 changes, 1 root, 1 forced
  wick   1.0 → 1.1  upgraded  root
  flint  1.5 → 2.0  upgraded  forced by wick

1 layer differs: packages
"""


def upgrade(lab: Lab) -> None:
    lab.lock("wick")
    lab.repo.commit("two")


def test_two_revisions_are_compared_by_their_locks(lab: Lab) -> None:
    lab.record(kernel_release="6.8.0")
    lab.repo.commit("record one")
    lab.lock("wick")
    lab.record(kernel_release="6.11.0", driver_nvidia="560")
    lab.repo.commit("two")
    done = lab.run("diff", "HEAD~1", "HEAD")
    assert done.code == 0
    assert done.err == ""
    assert (
        done.out
        == f"""\
HEAD~1 ({lab.short("HEAD~1")}) → HEAD ({lab.short()})

kernel  1 change
  kernel.release  6.8.0 → 6.11.0  upgraded

packages  2 changes, 1 root, 1 forced
  wick            1.0 → 1.1       upgraded  root
  flint           1.5 → 2.0       upgraded  forced by wick

2 layers differ: kernel, packages
note: driver: not recorded in the older snapshot
"""
    )


def test_a_revision_without_a_record_is_a_note_and_no_error(lab: Lab) -> None:
    upgrade(lab)
    done = lab.run("diff", "HEAD~1", "HEAD")
    assert (done.code, done.err) == (0, "")
    before, after = f"HEAD~1 ({lab.short('HEAD~1')})", f"HEAD ({lab.short()})"
    assert (
        done.out
        == f"""\
{before} → {after}

{MOVED}note: {before}: not recorded here for testbed
note: {after}: not recorded here for testbed
note: only packages are compared: facts need a snapshot on both sides
"""
    )


def test_a_record_of_another_lockfile_counts_as_not_recorded(lab: Lab) -> None:
    lab.record(kernel_release="6.8.0")
    lab.repo.commit("record one")
    upgrade(lab)
    notes = lab.run_json("diff", "HEAD~1", "HEAD")["notes"]
    assert notes[0] == (
        f"HEAD ({lab.short()}): not recorded here for testbed: the record there, of "
        "2026-01-02T03:04:05Z, was taken with another uv.lock"
    )


def test_without_arguments_the_last_record_is_compared_with_now(lab: Lab) -> None:
    assert lab.run("snapshot", "--save").code == 0
    lab.repo.commit("record")
    assert (
        lab.run("diff").out
        == f"""\
HEAD ({lab.short()}) → now (testbed)

nothing differs in what could be compared
note: now (testbed): no environment beside uv.lock: nothing installed is seen
"""
    )


def test_without_a_record_of_head_the_newest_one_counts(lab: Lab) -> None:
    lab.run("snapshot", "--save")
    recorded = lab.repo.commit("record")[:10]
    upgrade(lab)
    document = lab.run_json("diff")
    assert document["before"] == recorded
    assert [c["name"] for c in document["changes"]] == ["wick", "flint"]
    assert document["notes"][0] == (
        f"HEAD ({lab.short()}): not recorded here for testbed; {recorded} is the last"
    )


def test_nothing_recorded_at_all_compares_the_lockfile_of_head(lab: Lab) -> None:
    lab.lock("wick")
    done = lab.run("diff")
    assert done.code == 0
    assert MOVED in done.out


def test_installed_other_than_locked_is_a_note(lab: Lab) -> None:
    lab.sync()
    lab.lock("wick")
    notes = lab.run_json("diff", "HEAD")["notes"]
    assert (
        "now (testbed): installed is not what is locked: flint 1.5 (locked: 2.0), "
        "wick 1.0 (locked: 1.1)"
    ) in notes
    lab.sync()
    assert not any("installed" in note for note in lab.run_json("diff", "HEAD")["notes"])


def test_another_machines_record_is_taken_by_its_name(lab: Lab) -> None:
    lab.record("testbed", kernel_release="6.8.0")
    lab.record("box", kernel_release="5.15.0")
    lab.repo.commit("records")
    (change,) = lab.run_json("diff", "HEAD@box", "HEAD")["apart"]
    assert (change["name"], change["before"], change["after"]) == (
        "kernel.release",
        "5.15.0",
        "6.8.0",
    )
    assert lab.run_json("diff", "HEAD", "HEAD", "--machine", "box")["changes"] == []


def test_a_missing_machine_says_which_there_are(lab: Lab) -> None:
    lab.record("box")
    head = lab.repo.commit("records")[:10]
    notes = lab.run_json("diff", "HEAD@cluster", "HEAD@box")["notes"]
    assert notes[0] == (
        f"HEAD@cluster ({head}): not recorded here for cluster; recorded for box (HEAD@box)"
    )


def test_gits_own_at_signs_are_gits(lab: Lab) -> None:
    upgrade(lab)
    document = lab.run_json("diff", "@{1}", "@")
    assert [c["name"] for c in document["changes"]] == ["wick", "flint"]
    assert lab.run("diff", "HEAD@{99}", "HEAD").code == 2


def test_two_snapshot_files_need_no_repository(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("a", "1.0"), ("b", "1.1")):
        lab.record(name, installed={"wick": version})
        (lab.repo.path / f".envtrack/snapshots/{name}/uv.lock.json").rename(
            tmp_path / f"{name}.json"
        )
    monkeypatch.chdir(tmp_path)
    done = lab.run("diff", "a.json", "b.json")
    assert done.code == 0
    assert (
        done.out
        == """\
a.json → b.json

packages  1 change
  wick  1.0 → 1.1  upgraded

1 layer differs: packages
"""
    )


def test_two_lockfiles_are_compared_without_facts(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "old.lock").write_text((lab.repo.path / "uv.lock").read_text())
    lab.lock("wick")
    document = lab.run_json("diff", str(tmp_path / "old.lock"), "uv.lock")
    assert [c["name"] for c in document["changes"]] == ["wick", "flint"]
    assert document["notes"] == []


def test_a_lockfile_and_a_snapshot_have_nothing_in_common(lab: Lab) -> None:
    lab.record("box")
    done = lab.run("diff", "uv.lock", ".envtrack/snapshots/box/uv.lock.json")
    assert "packages are not compared: that needs two lockfiles or two snapshots" in done.out


def test_a_lockfile_missing_on_one_side_counts_as_empty(empty_lab: Lab) -> None:
    empty_lab.repo.commit("nothing")
    empty_lab.lock("wick<1.1")
    empty_lab.repo.commit("one")
    document = empty_lab.run_json("diff", "HEAD~1", "HEAD")
    assert {c["kind"] for c in document["changes"]} == {"added"}
    first = f"HEAD~1 ({empty_lab.short('HEAD~1')})"
    assert f"{first}: there is no lockfile; it is compared as empty" in document["notes"]


def test_a_lockfile_missing_on_both_sides_is_an_error(empty_lab: Lab) -> None:
    empty_lab.repo.commit("nothing")
    empty_lab.repo.commit("nothing again")
    empty_lab.lock("wick<1.1")
    empty_lab.repo.commit("one")
    done = empty_lab.run("diff", "HEAD~2", "HEAD~1")
    assert done.code == 2
    assert done.err.startswith("envtrack: neither HEAD~2 (")


def test_exit_code_says_whether_something_differs(lab: Lab) -> None:
    upgrade(lab)
    assert lab.run("diff", "--exit-code", "HEAD~1", "HEAD").code == 1
    assert lab.run("diff", "--exit-code", "HEAD", "HEAD").code == 0
    assert lab.run("diff", "--exit-code", "--layer", "driver", "HEAD~1", "HEAD").code == 0


def test_an_unknown_layer_lists_the_layers(lab: Lab) -> None:
    done = lab.run("diff", "--layer", "cellar")
    assert done.code == 2
    assert "cuda-runtime" in done.err


@pytest.mark.parametrize(
    ("operand", "said"),
    [
        ("nosuch", "envtrack: `nosuch` names no commit in this repository\n"),
        ("no.json", "envtrack: no.json: there is no such file, and it names no commit\n"),
        ("no/uv.lock", "envtrack: no/uv.lock: there is no such file, and it names no commit\n"),
        (
            "v1..v2",
            "envtrack: `v1..v2` is a range, and two ends are compared\n  `envtrack diff v1 v2`\n",
        ),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_2(lab: Lab, operand: str, said: str) -> None:
    done = lab.run("diff", operand)
    assert done.code == 2
    assert done.err.startswith(said)
    assert done.out == ""


def test_conflict_markers_are_named_with_their_line(lab: Lab) -> None:
    text = (lab.repo.path / "uv.lock").read_text()
    lab.repo.write("uv.lock", f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n")
    done = lab.run("diff", "HEAD")
    assert done.code == 2
    assert done.err.startswith("envtrack: uv.lock:1: ")
    lab.repo.commit("oops")
    assert lab.run("diff", "HEAD", "HEAD~1").err.startswith("envtrack: HEAD:uv.lock:1: ")


def test_a_lockfile_that_is_no_text_is_named_with_its_line(lab: Lab) -> None:
    (lab.repo.path / "uv.lock").write_bytes(b"version = 1\nx = \xff\n")
    done = lab.run("diff", "HEAD")
    assert (done.code, done.err) == (2, "envtrack: uv.lock:2: not UTF-8\n")


def test_a_broken_snapshot_file_is_one_line(lab: Lab) -> None:
    lab.repo.write("a.json", "{")
    done = lab.run("diff", "a.json", "HEAD")
    assert done.code == 2
    assert done.err.startswith("envtrack: a.json:1: not JSON")


def test_the_result_goes_to_a_file_whole(lab: Lab) -> None:
    upgrade(lab)
    done = lab.run("diff", "HEAD~1", "HEAD", "-f", "json", "-o", "out/result.json")
    assert done.out == ""
    assert done.err == "envtrack: written to out/result.json\n"
    document = json.loads((lab.repo.path / "out/result.json").read_text())
    assert document["kind"] == "comparison"


def test_nothing_of_the_users_moves(lab: Lab) -> None:
    upgrade(lab)
    lab.lock("wick<1.1")
    before = lab.repo.state()
    lab.run("diff")
    lab.run("diff", "HEAD~1", "now")
    assert lab.repo.state() == before


def test_the_pythons_that_a_lock_is_for_are_a_layer(lab: Lab) -> None:
    project = lab.repo.path / "pyproject.toml"
    project.write_text(project.read_text().replace(">=3.11", ">=3.12"))
    lab.lock("wick<1.1")
    path = lab.repo.path / "uv.lock"
    path.write_text(
        path.read_text().replace('requires-python = ">=3.11"', 'requires-python = ">=3.12"')
    )
    lab.repo.commit("two")
    assert (
        "requires-python  >=3.11 → >=3.12"
        in lab.run("diff", "HEAD~1", "HEAD", "--only", "python").out
    )


def test_only_some_packages(lab: Lab) -> None:
    upgrade(lab)
    told = lab.run_json("diff", "HEAD~1", "HEAD", "--package", "fl*")
    assert [change["name"] for change in told["changes"]] == ["flint"]
    assert lab.run("diff", "HEAD~1", "HEAD", "--package", "numpy", "--exit-code").code == 0


def test_verdicts_on_both_sides_make_suspects(lab: Lab) -> None:
    lab.sync()
    assert lab.run("smoke", "--", "true").code == 0
    upgrade(lab)
    lab.sync()
    assert "of HEAD" in lab.run("diff", "HEAD~1", "HEAD").out
    assert lab.run("smoke", "--", "false").code == 1
    told = lab.run_json("diff", "HEAD~1", "HEAD")["suspicion"]
    assert [one["name"] for one in told["suspects"]] == ["wick", "flint"]
    assert told["command"].startswith("uv lock --upgrade-package wick==1.0 && ")
    assert lab.run_json("diff", "HEAD~1", "HEAD", "--layer", "packages")["suspicion"] is None
    command = told["command"].replace("uv lock", f"{UV} lock --no-index --find-links {lab.index}")
    lab.repo.run(["sh", "-ec", command.partition(" && ")[0]])
    assert 'name = "flint"\nversion = "1.5"' in (lab.repo.path / "uv.lock").read_text()


def test_what_differs_between_two_machines_is_no_change(lab: Lab) -> None:
    lab.record("box", kernel_release="6.8.0-45-generic", driver_nvidia="x")
    lab.record("gpu1", kernel_release="6.8.0-48-generic", driver_nvidia="x")
    lab.repo.commit("both")
    told = lab.run("diff", "HEAD@box", "HEAD@gpu1")
    assert "between the machines box and gpu1\n  kernel.release  6.8.0-45-generic" in told.out
    assert "\nnothing changed; 1 fact differs between the machines box and gpu1\n" in told.out
    assert "upgraded" not in told.out
    document = lab.run_json("diff", "HEAD@box", "HEAD@gpu1")
    assert document["changes"] == []
    assert [one["name"] for one in document["apart"]] == ["kernel.release"]
    assert document["machines"] == ["box", "gpu1"]
    assert lab.run("diff", "HEAD@box", "HEAD@gpu1", "--exit-code").code == 1
    lab.record("box", kernel_release="6.8.0-48-generic", driver_nvidia="x")
    lab.repo.commit("the same machine later")
    later = lab.run_json("diff", "HEAD~1@box", "HEAD@box")
    assert [one["name"] for one in later["changes"]] == ["kernel.release"]
    assert later["apart"] == []


def test_a_project_says_which_packages_are_its_framework(lab: Lab) -> None:
    upgrade(lab)
    layers = {
        one["name"]: one["layer"] for one in lab.run_json("diff", "HEAD~1", "HEAD")["changes"]
    }
    assert layers == {"wick": "packages", "flint": "packages"}
    lab.repo.write(".envtrack/config.yaml", "layers:\n  framework: [Wi*]\n  toolchain: [flint]\n")
    told = lab.run_json("diff", "HEAD~1", "HEAD")["changes"]
    assert [(one["name"], one["layer"]) for one in told] == [
        ("flint", "toolchain"),
        ("wick", "framework"),
    ]
    (entry, *_) = lab.run_json("log")["entries"]
    assert entry["layers"] == {"toolchain": 1, "framework": 1}
    only = lab.run("diff", "HEAD~1", "HEAD", "--only", "framework")
    assert "wick" in only.out
    assert "flint" not in only.out


def test_one_line(lab: Lab) -> None:
    upgrade(lab)
    told = lab.run("diff", "HEAD~1", "HEAD", "--oneline")
    assert told.out == "packages: wick 1.0 → 1.1, flint 1.5 → 2.0\n"
    assert lab.run("diff", "HEAD", "HEAD", "--oneline").out == "the same environment\n"


def test_members_outside_the_repository_are_compared_between_commits(empty_lab: Lab) -> None:
    # ArchiveBox 7d8c468659: git itself refuses `<commit>:../x`.
    head = HEAD + '[manifest]\nmembers = ["lab", "wick"]\n'
    for at in ("../wick", "wick"):
        text = "\n".join([head, project("wick"), project(name="wick", version=None, at=at)])
        empty_lab.repo.write("uv.lock", text)
        empty_lab.repo.commit(at)
    done = empty_lab.run("diff", "HEAD~1", "HEAD")
    assert (done.code, done.err) == (0, "")
    (change,) = empty_lab.run_json("diff", "HEAD~1", "HEAD")["changes"]
    assert (change["name"], change["kind"]) == ("wick", "source")
    assert (change["before"], change["after"]) == ("editable ../wick", "editable wick")
    assert len(empty_lab.run_json("log")["entries"]) == 2


def test_a_lock_that_pins_nothing_beside_another_tools_is_said(empty_lab: Lab) -> None:
    # Textualize/textual: 52 bytes of uv.lock, left in a project of poetry's.
    empty_lab.repo.write("uv.lock", 'version = 1\nrevision = 3\nrequires-python = ">=3.10"\n')
    for version in ("13.9.4", "14.0.0"):
        text = SAMPLES["poetry.lock 2.1"][1].replace('version = "2.1.3"', f'version = "{version}"')
        empty_lab.repo.write("poetry.lock", text)
        empty_lab.repo.commit(version)
    done = empty_lab.run("diff", "HEAD~1", "HEAD")
    assert "note: uv.lock pins no package; if another is meant, `--lockfile` names it" in done.out
    meant = empty_lab.run_json("diff", "HEAD~1", "HEAD", "--lockfile", "poetry.lock")
    assert [(c["name"], c["kind"]) for c in meant["changes"]] == [("numpy", "upgraded")]


def test_what_is_selected_here_is_less_than_what_is_locked(lab: Lab) -> None:
    lab.lock("wick<1.1", "flint ; sys_platform == 'win32'")
    path = lab.repo.path / "pyproject.toml"
    path.write_text(path.read_text() + "[dependency-groups]\nextra = []\n")
    lab.lock("wick<1.1")
    lab.repo.commit("a group")
    lab.lock("wick<1.1 ; sys_platform == 'win32'")
    lab.repo.commit("elsewhere only")
    told = {c["name"]: c["kind"] for c in lab.run_json("diff", "HEAD~1", "HEAD")["changes"]}
    assert told == {"wick": "selector"}
    here = lab.run_json("diff", "HEAD~1", "HEAD", "--selected")["changes"]
    assert {c["name"]: (c["kind"], c["detail"]) for c in here} == {
        "wick": ("selector", "it is still locked, but not selected here any more"),
        "flint": ("selector", "it is still locked, but not selected here any more"),
    }
    # Two files are selected by the folder that the command is called in.
    before = lab.repo.path / "before.lock"
    before.write_text(lab.repo.git("show", "HEAD~1:uv.lock") + "\n")
    assert lab.run("diff", str(before), str(lab.repo.path / "uv.lock"), "--selected").code == 0
