"""The running machine with a PATH on which every program misbehaves in the same way."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envtrack.collect.take import take_snapshot
from envtrack.collect.this_machine import this_machine
from envtrack.model.fact import Absent, Known, Unknown
from envtrack.model.snapshot import Snapshot, parse_snapshot, render_snapshot
from tests.collect.places import write

# All that any collector may ask for, and more.
PROGRAMS = """
    amd-smi apptainer c++ cc clang clang++ cmake conda docker dkms enroot g++ gcc git hipcc ld
    ldconfig lscpu make modinfo mokutil mpicc mpiexec mpirun ninja nvcc nvidia-container-cli
    nvidia-smi podman rocm-smi rocminfo scontrol singularity systemd-detect-virt uname uv
""".split()  # noqa: SIM905 - a list of names reads better so


def take(environ: dict[str, str], project: Path, *, limit_s: float) -> Snapshot:
    where = this_machine(environ, project, salt="key", limit_s=limit_s)
    return take_snapshot(where, name="lab", lockfile=None, now=datetime.now(UTC), limit_s=limit_s)


def take_with_programs(tmp_path: Path, script: str, *, limit_s: float = 20.0) -> Snapshot:
    """A snapshot on a machine whose programs are all this script."""
    for name in PROGRAMS:
        write(tmp_path / "bin" / name, f"#!/bin/sh\n{script}\n").chmod(0o755)
    return take({"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}, tmp_path, limit_s=limit_s)


def failed(snapshot: Snapshot) -> list[str]:
    return [name for name in snapshot.facts if name.endswith(".collector")]


def test_a_machine_on_which_every_command_hangs_costs_one_limit_and_no_layer(
    tmp_path: Path,
) -> None:
    started = time.monotonic()
    hang = "trap '' TERM INT HUP\nwhile :; do /bin/sleep 60; done"
    snapshot = take_with_programs(tmp_path, hang, limit_s=2.5)
    assert time.monotonic() - started < 10
    assert failed(snapshot) == []
    assert snapshot.facts["python.tool.uv"] == Unknown("`uv` timed out")
    assert isinstance(snapshot.facts["toolchain.gcc.version"], Unknown)
    assert isinstance(snapshot.facts["os.distribution.id"], Known | Absent)


@pytest.mark.parametrize(
    "script",
    [
        "exit 0",
        "exit 1",
        "kill -SEGV $$",
        r"printf '\377\376\n\303(\nversion \377'",
        "printf 'gcc (Debian) \\303\\274bersetzt 12.2.0: Datei nicht gefunden\\n'; exit 1",
        "/usr/bin/yes 'version 1.2.3' | /usr/bin/head -c 3000000",
        "echo; echo; echo",
        "/bin/cat",
        "printf '%s' \"$*\"",
    ],
)
def test_whatever_programs_say_no_layer_is_lost(tmp_path: Path, script: str) -> None:
    snapshot = take_with_programs(tmp_path, script)
    assert failed(snapshot) == []
    assert parse_snapshot(render_snapshot(snapshot), where="s") == snapshot


def test_programs_that_are_folders_are_absent(tmp_path: Path) -> None:
    for name in PROGRAMS:
        (tmp_path / "bin" / name).mkdir(parents=True)
    snapshot = take({"PATH": str(tmp_path / "bin")}, tmp_path, limit_s=20)
    assert failed(snapshot) == []
    assert snapshot.facts["python.tool.uv"] == Absent()
    assert snapshot.facts["toolchain.cmake.version"] == Absent()


def test_two_snapshots_of_one_machine_are_the_same(tmp_path: Path) -> None:
    first, second = (take(dict(os.environ), tmp_path, limit_s=30) for _ in range(2))
    assert second.with_time_of(first) is first


def test_the_environment_and_home_are_those_of_the_variables(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    where = this_machine({"HOME": "/home/x"}, tmp_path, salt="key", deep=True)
    assert where.is_this_one
    assert (where.environment, where.home) == (tmp_path / ".venv", Path("/home/x"))
    assert (where.salt, where.deep) == ("key", True)
    assert this_machine({}, tmp_path).home == Path("/nonexistent")
