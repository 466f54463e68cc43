from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from envtrack.collect.interface import Collector, Machine, Record
from envtrack.collect.settings import SettingsCollector
from envtrack.collect.take import COLLECTORS, take_snapshot
from envtrack.model.fact import Fact, Known, Unknown
from envtrack.model.layer import Layer
from envtrack.model.oid import Oid
from envtrack.model.snapshot import LockfileRef, Snapshot, parse_snapshot, render_snapshot
from tests.collect.places import (
    add_distribution,
    machine,
    make_environment,
    site_of,
    write,
)

NOW = datetime(2026, 1, 2, 5, 4, 5, 999, tzinfo=timezone(timedelta(hours=2)))
CANARY = "c4nary5ecret"


def take(where: Machine) -> Snapshot:
    return take_snapshot(where, name="lab", lockfile=None, now=NOW)


class Failing:
    layer = Layer.DRIVER

    def __init__(self, error: OSError) -> None:
        self._error = error

    def collect(self, machine: Machine) -> Iterator[Record]:
        assert not machine.is_this_one
        yield Fact(name="driver.half", state=Known(1))
        raise self._error


def test_machine_time_and_lockfile_are_kept(tmp_path: Path) -> None:
    lockfile = LockfileRef(path="uv.lock", blob=Oid("0a" * 20))
    snapshot = take_snapshot(machine(tmp_path), name="lab", lockfile=lockfile, now=NOW)
    assert snapshot.machine == "lab"
    assert snapshot.taken_at == "2026-01-02T03:04:05Z"
    assert snapshot.lockfile == lockfile


def test_every_fact_belongs_to_its_collectors_layer(tmp_path: Path) -> None:
    where = machine(
        tmp_path, environment=make_environment(tmp_path), environ={"CUDA_HOME": "/opt/cuda"}
    )
    for collector in COLLECTORS:
        names = [r.name for r in collector.collect(where) if isinstance(r, Fact)]
        assert names
        assert {name.partition(".")[0] for name in names} == {collector.layer.value}


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied", "/home/alice/x"), "not permitted"),
        (OSError(5, "Input/output error"), "input/output error"),
        (OSError("odd"), "oserror"),
    ],
)
def test_a_collector_that_fails_leaves_one_unknown_fact(
    tmp_path: Path, error: OSError, reason: str
) -> None:
    snapshot = take_snapshot(
        machine(tmp_path), name="lab", lockfile=None, now=NOW, collectors=[Failing(error)]
    )
    assert snapshot.facts == {"driver.collector": Unknown(reason)}


class Quick:
    """Says one thing, after a while if it is told so."""

    def __init__(
        self, layer: Layer, value: int, *, wait: Callable[[], object] = lambda: None
    ) -> None:
        self.layer = layer
        self._value = value
        self._wait = wait

    def collect(self, machine: Machine) -> Iterator[Record]:
        del machine
        self._wait()
        yield Fact(name=f"{self.layer.value}.one", state=Known(self._value))


def take_with(tmp_path: Path, *collectors: Collector, limit_s: float = 20.0) -> Snapshot:
    return take_snapshot(
        machine(tmp_path),
        name="lab",
        lockfile=None,
        now=NOW,
        collectors=collectors,
        limit_s=limit_s,
    )


def test_every_layer_has_a_collector_from_the_ground_up() -> None:
    assert [one.layer for one in COLLECTORS] == list(Layer)


def test_a_fault_of_ours_costs_its_layer_and_says_where_and_not_what(tmp_path: Path) -> None:
    def fail() -> None:
        raise ValueError(CANARY)

    snapshot = take_with(tmp_path, Quick(Layer.OS, 1, wait=fail), Quick(Layer.KERNEL, 2))
    assert snapshot.facts == {
        "os.collector": Unknown("failed: ValueError in test_take.py"),
        "kernel.one": Known(2),
    }


def test_an_exit_in_a_collector_ends_nothing(tmp_path: Path) -> None:
    snapshot = take_with(tmp_path, Quick(Layer.OS, 1, wait=sys.exit), Quick(Layer.KERNEL, 2))
    assert snapshot.facts["kernel.one"] == Known(2)
    assert isinstance(snapshot.facts["os.collector"], Unknown)


def test_collectors_run_side_by_side(tmp_path: Path) -> None:
    barrier = threading.Barrier(3, timeout=15)
    layers = (Layer.KERNEL, Layer.DRIVER, Layer.OS)
    snapshot = take_with(tmp_path, *(Quick(layer, 1, wait=barrier.wait) for layer in layers))
    assert snapshot.facts == {f"{layer.value}.one": Known(1) for layer in layers}


