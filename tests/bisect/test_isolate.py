"""Which change between two lockfiles is to blame, on real environments."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envtrack.bisect.isolate import Found, Search, Side, make_isolation
from envtrack.bisect.rig import open_rig
from envtrack.bisect.session import Wish
from envtrack.git.repository import open_repository
from envtrack.model.isolation import Isolated
from envtrack.model.oid import Oid
from envtrack.model.verdict import Verdict
from envtrack.probe.plan import Plan, read_plan
from tests.support.repo import UV, RepoBuilder
from tests.support.wheels import write_wheel

PROJECT = """\
[project]
name = "lab"
version = "0.1"
requires-python = ">=3.11"
dependencies = [{needs}]
[tool.uv]
package = false
{more}
[[tool.uv.index]]
name = "shelf"
url = "index"
format = "flat"
default = true
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """A repository with two commits of a lockfile."""

    repo: RepoBuilder

    def wheel(self, name: str, version: str, *requires: str) -> None:
        write_wheel(self.repo.path / "index", name, version, requires=requires)

    def commit(self, *needs: str, more: str = "") -> Oid:
        listed = ", ".join(f'"{need}"' for need in needs)
        self.repo.write("pyproject.toml", PROJECT.format(needs=listed, more=more))
        (self.repo.path / "uv.lock").unlink(missing_ok=True)
        self.repo.run([UV, "lock", "--quiet", "--offline"])
        self.repo.git("add", "--all")
        self.repo.git("commit", "--quiet", "--message", f"lock {listed}")
        return Oid(self.repo.git("rev-parse", "HEAD"))

    def isolate(self, old: Oid, new: Oid, smoke: str, *, suspects: tuple[str, ...] = ()) -> Found:
        repository = open_repository(self.repo.path, dict(os.environ))
        sides = tuple(
            Side(oid.short, (repository.read_file(oid, "uv.lock") or b"").decode())
            for oid in (old, new)
        )
        wish = Wish(
            good=old.hex,
            bad=new.hex,
            lockfile="uv.lock",
            smoke=smoke,
            smoke_from="",
            listed_files=(),
            settings=Plan.of(
                uv=UV, retries=0, machine="testbed", python=sys.executable, suspects=suspects
            ),
        )
        files = make_isolation(repository, wish, (sides[0], sides[1]), new, now=datetime.now(UTC))
        before = self.repo.state()
        with open_rig(repository, read_plan(files), files, watcher=lambda _: None) as rig:
            found = Search(rig, {}).run()
        assert self.repo.state() == before
        return found


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(RepoBuilder.create(tmp_path / "repo"))


def fails_with(*clauses: str) -> str:
    """A smoke test that fails where one of the clauses holds."""
    condition = " or ".join(f"({clause})" for clause in clauses)
    return f"""python -c '
from importlib.metadata import version as v
import sys; sys.exit({condition})'"""


SEVEN = ["amber", "birch", "cedar", "dune", "ember", "fern", "grove"]


@pytest.fixture
def seven(lab: Lab) -> tuple[Lab, Oid, Oid]:
    """A commit that upgrades seven packages that have nothing to do with each other."""
    for name in SEVEN:
        lab.wheel(name, "1.0")
        lab.wheel(name, "2.0")
    old = lab.commit(*(f"{name}==1.0" for name in SEVEN))
    new = lab.commit(*(f"{name}==2.0" for name in SEVEN))
    return lab, old, new


def blamed(found: Found) -> list[tuple[str, ...]]:
    return sorted(blame.names for blame in found.blames)


def test_one_of_seven_packages_is_found_and_shown_both_ways(seven: tuple[Lab, Oid, Oid]) -> None:
    lab, old, new = seven
    found = lab.isolate(old, new, fails_with('v("dune") == "2.0"'))
    assert found.outcome is Isolated.FOUND
    (blame,) = found.blames
    assert blame.names == ("dune",)
    assert blame.sufficient.taken == ("dune",)
    assert blame.sufficient.judgement.verdict is Verdict.BAD
    assert blame.necessary.taken == ("amber", "birch", "cedar", "ember", "fern", "grove")
    assert blame.necessary.judgement.verdict is Verdict.GOOD
    assert blame.is_minimal


