from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.snapshot import InstalledPackage, Snapshot, render_snapshot
from tests.cli.lab import Lab

FACTS: dict[str, FactState] = {
    "hardware.cpu.architecture": Known("x86_64"),
    "hardware.gpu.count": Known(1),
    "hardware.gpu.0.vendor": Known("nvidia"),
    "hardware.gpu.0.model": Known("NVIDIA GeForce RTX 4090"),
    "hardware.gpu.0.compute-capability": Known("8.9"),
    "driver.nvidia.version": Known("550.54.15"),
    "driver.nvidia.library.version": Known("550.54.15"),
    "driver.nvidia.agrees": Known(value=True),
    "driver.nvidia.cuda.version": Known("12.4"),
    "os.libc.name": Known("glibc"),
    "os.libc.version": Known("2.36"),
    "toolchain.nvcc.release": Known("11.8"),
    "toolchain.gcc.version": Known("11.4.0"),
    "toolchain.gcc.kind": Known("gcc"),
    "python.version": Known("3.11.7"),
    "python.abi": Known("cp311"),
    "python.implementation": Known("CPython"),
    "framework.torch.version": Known("2.5.1+cu124"),
    "framework.torch.cuda": Known("12.4"),
    "packages.environment": Known("<project>/.venv"),
    "packages.broken-requirements": Absent(),
}


def write_snapshot(path: Path, **changes: FactState) -> str:
    snapshot = Snapshot(
        machine="cluster",
        taken_at="2026-01-02T03:04:05Z",
        facts={**FACTS, **{name.replace("_", "."): state for name, state in changes.items()}},
        installed={"torch": InstalledPackage(name="torch", version="2.5.1+cu124")},
    )
    path.write_text(render_snapshot(snapshot), encoding="utf-8")
    return str(path)


def verdicts(document: Any) -> dict[str, str]:  # noqa: ANN401 - JSON
    return {finding["rule"]: finding["verdict"] for finding in document["findings"]}


def test_a_snapshot_file_is_judged_and_a_misfit_ends_with_one(lab: Lab, tmp_path: Path) -> None:
    done = lab.run("doctor", write_snapshot(tmp_path / "box.json"))
    assert done.code == 1
    assert "toolkit (for building): nvcc 11.8 against CUDA 12.4 of torch 2.5.1+cu124" in done.out
    assert "for running it is irrelevant" in done.out
    assert done.err == ""


def test_what_only_building_needs_can_be_left_out(lab: Lab, tmp_path: Path) -> None:
    file = write_snapshot(tmp_path / "box.json")
    running = lab.run("doctor", file, "--for", "running")
    assert running.code == 0
    assert "nvcc" not in running.out
    building = lab.run("doctor", file, "--for", "building")
    assert building.code == 1
    assert "driver-runtime" not in building.out


