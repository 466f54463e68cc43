from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.compare.selectors import find_asks, normalise_marker
from envtrack.lockfiles.markers import MarkerWorld
from tests.lockfiles.texts import HEAD, LINUX, lock_from, pinned, project

X, Y = "extra == 'extra-3-lab-x'", "extra == 'extra-3-lab-y'"
PAIRS = frozenset({frozenset({X, Y})})


@pytest.mark.parametrize(
    ("marker", "normal"),
    [
        (" ", ""),
        ("os_name == 'nt' and os_name == 'nt'", "os_name == 'nt'"),
        ("b == '1' or a == '2'", "a == '2' or b == '1'"),
        ("a == '1' and (b == '2' and c == '3')", "a == '1' and b == '2' and c == '3'"),
        ("(a == '1' or b == '2') and c == '3'", "(a == '1' or b == '2') and c == '3'"),
        (
            f"(({X} and {Y}) or a == '1' and b == '2') and c == '3'",
            "a == '1' and b == '2' and c == '3'",
        ),
        (f"{X} and {Y}", "never"),
        (f"({X} and {Y}) or ({Y} and {X} and a == '1')", "never"),
        (f"a == '1' and ({X} and {Y})", "never"),
        (f"{X} and (a == '1' and {Y})", "never"),
        (f"{X} or {Y}", f"{X} or {Y}"),
        ("no marker", "no marker"),
    ],
)
def test_a_marker_has_one_spelling(marker: str, normal: str) -> None:
    assert normalise_marker(marker, PAIRS) == normal


@pytest.mark.parametrize(
    ("conflict", "marker"),
    [
        ('{ package = "lab", extra = "x" }', X),
        ('{ package = "lab", group = "x" }', "extra == 'group-3-lab-x'"),
        ('{ package = "lab" }', "extra == 'project-3-lab'"),
    ],
)
def test_extras_groups_and_projects_exclude_each_other(conflict: str, marker: str) -> None:
    head = HEAD + f'conflicts = [[{conflict}, {{ package = "lab", extra = "y" }}]]\n'
    edge = f"{{ name = 'a', marker = '''{marker} and {Y}''' }}"
    lock = lock_from(project(edge), pinned("a", "1"), head=head)
    assert find_asks(lock, [one for one in lock.packages if one.name == "lab"]) == frozenset()


atoms = st.sampled_from(
    ["sys_platform == 'linux'", "sys_platform == 'win32'", "os_name == 'posix'", "os_name == 'nt'"]
)
markers = st.recursive(
    atoms,
    lambda inner: st.builds("({}) {} ({})".format, inner, st.sampled_from(["and", "or"]), inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(markers)
def test_the_normal_form_means_the_same_and_is_its_own(marker: str) -> None:
    normal = normalise_marker(marker, frozenset())
    assert MarkerWorld(LINUX).ask(normal) is MarkerWorld(LINUX).ask(marker)
    assert normalise_marker(normal, frozenset()) == normal