def test_two_that_break_it_only_together_are_one_answer(seven: tuple[Lab, Oid, Oid]) -> None:
    lab, old, new = seven
    found = lab.isolate(old, new, fails_with('v("amber") == "2.0" and v("fern") == "2.0"'))
    assert found.outcome is Isolated.FOUND
    assert blamed(found) == [("amber", "fern")]


def test_two_that_break_it_each_alone_are_two_answers(seven: tuple[Lab, Oid, Oid]) -> None:
    lab, old, new = seven
    found = lab.isolate(old, new, fails_with('v("birch") == "2.0"', 'v("grove") == "2.0"'))
    assert found.outcome is Isolated.FOUND
    assert blamed(found) == [("birch",), ("grove",)]


def test_the_code_alone_is_said_to_be_more_than_the_packages(seven: tuple[Lab, Oid, Oid]) -> None:
    lab, old, new = seven
    assert lab.isolate(old, new, "exit 1").outcome is Isolated.OLD_FAILS
    assert lab.isolate(old, new, "exit 0").outcome is Isolated.NEW_PASSES


def test_one_lockfile_with_another_form_installs_the_same(seven: tuple[Lab, Oid, Oid]) -> None:
    lab, old, _ = seven
    path = lab.repo.path / "uv.lock"
    lab.repo.git("checkout", "--quiet", old.hex, "--", "uv.lock", "pyproject.toml")
    path.write_text(path.read_text().replace("revision = ", "revision = 9"))
    lab.repo.git("commit", "--quiet", "--all", "--message", "another form")
    again = Oid(lab.repo.git("rev-parse", "HEAD"))
    assert lab.isolate(old, again, "exit 1").outcome is Isolated.SAME


def test_who_moved_only_because_another_did_moves_with_it(lab: Lab) -> None:
    for version in ("1.0", "2.0"):
        lab.wheel("flint", version)
        lab.wheel("wick", version, f"flint=={version}")
        lab.wheel("wax", version)
    old, new = lab.commit("wick==1.0", "wax==1.0"), lab.commit("wick==2.0", "wax==2.0")
    found = lab.isolate(old, new, fails_with('v("flint") == "2.0"'))
    assert found.parts is not None
    assert [unit.names for unit in found.parts.units] == [("wick", "flint"), ("wax",)]
    assert found.outcome is Isolated.FOUND
    assert blamed(found) == [("wick", "flint")]


def test_a_mixture_that_does_not_fit_together_is_not_tried(lab: Lab) -> None:
    # Both are asked for, so neither is forced; but the one needs the other as it is now.
    for version in ("1.0", "2.0"):
        lab.wheel("flint", version)
        lab.wheel("wick", version, f"flint=={version}")
        lab.wheel("wax", version)
    old = lab.commit("wick==1.0", "wax==1.0", "flint==1.0")
    new = lab.commit("wick==2.0", "wax==2.0", "flint==2.0")
    found = lab.isolate(old, new, fails_with('v("wick") == "2.0"'))
    assert found.outcome is Isolated.FOUND
    assert blamed(found) == [("flint", "wick")]
    logs = sorted((lab.repo.path / ".git" / "envtrack" / "sessions").glob("*/logs/*"))
    tried = [log for log in logs if (log / "smoke.log").exists()]
    assert 0 < len(tried) < len(logs)


def test_what_does_not_fit_together_at_the_ends_may_not_do_so_in_between(lab: Lab) -> None:
    for version in ("1.0", "2.0"):
        lab.wheel("flint", version)
        lab.wheel("wax", version)
        lab.wheel("wick", version, "flint>=9 ; python_version > '2'")
    # An override keeps uv content with what pip check calls broken.
    override = 'override-dependencies = ["flint<9"]'
    needs = ("wick=={0}", "wax=={0}", "flint=={0}")
    old, new = (
        lab.commit(*(need.format(version) for need in needs), more=override)
        for version in ("1.0", "2.0")
    )
    found = lab.isolate(old, new, fails_with('v("wax") == "2.0"'))
    assert blamed(found) == [("wax",)]


def test_a_failure_of_another_kind_is_not_the_one_that_is_hunted(lab: Lab) -> None:
    for version in ("1.0", "2.0"):
        for name in ("amber", "birch", "cedar"):
            lab.wheel(name, version)
    old, new = (
        lab.commit(*(f"{name}=={version}" for name in ("amber", "birch", "cedar")))
        for version in ("1.0", "2.0")
    )
    smoke = """python -c '
from importlib.metadata import version as v
if v("amber") == "1.0" and v("birch") == "2.0":
    raise ImportError("amber is too old for birch")
if v("cedar") == "2.0":
    raise ValueError("the loss is nan")'"""
    found = lab.isolate(old, new, smoke)
    assert found.outcome is Isolated.FOUND
    assert blamed(found) == [("cedar",)]


