from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker

from envtrack.lockfiles.markers import MarkerError, MarkerWorld, parse_marker
from tests.lockfiles.texts import LINUX

TRUE = "sys_platform == 'linux'"
FALSE = "sys_platform == 'win32'"
UNKNOWN = "color == 'red'"


@pytest.mark.parametrize(
    ("marker", "answer"),
    [
        ("", True),
        (TRUE, True),
        (FALSE, False),
        (UNKNOWN, None),
        ("not a marker at all", None),
        (f"{TRUE} and {UNKNOWN}", None),
        (f"{FALSE} and {UNKNOWN}", False),
        (f"{TRUE} or {UNKNOWN}", True),
        (f"{FALSE} or {UNKNOWN}", None),
        (f"{TRUE} or {FALSE} and {FALSE}", True),
        (f"({TRUE} or {FALSE}) and {FALSE}", False),
        ("python_full_version == '3.12.*'", True),
        ("python_full_version < '3.12'", False),
        ("'3.12' <= python_version", True),
        ('sys.platform == "linux"', True),
        ("'lin' in sys_platform", True),
        ("sys_platform not  in 'win32 darwin'", True),
        ("platform_machine ~= 'x'", None),
    ],
)
def test_a_marker_holds_does_not_or_can_not_be_decided(marker: str, *, answer: bool | None) -> None:
    assert MarkerWorld(LINUX).ask(marker) is answer


@pytest.mark.parametrize(
    ("marker", "answer"),
    [
        ("extra == 'extra-3-lab-gpu'", True),
        ("extra == 'extra-3-lab-cpu'", False),
        ("extra != 'extra-3-lab-cpu'", True),
        ("extra == 'extra-3-lab-gpu' and extra == 'group-3-lab-dev'", True),
        ("'group-3-lab-dev' == extra", True),
        ("'extra-3-lab-gpu' in extras", True),
        ("'docs' in dependency_groups", True),
        ("'test' not in dependency_groups", True),
        ("extra == sys_platform", None),
    ],
)
def test_any_number_of_extras_can_hold_at_once(marker: str, *, answer: bool | None) -> None:
    world = MarkerWorld(LINUX, {"extra-3-lab-gpu", "group-3-lab-dev"}, {"docs"})
    assert world.ask(marker) is answer


def test_an_undecided_marker_counts_as_holding_and_is_remembered() -> None:
    world = MarkerWorld(LINUX)
    assert world.holds(UNKNOWN)
    assert not world.holds(FALSE)
    assert world.undecided == {UNKNOWN}


def test_a_variable_that_the_environment_lacks_is_not_taken_from_this_machine() -> None:
    assert MarkerWorld({}).ask(TRUE) is None


@pytest.mark.parametrize(
    "text", ["(", "a == 'b' and", "(a == 'b'", "a == 'b')", "and", "a ! 'b'", "(a == 'b' c == 'd'"]
)
def test_what_is_no_marker_is_refused(text: str) -> None:
    with pytest.raises(MarkerError):
        parse_marker(text)


atoms = st.sampled_from(
    [TRUE, FALSE, "python_full_version >= '3.11'", "os_name == 'nt'", "'3.12' == python_version"]
)
markers = st.recursive(
    atoms,
    lambda inner: st.builds(
        lambda left, word, right: f"({left}) {word} ({right})",
        inner,
        st.sampled_from(["and", "or"]),
        inner,
    ),
    max_leaves=12,
)


@given(markers)
def test_the_answer_is_that_of_packaging(marker: str) -> None:
    assert MarkerWorld(LINUX).ask(marker) is Marker(marker).evaluate(LINUX)


@given(st.lists(atoms, min_size=1, max_size=6), st.data())
def test_and_binds_tighter_than_or(parts: list[str], data: st.DataObject) -> None:
    text = parts[0]
    for part in parts[1:]:
        text += f" {data.draw(st.sampled_from(['and', 'or']))} {part}"
    assert MarkerWorld(LINUX).ask(text) is Marker(text).evaluate(LINUX)


@given(st.text(max_size=60))
def test_any_text_can_be_asked(text: str) -> None:
    assert MarkerWorld(LINUX).ask(text) in {True, False, None}


@pytest.mark.parametrize("end", [")", ""])
def test_a_marker_that_is_nested_too_deeply_is_undecided(end: str) -> None:
    world = MarkerWorld(LINUX)
    marker = "(" * 5000 + TRUE + end * 5000
    assert world.ask(marker) is None
    assert world.holds(marker)
    assert world.undecided == {marker}


def test_all_of_some_parts_is_not_any_of_the_same_parts() -> None:
    every, either = parse_marker(f"{TRUE} and {FALSE}"), parse_marker(f"{TRUE} or {FALSE}")
    assert every != either
    assert every == parse_marker(f"{TRUE} and {FALSE}")
    assert len({every, either, parse_marker(f"{TRUE} or {FALSE}")}) == 2
