from __future__ import annotations

import pytest

from envtrack.compare.specifiers import find_meaning, find_requirement_meaning


@pytest.mark.parametrize(
    ("one", "two"),
    [
        # commitizen, pydantic-ai and prime-rl have these.
        (">=3.08", ">=3.8"),
        (">=2.10", ">=2.10.0"),
        ("~=3.12.0", ">=3.12.0, <3.13"),
        ("==3.12.*", ">=3.12.0, <3.13"),
        ("~=3.12", ">=3.12,<4"),
        (">=3.8,>=3.9", ">=3.9"),
        ("<4,>=3.8", ">=3.8,<4.0"),
        (">=3.9,<3.13,<4", "<3.13,>=3.9"),
        (">3.9,>=3.9", ">3.9"),
        ("<3.9,<=3.9", "<3.9"),
        ("==1!2.*", ">=1!2,<1!3"),
        ("!=3.9.0,>=3.8", ">=3.8,!=3.9"),
        ("", ""),
    ],
)
def test_one_range_in_two_spellings(one: str, two: str) -> None:
    assert find_meaning(one) == find_meaning(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (">=3.8", ">=3.80"),
        (">=3.8", ">3.8"),
        ("<=3.8", "<3.8"),
        (">=3.12.3, <3.13", ">=3.12.0, <3.13"),
        ("~=3.12", "~=3.12.0"),
        ("==3.12.*", "==3.12"),
        (">=3.8,!=3.9.*", ">=3.8,!=3.9"),
        (">=3.8", ""),
        ("whatever", "something else"),
        ("whatever", ">=3.8"),
        (f">={'9' * 5000}", ">=3.8"),
        (f"~=3.{'9' * 5000}", f">={'9' * 5000}"),
    ],
)
def test_two_ranges(one: str, two: str) -> None:
    assert find_meaning(one) != find_meaning(two)


@pytest.mark.parametrize(
    ("one", "two", "is_same"),
    [
        ("pydantic>=2.10", "pydantic >= 2.10.0", True),
        ("a[x,y]>=1", "a[y,x]>=1", True),
        ("a; os_name=='nt'", 'a ; os_name == "nt"', True),
        ("a>=1", "a>=1; os_name == 'nt'", False),
        ("a[x]>=1", "a>=1", False),
        ("a @ https://files.example/a.whl", "a", False),
        ("?", "?", True),
        ("?", "a", False),
    ],
)
def test_requirements(one: str, two: str, *, is_same: bool) -> None:
    assert (find_requirement_meaning(one) == find_requirement_meaning(two)) is is_same
