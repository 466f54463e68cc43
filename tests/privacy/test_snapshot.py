"""Nothing that names a person or a machine, and no credential, is in any output of a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envtrack.collect.interface import GpuInfo, Machine, NvmlReport, Said
from envtrack.collect.machine_name import find_machine_name
from envtrack.collect.take import take_snapshot
from envtrack.model.fact import Absent, Known, Unknown
from envtrack.model.snapshot import Snapshot, render_snapshot
from envtrack.report.look import Look
from envtrack.report.snapshot import (
    render_snapshot_json,
    render_snapshot_markdown,
    render_snapshot_text,
)
from tests.collect.places import machine
from tests.privacy.secrets import (
    ADDRESS,
    DOMAIN,
    GPU_UUID,
    HOST,
    MAC,
    OTHER_USER,
    USER,
    environ,
    find_leaks,
    plant_environment,
    plant_home,
    plant_project,
    plant_root,
    planted,
    secret,
)

SAID = f"""\
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|    0   N/A  N/A      4242      C   /home/{OTHER_USER}/train.py --key {secret("process")} |
GPU 0: NVIDIA L4 (UUID: GPU-{GPU_UUID})
gcc (built by {USER}@{DOMAIN}) 13.2.0
COLLECT_GCC=/home/{OTHER_USER}/bin/gcc
{ADDRESS} {MAC} https://lab:{secret("program")}@files.example
"""


def talk(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
    """Every program says everything."""
    return Said(code=0, out=SAID, err=SAID)


def tell(*, timeout_s: float = 5.0) -> NvmlReport | Absent | Unknown:
    gpu = GpuInfo(
        index=0,
        model=Known("NVIDIA L4"),
        compute_capability=Known("8.9"),
        memory_mib=Known(23034),
        pci_id=Known("0000:17:00.0"),
        mig=Absent(),
        mig_devices=Absent(),
        persistence=Unknown(f"/home/{OTHER_USER}/{USER} refused"),
    )
    return NvmlReport(driver_version=Known("550.54.15"), cuda_version=Known("12.4"), gpus=(gpu,))


@pytest.fixture
def planted_machine(tmp_path: Path) -> Machine:
    where = machine(tmp_path)
    home, project = tmp_path / "home" / USER, tmp_path / "home" / USER / "project"
    plant_root(where.root)
    plant_home(home)
    plant_project(project)
    plant_environment(project / ".venv")
    return replace(
        where,
        home=home,
        project=project,
        environment=project / ".venv",
        environ={
            **environ(),
            "VIRTUAL_ENV": str(project / ".venv"),
            "PATH": f"{home}/bin:/usr/bin",
        },
        salt="key",
        ask=talk,
        nvml=tell,
    )


def take(where: Machine) -> Snapshot:
    name = find_machine_name(where.environ, configured=None, salt=where.salt, root=where.root)
    return take_snapshot(where, name=name, lockfile=None, now=datetime.now(UTC), limit_s=60)


def test_there_are_more_than_forty_kinds_of_secret() -> None:
    kinds = list(planted(with_root=True))
    assert len({one.kind for one in kinds}) == len({one.text for one in kinds}) >= 60


def test_a_leak_would_be_found() -> None:
    assert find_leaks(f"x{secret('HF_TOKEN').lower()}x") == ["variable HF_TOKEN"]


def test_no_secret_is_in_a_snapshot_in_any_form(planted_machine: Machine) -> None:
    snapshot = take(planted_machine)
    full = Look(width=120, is_coloured=False, is_full=True)
    forms = {
        "canonical": render_snapshot(snapshot),
        "json": render_snapshot_json(snapshot),
        "markdown": render_snapshot_markdown(snapshot),
        "text": render_snapshot_text(snapshot, full),
    }
    leaks = {form: find_leaks(text, with_root=True) for form, text in forms.items()}
    assert {form: found for form, found in leaks.items() if found} == {}
    for word in (secret("process"), secret("program"), str(planted_machine.root.parent)):
        assert word not in forms["canonical"].replace(str(planted_machine.root), "")


def test_it_is_a_whole_snapshot_all_the_same(planted_machine: Machine) -> None:
    snapshot = take(planted_machine)
    assert not [name for name in snapshot.facts if name.endswith(".collector")]
    assert {"settings.PIP_INDEX_URL", "kernel.release", "hardware.gpu.count"} <= set(snapshot.facts)
    assert {"planted0", "planted6", "loose"} <= set(snapshot.installed)


def test_a_hidden_value_that_changes_is_still_seen_to_change(planted_machine: Machine) -> None:
    first = take(planted_machine)
    for name in ("PIP_INDEX_URL", "UV_INDEX", "UV_INSECURE_HOST", "CUDA_VISIBLE_DEVICES"):
        other = planted_machine.environ[name] + "0"
        changed = replace(planted_machine, environ={**planted_machine.environ, name: other})
        assert take(changed).facts[f"settings.{name}"] != first.facts[f"settings.{name}"]


def test_without_home_and_user_the_names_of_people_are_still_hidden(
    planted_machine: Machine,
) -> None:
    nameless = {
        name: value
        for name, value in planted_machine.environ.items()
        if name not in {"HOME", "USER", "LOGNAME"} and USER not in value
    }
    where = replace(planted_machine, environ=nameless, home=Path("/nonexistent"))
    assert OTHER_USER not in render_snapshot(take(where))


def test_the_hosts_own_name_is_hidden_only_where_a_host_stands(planted_machine: Machine) -> None:
    environ = {
        "LD_LIBRARY_PATH": f"/nodes/{HOST}/lib:/opt/{HOST}-tools/lib",
        "HF_ENDPOINT": f"http://{DOMAIN}:8080/hub",
    }
    facts = take(replace(planted_machine, environ=environ)).facts
    assert facts["settings.LD_LIBRARY_PATH"] == Known(f"/nodes/<host>/lib:/opt/{HOST}-tools/lib")
    assert facts["settings.HF_ENDPOINT"] == Known("http://<host>:8080/hub")
