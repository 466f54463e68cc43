from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.compare.marker_meaning import mean_the_same
from envtrack.lockfiles.markers import MarkerWorld
from tests.lockfiles.texts import LINUX

X, Y = "extra == 'extra-3-lab-x'", "extra == 'extra-3-lab-y'"
NOT_X = "extra != 'extra-3-lab-x'"
LINUX_ONLY = "sys_platform == 'linux'"


def same(
    before: str | frozenset[str],
    after: str | frozenset[str],
    *,
    impossible: bool = False,
    pythons: tuple[str, ...] = (),
) -> bool:
    sides = [frozenset({s}) if isinstance(s, str) else s for s in (before, after)]
    pairs = frozenset({frozenset({X, Y})}) if impossible else frozenset()
    return mean_the_same(sides[0], sides[1], pairs, pythons)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # pydantic-ai: a clause that follows from the other.
        (
            "os_name != 'nt' and python_full_version < '3.12' or python_full_version < '3.12'",
            "python_full_version < '3.12'",
        ),
        ("python_version < '3.12'", "python_full_version < '3.12'"),
        ("python_version >= '3.12'", "python_version > '3.11'"),
        ("python_full_version < '3.08'", "python_full_version < '3.8'"),
        ("python_full_version == '3.12.*'", "python_version == '3.12'"),
        ("python_version == '3.12'", "python_version >= '3.12' and python_version < '3.13'"),
        (f"{LINUX_ONLY} or sys_platform != 'linux'", ""),
        (f"{LINUX_ONLY} and sys_platform == 'darwin'", "never"),
        (f"{X} or {NOT_X}", ""),
        ("'linux' == sys_platform", LINUX_ONLY),
        ("'x' in extras", "extras == 'x'"),
        (f"({X} or os_name == 'nt') and os_name == 'nt'", "os_name == 'nt'"),
    ],
)
def test_other_words_for_the_same(before: str, after: str) -> None:
    assert same(before, after)
    assert same(after, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", LINUX_ONLY),
        (LINUX_ONLY, "never"),
        (LINUX_ONLY, "sys_platform == 'darwin'"),
        (LINUX_ONLY, "platform_system == 'Linux'"),
        ("python_full_version <= '3.11'", "python_version <= '3.11'"),
        ("python_version >= '3.9'", "python_version >= '3.10'"),
        (f"{X} and {LINUX_ONLY}", f"{Y} and {LINUX_ONLY}"),
        (f"{X} or {Y}", X),
        ("'x' in extras", "'x' in dependency_groups"),
        ("when it rains", "when it pours"),
        ("platform_release >= '5'", "platform_release >= '6'"),
        ("python_version in '2.7 3.0'", "python_version in '3.0 2.7'"),
        ("python_version >= 'x'", "python_version >= 'y'"),
        ("extra >= 'x'", "extra >= 'y'"),
        ("os_name == sys_platform", "sys_platform == os_name"),
    ],
)
def test_what_differs_or_can_not_be_decided(before: str, after: str) -> None:
    assert not same(before, after)
    assert not same(after, before)


def test_a_resolution_that_is_split_once_more_is_the_same_resolution() -> None:
    one = frozenset({"python_full_version >= '3.12'"})
    two = frozenset({"python_full_version >= '3.14'", "python_full_version == '3.12.*'"})
    assert not same(one, two)
    assert same(one, two | {"python_full_version == '3.13.*'"})


def test_extras_that_exclude_each_other_never_hold_together() -> None:
    both = f"{LINUX_ONLY} or {X} and {Y}"
    assert not same(both, LINUX_ONLY)
    assert same(both, LINUX_ONLY, impossible=True)


def test_only_the_pythons_that_are_meant_count() -> None:
    old = "python_full_version < '3.11' or sys_platform == 'win32'"
    assert not same(old, "sys_platform == 'win32'")
    assert same(old, "sys_platform == 'win32'", pythons=(">=3.10", ">=3.12.3"))
    assert not same(old, "sys_platform == 'win32'", pythons=("whatever",))
    assert not same(old, "sys_platform == 'win32'", pythons=("<3.11", ">=3.12"))
    assert same("python_version < '3.11'", "never", pythons=("==3.12.*",))


@pytest.mark.parametrize("digits", ["9" * 20, "9" * 5000])
def test_absurd_versions_are_no_fault(digits: str) -> None:
    one, two = f"python_version >= '3.{digits}'", f"python_full_version >= '3.{digits}'"
    assert same(one, two) is (len(digits) < 5000)
    assert same(one, one)
    assert not same(
        "os_name == 'a' or python_version < '3'", "os_name == 'a'", pythons=(f">={digits}", "<4")
    )


def test_too_many_environments_are_not_tried() -> None:
    many = " and ".join(f"extra == 'extra-3-lab-x{n}'" for n in range(17))
    assert not same(many, f"{many} and {many}")
    few = many.rpartition(" and ")[0]
    assert same(few, f"{few} and {few}")


atoms = st.sampled_from(
    [
        LINUX_ONLY,
        "sys_platform == 'win32'",
        "python_full_version >= '3.12.4'",
        "python_version < '3.13'",
        "python_version != '3.12'",
        X,
        NOT_X,
        Y,
    ]
)
markers = st.recursive(
    atoms,
    lambda inner: st.builds("({}) {} ({})".format, inner, st.sampled_from(["and", "or"]), inner),
    max_leaves=6,
)


@settings(deadline=None)
@given(markers, markers)
def test_what_means_the_same_holds_in_the_same_environments(one: str, two: str) -> None:
    answers = []
    for system in ("linux", "win32", "darwin"):
        for full in ("3.11.9", "3.12.3", "3.12.4", "3.13.0"):
            for extras in ((), ("extra-3-lab-x",), ("extra-3-lab-y",)):
                environment = LINUX | {
                    "sys_platform": system,
                    "python_full_version": full,
                    "python_version": full.rpartition(".")[0],
                }
                world = MarkerWorld(environment, extras)
                answers.append(world.ask(one) is world.ask(two))
    assert all(answers) is same(one, two, impossible=True)
