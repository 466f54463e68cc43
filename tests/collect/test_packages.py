from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from envtrack.collect.direct_url import describe_direct_url
from envtrack.collect.packages import PackagesCollector
from envtrack.model.fact import Absent, Known, Unknown
from envtrack.model.snapshot import InstalledPackage
from tests.collect.places import (
    add_distribution,
    facts_of,
    machine,
    make_environment,
    packages_of,
    site_of,
    write,
)

COLLECTOR = PackagesCollector()
COMMIT = "0a" * 20


def test_no_environment_is_absent_and_nothing_more_is_said(tmp_path: Path) -> None:
    assert facts_of(COLLECTOR, machine(tmp_path)) == {"packages.environment": Absent()}


def test_an_environment_without_packages_has_none(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    assert facts_of(COLLECTOR, machine(tmp_path, environment=environment)) == {
        "packages.environment": Known("<project>/.venv"),
        "packages.count": Known(0),
        "packages.duplicates": Absent(),
        "packages.broken-requirements": Absent(),
        "packages.edited": Absent(),
        "packages.missing-files": Absent(),
        "packages.file-clashes": Absent(),
        "packages.shadowed": Absent(),
    }


def test_an_environment_elsewhere_in_the_home_is_named_without_its_owner(tmp_path: Path) -> None:
    environment = tmp_path / "home/alice/envs/x"
    environment.mkdir(parents=True)
    facts = facts_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert facts["packages.environment"] == Known("~/envs/x")


def test_names_are_normalised_and_versions_as_they_stand(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_distribution(site_of(environment), "Flash_Attn.x", "2.8.3+cu128torch2.11")
    packages = packages_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert packages == {
        "flash-attn-x": InstalledPackage(name="flash-attn-x", version="2.8.3+cu128torch2.11")
    }


def test_late_headers_are_found_and_the_text_below_them_is_not(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    late = "Metadata-Version: 2.1\n" + "Classifier: x\n" * 2000 + "name: Late\r\nVERSION: 3\n\n"
    write(site / "late-3.dist-info/METADATA", late)
    write(site / "text-1.dist-info/METADATA", "Name: text\nVersion: 1\n\nName: other\nVersion: 2\n")
    packages = packages_of(COLLECTOR, machine(tmp_path, environment=site.parents[2]))
    assert {name: package.version for name, package in packages.items()} == {
        "late": "3",
        "text": "1",
    }


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (None, "METADATA is missing"),
        (b"", "its metadata has no version"),
        (b"Name: odd\n\nVersion: 1\n", "its metadata has no version"),
        (b"Name: odd\nVersion: None\n", "its metadata has no version"),
        (b"\xff\xfe\x00", "its metadata has no version"),
    ],
)
def test_metadata_without_a_version_is_unknown_and_no_crash(
    tmp_path: Path, metadata: bytes | None, reason: str
) -> None:
    environment = make_environment(tmp_path)
    folder = site_of(environment) / "odd-1.0.dist-info"
    folder.mkdir()
    if metadata is not None:
        write(folder / "METADATA", metadata)
    facts = facts_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert facts["packages.installed.odd"] == Unknown(reason)
    assert facts["packages.count"] == Known(0)


def test_metadata_that_can_not_be_read_says_why(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    (site_of(environment) / "odd-1.0.dist-info/METADATA").mkdir(parents=True)
    facts = facts_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert facts["packages.installed.odd"] == Unknown("METADATA: is a directory")


def test_two_versions_of_one_name_are_reported_and_the_higher_counts(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    for version in ("1.10", "1.9", "odd"):
        add_distribution(site_of(environment), "foo", version)
    where = machine(tmp_path, environment=environment)
    assert facts_of(COLLECTOR, where)["packages.duplicates"] == Known("foo 1.10 | 1.9 | odd")
    assert packages_of(COLLECTOR, where)["foo"].version == "1.10"
    assert facts_of(COLLECTOR, where)["packages.count"] == Known(1)


def test_a_readable_one_beside_a_broken_one_counts(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_distribution(site_of(environment), "foo", "1.0")
    (site_of(environment) / "foo-2.0.dist-info").mkdir()
    where = machine(tmp_path, environment=environment)
    assert facts_of(COLLECTOR, where)["packages.duplicates"] == Known("foo 1.0 | ?")
    assert packages_of(COLLECTOR, where)["foo"].version == "1.0"


def test_old_forms_of_metadata_are_read(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    site = site_of(environment)
    source = tmp_path / "home/alice/source"
    write(site / "folder-1.egg-info/PKG-INFO", "Name: folder\nVersion: 1\n")
    write(site / "file-2.egg-info", "Name: file\nVersion: 2\n")
    write(site / "egg-3-py3.11.egg/EGG-INFO/PKG-INFO", "Name: egg\nVersion: 3\n")
    write(site / "linked.egg-link", f"{source}\n.")
    write(source / "linked.egg-info/PKG-INFO", "Name: linked\nVersion: 4\n")
    write(site / "lost.egg-link", "/gone\n.")
    write(site / "~oo-1.dist-info/METADATA", "Name: foo\nVersion: 1\n")
    where = machine(tmp_path, environment=environment)
    packages = packages_of(COLLECTOR, where)
    assert {name: package.version for name, package in packages.items()} == {
        "folder": "1",
        "file": "2",
        "egg": "3",
        "linked": "4",
    }
    assert packages["linked"].origin == f"editable {source}"
    assert facts_of(COLLECTOR, where)["packages.installed.lost"] == Unknown("PKG-INFO is missing")


def test_an_editable_install_that_only_a_pth_tells_of(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    site = site_of(environment)
    for name in ("mine", "other"):
        add_distribution(site, name, "1.0")
    write(site / "__editable__.mine-1.0.pth", "/srv/mine/src\n")
    write(site / "__editable__.other-1.0.pth", "import __editable___other_finder")
    packages = packages_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert packages["mine"].origin == "editable /srv/mine/src"
    assert packages["other"].origin == "editable"


ORIGINS = {
    "git": (
        {
            "url": "https://user:pw@git.example/a.git?token=x",
            "vcs_info": {"vcs": "git", "commit_id": COMMIT},
            "subdirectory": "python/a",
        },
        f"git+https://***@git.example/a.git@{COMMIT}#subdirectory=python/a",
    ),
    "git over ssh": (
        {"url": "ssh://git@git.example/a.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
        f"git+ssh://git@git.example/a.git@{COMMIT}",
    ),
    "archive": (
        {
            "url": "https://files.example/a.whl?sig=secret",
            "archive_info": {"hash": "md5=0b", "hashes": {"md5": "0b", "sha256": "0a"}},
        },
        "https://files.example/a.whl#sha256=0a",
    ),
    "archive of old": (
        {"url": "https://files.example/a.whl", "archive_info": {"hash": "sha256=0a"}},
        "https://files.example/a.whl#sha256=0a",
    ),
    "local archive": ({"url": "file:///srv/a%20b.whl", "archive_info": {}}, "/srv/a b.whl"),
    "editable": ({"url": "file:///srv/lib", "dir_info": {"editable": True}}, "editable /srv/lib"),
    "directory": ({"url": "file:///srv/lib", "dir_info": {}}, "directory /srv/lib"),
    "windows": ({"url": "file:///C:/lib", "dir_info": {}}, "directory C:/lib"),
    "odd folder": (
        {"url": "https://u:pw@files.example/", "dir_info": {}},
        "directory https://***@files.example/",
    ),
    "nothing more": ({"url": "https://files.example/a.whl"}, "https://files.example/a.whl"),
    "no url": ({}, "direct_url.json can't be read"),
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_direct_urls_in_one_line_without_secrets(origin: str) -> None:
    record, expected = ORIGINS[origin]
    assert describe_direct_url(json.dumps(record)) == expected


@pytest.mark.parametrize("text", ["", "{", "[1]", "[" * 100_000, '{"url": 1}'])
def test_a_direct_url_that_can_not_be_read_is_said_so(text: str) -> None:
    assert describe_direct_url(text) == "direct_url.json can't be read"


def test_direct_url_and_dist_info_come_together(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    record = {"url": "file:///srv/lib", "dir_info": {"editable": True}}
    add_distribution(site_of(environment), "lib", "1", direct_url=json.dumps(record))
    packages = packages_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert packages["lib"].origin == "editable /srv/lib"


def test_only_the_current_pythons_packages_count(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add_distribution(site_of(environment), "now", "1")
    add_distribution(environment / "lib/python3.10/site-packages", "left-behind", "1")
    packages = packages_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert set(packages) == {"now"}


def test_lib64_as_a_link_to_lib_is_read_once(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    (environment / "lib64").symlink_to("lib")
    add_distribution(site_of(environment), "foo", "1")
    facts = facts_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert facts["packages.duplicates"] == Absent()


def test_the_layout_of_windows_is_read(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    add_distribution(environment / "Lib/site-packages", "foo", "1")
    write(environment / "pyvenv.cfg", "version = 3.11.7\n")
    packages = packages_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert set(packages) == {"foo"}


def test_conda_and_python_packages_are_told_together(tmp_path: Path) -> None:
    environment = tmp_path / "env"
    site = environment / "lib/python3.11/site-packages"
    for record in ("numpy-2.0-py311h_0", "python-3.11.7-h_0", "cuda-nvcc-12.4-h_1", "pip-1-h_0"):
        write(environment / f"conda-meta/{record}.json", "{}")
    feedstock = json.dumps({"url": "file:///home/conda/feedstock_root/numpy", "dir_info": {}})
    add_distribution(site, "numpy", "2.0", direct_url=feedstock, INSTALLER="conda\n")
    add_distribution(site, "pip", "2")
    add_distribution(site, "other", "1")
    (site / "broken-1.dist-info").mkdir()
    where = machine(tmp_path, environment=environment)
    packages = packages_of(COLLECTOR, where)
    assert {p.name: (p.version, p.origin) for p in packages.values()} == {
        "numpy": ("2.0", "conda py311h_0"),
        "cuda-nvcc": ("12.4", "conda h_1"),
        "pip": ("2", ""),
        "other": ("1", ""),
    }
    assert isinstance(facts_of(COLLECTOR, where)["packages.installed.broken"], Unknown)


@pytest.mark.skipif(sys.platform == "darwin", reason="its file names are always Unicode")
def test_names_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    os.mkdir(os.fsencode(site_of(environment)) + b"/b\xffd-1.dist-info")  # noqa: PTH102 - bytes
    facts = facts_of(COLLECTOR, machine(tmp_path, environment=environment))
    assert facts["packages.installed.b\udcffd"] == Unknown("METADATA is missing")
