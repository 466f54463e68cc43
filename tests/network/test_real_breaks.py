"""Releases that really broke something, found by `bisect` in histories that lock them.

Needs the package index: `pytest -m network tests/network`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from envtrack.cli.main import main
from tests.support.repo import RepoBuilder

pytestmark = pytest.mark.network

PYTHON = "3.11"
# How this machine reaches the package index; taken before the seal drops it.
_REACH = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
    "UV_HTTP_TIMEOUT",
)
_REACHED_BY = {name: os.environ[name] for name in _REACH if name in os.environ}

PROJECT = """\
[project]
name = "app"
version = "1.0"
requires-python = "=={python}.*"
dependencies = [{dependencies}]
[tool.uv]
package = false
"""
# Small packages without dependencies that nobody's smoke test imports.
INNOCENT = (
    ("iniconfig==1.1.1", "idna==3.4"),
    ("iniconfig==2.0.0", "idna==3.4"),
    ("iniconfig==2.0.0", "idna==3.7"),
    ("iniconfig==2.1.0", "idna==3.7"),
    ("iniconfig==2.1.0", "idna==3.10"),
    ("iniconfig==2.0.0", "idna==3.10"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A release that broke something, tried with CPython 3.11.

    Attributes:
        package: the guilty one.
        releases: in the order in which the history takes them.
        first_bad: the guilty release.
        smoke: what fails.
        source: where it is told.
        companions: pins without which it would not fail; the failing import is in one of them.
    """

    package: str
    releases: tuple[str, ...]
    first_bad: str
    smoke: str
    source: str
    companions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.package}-{self.first_bad}"