def test_a_suspect_that_is_right_costs_one_trial_and_the_proof(
    seven: tuple[Lab, Oid, Oid],
) -> None:
    lab, old, new = seven
    found = lab.isolate(old, new, fails_with('v("ember") == "2.0"'), suspects=("Ember",))
    assert blamed(found) == [("ember",)]
    (session,) = (lab.repo.path / ".git" / "envtrack" / "sessions").iterdir()
    # Both ends, the suspect, and two for the proof.
    assert len(list((session / "logs").iterdir())) == 5


def test_a_package_that_came_is_to_blame(lab: Lab) -> None:
    for name in ("amber", "birch"):
        lab.wheel(name, "1.0")
        lab.wheel(name, "2.0")
    lab.wheel("intruder", "1.0")
    old = lab.commit("amber==1.0", "birch==1.0")
    new = lab.commit("amber==2.0", "birch==2.0", "intruder")
    smoke = "python -c 'import importlib.util as u, sys; sys.exit(bool(u.find_spec(\"intruder\")))'"
    assert blamed(lab.isolate(old, new, smoke)) == [("intruder",)]


def test_a_package_that_went_is_to_blame(lab: Lab) -> None:
    for name in ("amber", "birch"):
        lab.wheel(name, "1.0")
        lab.wheel(name, "2.0")
    lab.wheel("keystone", "1.0")
    old = lab.commit("amber==1.0", "birch==1.0", "keystone")
    new = lab.commit("amber==2.0", "birch==2.0")
    assert blamed(lab.isolate(old, new, "python -c 'import keystone'")) == [("keystone",)]


def test_the_first_bad_release_is_found_between_the_two(lab: Lab) -> None:
    for version in ("1.0", "1.1", "1.2", "1.3rc1", "1.3", "1.4", "2.0"):
        lab.wheel("amber", version)
    lab.wheel("birch", "1.0")
    lab.wheel("birch", "2.0")
    old, new = lab.commit("amber==1.0", "birch==1.0"), lab.commit("amber==2.0", "birch==2.0")
    bad = 'tuple(map(int, v("amber").split("."))) >= (1, 3)'
    found = lab.isolate(old, new, fails_with(bad))
    assert found.outcome is Isolated.FOUND
    (turn,) = found.blames[0].turns
    assert (turn.name, turn.last_good, turn.first_bad) == ("amber", "1.2", "1.3")
    assert turn.is_exact
    assert set(dict(turn.trials)) <= {"1.1", "1.2", "1.3", "1.4"}


def test_a_release_that_the_rest_refuses_is_left_in_doubt(lab: Lab) -> None:
    lab.wheel("amber", "1.0")
    lab.wheel("amber", "1.1", "birch>=9")
    lab.wheel("amber", "2.0")
    lab.wheel("birch", "1.0")
    lab.wheel("birch", "2.0")
    old, new = lab.commit("amber==1.0", "birch==1.0"), lab.commit("amber==2.0", "birch==2.0")
    found = lab.isolate(old, new, fails_with('v("amber") != "1.0"'))
    assert found.outcome is Isolated.FOUND
    (turn,) = found.blames[0].turns
    assert (turn.last_good, turn.unjudged, turn.first_bad) == ("1.0", ("1.1",), "2.0")
    assert not turn.is_exact


def test_a_release_is_tried_with_what_came_along_with_the_newest_one(lab: Lab) -> None:
    lab.wheel("flint", "1.0")
    lab.wheel("flint", "2.0")
    lab.wheel("wick", "1.0", "flint<2")
    lab.wheel("wick", "1.5", "flint<2")
    lab.wheel("wick", "1.8", "flint>=2")
    lab.wheel("wick", "2.0", "flint>=2")
    old, new = lab.commit("wick==1.0"), lab.commit("wick==2.0")
    found = lab.isolate(old, new, fails_with('v("wick") in ("1.8", "2.0")'))
    (turn,) = found.blames[0].turns
    assert (turn.last_good, turn.first_bad) == ("1.5", "1.8")
