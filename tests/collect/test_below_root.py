from __future__ import annotations

from pathlib import Path

import pytest

from envtrack.collect.below_root import describe_below, is_there, list_names, locate, numbered
from envtrack.model.fact import Absent, Unknown
from tests.collect.places import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "image/usr/local/cuda-12.4/version.json")
    (tmp_path / "image/etc/alternatives").mkdir(parents=True)
    (tmp_path / "image/etc/alternatives/cuda").symlink_to("/usr/local/cuda-12.4")
    (tmp_path / "image/usr/local/cuda").symlink_to("../../etc/alternatives/cuda")
    return tmp_path / "image"


def test_an_absolute_link_leads_below_the_root(root: Path) -> None:
    place = locate(root, "/usr/local/cuda/version.json")
    assert place == root / "usr/local/cuda-12.4/version.json"
    assert describe_below(root, place) == "/usr/local/cuda-12.4/version.json"


def test_no_number_of_dots_leads_out(root: Path) -> None:
    assert locate(root, "/usr/../../../../etc") == root / "etc"


def test_a_path_that_is_not_there_is_given_all_the_same(root: Path) -> None:
    assert locate(root, "/opt/none/at/all") == root / "opt/none/at/all"


def test_links_that_lead_in_a_circle_end(root: Path) -> None:
    (root / "a").symlink_to("/b")
    (root / "b").symlink_to("/a")
    assert not is_there(root, "/a")


def test_what_can_not_be_looked_at_is_not_there(root: Path) -> None:
    assert not is_there(root, "/" + "x" * 300)


def test_the_running_machines_paths_are_its_own() -> None:
    assert locate(Path("/"), "/usr/./bin/..") == Path("/usr")


def test_names_are_sorted_and_a_folder_that_is_not_there_is_absent(root: Path) -> None:
    assert list_names(root, "/usr/local/cuda") == ("version.json",)
    assert list_names(root, "/usr/local/none") == Absent()
    assert list_names(root, "/usr/local/cuda/version.json") == Absent()


def test_a_folder_that_may_not_be_listed_is_unknown(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    assert isinstance(list_names(root, "/loop"), Unknown)


def test_numbered_names_come_in_the_order_of_their_numbers() -> None:
    names = ("cpu10", "cpu2", "cpufreq", "cpuidle", "online", "cpu0")
    assert list(numbered(names, "cpu")) == [(0, "cpu0"), (2, "cpu2"), (10, "cpu10")]
