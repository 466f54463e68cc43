"""Texts that are nearly lockfiles."""

from __future__ import annotations

from hypothesis import strategies as st

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import parse_lock

_ODD = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            *("[", "{", '"', "'", "=", "\0", "\n", "\n[[package]]\n", "\n[[packages]]\n", "# "),
            *('= ""\n', "= 1\n", "= []\n", "= {}\n", "= [{}]\n", "= true\n", "= 2020-01-01\n"),
            *("9" * 5000, "[" * 3000, "(" * 3000, "x = 1\n", "\n[metadata]\n", "\r", "\ufeff"),
        ]
    ),
)


def mutated(text: str) -> st.SearchStrategy[str]:
    """The text with a few passages cut out, replaced, or a line of it moved."""
    return st.lists(
        st.tuples(st.integers(0, len(text)), st.integers(0, 40), _ODD), min_size=1, max_size=3
    ).map(lambda cuts: _apply(text, cuts))


def _apply(text: str, cuts: list[tuple[int, int, str]]) -> str:
    for at, length, odd in cuts:
        text = text[:at] + odd + text[at + length :]
    return text


def check_read(text: str, path: str) -> None:
    """Asserts that a text is a lock, or one problem with a line of the text."""
    line: int | None = None
    try:
        lock = parse_lock(text, path=path)
        assert all(package.name for package in lock.packages)
    except LockfileProblem as problem:
        line = problem.line
    # A file that ends too early is wrong at its end.
    assert line is None or 0 < line <= text.count("\n") + 2
