"""Markers of a package by group."""

from __future__ import annotations

import pytest

from envtrack.lockfiles.group_markers import combine_group_markers, join_markers

LINUX, NEW = "sys_platform == 'linux'", "python_version >= '3.12' or os_name == 'nt'"


@pytest.mark.parametrize(
    ("by_group", "expected"),
    [
        ({"main": ""}, ()),
        ({"dev": ""}, ()),
        ({"main": LINUX, "dev": LINUX}, (LINUX,)),
        ({"main": "", "dev": LINUX}, ()),
        ({"main": LINUX, "dev": ""}, (LINUX, "'dev' in dependency_groups")),
        ({"main": LINUX, "Dev_A": NEW}, (LINUX, f"'dev-a' in dependency_groups and ({NEW})")),
        (
            {"a": LINUX, "b": NEW, "c": LINUX},
            (
                f"('a' in dependency_groups or 'c' in dependency_groups) and {LINUX}",
                f"'b' in dependency_groups and ({NEW})",
            ),
        ),
        ({"main": LINUX, "o'k": ""}, (LINUX, '"o\'k" in dependency_groups')),
    ],
)
def test_markers_of_groups_are_tied_to_them(
    by_group: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert combine_group_markers(by_group) == expected


def test_markers_are_joined_without_what_always_holds() -> None:
    assert join_markers("", "") == ""
    assert join_markers("", NEW) == NEW
    assert join_markers(LINUX, "", NEW) == f"{LINUX} and ({NEW})"
