from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import envtrack
from envtrack.cli.main import main
from envtrack.errors import RigFailed, SnapshotProblem, UsageProblem
from envtrack.model.oid import Oid
from envtrack.model.snapshot import LockfileRef, parse_snapshot, render_snapshot
from tests.support.repo import RepoBuilder

SOURCE = Path(__file__).parents[1]
DOCS = SOURCE / "docs" / "python-api.md"
# Ten times what is promised: tests run side by side on small machines.
PATIENCE_S = 3.0


def run_python(code: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environ},
    )


def test_import_is_light() -> None:
    code = (
        "import sys; before = set(sys.modules); import envtrack\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    assert run_python(code, SOURCE).stdout.split() == ["envtrack"]


def test_a_snapshot_needs_no_framework_and_nothing_of_the_command_line(tmp_path: Path) -> None:
    code = (
        "import sys, envtrack; envtrack.take_snapshot()\n"
        "heavy = {'torch', 'jax', 'numpy', 'typer', 'rich', 'git', 'pydantic', 'yaml', 'deepdiff'}\n"
        "print(*sorted(heavy & set(sys.modules)))"
    )
    done = run_python(code, tmp_path)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_a_saved_snapshot_is_read_back(tmp_path: Path) -> None:
    taken = envtrack.take_snapshot(tmp_path)
    path = taken.save(tmp_path / "runs/1/environment.json")
    assert path == tmp_path / "runs/1/environment.json"
    assert envtrack.read_snapshot(path) == taken
    assert path.read_text() == render_snapshot(taken)
    assert parse_snapshot(path.read_text(), where="x").facts == taken.facts


def test_it_holds_all_layers_and_the_packages_of_this_python(tmp_path: Path) -> None:
    taken = envtrack.take_snapshot(str(tmp_path))
    assert taken.machine == "testbed"
    assert {"hardware", "kernel", "os", "python", "packages"} <= {
        name.partition(".")[0] for name in taken.facts
    }
    version = ".".join(map(str, sys.version_info[:3]))
    assert taken.facts["python.version"] == envtrack.Known(version)
    assert "pytest" in taken.installed


def test_another_environment_can_be_named(tmp_path: Path) -> None:
    taken = envtrack.take_snapshot(tmp_path, environment=tmp_path / "gone")
    assert taken.facts["packages.environment"] == envtrack.Absent()
    assert taken.installed == {}


def test_the_commands_compare_what_was_saved(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.path)
    repo.write("uv.lock", "version = 1\n")
    repo.commit("lock")
    envtrack.take_snapshot().save("one.json")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    envtrack.take_snapshot().save("two.json")
    assert main(["diff", "one.json", "two.json"]) == 0
    assert "settings.OMP_NUM_THREADS" in capsys.readouterr().out


@pytest.mark.parametrize("folder", ["", "src/deep"])
def test_the_nearest_lockfile_is_named_by_its_blob(repo: RepoBuilder, folder: str) -> None:
    repo.write("member/uv.lock", "version = 1\n")
    repo.write("member/src/deep/x", "")
    taken = envtrack.take_snapshot(repo.path / "member" / folder)
    blob = repo.git("hash-object", "member/uv.lock")
    assert taken.lockfile == LockfileRef(path="member/uv.lock", blob=Oid(blob))


def test_a_lockfile_outside_the_repository_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("version = 1\n")
    inner = RepoBuilder.create(tmp_path / "inner")
    assert envtrack.take_snapshot(inner.path).lockfile is None


def test_without_a_repository_the_lockfile_is_still_named(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("version = 1\n")
    lockfile = envtrack.take_snapshot(tmp_path).lockfile
    assert lockfile == LockfileRef(path="uv.lock", blob=Oid.for_blob(b"version = 1\n"))


CONFIGS = [
    'schema: 1\n# words\nsalt: "0a1b"\n\nmachine: lab-7  # ours\nsmoke:\n  command: "machine: no"\n',
    "{schema: 1, salt: 0a1b, machine: lab-7}\n",
    'salt: "0a\\x31b"\nmachine: lab-7\n',
    "salt: &key 0a1b\nmachine: lab-7\n",
]


@pytest.mark.parametrize("text", CONFIGS)
def test_the_configured_name_counts_in_every_form_of_yaml(
    repo: RepoBuilder, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENVTRACK_MACHINE")
    repo.write(".envtrack/config.yaml", text)
    assert envtrack.take_snapshot(repo.path).machine == "lab-7"


def test_the_pseudonym_is_the_one_of_the_command_line(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ENVTRACK_MACHINE")
    monkeypatch.chdir(repo.path)
    repo.write("uv.lock", "version = 1\n")
    repo.commit("lock")
    assert main(["init"]) == 0
    capsys.readouterr()
    assert main(["snapshot", "--format", "json"]) == 0
    assert envtrack.take_snapshot().machine == json.loads(capsys.readouterr().out)["machine"]


def test_a_name_may_be_given_and_must_be_one(tmp_path: Path) -> None:
    assert envtrack.take_snapshot(tmp_path, machine="lab").machine == "lab"
    with pytest.raises(UsageProblem, match="can't be a machine's name"):
        envtrack.take_snapshot(tmp_path, machine="a/b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ('{"schema": 1, "machine"', "not JSON"),
        ("[]", "no schema number"),
        ('{"schema": 99}', "schema 99 is newer"),
        ('{"schema": 1, "machine": "x"}', "is missing"),
        ("\0\xff", "not JSON"),
    ],
)
def test_what_is_no_snapshot_is_said_with_its_path(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(SnapshotProblem, match=said) as caught:
        envtrack.read_snapshot(path)
    assert str(path) in caught.value.message


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(envtrack.EnvtrackError, match="No such file"):
        envtrack.read_snapshot(tmp_path / "gone.json")


def test_a_place_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RigFailed, match="can't be written"):
        envtrack.take_snapshot(tmp_path).save(tmp_path / "file" / "s.json")


def test_a_name_that_it_does_not_have_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'take_snapshots'"):
        envtrack.take_snapshots  # noqa: B018


def test_every_public_name_is_there() -> None:
    for name in envtrack.__all__:
        assert getattr(envtrack, name) is not None
    assert dir(envtrack) == sorted(envtrack.__all__)


def test_it_is_done_before_anybody_notices(tmp_path: Path) -> None:
    started = time.monotonic()
    envtrack.take_snapshot(tmp_path)
    assert time.monotonic() - started < PATIENCE_S


def test_the_examples_of_the_documentation_run(tmp_path: Path) -> None:
    first, second = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    # The folder of the run is the script's own business.
    assert run_python(first, tmp_path).stderr == ""
    assert json.loads((tmp_path / "runs/first/result.json").read_text()) == {"loss": 0.25}
    done = run_python(second, tmp_path)
    assert done.stderr == ""
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ None\n", done.stdout)
    assert "driver" in done.stdout