def test_a_collector_that_hangs_costs_its_own_facts_and_no_others(tmp_path: Path) -> None:
    over = threading.Event()
    started = time.monotonic()
    snapshot = take_with(
        tmp_path,
        Quick(Layer.DRIVER, 1, wait=lambda: over.wait(60)),
        Quick(Layer.KERNEL, 2),
        Quick(Layer.OS, 3, wait=lambda: over.wait(60)),
        limit_s=0.5,
    )
    assert time.monotonic() - started < 10
    over.set()
    assert snapshot.facts == {
        "driver.collector": Unknown("timed out"),
        "kernel.one": Known(2),
        "os.collector": Unknown("timed out"),
    }


def test_a_collector_that_finds_nothing_did_not_time_out(tmp_path: Path) -> None:
    assert take_with(tmp_path, SettingsCollector()).facts == {}


def test_the_order_of_collectors_counts_and_not_who_is_first(tmp_path: Path) -> None:
    slow = Quick(Layer.OS, 1, wait=lambda: time.sleep(0.3))
    assert take_with(tmp_path, slow, Quick(Layer.OS, 2)).facts == {"os.one": Known(2)}


class DeadMount(type(Path())):  # type: ignore[misc]  # the class of paths of this platform
    """A path whose links can't be resolved: whoever tries waits for a server that is gone."""

    is_back = threading.Event()

    def __fspath__(self) -> str:
        self.is_back.wait(60)
        return str(self)


def test_a_home_on_a_dead_mount_is_hidden_as_it_is_written(tmp_path: Path) -> None:
    home = tmp_path / "nfs/alice"
    where = replace(
        machine(tmp_path, environ={"PYTHONPATH": f"{home}/lib"}), home=DeadMount(str(home))
    )
    started = time.monotonic()
    snapshot = take_snapshot(
        where, name="lab", lockfile=None, now=NOW, collectors=[SettingsCollector()], limit_s=0.5
    )
    DeadMount.is_back.set()
    assert time.monotonic() - started < 10
    assert snapshot.facts == {"settings.PYTHONPATH": Known("~/lib")}


def test_paths_lose_home_project_environment_and_user(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    home = tmp_path / "home" / "alice"
    where = machine(
        tmp_path,
        environment=environment,
        environ={
            "LD_LIBRARY_PATH": f"{environment}/lib:{home}/project/lib:{home}/lib:{home}2/lib",
            "PYTHONPATH": f"/scratch/alice/x:/home/bob/y:{home}",
            "XLA_FLAGS": f"--xla_dump_to={home}/dump",
        },
    )
    facts = take(where).facts
    assert facts["settings.LD_LIBRARY_PATH"] == Known(
        f"<environment>/lib:<project>/lib:~/lib:{tmp_path}/home/***/lib"
    )
    assert facts["settings.PYTHONPATH"] == Known("/scratch/<user>/x:/home/***/y:~")
    assert facts["settings.XLA_FLAGS"] == Known("--xla_dump_to=~/dump")
    assert facts["packages.environment"] == Known("<project>/.venv")


def test_an_environment_elsewhere_is_told_by_its_place(tmp_path: Path) -> None:
    environment = tmp_path / "envs/one"
    environment.mkdir(parents=True)
    write(environment / "pyvenv.cfg", f"home = {environment}/base\n")
    facts = take(machine(tmp_path, environment=environment)).facts
    assert facts["packages.environment"] == Known(str(environment))
    assert facts["python.home"] == Known("<environment>/base")


def test_a_home_at_the_root_does_not_rename_every_path(tmp_path: Path) -> None:
    where = Machine(
        root=tmp_path,
        environ={"CUDA_HOME": "/usr/local/cuda"},
        environment=None,
        project=Path("/"),
        home=Path("/"),
    )
    assert take(where).facts["settings.CUDA_HOME"] == Known("/usr/local/cuda")


def test_a_home_behind_a_link_is_hidden_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / "real" / "alice").mkdir(parents=True)
    (tmp_path / "home").symlink_to("real")
    where = machine(tmp_path, environ={"PYTHONPATH": f"{tmp_path}/real/alice/x"})
    assert take(where).facts["settings.PYTHONPATH"] == Known("~/x")


