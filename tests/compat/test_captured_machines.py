"""The doctor on what the collectors find on captured machines: the table of ``docs/doctor.md``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from envtrack.collect.container import ContainerCollector
from envtrack.collect.driver import DriverCollector
from envtrack.collect.hardware import HardwareCollector
from envtrack.compat.facts import read_stack
from envtrack.compat.judge import judge_stack
from envtrack.model.fact import FactState, Known
from envtrack.model.finding import Diagnosis, Fit
from tests.collect import gpu_machines, more_gpu_machines
from tests.collect.gpu_machines import GpuMachine
from tests.compat.stacks import DOCS, make_snapshot, read_tables

COLLECTORS = (HardwareCollector(), DriverCollector(), ContainerCollector())
MACHINES = {
    name.lower().replace("_", "-"): value
    for module in (gpu_machines, more_gpu_machines)
    for name, value in vars(module).items()
    if isinstance(value, GpuMachine) and name.isupper()
}


def read_table() -> tuple[list[str], list[list[str]]]:
    text = DOCS.read_text(encoding="utf-8").partition("<!-- machines -->")[2].partition("###")[0]
    rows = [
        [cell.strip().strip("`") for cell in line.strip("| ").split(" | ")]
        for line in text.splitlines()
        if re.match(r"\| (`|machine)", line)
    ]
    return rows[0], rows[1:]


def diagnose(machine: GpuMachine, base: Path, torch: str) -> Diagnosis:
    where = machine.build(base)
    facts: dict[str, FactState] = {
        record.name: record.state for collector in COLLECTORS for record in collector.collect(where)
    }
    facts["framework.torch.version"] = Known(torch)
    return judge_stack(read_stack(make_snapshot(facts)), read_tables(), subject="captured")


def worst(diagnosis: Diagnosis, rule: str) -> str:
    found = [finding.fit for finding in diagnosis.findings if finding.rule == rule]
    return min(found, key=list(Fit).index) if found else "–"


@pytest.mark.parametrize("row", read_table()[1], ids=lambda row: f"{row[0]}, torch {row[1]}")
def test_a_captured_machine_gets_the_documented_verdicts(row: list[str], tmp_path: Path) -> None:
    rules = read_table()[0][2:]
    diagnosis = diagnose(MACHINES[row[0]], tmp_path, row[1])
    assert [worst(diagnosis, rule) for rule in rules] == row[2:]


def test_every_captured_machine_has_a_row() -> None:
    assert {row[0] for row in read_table()[1]} == set(MACHINES)
