from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from envtrack.cli.main import main
from tests.cli.test_schemas import check
from tests.support.repo import UV, RepoBuilder
from tests.support.wheels import write_wheel

NAMES = ("amber", "birch", "cedar")
PROJECT = """\
[project]
name = "lab"
version = "0.1"
requires-python = ">=3.11"
dependencies = [{needs}]
[tool.uv]
package = false
[[tool.uv.index]]
name = "shelf"
url = "index"
format = "flat"
default = true
"""
SMOKE = """python -c '
from importlib.metadata import version
if version("birch") == "2.0":
    raise ValueError("nan")'"""


class Bench:
    """Three packages that went up in one commit; `isolate` entered where users enter."""

    def __init__(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.repo = RepoBuilder.create(path)
        self._capsys = capsys
        for name in NAMES:
            for version in ("1.0", "2.0"):
                write_wheel(self.repo.path / "index", name, version)
        for version in ("1.0", "2.0"):
            listed = ", ".join(f'"{name}=={version}"' for name in NAMES)
            self.repo.write("pyproject.toml", PROJECT.format(needs=listed))
            (self.repo.path / "uv.lock").unlink(missing_ok=True)
            self.repo.run([UV, "lock", "--quiet", "--offline"])
            self.repo.git("add", "--all")
            self.repo.git("commit", "--quiet", "--message", f"all {version}")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        before = self.repo.state()
        code = main([*arguments, "--directory", str(self.repo.path)])
        said = self._capsys.readouterr()
        assert "Traceback (most recent call last)" not in said.err
        assert self.repo.state() == before
        return code, said.out, said.err

    def isolate(self, *arguments: str) -> tuple[int, str, str]:
        held = ("--python", sys.executable)
        return self.run("isolate", *held, "--smoke", SMOKE, *arguments)

    def tell(self, *arguments: str) -> Any:  # noqa: ANN401 - JSON
        code, out, _ = self.isolate(*arguments, "--format", "json")
        document = json.loads(out)
        check("isolation", document)
        assert document["exit_code"] == code
        return document


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path / "repo", capsys)


def test_the_culprit_is_named_with_its_proof_and_the_way_back(bench: Bench) -> None:
    code, out, err = bench.isolate("HEAD~1")
    assert code == 0
    assert out.startswith("birch 1.0 → 2.0 is to blame; first bad release: birch 2.0\n")
    assert "HEAD~1 with only birch as in HEAD  bad " in out
    assert "HEAD without birch                 good" in out
    assert "ValueError: nan" in out
    assert "uv lock --upgrade-package birch==1.0" in out
    assert "all as in HEAD~1" in err


def test_json_says_the_same(bench: Bench) -> None:
    told = bench.tell("HEAD~1", "HEAD")
    assert told["outcome"] == "found"
    (culprit,) = told["culprits"]
    (package,) = culprit["packages"]
    assert (package["name"], package["before"], package["after"]) == ("birch", "1.0", "2.0")
    assert culprit["sufficient"]["verdict"] == "bad"
    assert culprit["necessary"]["verdict"] == "good"
    assert [end["verdict"] for end in told["ends"]] == ["good", "bad"]


def test_markdown_is_fit_for_an_issue(bench: Bench) -> None:
    _, out, _ = bench.isolate("HEAD~1", "--format", "markdown")
    assert out.startswith("# birch 1.0 → 2.0 is to blame; first bad release: birch 2.0\n")
    assert "\n- **birch 1.0 → 2.0** (upgraded, root)\n  - HEAD\\~1 with only this: bad\n" in out


def test_lockfiles_can_be_files(bench: Bench, tmp_path: Path) -> None:
    old = tmp_path / "before.lock"
    old.write_text(bench.repo.git("show", "HEAD~1:uv.lock") + "\n")
    told = bench.tell(str(old), "uv.lock")
    assert told["before"] == "before.lock"
    assert told["after"] == "uv.lock"
    assert [p["name"] for c in told["culprits"] for p in c["packages"]] == ["birch"]


def test_a_session_is_told_again_and_goes_on_without_another_trial(bench: Bench) -> None:
    _, out, _ = bench.isolate("HEAD~1")
    _, again, _ = bench.run("bisect", "show")
    assert again.splitlines()[0] == out.splitlines()[0]
    code, resumed, err = bench.run("bisect", "resume")
    assert code == 0
    assert resumed.splitlines()[0] == out.splitlines()[0]
    # What is known is not tried again, nor is what was proved proved again.
    assert "[1]" not in err


def test_where_nothing_differs_the_packages_are_innocent(bench: Bench) -> None:
    code, out, _ = bench.isolate("HEAD", "HEAD")
    assert code == 3
    assert out.startswith("HEAD and HEAD install the same here: something else broke it\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "nothing"),
        (("HEAD~1", "--match", "("), "--match: `(` is no regular expression"),
        (("HEAD~1", "pyproject.toml"), "pyproject.toml"),
    ],
)
def test_what_can_not_be_meant_is_refused(
    bench: Bench, arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = bench.isolate(*arguments)
    assert code == 2
    assert out == ""
    assert said in err


def bisect(bench: Bench, *arguments: str) -> Any:  # noqa: ANN401 - JSON
    held = ("--python", sys.executable, "--smoke", SMOKE, "--format", "json")
    code, out, err = bench.run("bisect", "start", "HEAD~1", *held, *arguments)
    assert code == 0, err
    return json.loads(out)


def test_bisect_goes_on_to_the_package_and_its_release(bench: Bench) -> None:
    answer = bisect(bench)
    inner = answer["isolation"]
    (culprit,) = inner["culprits"]
    assert [package["name"] for package in culprit["packages"]] == ["birch"]
    (turn,) = culprit["releases"]
    assert (turn["last_good"], turn["first_bad"]) == ("1.0", "2.0")
    # The newer end is the commit itself; the older lockfile meets other project files here.
    assert inner["spared"] == 1
    assert answer["hints"][0] == "uv lock --upgrade-package birch==1.0   # puts it back"
    _, told, _ = bench.run("bisect", "show")
    assert "in it birch 1.0 → 2.0 is to blame; first bad release: birch 2.0" in told
    # The inner session is part of the other one, and none of its own to the user.
    _, listed, _ = bench.run("bisect", "status")
    assert "-packages" not in listed


def test_bisect_stops_at_the_commit_if_asked(bench: Bench) -> None:
    answer = bisect(bench, "--commit-only")
    assert answer["isolation"] is None
    assert answer["culprit"]["subject"] == "all 2.0"


def test_bisect_stops_at_the_package_if_asked(bench: Bench) -> None:
    (culprit,) = bisect(bench, "--package-only")["isolation"]["culprits"]
    assert culprit["releases"] == []
