"""A change over several layers becomes a series of commits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest  # noqa: TC002 - fixtures are annotated with it
from pydantic import TypeAdapter

from envtrack.cli.main import main
from tests.report.schemas import SHAPES, list_strangers, make_schema
from tests.split.lab import AFTER, NEWER_PYTHON, RECORD, SplitLab, build
from tests.support.repo import UV
from tests.support.wheels import write_wheel

THREE = [
    "python: requires-python >=3.11 → >=3.11.1",
    "cuda-runtime: nvidia-cublas 1.0 → 2.0; framework: torch 1.0 → 2.0",
    "packages: flint 1.0 → 2.0, wick 1.0 → 2.0",
]


def stage_three(lab: SplitLab) -> str:
    """Stages a change over three layers; gives the commit before it."""
    lab.stage(*AFTER, python=NEWER_PYTHON)
    return lab.repo.head()


def test_what_is_staged_becomes_a_commit_a_layer_lowest_first(lab: SplitLab) -> None:
    base = stage_three(lab)
    done = lab.run()
    assert done.code == 0
    assert lab.subjects(f"{base}..") == THREE
    assert [lab.changed(commit) for commit in lab.commits(f"{base}..")] == [
        [RECORD, "pyproject.toml", "uv.lock"]
    ] * 3
    assert done.out.startswith(f"uv.lock, what is staged: 3 commits on {base[:10]}\n")


def test_the_last_lockfile_and_project_are_those_that_were_staged(lab: SplitLab) -> None:
    stage_three(lab)
    before = {name: lab.show(f":{name}") for name in ("uv.lock", "pyproject.toml")}
    lab.run()
    assert {name: lab.show(f"HEAD:{name}") for name in before} == before


def test_uv_accepts_every_lockfile_of_the_series(lab: SplitLab) -> None:
    base = stage_three(lab)
    lab.run()
    assert list(lab.accepted(f"{base}..")) == [True] * 3


def test_afterwards_nothing_is_left_to_commit_and_nothing_of_ours_is_left_behind(
    lab: SplitLab,
) -> None:
    stage_three(lab)
    before = lab.repo.state()
    lab.run()
    after = lab.repo.state()
    assert lab.repo.git("status", "--porcelain") == ""
    assert lab.repo.git("fsck") == ""
    assert after["worktrees"].count("worktree ") == 1
    for name in ("HEAD", "stash", "config"):
        assert after[name] == before[name]


def test_each_part_changes_only_its_own_lines_of_the_project(lab: SplitLab) -> None:
    base = stage_three(lab)
    lab.run()
    first, second, third = (
        [
            line
            for line in lab.repo.git(
                "show", "--format=", "--unified=0", commit, "--", "pyproject.toml"
            ).splitlines()
            if line[0] in "+-" and line[:3] not in {"+++", "---"}
        ]
        for commit in lab.commits(f"{base}..")
    )
    assert first == ['-requires-python = ">=3.11"', '+requires-python = ">=3.11.1"']
    assert second == ['-    "torch<2",', '+    "torch<3",']
    assert third == ['-    "wick<2",', '-    "flint<2",', '+    "wick<3",', '+    "flint<3",']


def test_each_commit_has_its_record_that_names_its_lockfile(lab: SplitLab) -> None:
    base = stage_three(lab)
    lab.run()
    for commit in lab.commits(f"{base}.."):
        record = json.loads(lab.show(f"{commit}:{RECORD}"))
        blob = lab.repo.git("rev-parse", f"{commit}:uv.lock")
        assert record["lockfile"] == {"blob": blob, "path": "uv.lock"}
        assert record["machine"] == "testbed"


def test_the_policy_finds_nothing_to_object_to(lab: SplitLab) -> None:
    base = stage_three(lab)
    lab.run()
    arguments = ["check", "--directory", str(lab.repo.path)]
    assert main([*arguments, f"{base}..HEAD"]) == 0
    assert "3 changes of lockfiles judged" in lab.capsys.readouterr().out


def test_the_original_state_is_kept_and_can_be_gone_back_to_as_the_text_says(
    lab: SplitLab,
) -> None:
    base = stage_three(lab)
    tree = lab.repo.git("write-tree")
    kept = lab.run_json()["kept_as"]
    assert lab.repo.git("rev-parse", f"{kept}^{{tree}}", f"{kept}^").split() == [tree, base]
    lab.repo.git("reset", "--soft", base[:10])
    lab.repo.git("read-tree", kept)
    assert (lab.repo.head(), lab.repo.git("write-tree")) == (base, tree)


def test_a_dry_run_says_the_steps_and_changes_nothing(lab: SplitLab) -> None:
    stage_three(lab)
    before = lab.repo.state()
    told = lab.run_json("--dry-run")
    assert lab.repo.state() == before
    assert told["outcome"] == "planned"
    assert [step["subject"] for step in told["steps"]] == THREE
    assert [step["layers"] for step in told["steps"]] == [
        ["python"],
        ["framework with cuda-runtime"],
        ["packages"],
    ]
    TypeAdapter(SHAPES["split"]).validate_python(told, strict=True)
    assert list_strangers(json.loads(make_schema("split")), told) == []


def test_with_each_every_root_change_is_a_step_of_its_own(lab: SplitLab) -> None:
    base = stage_three(lab)
    lab.run("--each")
    assert lab.subjects(f"{base}..") == [
        *THREE[:2],
        "packages: flint 1.0 → 2.0",
        "packages: wick 1.0 → 2.0",
    ]
    assert list(lab.accepted(f"{base}..")) == [True] * 4


def test_with_each_what_needs_another_comes_after_it(lab: SplitLab) -> None:
    lab.wheel("anvil", "1.0")
    lab.wheel("anvil", "2.0", "wick>=2")
    lab.lock("anvil<2", "wick<2")
    base = lab.repo.commit("two")
    lab.stage("anvil<3", "wick<3")
    lab.run("--each")
    assert lab.subjects(f"{base}..") == ["packages: wick 1.0 → 2.0", "packages: anvil 1.0 → 2.0"]


def test_an_upgrade_that_leaves_the_project_alone_is_split_too(lab: SplitLab) -> None:
    lab.lock("torch", "wick")
    lab.repo.run([UV, "lock", "-q", "-P", "torch==1.0", "-P", "wick==1.0"])
    base = lab.repo.commit("two")
    lab.stage("torch", "wick")
    lab.run()
    assert lab.subjects(f"{base}..") == [
        "cuda-runtime: nvidia-cublas 1.0 → 3.0; framework: torch 1.0 → 3.0",
        "packages: wick 1.0 → 3.0",
    ]
    assert list(lab.accepted(f"{base}..")) == [True] * 2


def test_packages_that_come_and_go_are_moved_with_their_layer(lab: SplitLab) -> None:
    base = lab.repo.head()
    lab.stage("torch<3", "flint<2", "wick<2", python=">=3.11")
    lab.wheel("ember", "1.0")
    lab.stage("torch<3", "ember", "flint<2")
    lab.run()
    assert lab.subjects(f"{base}..") == [
        "cuda-runtime: nvidia-cublas 1.0 → 2.0; framework: torch 1.0 → 2.0",
        "packages: +ember 1.0, -wick 1.0",
    ]


def test_the_projects_own_version_comes_with_the_last_part(lab: SplitLab) -> None:
    base = lab.repo.head()
    lab.stage("torch<3", "wick<3", "flint<2", version="0.2")
    lab.run()
    first, last = lab.commits(f"{base}..")
    assert 'version = "0.1"' in lab.show(f"{first}:pyproject.toml")
    assert 'version = "0.2"' in lab.show(f"{last}:pyproject.toml")
    assert list(lab.accepted(f"{base}..")) == [True] * 2


def test_what_can_not_be_parted_stays_together_with_uvs_own_reason(lab: SplitLab) -> None:
    lab.wheel("numpy", "1.0")
    lab.wheel("numpy", "2.0")
    lab.wheel("jax", "1.0", "numpy<2")
    lab.wheel("jax", "2.0", "numpy>=2")
    lab.lock("jax<2", "numpy<2", "wick<2")
    base = lab.repo.commit("two")
    lab.stage("jax<3", "numpy>=2", "wick<3")
    done = lab.run_json()
    assert lab.subjects(f"{base}..") == [
        "framework: jax 1.0 → 2.0; packages: numpy 1.0 → 2.0",
        "packages: wick 1.0 → 2.0",
    ]
    (why,) = done["steps"][0]["joined"]
    assert why.startswith("numpy can't be parted from jax: Because jax>=2.0 depends on numpy>=2")
    assert list(lab.accepted(f"{base}..")) == [True] * 2


def test_layers_that_can_not_be_parted_at_all_are_left_as_they_are(lab: SplitLab) -> None:
    lab.wheel("numpy", "1.0")
    lab.wheel("numpy", "2.0")
    lab.wheel("jax", "1.0", "numpy<2")
    lab.wheel("jax", "2.0", "numpy>=2")
    lab.lock("jax<2", "numpy<2")
    lab.repo.commit("two")
    lab.stage("jax<3", "numpy>=2")
    before = lab.repo.state()
    done = lab.run()
    assert done.code == 0
    assert lab.repo.state() == before
    assert "uv locks none of these layers without the others." in done.out


def test_a_package_that_must_follow_goes_with_its_root_to_the_locked_version(
    lab: SplitLab,
) -> None:
    for version in ("1.0", "2.0", "3.0"):
        lab.wheel("numpy", version)
    lab.wheel("jax", "1.0", "numpy<2")
    lab.wheel("jax", "2.0", "numpy>=2")
    lab.wheel("brand", "2.0", "numpy<3")
    lab.lock("jax<2", "wick<2")
    base = lab.repo.commit("two")
    lab.stage("jax<3", "wick<3", "brand")
    lab.run()
    assert lab.subjects(f"{base}..") == [
        "framework: jax 1.0 → 2.0; packages: numpy 1.0 → 2.0",
        "packages: +brand 2.0, wick 1.0 → 2.0",
    ]


def test_what_the_policy_lets_move_together_stays_one_step(lab: SplitLab) -> None:
    lab.repo.write(
        ".envtrack/policies/policy.yaml",
        "schema: 1\nkind: UpgradePolicy\nrules:\n  one-layer:\n"
        "    together: [[framework, cuda-runtime, packages]]\n",
    )
    base = lab.repo.commit("policy")
    stage_three(lab)
    lab.run()
    assert len(lab.commits(f"{base}..")) == 2


def test_one_layer_alone_is_nothing_to_split(lab: SplitLab) -> None:
    lab.stage("torch<2", "wick<3", "flint<3")
    before = lab.repo.state()
    done = lab.run()
    assert (done.code, lab.repo.state()) == (0, before)
    assert "nothing to split" in done.out
    assert "Only one layer moves: packages." in done.out


def test_names_that_are_no_ascii_and_folders_with_blanks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = build(tmp_path, capsys, name="ein Ördner", folder="prø ject/")
    base = stage_three(lab)
    assert lab.run().code == 0
    assert lab.subjects(f"{base}..") == THREE
    assert lab.repo.git("status", "--porcelain") == ""
    assert list(lab.accepted(f"{base}..")) == [True] * 3


def test_an_index_per_framework_build_moves_with_the_framework(lab: SplitLab) -> None:
    top = lab.repo.path.parent
    write_wheel(top / "cu124", "torch", "2.0+cu124")
    write_wheel(top / "cu126", "torch", "2.0+cu126")

    def lock(index: str, wick: str) -> None:
        lab.lock("torch<3", wick)
        text = (lab.repo.path / "pyproject.toml").read_text()
        lab.repo.write(
            "pyproject.toml",
            f'{text}\n[[tool.uv.index]]\nname = "{index}"\nurl = "../{index}"\nformat = "flat"\n'
            f'explicit = true\n\n[tool.uv.sources]\ntorch = {{ index = "{index}" }}\n',
        )
        lab.repo.run([UV, "lock", "--quiet", "--upgrade"])

    lock("cu124", "wick<2")
    base = lab.repo.commit("two")
    lock("cu126", "wick<3")
    lab.repo.git("add", "--all")
    lab.run()
    assert lab.subjects(f"{base}..") == [
        "framework: torch 2.0+cu124 → 2.0+cu126",
        "packages: wick 1.0 → 2.0",
    ]
    first = lab.commits(f"{base}..")[0]
    assert "cu124" not in lab.show(f"{first}:pyproject.toml")


def test_a_member_of_a_workspace_is_edited_too(lab: SplitLab) -> None:
    member = (
        '[project]\nname = "limb"\nversion = "0.1"\nrequires-python = ">=3.11"\n'
        'dependencies = ["WICK"]\n[tool.uv]\npackage = false\n'
    )
    lab.lock("torch<2")
    text = (lab.repo.path / "pyproject.toml").read_text()
    lab.repo.write("pyproject.toml", f'{text}\n[tool.uv.workspace]\nmembers = ["limb"]\n')
    lab.repo.write("limb/pyproject.toml", member.replace("WICK", "wick<2"))
    lab.repo.run([UV, "lock", "--quiet"])
    base = lab.repo.commit("two")
    root = (lab.repo.path / "pyproject.toml").read_text()
    lab.repo.write("pyproject.toml", root.replace("torch<2", "torch<3"))
    lab.repo.write("limb/pyproject.toml", member.replace("WICK", "wick<3"))
    lab.repo.run([UV, "lock", "--quiet", "--upgrade"])
    lab.repo.git("add", "--all")
    lab.run()
    first, last = lab.commits(f"{base}..")
    assert lab.changed(first) == [RECORD, "pyproject.toml", "uv.lock"]
    assert lab.changed(last) == [RECORD, "limb/pyproject.toml", "uv.lock"]
    assert list(lab.accepted(f"{base}..")) == [True] * 2
