"""Composed locks are installed by real uv: what is installed is what was taken from either side."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.compose import Composer
from envtrack.lockfiles.interface import parse_lock
from tests.lockfiles.texts import lock_of, read_fixture
from tests.support.repo import UV
from tests.support.wheels import write_wheel

HEAD = """\
[project]
name = "lab"
version = "0.1"
requires-python = ">=3.11"
"""
TAIL = """
[tool.uv]
package = false
[[tool.uv.index]]
name = "shelf"
url = "{index}"
format = "flat"
default = true
"""


@dataclass(frozen=True, slots=True)
class Workshop:
    """A project whose requirements change, over a flat index."""

    path: Path

    @property
    def index(self) -> Path:
        return self.path / "index"

    def wheel(self, name: str, version: str, *requires: str, **extras: tuple[str, ...]) -> None:
        write_wheel(self.index, name, version, requires=requires, extras=extras)

    def lock(self, *needs: str, more: str = "") -> str:
        """The text of the lockfile that uv makes for these requirements."""
        listed = ", ".join(f'"{need}"' for need in needs)
        text = f"{HEAD}dependencies = [{listed}]\n{more}{TAIL.format(index=self.index)}"
        (self.path / "pyproject.toml").write_text(text)
        (self.path / "uv.lock").unlink(missing_ok=True)
        self._uv("lock")
        return (self.path / "uv.lock").read_text()

    def install(self, lock: str, *options: str) -> dict[str, str]:
        """What uv installs of a lockfile, by name."""
        (self.path / "uv.lock").write_text(lock)
        self._uv("sync", "--frozen", "--python", sys.executable, *options)
        listed = self._uv("pip", "freeze", "--python", str(self.path / ".venv"))
        # A wheel of a flat index is listed with its address.
        rows = (line.replace(" @ ", "==").partition("==") for line in listed.splitlines())
        return {name: value.rpartition("/")[2].split("-")[1] if "/" in value else value
                for name, _, value in rows}  # fmt: skip

    def _uv(self, *arguments: str) -> str:
        environ = {**os.environ, "UV_OFFLINE": "1", "UV_CACHE_DIR": str(self.path / "cache")}
        done = subprocess.run(
            [UV, *arguments, "--quiet"] if arguments[0] != "pip" else [UV, *arguments],
            cwd=self.path, env=environ, check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def each(names: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(names.items()))


def test_one_package_alone_is_put_forward(shop: Workshop) -> None:
    for version in ("1.0", "2.0"):
        shop.wheel("flint", version)
        shop.wheel("wick", version, "flint")
        shop.wheel("wax", version)
    old = shop.lock("wick==1.0", "wax==1.0", "flint==1.0")
    new = shop.lock("wick==2.0", "wax==2.0", "flint==2.0")
    composer = Composer(old, new)
    assert composer.movable == ("flint", "wax", "wick")
    nothing = composer.compose(frozenset())
    assert shop.install(nothing) == {"flint": "1.0", "wax": "1.0", "wick": "1.0"}
    transitive = composer.compose(frozenset({"flint"}))
    assert shop.install(transitive) == {"flint": "2.0", "wax": "1.0", "wick": "1.0"}
    everything = composer.compose(frozenset(composer.movable))
    assert shop.install(everything) == {"flint": "2.0", "wax": "2.0", "wick": "2.0"}


def test_packages_come_and_go_with_the_side_that_has_them(shop: Workshop) -> None:
    shop.wheel("match", "1.0", "sulphur")
    shop.wheel("sulphur", "1.0")
    shop.wheel("lighter", "1.0", "gas")
    shop.wheel("gas", "1.0")
    old, new = shop.lock("match"), shop.lock("lighter")
    composer = Composer(old, new)
    assert composer.movable == ("gas", "lighter", "match", "sulphur")
    assert shop.install(composer.compose(frozenset())) == {"match": "1.0", "sulphur": "1.0"}
    # Both may be there at once, and one that is needed may be missing: uv pip check would say so.
    both = composer.compose(frozenset({"lighter", "gas"}))
    assert each(shop.install(both)) == {
        "gas": "1.0", "lighter": "1.0", "match": "1.0", "sulphur": "1.0",
    }  # fmt: skip
    without = composer.compose(frozenset({"sulphur"}))
    assert shop.install(without) == {"match": "1.0"}


def test_a_name_that_is_locked_twice_is_taken_with_both(shop: Workshop) -> None:
    for version in ("1.0", "2.0", "3.0"):
        shop.wheel("flint", version)
    for version in ("1.0", "2.0"):
        shop.wheel("wick", version, "flint")
    linux, other = "sys_platform == 'linux'", "sys_platform != 'linux'"
    old = shop.lock("wick==1.0", "flint==1.0")
    new = shop.lock("wick==2.0", f"flint==2.0 ; {linux}", f"flint==3.0 ; {other}")
    composer = Composer(old, new)
    here = "2.0" if sys.platform == "linux" else "3.0"
    split = composer.compose(frozenset({"flint"}))
    assert shop.install(split) == {"flint": here, "wick": "1.0"}
    joined = composer.compose(frozenset({"wick"}))
    assert shop.install(joined) == {"flint": "1.0", "wick": "2.0"}


def test_extras_and_groups_stay_what_they_are(shop: Workshop) -> None:
    for version in ("1.0", "2.0"):
        shop.wheel("flint", version)
        shop.wheel("wick", version, bright=("flint",))
        shop.wheel("probe", version)
    group = '[dependency-groups]\ndev = ["probe=={0}"]\n'
    old = shop.lock("wick[bright]==1.0", "flint==1.0", more=group.format("1.0"))
    new = shop.lock("wick[bright]==2.0", "flint==2.0", more=group.format("2.0"))
    composer = Composer(old, new)
    mixed = composer.compose(frozenset({"wick", "probe"}))
    assert shop.install(mixed) == {"flint": "1.0", "probe": "2.0", "wick": "2.0"}
    assert shop.install(mixed, "--no-dev") == {"flint": "1.0", "wick": "2.0"}


def test_what_the_project_asks_for_no_more_is_asked_for_while_it_is_there(shop: Workshop) -> None:
    shop.wheel("match", "1.0")
    for version in ("1.0", "2.0"):
        shop.wheel("wax", version)
    composer = Composer(shop.lock("match", "wax==1.0"), shop.lock("wax==2.0"))
    kept = composer.compose(frozenset({"wax"}))
    assert shop.install(kept) == {"match": "1.0", "wax": "2.0"}
    assert shop.install(composer.compose(frozenset(composer.movable))) == {"wax": "2.0"}


@pytest.mark.parametrize("name", ["prime_rl.lock", "pydantic_ai.lock", "two_builds.lock"])
def test_a_real_lock_composed_with_itself_is_the_same_lock(name: str) -> None:
    text = read_fixture(name)
    composer = Composer(text, text)
    assert composer.movable == ()
    again = parse_lock(composer.compose(frozenset()), path="uv.lock")
    lock = lock_of(name)
    assert sorted(again.packages, key=str) == sorted(lock.packages, key=str)
    assert again._replace(packages=()) == lock._replace(packages=())


def test_what_is_no_uv_lock_is_refused_by_its_line() -> None:
    good = read_fixture("prime_rl.lock")
    with pytest.raises(LockfileProblem, match=r"the older uv\.lock:1: "):
        Composer("<<<<<<< HEAD\n", good)
    with pytest.raises(LockfileProblem, match=r"the newer uv\.lock"):
        Composer(good, good + "\n[[package]]\nversion = 3\n")
