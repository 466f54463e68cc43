"""The tables of ``docs/collect-env.md`` against what collectors really tell."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envtrack.collect.ask import Programs
from envtrack.collect.interface import Machine, Said
from envtrack.collect.setting_names import SETTINGS
from envtrack.collect.take import take_snapshot
from envtrack.model.fact import Absent, Unknown
from envtrack.model.snapshot import Snapshot
from tests.collect import gpu_machines, more_gpu_machines
from tests.collect.gpu_machines import GpuMachine
from tests.collect.places import add_distribution, machine, make_environment, site_of, write
from tests.collect.test_framework import NEW, add_torch
from tests.collect.test_framework_deep import CONFIG

DOCS = Path(__file__).parents[2] / "docs" / "collect-env.md"
# The names in the tuple SystemEnv of torch/utils/collect_env.py in PyTorch 2.13.
FIELDS = """
    torch_version is_debug_build cuda_compiled_version gcc_version clang_version cmake_version os
    libc_version python_version python_platform is_cuda_available cuda_runtime_version
    cuda_module_loading nvidia_driver_version nvidia_gpu_models cudnn_version is_xpu_available
    pip_version pip_packages conda_packages hip_compiled_version hip_runtime_version
    miopen_runtime_version caching_allocator_config is_xnnpack_available cpu_info
""".split()  # noqa: SIM905 - a list of names reads better so
INSTALLED = "installed"
# Enough of torch for the questions that are put to it; what is missing answers with its reason.
STAND_IN = f"""
__version__ = "2.13.0"
class version:
    cuda = None
    hip = "6.4"
class cuda:
    device_count = staticmethod(lambda: 1)
class __config__:
    show = staticmethod(lambda: {CONFIG!r})
"""
VERSIONS = {
    "gcc": "gcc (Debian 12.2.0-14+deb12u1) 12.2.0\n",
    "clang": "Debian clang version 14.0.6\n",
    "cmake": "cmake version 3.25.1\n",
    "nvcc": "Cuda compilation tools, release 12.4, V12.4.131\n",
}


def read_tables() -> list[tuple[str, ...]]:
    """The cells of all rows, without the heads."""
    rows = re.findall(r"^\| (.*) ?\|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [tuple(cell.strip() for cell in row.split("|")) for row in rows]
    return [row for row in cells if row[-1] != "what differs, or is left out and why"]


def read_fields() -> list[tuple[str, ...]]:
    """The rows of the first table, which has a column more than the others."""
    return [row for row in read_tables() if len(row) == 4]


def read_names() -> list[str]:
    names = [name for row in read_tables() for name in re.findall(r"`([^`]+)`", row[-2])]
    return list(dict.fromkeys(names))


def take(where: Machine) -> Snapshot:
    now = datetime.fromtimestamp(0, UTC)
    return take_snapshot(where, name="lab", lockfile=None, now=now, limit_s=60)


def take_deep(base: Path) -> Snapshot:
    """A machine with a toolchain, torch, a cuDNN before torch's own, and every setting set."""
    environment = make_environment(base)
    site = site_of(environment)
    write(add_torch(site, NEW) / "__init__.py", STAND_IN)
    add_distribution(site, "nvidia-cudnn-cu12", "9.1.0.70")
    write(site / "nvidia/cudnn/lib/libcudnn.so.9")
    write(base / "root/opt/lib/libcudnn.so.9")
    interpreter = environment / "bin/python"
    interpreter.parent.mkdir()
    interpreter.symlink_to(sys.executable)
    real = Programs({**os.environ, "PYTHONPATH": str(site)}, folder=base, limit_s=60)

    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
        if command[0] == str(interpreter):
            return real(command, timeout_s=timeout_s)
        text = VERSIONS.get(Path(command[0]).name)
        return Absent() if text is None else Said(code=0, out=text, err="")

    environ = {**dict.fromkeys(SETTINGS, "1"), "LD_LIBRARY_PATH": "/opt/lib"}
    where = machine(base, environ=environ, environment=environment)
    return take(replace(where, ask=ask, deep=True))


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> list[Snapshot]:
    """Of the captured machines with GPUs, and of one on which frameworks may be started."""
    captured = [
        value
        for module in (gpu_machines, more_gpu_machines)
        for value in vars(module).values()
        if isinstance(value, GpuMachine)
    ]
    taken = [take(one.build(tmp_path_factory.mktemp("captured"))) for one in captured]
    return [*taken, take_deep(tmp_path_factory.mktemp("deep"))]


def test_every_field_has_one_row() -> None:
    assert sorted(row[0].strip("`") for row in read_fields()) == sorted(FIELDS)


def test_every_row_names_facts_or_says_why_it_is_left_out() -> None:
    mute = [row for row in read_tables() if not row[-2] and not row[-1].startswith("Left out: ")]
    assert mute == []


def test_the_tables_are_read_whole() -> None:
    lines = DOCS.read_text(encoding="utf-8").count("\n| ")
    heads = 3
    assert len(read_tables()) == lines - heads
    assert len(read_names()) > len(FIELDS)


@pytest.mark.parametrize("name", read_names())
def test_every_name_is_one_that_a_collector_tells(name: str, snapshots: list[Snapshot]) -> None:
    if name == INSTALLED:
        assert any(snapshot.installed for snapshot in snapshots)
        return
    pattern = re.compile(re.sub(r"<\w+>", r"[\\w-]+", re.escape(name)))
    assert any(pattern.fullmatch(fact) for one in snapshots for fact in one.facts)


def test_a_fact_called_deep_is_told_only_where_frameworks_may_be_started(
    snapshots: list[Snapshot],
) -> None:
    told = {fact for one in snapshots[:-1] for fact in one.facts}
    assert [fact for fact in told if ".deep." in fact] == []


def test_rows_with_deep_facts_say_so() -> None:
    silent = [row[0] for row in read_fields() if ".deep." in row[2] and "deep" not in row[3]]
    assert silent == []


def test_names_in_the_remarks_are_facts_too(snapshots: list[Snapshot]) -> None:
    told = {fact for one in snapshots for fact in one.facts}
    layers = {fact.partition(".")[0] for fact in told}
    named = [name for row in read_tables() for name in re.findall(r"`([^`]+)`", row[-1])]
    facts = [name for name in named if name.partition(".")[0] in layers and "." in name]
    assert facts
    assert [name for name in facts if name not in told] == []
