from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.history import run_cli
from tests.support.repo import RepoBuilder
from tests.support.wheels import write_wheel

if TYPE_CHECKING:
    import pytest

PROJECT = """\
[project]
name = "app"
version = "0.1"
requires-python = ">=3.11"
dependencies = ["shared", "dial=={version}"]
[tool.uv]
package = false
[tool.uv.sources]
shared = {{ path = "../shared-lib", editable = true }}
[[tool.uv.index]]
name = "shelf"
url = "../shelf"
format = "flat"
default = true
"""


def build_beside(tmp_path: Path) -> RepoBuilder:
    """A project whose editable member and whose index stand beside the repository."""
    library = tmp_path / "shared-lib"
    (library / "src/shared").mkdir(parents=True)
    (library / "src/shared/__init__.py").write_text("LIMIT = 2\n")
    (library / "pyproject.toml").write_text(
        '[project]\nname = "shared"\nversion = "1.0"\n'
        '[build-system]\nrequires = ["uv_build>=0.8,<1"]\nbuild-backend = "uv_build"\n'
    )
    for version in ("1.0", "1.1", "2.0", "2.1"):
        write_wheel(tmp_path / "shelf", "dial", version)
    repo = RepoBuilder.create(tmp_path / "repo")
    repo.write(
        "smoke.py",
        "import dial, shared\nassert int(dial.VERSION[0]) < shared.LIMIT, dial.VERSION\n",
    )
    for version in ("1.0", "1.1", "2.0", "2.1"):
        repo.write("pyproject.toml", PROJECT.format(version=version))
        repo.uv_lock()
        repo.commit(f"dial {version}")
    return repo


def test_what_stands_beside_the_repository_is_found_from_the_probes_tree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = build_beside(tmp_path)
    before = repo.state()
    ended = run_cli(capsys, repo, "HEAD~3", "--smoke", "python smoke.py")
    assert ended.code == 0, ended.err
    assert "first bad commit: dial 2.0" in ended.out
    assert "../shared-lib, ../shelf" in ended.err
    assert repo.state() == before


def test_what_stands_beside_the_repository_outlives_the_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = build_beside(tmp_path)
    kept = tmp_path / "shared-lib" / "kept"
    kept.write_text("precious\n")
    kept.chmod(0o400)
    run_cli(capsys, repo, "HEAD~3", "--smoke", "python smoke.py")
    assert kept.read_text() == "precious\n"
    assert oct(kept.stat().st_mode)[-3:] == "400"
    assert (tmp_path / "shelf").is_dir()
