"""poetry's constraints on Pythons."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet

from envtrack.lockfiles.poetry_python import make_marker, make_specifiers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*", ""),
        ("^3.9", ">=3.9,<4.0"),
        ("~3.8", ">=3.8,<3.9"),
        ("~3", ">=3.0,<4.0"),
        ("^3.12,<3.14", ">=3.12,<3.14"),
        ("3.11.*", ">=3.11,<3.12"),
        (">=3.10,<4.0", ">=3.10,<4.0"),
        (">=2.7, !=3.0.*", ">=2.7, !=3.0.*"),
        ("~2.7 || ^3.4", ">=2.7,<4.0,!=3.0.*,!=3.1.*,!=3.2.*,!=3.3.*"),
        (">=3.6,<3.8 || >=3.9.1,<4", ">=3.6,<4.0,!=3.8.*,!=3.9.0"),
        ("<3.8.1 || >=3.8.3", "!=3.8.1,!=3.8.2"),
        # Not a constraint on Pythons that is known: told as it is.
        (">=3.11.0a6", ">=3.11.0a6"),
        ("foo", "foo"),
        ("^3.9 ||", "^3.9 ||"),
    ],
)
def test_constraints_become_specifiers(text: str, expected: str) -> None:
    assert make_specifiers(text) == expected


@pytest.mark.parametrize(
    ("text", "among", "expected"),
    [
        ("*", "^3.9", ""),
        (">=3.7", "^3.9", ""),
        (">=3.10", "^3.9", 'python_full_version >= "3.10"'),
        (">=3.10", "", 'python_full_version >= "3.10"'),
        ("<4.0,>=3.9", "^3.9", ""),
        ("foo", "^3.9", ""),
        (">=3.9,<3.8", "", 'python_full_version < "0"'),
        (
            "~2.7 || >=3.5",
            "*",
            (
                'python_full_version >= "2.7" and python_full_version < "2.8"'
                ' or python_full_version >= "3.5"'
            ),
        ),
    ],
)
def test_constraints_become_markers_where_they_say_more(
    text: str, among: str, expected: str
) -> None:
    assert make_marker(text, among=among) == expected


def test_a_long_constraint_is_left_as_it_is() -> None:
    text = ",".join(["!=3.1.*"] * 100_000)
    assert make_specifiers(text) == text
    assert make_marker(text) == ""


_PYTHONS = st.builds("3.{}.{}".format, st.integers(0, 16), st.integers(0, 4)) | st.sampled_from(
    ["2.7.18"]
)
_PARTS = st.builds(
    "{}{}".format,
    st.sampled_from([">=", "<", "<=", "!=", ">"]),
    st.builds("3.{}".format, st.integers(0, 15)) | st.sampled_from(["2.7", "3.8.1", "4"]),
) | st.builds("!=3.{}.*".format, st.integers(0, 15))


@settings(deadline=None)
@given(python=_PYTHONS, parts=st.lists(_PARTS, min_size=1, max_size=4))
def test_a_plain_constraint_means_what_pep_440_says(python: str, parts: list[str]) -> None:
    text = ", ".join(parts)
    expected = SpecifierSet(text).contains(python)
    # Without a marker it always holds.
    marker = make_marker(text) or 'python_full_version >= "0"'
    assert Marker(marker).evaluate({"python_full_version": python}) is expected


@settings(deadline=None)
@given(python=_PYTHONS, one=st.integers(0, 9), other=st.integers(0, 9))
def test_specifiers_and_markers_of_a_union_agree(python: str, one: int, other: int) -> None:
    text = f"~3.{one} || ^3.{other + 3}.1"
    allowed = SpecifierSet(make_specifiers(text)).contains(python)
    assert Marker(make_marker(text)).evaluate({"python_full_version": python}) is allowed
