from __future__ import annotations

from pathlib import Path

import pytest

from envtrack.cli.main import main
from envtrack.model.fact import Known
from envtrack.model.oid import Oid
from envtrack.model.snapshot import LockfileRef, Snapshot, render_snapshot
from tests.support.history import SMOKE, Script
from tests.support.repo import RepoBuilder

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
ESCAPE = "\x1b[31mred\u202e"


def record(repo: RepoBuilder, machine: str, **facts: str) -> None:
    """A record beside the lockfile as it is now; ``_`` for the first dots."""
    snapshot = Snapshot(
        machine=machine,
        taken_at="2026-01-02T03:04:05Z",
        facts={name.replace("_", "."): Known(value) for name, value in facts.items()},
        lockfile=LockfileRef(path="uv.lock", blob=Oid(repo.git("hash-object", "uv.lock"))),
    )
    repo.write(f".envtrack/snapshots/{machine}/uv.lock.json", render_snapshot(snapshot))


def build(path: Path) -> None:
    """A history with a finished search, two machines, an override, and much that is hostile."""
    script = Script().add("good", "1.0").add("odd", "3.0").add("one", "1.1").add("guilty", "2.0")
    history = script.add("last", "2.1").build(path / "repo")
    repo = history.repo
    search = ["bisect", "start", "--directory", str(repo.path), history["good"], history["last"]]
    assert main([*search, "--smoke", f"{SMOKE} # {HOSTILE}"]) == 0
    text = (repo.path / "uv.lock").read_text()
    repo.write("uv.lock", text + f'\n[[package]]\nname = "evil-{HOSTILE}"\nversion = "1"\n'
               'source = { registry = "https://registry.example" }\n')  # fmt: skip
    record(repo, "gpu1", kernel_release="6.8.0-45-generic", driver_nvidia_version="550.1")
    record(repo, "gpu2", kernel_release="6.11.0-9-generic", os_distribution_name=HOSTILE)
    repo.commit(f"{HOSTILE} {ESCAPE}\n\nEnv-Override: record {HOSTILE}")
    record(repo, "gpu1", kernel_release="6.8.0-45-generic", driver_nvidia_version=ESCAPE)
    repo.commit("the driver of gpu1")


@pytest.fixture(scope="session")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test that needs it builds the repository and its report."""
    return tmp_path_factory.mktemp("report")


@pytest.fixture
def report_file(report_folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The report of the hostile repository."""
    path = report_folder / "report.html"
    if not path.exists():
        build(report_folder)
        repo = RepoBuilder(report_folder / "repo")
        before = repo.state()
        assert main(["report", "-C", str(repo.path), "--output", str(path)]) == 0
        assert repo.state() == before
    capsys.readouterr()
    return path
