from __future__ import annotations

import os
from pathlib import Path

import pytest

from envtrack.collect.kernel import KernelCollector
from envtrack.model.fact import Absent, Known, Unknown
from tests.collect.places import facts_of, machine, write

BANNER = (
    "Linux version 6.8.0-45-generic (alice@workstation7) (x86_64-linux-gnu-gcc-13 13.2.0)"
    " #45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30 12:02:04 UTC 2024\n"
)


def test_release_build_and_architecture_are_read_from_proc(tmp_path: Path) -> None:
    proc = tmp_path / "root" / "proc"
    write(proc / "version", BANNER)
    write(proc / "sys/kernel/osrelease", "6.8.0-45-generic\n")
    write(proc / "sys/kernel/arch", "x86_64\n")
    assert facts_of(KernelCollector(), machine(tmp_path)) == {
        "kernel.name": Known("Linux"),
        "kernel.release": Known("6.8.0-45-generic"),
        "kernel.build": Known("#45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30 12:02:04 UTC 2024"),
        "kernel.machine": Known("x86_64"),
    }


def test_an_image_without_proc_has_no_kernel_and_not_this_ones(tmp_path: Path) -> None:
    assert set(facts_of(KernelCollector(), machine(tmp_path)).values()) == {Absent()}


def test_a_banner_without_a_build_has_none(tmp_path: Path) -> None:
    write(tmp_path / "root/proc/version", "Linux")
    facts = facts_of(KernelCollector(), machine(tmp_path))
    assert facts["kernel.name"] == Known("Linux")
    assert facts["kernel.build"] == Absent()


def test_what_may_not_be_read_is_unknown_with_the_reason(tmp_path: Path) -> None:
    proc = tmp_path / "root" / "proc"
    write(proc / "sys/kernel/osrelease").unlink()
    (proc / "version").mkdir()
    facts = facts_of(KernelCollector(), machine(tmp_path))
    assert facts["kernel.build"] == Unknown("is a directory")
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    write(proc / "sys/kernel/osrelease", "6.8").chmod(0)
    facts = facts_of(KernelCollector(), machine(tmp_path))
    assert facts["kernel.release"] == Unknown("not permitted")


def test_the_running_machine_tells_all(tmp_path: Path) -> None:
    facts = facts_of(KernelCollector(), machine(tmp_path, root=Path("/")))
    assert facts["kernel.release"] == Known(os.uname().release)
    assert all(isinstance(state, Known) for state in facts.values())
