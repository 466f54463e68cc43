"""Whole snapshots of the captured machines, and what the doctor says of them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envtrack.collect.take import COLLECTORS, take_snapshot
from envtrack.compat.facts import read_stack
from envtrack.compat.judge import RULES, judge_stack
from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.finding import Fit
from envtrack.model.layer import Layer
from envtrack.model.snapshot import InstalledPackage, Snapshot, parse_snapshot, render_snapshot
from tests.compat.stacks import read_tables
from tests.machines.whole import MACHINES

DOCUMENT = Path(__file__).parents[2] / "docs" / "machines.md"


def take(name: str, folder: Path) -> Snapshot:
    now = datetime.fromtimestamp(0, UTC)
    return take_snapshot(MACHINES[name].build(folder), name="lab", lockfile=None, now=now)


def test_the_document_lists_the_machines() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").partition("<!--")[0]
    listed = re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| `.*?\|", text, re.MULTILINE)))
    assert sorted(listed) == sorted(MACHINES)
    assert len(listed) >= 12


@pytest.mark.parametrize("name", MACHINES)
def test_every_layer_is_told_and_no_collector_fails(name: str, tmp_path: Path) -> None:
    facts = take(name, tmp_path).facts
    assert not [fact for fact in facts if fact.endswith(".collector")]
    told = {fact.partition(".")[0] for fact in facts}
    # Of settings there is a fact only where a variable is set.
    assert told | {"settings"} == {layer.value for layer in Layer}


@pytest.mark.parametrize("name", MACHINES)
def test_a_whole_snapshot_is_written_and_read_back(name: str, tmp_path: Path) -> None:
    snapshot = take(name, tmp_path)
    assert parse_snapshot(render_snapshot(snapshot), where="s.json") == snapshot


@pytest.mark.parametrize("name", MACHINES)
def test_no_user_node_or_serial_number_is_kept(name: str, tmp_path: Path) -> None:
    text = render_snapshot(take(name, tmp_path))
    for mark in ("mallory", "buildhost", "gpu[01-02]", "4711", "GPU-0000"):
        assert mark not in text


TOLD: dict[str, dict[str, FactState]] = {
    "musl": {
        "os.distribution.id": Known("alpine"),
        "os.libc.name": Known("musl"),
        "os.libc.version": Known("1.2.5-r0"),
        "os.libstdcxx.path": Absent(),
        "container.runtime": Known("docker"),
        "container.memory-limit-mib": Known(2048),
        "python.platform-tag": Known("musllinux_1_2_x86_64"),
        "python.version": Known("3.11.10"),
        "toolchain.gcc.version": Known("13.2.1"),
        "toolchain.nvcc.release": Absent(),
        "driver.nvidia.version": Absent(),
        "hardware.gpu.count": Absent(),
    },
    "conda": {
        "container.conda": Known(value=True),
        "python.environment": Known("conda"),
        "python.build": Known("hc5c86c4_3_cpython"),
        "os.libc.version": Known("2.35"),
        "os.libstdcxx.path": Known("/opt/miniforge3/envs/lab/lib/libstdc++.so.6"),
        "os.libstdcxx.glibcxx": Known("3.4.33"),
        "cuda-runtime.conda.cuda-version": Known("12.6"),
        "framework.torch.cuda": Known("12.6"),
        "toolchain.gcc.version": Known("13.3.0"),
        "driver.nvidia.cuda.version": Known("12.2"),
    },
    "slurm": {
        "container.slurm": Known(value=True),
        "container.memory-limit-mib": Known(131072),
        "container.runtime": Absent(),
        "kernel.release": Known("4.18.0-513.24.1.el8_9.x86_64"),
        "os.libc.version": Known("2.28"),
        "python.platform-tag": Known("manylinux_2_28_x86_64"),
        "hardware.gpu.count": Known(4),
        "toolchain.nvcc.release": Known("12.4"),
        "toolchain.nvcc.path-source": Known("CUDA_HOME"),
        "settings.CUDA_VISIBLE_DEVICES": Known("0,1"),
        "settings.OMP_NUM_THREADS": Known(16),
        "framework.torch.version": Known("2.5.1+cu124"),
        "cuda-runtime.cudart": Known("12.4.127"),
    },
    "hanging": {
        "hardware.gpu.count": Known(4),
        "hardware.gpu.0.pci-device": Known("10de:20b0"),
        "hardware.gpu.0.model": Unknown("NVML timed out"),
        "driver.nvidia.version": Known("550.54.15"),
        "driver.nvidia.cuda.version": Unknown("NVML timed out"),
        "driver.nvidia.nvml.answers": Unknown("NVML timed out"),
        "toolchain.gcc.version": Unknown("`gcc` timed out"),
        "toolchain.nvcc.release": Unknown("`nvcc` timed out"),
        "toolchain.cmake.version": Unknown("`cmake` timed out"),
        "framework.torch.version": Known("2.5.1+cu124"),
        "settings.CUDA_VISIBLE_DEVICES": Known("0,1"),
    },
}


@pytest.mark.parametrize("name", TOLD)
def test_the_telling_facts(name: str, tmp_path: Path) -> None:
    facts = take(name, tmp_path).facts
    assert {fact: facts.get(fact) for fact in TOLD[name]} == TOLD[name]


def test_what_hangs_costs_nothing_that_stands_in_a_file(tmp_path: Path) -> None:
    working, hanging = (take(name, tmp_path / name) for name in ("slurm", "hanging"))
    assert hanging.installed == working.installed
    for fact, state in working.facts.items():
        now = hanging.facts.get(fact)
        is_asked_for = isinstance(now, Unknown) and now.reason.endswith("timed out")
        # Of a compiler that does not answer there is no kind and no build.
        is_of_an_answer = now is None and fact.startswith("toolchain.")
        is_place = fact == "packages.environment"
        assert now == state or is_asked_for or is_of_an_answer or is_place


def test_condas_torch_is_told_from_the_wheel_by_who_installed_it(tmp_path: Path) -> None:
    # conda's package of it is called pytorch, so no record of conda has its name.
    assert take("conda", tmp_path).installed["torch"] == InstalledPackage(
        name="torch", version="2.5.1", origin="conda"
    )


def read_verdicts() -> tuple[list[str], list[list[str]]]:
    text = DOCUMENT.read_text(encoding="utf-8").partition("<!-- verdicts -->")[2]
    rows = [
        [cell.strip().strip("`") for cell in line.strip("| ").split(" | ")]
        for line in text.splitlines()
        if line.startswith("| ")
    ]
    return rows[0][1:], rows[1:]


@pytest.mark.parametrize(("column", "name"), list(enumerate(read_verdicts()[0], start=1)), ids=str)
def test_the_doctor_gives_the_verdicts_of_the_document(
    column: int, name: str, tmp_path: Path
) -> None:
    stack = read_stack(take(name, tmp_path))
    findings = judge_stack(stack, read_tables(), subject=name).findings
    found: dict[str, Fit] = {}
    for finding in findings:
        worse = min(found.get(finding.rule, finding.fit), finding.fit, key=list(Fit).index)
        found[finding.rule] = worse
    said = {row[0]: row[column] for row in read_verdicts()[1]}
    assert {rule: str(found.get(rule, "–")) for rule in said} == said


def test_the_document_has_a_row_for_every_rule() -> None:
    assert [row[0] for row in read_verdicts()[1]] == [rule.name for rule in RULES]


def test_there_is_a_collector_for_each_layer() -> None:
    assert [one.layer for one in COLLECTORS] == list(Layer)