BREAKS = (
    Break(
        package="markupsafe",
        releases=("2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.1.3"),
        first_bad="2.1.0",
        smoke="import jinja2",
        companions=("jinja2==2.11.3",),
        source="pallets/jinja issues 1585 and 1601",
    ),
    Break(
        package="itsdangerous",
        releases=("2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.1.2", "2.2.0"),
        first_bad="2.1.0",
        smoke="import flask",
        companions=("flask==1.1.2", "jinja2==2.11.3", "werkzeug==1.0.1", "markupsafe==2.0.1"),
        source="pallets/itsdangerous issue 289",
    ),
    Break(
        package="werkzeug",
        releases=("2.3.7", "2.3.8", "3.0.0", "3.0.1", "3.0.2", "3.0.3"),
        first_bad="3.0.0",
        smoke="import flask",
        companions=("flask==2.2.2",),
        source="pallets/werkzeug issue 2808",
    ),
    Break(
        package="click",
        releases=("8.0.3", "8.0.4", "8.1.0", "8.1.2", "8.1.3"),
        first_bad="8.1.0",
        smoke="import black; black.patch_click()",
        companions=("black==22.1.0",),
        source="psf/black issues 2964 and 2976",
    ),
    Break(
        package="click",
        releases=("8.1.7", "8.1.8", "8.2.0", "8.2.1", "8.3.0"),
        first_bad="8.2.0",
        smoke=(
            "import typer; from typer.testing import CliRunner; a = typer.Typer();"
            " a.command()(lambda: None); r = CliRunner().invoke(a, ['--help']);"
            " assert r.exit_code == 0, r.exception"
        ),
        companions=("typer==0.15.3",),
        source="click's changelog (make_metavar); modelcontextprotocol/python-sdk issue 688",
    ),
    Break(
        package="bcrypt",
        releases=("4.2.0", "4.2.1", "4.3.0", "5.0.0"),
        first_bad="5.0.0",
        smoke="from passlib.hash import bcrypt; bcrypt.hash('x')",
        companions=("passlib==1.7.4",),
        source="pyca/bcrypt issue 1082",
    ),
    Break(
        package="numpy",
        releases=("1.26.3", "1.26.4", "2.0.0", "2.0.1"),
        first_bad="2.0.0",
        smoke="import numpy as np; np.float_(1)",
        source="NumPy 2.0 release notes",
    ),
    Break(
        package="packaging",
        releases=("21.2", "21.3", "22.0", "23.0", "23.2"),
        first_bad="22.0",
        smoke="from packaging.version import LegacyVersion",
        source="pypa/packaging pull request 530",
    ),
    Break(
        package="setuptools",
        releases=("80.10.2", "81.0.0", "82.0.0", "82.0.1"),
        first_bad="82.0.0",
        smoke="import pkg_resources",
        source="pypa/setuptools issue 3085",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """A project whose commits lock real releases, and the command line that searches in it."""

    repo: RepoBuilder
    capsys: pytest.CaptureFixture[str]

    def lock(
        self, dependencies: Sequence[str], message: str, settings: str = "", *options: str
    ) -> str:
        """A commit that changes what is asked for, and its real `uv lock`."""
        listed = ", ".join(f'"{one}"' for one in dependencies)
        project = PROJECT.format(python=PYTHON, dependencies=listed)
        self.repo.write("pyproject.toml", project + settings)
        self.repo.uv_lock("--python", PYTHON, *options)
        return self.repo.commit(message)

    def write_history(
        self, package: str, releases: Sequence[str], companions: Sequence[str]
    ) -> dict[str, str]:
        """The commit of every release by its version; others and code move in between."""
        commits = {}
        for place, version in enumerate(releases):
            moving = f"{package}=={version}", *companions
            before, after = (INNOCENT[n % len(INNOCENT)] for n in (place, place + 1))
            commits[version] = self.lock([*moving, *before], f"{package} {version}")
            self.repo.write("app.py", f"STEP = {place}\n")
            self.repo.commit(f"code {place}")
            self.lock([*moving, *after], f"{' '.join(after)}")
        return commits

    def bisect(self, good: str, bad: str, smoke: str) -> tuple[int, Any]:
        """Exit code and answer."""
        self.repo.write("smoke.py", f"{smoke}\n")
        before = self.repo.state()
        self.capsys.readouterr()
        code = main(
            [
                "bisect", good, bad, "-C", str(self.repo.path), "--smoke", "python smoke.py",
                "--python", PYTHON, "--format", "json",
            ]
        )  # fmt: skip
        said = self.capsys.readouterr()
        assert code in (0, 3), said.err
        assert self.repo.state() == before
        return code, json.loads(said.out)


@pytest.fixture(scope="module")
def network_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One uv cache for all of these tests, so that the index is asked once for each file."""
    return tmp_path_factory.mktemp("network-cache")


@pytest.fixture
def app(
    repo: RepoBuilder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    network_cache: Path,
) -> App:
    """The seal opened towards the package index, and towards nothing else."""
    monkeypatch.delenv("UV_OFFLINE")
    monkeypatch.setenv("UV_CACHE_DIR", str(network_cache))
    for name, value in _REACHED_BY.items():
        monkeypatch.setenv(name, value)
    return App(repo=repo, capsys=capsys)


def _moved(answer: Any) -> set[tuple[str, str | None, str | None]]:  # noqa: ANN401 - JSON
    changes = answer["comparison"]["changes"]
    return {(one["name"], one.get("before"), one.get("after")) for one in changes}


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.name)
def test_release_that_broke_something_is_found(broken: Break, app: App) -> None:
    commits = app.write_history(broken.package, broken.releases, broken.companions)
    code, answer = app.bisect(commits[broken.releases[0]], "HEAD", broken.smoke)
    assert (code, answer["outcome"]) == (0, "found")
    assert answer["culprit"]["commit"] == commits[broken.first_bad]
    before = broken.releases[broken.releases.index(broken.first_bad) - 1]
    assert (broken.package, before, broken.first_bad) in _moved(answer)


def test_window_that_closes_again_is_found_from_a_bad_end_inside_it(app: App) -> None:
    # tenacity 8.4.0 lacks a sub-package (jd/tenacity issue 471) and was mended within hours.
    commits = app.write_history("tenacity", ("8.2.3", "8.3.0", "8.4.0", "8.4.1", "8.5.0"), ())
    good, smoke = commits["8.2.3"], "import tenacity"
    inside = app.repo.git("rev-parse", f"{commits['8.4.1']}^")
    code, answer = app.bisect(good, inside, smoke)
    assert (code, answer["culprit"]["commit"]) == (0, commits["8.4.0"])
    assert ("tenacity", "8.3.0", "8.4.0") in _moved(answer)
    # From today's commit there is nothing to find, and that is said instead of a guess.
    code, answer = app.bisect(good, "HEAD", smoke)
    assert (code, answer["outcome"]) == (3, "bad-end-passes")


YAML_SMOKE = "import yaml; yaml.load('a: 1')"


def test_release_that_does_not_build_is_skipped_and_not_blamed(app: App) -> None:
    # pyyaml 5.4.1 has no wheel for this Python, and its source can't be built any more
    # (yaml/pyyaml issue 724): taken and taken back before 6.0 dropped `load` without a loader.
    releases = ("5.3.1", "5.4.1", "5.3.1.post0", "6.0", "6.0.1")
    commits = {}
    for place, (version, innocent) in enumerate(zip(releases, INNOCENT, strict=False)):
        real = version.removesuffix(".post0")
        commits[version] = app.lock([f"pyyaml=={real}", *innocent], f"pyyaml {version}")
        app.lock([f"pyyaml=={real}", *INNOCENT[place + 1]], f"others {place}")
    code, answer = app.bisect(commits["5.3.1"], "HEAD", YAML_SMOKE)
    assert (code, answer["culprit"]["commit"]) == (0, commits["6.0"])
    skipped = {one["commit"]: one["kind"] for one in answer["skipped"]}
    assert set(skipped.values()) <= {"build-failed"}


def test_culprit_behind_a_release_that_does_not_build_is_one_of_several(app: App) -> None:
    commits = app.write_history("pyyaml", ("5.3.1", "5.4.1", "6.0", "6.0.1"), ())
    code, answer = app.bisect(commits["5.3.1"], "HEAD", YAML_SMOKE)
    assert (code, answer["outcome"]) == (3, "several")
    possible = [one["commit"] for one in answer["possible"]]
    assert possible[0] == commits["5.4.1"]
    assert possible[-1] == commits["6.0"]
    assert {one["kind"] for one in answer["skipped"]} == {"build-failed"}


def test_history_of_dated_upgrades_names_a_package_that_nobody_asked_for(app: App) -> None:
    # The project never changes what it asks for; only the day on which it is locked moves on.
    months = [(2021, m) for m in range(6, 13)] + [(2022, m) for m in range(1, 8)]
    commits = {}
    for year, month in months:
        day = f"{year}-{month:02}-01T00:00:00Z"
        # In the project itself: the lockfile keeps the date, so `--locked` must see it there too.
        settings = f'exclude-newer = "{day}"\n'
        commits[day] = app.lock(["flask<2"], f"upgrade of {day[:10]}", settings, "--upgrade")
    code, answer = app.bisect(commits["2021-06-01T00:00:00Z"], "HEAD", "import flask")
    # MarkupSafe 2.1.0 came out on 2022-02-18 and took away what Jinja2 2.11 imports.
    assert (code, answer["culprit"]["commit"]) == (0, commits["2022-03-01T00:00:00Z"])
    assert ("markupsafe", "2.0.1", "2.1.0") in _moved(answer)
