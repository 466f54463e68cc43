"""Locks whose entries say themselves where they are installed."""

from __future__ import annotations

from typing import Any

import pytest

from envtrack.lockfiles.select import explain_selection, identity, select
from envtrack.model.lock import Artifact, Lock, LockedPackage, Source, SourceKind
from envtrack.model.selection import Selection
from tests.lockfiles.texts import LINUX

INDEX = Source(kind=SourceKind.REGISTRY, location="https://registry.example/simple")


def package(name: str, *markers: str, groups: str = "", platforms: str = "") -> LockedPackage:
    return LockedPackage(
        name=name,
        version="1",
        source=INDEX,
        resolution_markers=markers,
        belongs_to=tuple(groups.split()),
        platforms=tuple(platforms.split()),
    )


def lock(*packages: LockedPackage) -> Lock:
    return Lock(format="poetry.lock", path="poetry.lock", schema=2, packages=packages)


def names(
    of: Lock,
    environment: dict[str, str] | None = None,
    **selection: Any,  # noqa: ANN401 - as Selection takes them
) -> list[str]:
    chosen = Selection(**selection)
    return [p.name for p in select(of, chosen, LINUX if environment is None else environment)]


def test_markers_and_platforms_decide() -> None:
    of = lock(
        package("always"),
        package("linux", "sys_platform == 'linux'"),
        package("windows", "sys_platform == 'win32'"),
        package("either", "sys_platform == 'win32'", "python_version >= '3'"),
        package("conda", platforms="linux-64"),
        package("mac", platforms="osx-64 osx-arm64"),
        package("any", platforms="noarch"),
    )
    assert names(of) == ["always", "linux", "either", "conda", "any"]


def test_a_machine_that_is_not_known_takes_every_platform() -> None:
    assert names(lock(package("a", platforms="osx-64")), {}) == ["a"]


GROUPED = lock(
    package("app", groups="main"),
    package("both", groups="main dev"),
    package("tests", groups="dev"),
    package("docs", groups="Docs_Site"),
)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({}, ["app", "both", "tests"]),
        ({"default_groups": ()}, ["app", "both"]),
        ({"without_groups": ("dev",)}, ["app", "both"]),
        ({"without_groups": ("main",)}, ["both", "tests"]),
        ({"groups": ("docs-site",)}, ["app", "both", "tests", "docs"]),
        ({"all_groups": True}, ["app", "both", "tests", "docs"]),
        ({"all_groups": True, "without_groups": ("dev",)}, ["app", "both", "docs"]),
    ],
)
def test_groups_are_taken_as_asked(selection: dict[str, Any], expected: list[str]) -> None:
    assert names(GROUPED, **selection) == expected


def test_extras_are_taken_as_asked() -> None:
    of = lock(
        package("one", 'extra == "gpu"'),
        package("two", "'cpu' in extras"),
        package("three", "'docs' in dependency_groups"),
    )
    assert names(of) == []
    assert names(of, extras=("gpu",)) == ["one"]
    assert names(of, all_extras=True) == ["one", "two"]
    assert names(of, groups=("docs",)) == ["three"]


@pytest.mark.parametrize("selection", [{}, {"all_groups": True}])
def test_a_group_that_is_unwanted_is_none_to_a_marker(selection: dict[str, Any]) -> None:
    of = lock(package("a", "'dev' in dependency_groups", groups="main dev"))
    assert names(of, **selection) == ["a"]
    assert names(of, **selection, without_groups=("dev",)) == []


def test_a_group_that_is_nowhere_is_said() -> None:
    notes = explain_selection(GROUPED, Selection(groups=("nowhere",)), LINUX).notes
    assert notes == ("no group nowhere in the lock",)


def conda(build: str, digest: str = "") -> LockedPackage:
    return LockedPackage(
        name="ca-certificates",
        version="2024.1",
        source=INDEX,
        ecosystem="conda",
        build=build,
        artifacts=(
            Artifact(filename=f"ca-certificates-2024.1-{build}.conda", location="", hash=digest),
        ),
    )


def test_a_conda_build_counts_for_the_identity_whatever_wheel_tags_there_are() -> None:
    tags = frozenset({"py3-none-any"})
    assert identity([conda("h1_0")]) != identity([conda("h2_0")])
    assert identity([conda("h1", "sha256:aa")], tags=tags) != identity(
        [conda("h1", "sha256:bb")], tags=tags
    )
