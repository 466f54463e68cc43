"""The Python side of the hooks: its limit, its imports, what it makes of its own faults."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envtrack.collect.interface import Machine
from envtrack.config.settings import Settings
from envtrack.errors import RigFailed
from envtrack.git.repository import Repository, open_repository
from envtrack.model.fact import Known
from envtrack.model.oid import Oid
from envtrack.model.snapshot import LockfileRef, Snapshot
from envtrack.record.beside import record_beside
from envtrack.record.commit import find_lockfile, record_commit
from envtrack.record.hook import WithinBudget
from envtrack.record.memory import Addition, HookMemory, Pending
from envtrack.record.square import square_index
from tests.record.hooked import RECORD, SOURCE, Hooked, write_script
from tests.support.repo import RepoBuilder

WARNING = "envtrack: no record of this machine was taken: "


class StillMachine:
    """Takes snapshots of a machine that only changes when it is told to."""

    def __init__(self) -> None:
        self.release = "6.1"
        self.day = 1
        self.machines: list[Machine] = []

    def __call__(
        self, machine: Machine, *, name: str, lockfile: LockfileRef | None, now: datetime
    ) -> Snapshot:
        assert now.tzinfo is not None
        self.machines.append(machine)
        return Snapshot(
            machine=name,
            taken_at=f"2026-01-{self.day:02}T00:00:00Z",
            facts={"kernel.release": Known(self.release)},
            lockfile=lockfile,
        )


def open_repo(repo: RepoBuilder) -> Repository:
    return open_repository(repo.path, dict(os.environ))


def pre_commit(repo: RepoBuilder, take: StillMachine) -> tuple[str, ...]:
    return record_commit(open_repo(repo), environ=dict(os.environ), take=take)


@contextmanager
def hanging() -> Iterator[threading.Event]:
    """An event that is set at the end, so that no thread outlives its test."""
    event = threading.Event()
    try:
        yield event
    finally:
        event.set()


def test_the_hook_imports_nothing_heavy(hooked: Hooked) -> None:
    hooked.lock("version = 2\n")
    code = (
        "import sys; from envtrack.record.hook import main; main(['pre-commit']);"
        "print([name for name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=hooked.repo.path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(ast.literal_eval(done.stdout))
    assert hooked.record("")["lockfile"]["blob"] == hooked.repo.git("rev-parse", ":uv.lock")
    assert not loaded & {"typer", "git", "pydantic", "deepdiff", "rich", "yaml", "jinja2"}


def test_a_look_that_takes_too_long_is_given_up() -> None:
    with hanging() as event:

        def hang(*_: object, **__: object) -> Snapshot:
            event.wait(60)
            raise RigFailed("never")

        take = WithinBudget(hang, budget_s=0.05)
        started = time.monotonic()
        for _ in range(3):
            with pytest.raises(RigFailed, match=r"longer than 0\.05 s"):
                take(_machine(), name="x", lockfile=None, now=datetime.now(UTC))
        assert time.monotonic() - started < 2


def test_a_fault_in_the_thread_comes_out_of_it() -> None:
    def fail(*_: object, **__: object) -> Snapshot:
        raise ZeroDivisionError("odd")

    with pytest.raises(ZeroDivisionError):
        WithinBudget(fail)(_machine(), name="x", lockfile=None, now=datetime.now(UTC))


def _machine() -> Machine:
    return Machine(root=Path("/"), environ={}, environment=None, project=Path("/"), home=Path("/"))


def replace_taker(hooked: Hooked, body: str) -> None:
    """Lets the hooks' Python take snapshots by another function, whose body is given."""
    script = hooked.python.with_name("taker.py")
    script.write_text(
        "import sys, time\n"
        "from envtrack.record.hook import WithinBudget, run\n"
        f"def take(*_, **__):\n    {body}\n"
        "run(sys.argv[4:], take=WithinBudget(take, budget_s=0.2))\n"
    )
    text = hooked.python.read_text()
    write_script(hooked.python, text.replace('"$@"', f'{shlex.quote(str(script))} "$@"'))


def test_a_machine_that_hangs_does_not_hold_up_the_commit(hooked: Hooked) -> None:
    replace_taker(hooked, "time.sleep(60)")
    hooked.lock("version = 2\n")
    started = time.monotonic()
    said = hooked.commit()
    assert time.monotonic() - started < 20
    assert said == f"{WARNING}uv.lock: it took longer than 0.2 s\n"
    assert hooked.changed() == ["uv.lock"]


@pytest.mark.parametrize(
    "fault", ["raise OSError(28, 'No space left')", "1/0", "raise SystemExit", "import ünknown"]
)
def test_an_unexpected_fault_is_one_line_and_no_traceback(hooked: Hooked, fault: str) -> None:
    replace_taker(hooked, fault)
    hooked.lock("version = 2\n")
    said = hooked.commit()
    assert said.startswith(WARNING)
    assert said.count("\n") == 1
    assert hooked.changed() == ["uv.lock"]


