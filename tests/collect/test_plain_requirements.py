"""What is decided without `packaging` is decided as `packaging` would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.specifiers import SpecifierSet

from envtrack.collect.plain_requirements import fits_plainly, holds_plainly

NUMBER = st.integers(0, 12)
RELEASE = st.lists(NUMBER, min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
OPERATOR = st.sampled_from(["==", "!=", "<=", ">=", "<", ">"])
CLAUSE = st.tuples(OPERATOR, RELEASE).map("".join)
SPECIFIER = st.lists(CLAUSE, min_size=1, max_size=3).map(", ".join)
HERE = {
    "python_version": "3.11",
    "python_full_version": "3.11.7",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "sys_platform": "linux",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}
WORD = st.sampled_from(["Linux", "linux", "x86_64", "arm64", "cpython", "CPython", "", "posix"])
COMPARISON = st.one_of(
    st.tuples(
        st.sampled_from(sorted(set(HERE) - {"python_version", "python_full_version"})),
        st.sampled_from(["==", "!="]),
        WORD,
    ),
    st.tuples(st.sampled_from(["python_version", "python_full_version"]), OPERATOR, RELEASE),
).map(lambda parts: f'{parts[0]} {parts[1]} "{parts[2]}"')
MARKER = st.lists(COMPARISON, min_size=1, max_size=3).map(" and ".join)


@given(SPECIFIER, RELEASE)
def test_releases_against_releases(specifier: str, version: str) -> None:
    expected = SpecifierSet(specifier).contains(version, prereleases=True)
    assert fits_plainly(specifier, version) is expected


@given(MARKER)
def test_comparisons_joined_by_and(marker: str) -> None:
    assert holds_plainly(marker, HERE) is Marker(marker).evaluate(HERE)


def test_what_is_not_plain_is_left_alone() -> None:
    for specifier in ("~=1.2", "==1.*", "===1", ">=1rc1", "", ">=1,", "==1+cu124", ">=1;"):
        assert fits_plainly(specifier, "1") is None
    for version in ("1rc1", "1+cu124", "1.post1", "v1", "", "1!2"):
        assert fits_plainly(">=1", version) is None
    for marker in (
        "python_version == '3' or os_name == 'posix'",
        "(os_name == 'posix')",
        "extra == 'gpu'",
        "platform_release == '6'",
        "platform_release >= 'x'",
        "sys_platform in 'linux'",
        "'linux' == sys_platform",
        "sys_platform < 'm'",
        "platform_machine == '386'",
        'os_name == "a\'b"',
        "",
    ):
        assert holds_plainly(marker, HERE) is None