def test_a_snapshot_file_needs_no_repository(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_snapshot(tmp_path / "box.json", toolchain_nvcc_release=Known("12.4"))
    bare = tmp_path / "bare"
    bare.mkdir()
    monkeypatch.chdir(bare)
    assert lab.run("doctor", file).code == 0


def test_what_cannot_be_told_is_no_misfit(lab: Lab, tmp_path: Path) -> None:
    file = write_snapshot(
        tmp_path / "box.json",
        driver_nvidia_version=Unknown("not permitted"),
        driver_nvidia_cuda_version=Unknown("not permitted"),
        driver_nvidia_agrees=Unknown("not permitted"),
        toolchain_nvcc_release=Absent(),
    )
    document = lab.run_json("doctor", file)
    assert document["fits"] is True
    assert verdicts(document)["driver-runtime"] == "can't tell"
    assert lab.run("doctor", file).code == 0


def test_planned_changes_are_judged_before_they_are_made(lab: Lab, tmp_path: Path) -> None:
    file = write_snapshot(tmp_path / "box.json", toolchain_nvcc_release=Absent())
    wanted = ("doctor", file, "--with", "torch==2.9.0+cu130")
    before = lab.run_json(*wanted)
    assert verdicts(before)["driver-runtime"] == "does not fit"
    assert before["subject"].endswith(", with torch 2.9.0+cu130")
    after = lab.run_json(*wanted, "--driver", "580.65.06")
    assert verdicts(after)["driver-runtime"] == "fits"
    assert lab.run(*wanted, "--driver", "580.65.06").code == 0


def test_planned_gpus_and_compilers_are_judged(lab: Lab, tmp_path: Path) -> None:
    file = write_snapshot(tmp_path / "box.json")
    document = lab.run_json(
        *("doctor", file, "--gpu", "NVIDIA GeForce RTX 5090", "--gcc", "14.2", "--nvcc", "12.4")
    )
    found = verdicts(document)
    assert found["gpu-architectures"] == "does not fit"
    assert found["host-compiler"] == "does not fit"
    assert found["toolkit"] == "fits"
    planned = lab.run_json("doctor", file, "--compute-capability", "9.0", "--nvcc", "12.4")
    assert verdicts(planned)["gpu-architectures"] == "fits"


def test_a_revision_is_judged_with_the_lockfile_it_holds(lab: Lab) -> None:
    lab.record(os_libc="x")
    path = lab.repo.path / ".envtrack/snapshots/testbed/uv.lock.json"
    record = json.loads(path.read_text())
    record["facts"].update(json.loads(render_snapshot(_snapshot()))["facts"])
    record["facts"]["hardware.cpu.architecture"] = "riscv64"
    path.write_text(json.dumps(record))
    lab.repo.commit("record")
    document = lab.run_json("doctor", "HEAD")
    assert document["subject"].startswith("HEAD (")
    assert document["subject"].endswith(": testbed at 2026-01-02T03:04:05Z")
    assert verdicts(document)["python-abi"] == "fits"
    named = {finding["rule"]: finding["compared"] for finding in document["findings"]}
    assert named["cpu-architecture"] == "the wheels of 2 locked packages against Linux on riscv64"


def _snapshot() -> Snapshot:
    return Snapshot(machine="testbed", taken_at="2026-01-02T03:04:05Z", facts=FACTS)


def test_a_record_that_does_not_say_its_system_has_no_wheels_judged(lab: Lab) -> None:
    lab.record()
    lab.repo.commit("record")
    document = lab.run_json("doctor", "HEAD")
    assert document["notes"] == ["the record does not say its system: no locked wheel is judged"]
    assert {"rule": "python-abi", "reason": "no lockfile was read"} in document["passed_over"]


def test_another_machine_s_record_is_judged_by_its_name(lab: Lab) -> None:
    lab.record("cluster")
    lab.repo.commit("record")
    document = lab.run_json("doctor", "HEAD@cluster")
    assert document["subject"].endswith(": cluster at 2026-01-02T03:04:05Z")


def test_a_revision_without_a_record_is_one_line_and_what_to_do(lab: Lab) -> None:
    done = lab.run("doctor", "HEAD")
    assert done.code == 2
    assert done.err.startswith("envtrack: HEAD (")
    assert "not recorded here for testbed" in done.err
    assert "`envtrack snapshot --save` records this machine" in done.err


def test_this_machine_is_judged_with_the_lockfile_beside_it(lab: Lab) -> None:
    document = lab.run_json("doctor")
    assert document["subject"].startswith("now (testbed): testbed at ")
    assert "no lockfile was read" not in " ".join(document["notes"])


def test_this_machine_is_judged_outside_of_any_repository(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    monkeypatch.chdir(bare)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    document = lab.run_json("doctor", "--driver", "550.54.15", "--with", "torch==2.6.0+cu126")
    assert verdicts(document)["driver-runtime"] == "fits with limits"
    assert document["notes"] == ["no lockfile was read: no locked wheel is judged"]


def test_a_lockfile_in_the_middle_of_a_merge_does_not_keep_the_machine_from_being_judged(
    lab: Lab,
) -> None:
    lab.repo.write("uv.lock", "<<<<<<< HEAD\nversion = 1\n=======\n>>>>>>> other\n")
    document = lab.run_json("doctor")
    assert any("no locked wheel is judged" in note for note in document["notes"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--with", "torch>=2.6"), "--with torch>=2.6: name and version are wanted"),
        (("--driver", "new"), "--driver new: a version is wanted"),
        (("--nvcc", "12.x"), "--nvcc 12.x: a version is wanted"),
        (("nosuch",), "`nosuch` names no commit"),
        (("nosuch.json",), "nosuch.json: there is no such file"),
        (("uv.lock",), "uv.lock: there is no machine in it"),
    ],
)
def test_wrong_usage_is_one_line(lab: Lab, arguments: tuple[str, ...], said: str) -> None:
    done = lab.run("doctor", *arguments)
    assert done.code == 2
    assert said in done.err.splitlines()[0]


def test_a_snapshot_of_a_newer_schema_is_refused(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "box.json").write_text('{"schema": 99}')
    done = lab.run("doctor", str(tmp_path / "box.json"))
    assert done.code == 2
    assert "newer than this envtrack reads" in done.err


def test_half_a_snapshot_is_refused(lab: Lab, tmp_path: Path) -> None:
    file = write_snapshot(tmp_path / "box.json")
    text = Path(file).read_text()
    Path(file).write_text(text[: len(text) // 2])
    done = lab.run("doctor", file)
    assert done.code == 2
    assert "not JSON" in done.err


def test_markdown_and_a_file_work_as_everywhere(lab: Lab, tmp_path: Path) -> None:
    file = write_snapshot(tmp_path / "box.json")
    done = lab.run("doctor", file, "-f", "markdown", "-o", str(tmp_path / "out.md"))
    assert done.code == 1
    assert "| does not fit | toolkit (for building) |" in (tmp_path / "out.md").read_text()


def test_escape_sequences_of_a_record_stay_out_of_the_terminal(lab: Lab, tmp_path: Path) -> None:
    file = write_snapshot(tmp_path / "box.json", framework_torch_version=Known("2\x1b[2J+cu124"))
    for form in ("text", "json", "markdown"):
        assert "\x1b" not in lab.run("doctor", file, "-f", form, "--full").out


def test_help_names_it_among_its_own_group(lab: Lab) -> None:
    out = lab.run("--help").out
    assert "Judge the stack" in out
    assert "doctor" in out