@pytest.mark.parametrize("arguments", [[], ["post-update"]])
def test_a_hook_that_is_not_ours_is_no_error(hooked: Hooked, arguments: list[str]) -> None:
    done = hooked.repo.run([str(hooked.python), "-P", "-m", "envtrack.record.hook", *arguments])
    assert done.returncode == 0
    assert "no hook of ours" in done.stderr


def test_one_lockfile_that_fails_does_not_cost_the_other_its_record(hooked: Hooked) -> None:
    hooked.repo.write(".envtrack/snapshots/testbed/sub", "a file in the way")
    hooked.lock("version = 2\n")
    hooked.lock("version = 1\n", "sub/uv.lock")
    said = hooked.commit()
    assert said.startswith(f"{WARNING}sub/uv.lock: ")
    assert said.count("\n") == 1
    assert hooked.belongs()


def test_the_time_is_kept_while_nothing_else_moves(repo: RepoBuilder) -> None:
    machine = StillMachine()
    for day, release in ((1, "6.1"), (2, "6.1"), (3, "6.2")):
        machine.day, machine.release = day, release
        repo.write("uv.lock", "version = 1\n")
        outcome = record_beside(
            open_repo(repo),
            "uv.lock",
            Oid.for_blob(b"version = 1\n"),
            environ=dict(os.environ),
            settings=Settings(),
            take=machine,
        )
        expected = "2026-01-03T00:00:00Z" if release == "6.2" else "2026-01-01T00:00:00Z"
        assert outcome.snapshot.taken_at == expected
        assert (repo.path / RECORD).read_bytes() == outcome.content
        assert outcome.is_written


def test_recording_beside_a_lockfile_stages_nothing(repo: RepoBuilder) -> None:
    repo.write("uv.lock", "version = 1\n")
    repo.git("add", "uv.lock")
    before = repo.git("ls-files", "--stage")
    record_beside(
        open_repo(repo),
        "uv.lock",
        Oid.for_blob(b"version = 1\n"),
        environ=dict(os.environ),
        settings=Settings(),
        take=StillMachine(),
    )
    assert repo.git("ls-files", "--stage") == before


def test_the_machine_is_described_without_what_git_told_its_hook(repo: RepoBuilder) -> None:
    machine = StillMachine()
    record_beside(
        open_repo(repo),
        "sub/uv.lock",
        Oid.for_blob(b""),
        environ={**os.environ, "GIT_INDEX_FILE": "x"},
        settings=Settings(salt="pepper"),
        take=machine,
    )
    (seen,) = machine.machines
    assert not any(name.startswith("GIT_") for name in seen.environ)
    assert seen.project == repo.path / "sub"
    assert seen.salt == "pepper"


def test_a_lockfile_that_comes_back_brings_its_old_record_back(repo: RepoBuilder) -> None:
    machine = StillMachine()
    for day, text in ((1, "version = 1\n"), (2, "version = 2\n")):
        machine.day = day
        repo.write("uv.lock", text)
        repo.git("add", "uv.lock")
        assert pre_commit(repo, machine) == ()
        repo.git("commit", "-qm", "change")
    machine.day = 3
    repo.git("checkout", "HEAD~1", "--", "uv.lock")
    pre_commit(repo, machine)
    assert repo.git("rev-parse", f":{RECORD}") == repo.git("rev-parse", f"HEAD~1:{RECORD}")


@pytest.mark.parametrize(
    ("path", "lockfile"),
    [
        (RECORD, "uv.lock"),
        (".envtrack/snapshots/m/a/b/uv.lock.json", "a/b/uv.lock"),
        (".envtrack/snapshots/m", ""),
        (".envtrack/snapshots/m/README", ""),
    ],
)
def test_a_record_stands_beside_a_lockfile(path: str, lockfile: str) -> None:
    assert find_lockfile(path) == lockfile


def test_the_memory_gives_back_what_it_was_given(tmp_path: Path) -> None:
    memory = HookMemory(tmp_path)
    one, two = Oid.for_blob(b"1"), Oid.for_blob(b"2")
    assert memory.read_pending() is None
    assert memory.read_written() == {}
    pending = Pending(
        head=None,
        additions=(Addition(path="caf\udce9", blob=one, base=None, former=two),),
    )
    memory.write_pending(pending)
    assert memory.read_pending() == pending
    memory.add_written({"caf\udce9": one})
    memory.add_written({"b": None})
    assert memory.read_written() == {"caf\udce9": one, "b": None}


def test_a_note_of_another_commit_squares_nothing(hooked: Hooked) -> None:
    hooked.lock_commit("version = 2\n")
    hooked.lock_commit("version = 3\n")
    memory = HookMemory(hooked.repo.path / ".git")
    head, first = (
        Oid(hooked.repo.git("rev-parse", f"{name}:{RECORD}")) for name in ("HEAD", "HEAD~1")
    )
    memory.write_pending(
        Pending(
            head=Oid(hooked.repo.git("rev-parse", "HEAD~2")),
            additions=(Addition(path=RECORD, blob=head, base=first, former=first),),
        )
    )
    hooked.repo.git("checkout", "HEAD~1", "--", RECORD)
    before = hooked.repo.git("ls-files", "--stage")
    square_index(open_repo(hooked.repo))
    assert hooked.repo.git("ls-files", "--stage") == before
