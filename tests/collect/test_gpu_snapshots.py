"""What the three collectors tell of the captured machines, as a snapshot keeps it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envtrack.collect.cuda_runtime import CudaRuntimeCollector
from envtrack.collect.driver import DriverCollector
from envtrack.collect.hardware import HardwareCollector
from envtrack.collect.interface import Machine
from envtrack.collect.take import take_snapshot
from envtrack.model.fact import Known
from envtrack.model.snapshot import Snapshot, parse_snapshot, render_snapshot
from tests.collect import gpu_machines, more_gpu_machines
from tests.collect.gpu_machines import GpuMachine
from tests.collect.places import facts_of, make_environment, site_of, write

COLLECTORS = (HardwareCollector(), DriverCollector(), CudaRuntimeCollector())
MACHINES = {
    name: value
    for module in (gpu_machines, more_gpu_machines)
    for name, value in vars(module).items()
    if isinstance(value, GpuMachine)
}


def take(where: Machine) -> Snapshot:
    now = datetime.fromtimestamp(0, UTC)
    return take_snapshot(where, name="lab", lockfile=None, now=now, collectors=COLLECTORS)


def test_ten_machines_are_captured() -> None:
    assert len(MACHINES) == 10


@pytest.mark.parametrize("name", MACHINES)
def test_the_redactor_leaves_every_fact_as_it_was_told(name: str, tmp_path: Path) -> None:
    where = MACHINES[name].build(tmp_path)
    told = {
        fact: state
        for collector in COLLECTORS
        for fact, state in facts_of(collector, where).items()
    }
    assert dict(take(where).facts) == told


@pytest.mark.parametrize("name", MACHINES)
def test_a_snapshot_is_written_and_read_back(name: str, tmp_path: Path) -> None:
    snapshot = take(MACHINES[name].build(tmp_path))
    assert parse_snapshot(render_snapshot(snapshot), where="s.json") == snapshot


@pytest.mark.parametrize("name", MACHINES)
def test_names_are_in_lower_case_and_begin_with_their_layer(name: str, tmp_path: Path) -> None:
    for fact in take(MACHINES[name].build(tmp_path)).facts:
        assert fact == fact.lower()
        assert fact.partition(".")[0] in {"hardware", "driver", "cuda-runtime"}


@pytest.mark.parametrize("name", MACHINES)
def test_nothing_that_names_a_person_or_one_piece_of_hardware_is_kept(
    name: str, tmp_path: Path
) -> None:
    text = render_snapshot(take(MACHINES[name].build(tmp_path)))
    for mark in ("mallory", "buildhost", "GPU-0000", "1234567890123456789", "10631624818852212319"):
        assert mark not in text


def test_folders_of_a_person_on_the_loaders_path_are_hidden(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    home = tmp_path / "home/alice"
    where = gpu_machines.NO_GPU.build(tmp_path, environment)
    where = replace(where, environ={"LD_LIBRARY_PATH": f"{home}/cuda/lib64:{home}/loop"})
    write(site_of(environment) / "nvidia/cudnn/lib/libcudnn.so.9")
    below = where.root / str(home)[1:]
    write(below / "cuda/lib64/libcudnn.so.9")
    (below / "loop").symlink_to("loop")
    snapshot = take(where)
    kept = snapshot.facts["cuda-runtime.shadow.cudnn"]
    assert kept == Known("~/cuda/lib64/libcudnn.so.9 (LD_LIBRARY_PATH)")
    assert "alice" not in render_snapshot(snapshot)