def plant(tmp_path: Path) -> Machine:
    """A machine with the canary in every place from which a snapshot could take it."""
    environment = make_environment(
        tmp_path,
        f"home = /home/{CANARY}/python\nversion = 3.11.7\nuv = https://u:{CANARY}@h.example\n",
    )
    site = site_of(environment)
    urls = [
        f"https://user:{CANARY}@files.example/a.whl",
        f"https://files.example/a.whl?sig={CANARY}",
        f"https://files.example/a.whl#token={CANARY}",
        f"https://conda.example/t/{CANARY}/a.whl",
        f"https://user:{CANARY}@[::1/a.whl",
    ]
    parts: list[dict[str, object]] = [
        {"archive_info": {}},
        {"vcs_info": {"vcs": "git", "commit_id": "0a"}},
        {"dir_info": {}},
    ]
    for number, (url, part) in enumerate((url, part) for url in urls for part in parts):
        add_distribution(site, f"p{number}", "1", direct_url=json.dumps({"url": url, **part}))
    add_distribution(
        site,
        "home",
        "1",
        direct_url=json.dumps(
            {"url": f"file:///home/{CANARY}/lib", "dir_info": {"editable": True}}
        ),
    )
    write(site / "odd-1.dist-info/METADATA", f"Name: odd\nVersion: https://u:{CANARY}@h.example\n")
    write(site / "__editable__.x-1.pth", f"/home/{CANARY}/src")
    add_distribution(site, "x", "1")
    write(tmp_path / "root/etc/os-release", f"ID=x\nPRETTY_NAME='HF_TOKEN={CANARY}'\n")
    write(
        tmp_path / "root/proc/version",
        f"Linux version 6 ({CANARY}@{CANARY}) (gcc) #1 SMP https://u:{CANARY}@h.example\n",
    )
    login = f"https://user:{CANARY}@registry.example/simple?token={CANARY}"
    environ = {
        "PIP_INDEX_URL": login,
        "UV_INDEX": f"internal={login} other={login}",
        "UV_DEFAULT_INDEX": f"https://{CANARY}@registry.example/simple",
        "XLA_FLAGS": f"--dump={login}",
        "OMP_NUM_THREADS": CANARY,
        "UV_FROZEN": CANARY,
        "HF_HOME": f"/home/{CANARY}/hf",
        "HF_TOKEN": CANARY,
        "WANDB_API_KEY": CANARY,
        "UV_INDEX_INTERNAL_PASSWORD": CANARY,
        "HTTPS_PROXY": f"http://u:{CANARY}@proxy.example",
        "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {CANARY}",
        CANARY: CANARY,
    }
    return machine(tmp_path, environ=environ, environment=environment, salt="key")


def test_no_planted_secret_is_in_the_text(tmp_path: Path) -> None:
    text = render_snapshot(take(plant(tmp_path)))
    assert CANARY not in text
    assert "alice" not in text
    assert len(json.loads(text)["installed"]) == 18


def test_bytes_that_are_no_text_can_be_written_and_read_back(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    (environment / "pyvenv.cfg").write_bytes(b"home = /\xff\nversion = 3.11.7\n")
    write(site_of(environment) / "a-1.dist-info/METADATA", b"Name: a\nVersion: 1\xff\n")
    write(tmp_path / "root/etc/os-release", b"ID=\xfe\n")
    os.symlink(b"/gone/\xff", os.fsencode(environment / "link"))  # noqa: PTH211 - bytes
    where = machine(tmp_path, environment=environment, environ={"CUDA_HOME": "/\udcff\ud800"})
    snapshot = take(where)
    text = render_snapshot(snapshot)
    text.encode("utf-8")
    assert parse_snapshot(text, where="s.json") == snapshot
    assert snapshot.facts["python.home"] == Known("/\\xff")
    assert snapshot.installed["a"].version == "1\\xff"


def test_a_snapshot_of_an_unchanged_machine_keeps_its_time(tmp_path: Path) -> None:
    where = plant(tmp_path)
    first = take(where)
    later = take_snapshot(where, name="lab", lockfile=None, now=datetime.now(UTC))
    assert later.with_time_of(first) is first


def run_code(code: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    return done.returncode, done.stderr


def test_the_hook_path_imports_nothing_heavy() -> None:
    code = (
        "import sys, datetime, os, pathlib\n"
        "from envtrack.collect.this_machine import this_machine\n"
        "from envtrack.collect.take import take_snapshot\n"
        "machine = this_machine(dict(os.environ), pathlib.Path(sys.prefix))\n"
        "take_snapshot(machine, name='x', lockfile=None,"
        " now=datetime.datetime.now(datetime.UTC))\n"
        "heavy = {'typer', 'git', 'deepdiff', 'pydantic', 'rich', 'yaml', 'torch', 'ctypes'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n"
    )
    assert run_code(code) == (0, "")


def test_with_its_doors_closed_a_machine_is_only_read() -> None:
    code = (
        "import sys, datetime, os, pathlib\n"
        "from envtrack.collect.interface import Machine\n"
        "from envtrack.collect.take import take_snapshot\n"
        "here = pathlib.Path(sys.prefix)\n"
        "def watch(name, _):\n"
        "    if name.startswith(('subprocess', 'os.system', 'os.exec', 'os.posix_spawn', 'os.fork',"
        " 'socket')):\n"
        "        print(name, file=sys.stderr, flush=True)\n"
        "        os._exit(3)\n"
        "sys.addaudithook(watch)\n"
        "machine = Machine(root=pathlib.Path('/'), environ={}, environment=here, project=here,"
        " home=here)\n"
        "snapshot = take_snapshot(machine, name='x', lockfile=None,"
        " now=datetime.datetime.now(datetime.UTC))\n"
        "sys.exit(', '.join(n for n in snapshot.facts if n.endswith('.collector')) or 0)\n"
    )
    assert run_code(code) == (0, "")
