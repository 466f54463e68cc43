"""What is read by way of JSON is what the TOML reader reads, or nothing."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.lockfiles.plain_toml import load_plain

TEXT = """\
version = 1
requires-python = ">=3.11"
exclude-newer = "0001-01-01T00:00:00Z" # This has no effect: see the span.
markers = [
    "sys_platform == 'linux'",
    "a = b",
]

[manifest]
members = ["a", "b"]
empty = []

[manifest.groups]
dev = [{ name = "a", extra = ["x", "y"], on = true, nested = { b = 0 } }]
rows = [
    { name = "a", size = 12 },
    { name = "b" },
]

[[manifest.metadata]]
name = "a"

[[manifest.metadata]]
name = "b"

[manifest.metadata.more]
x = 1
"""


def read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None


def test_what_uv_writes_is_plain() -> None:
    assert load_plain(TEXT) == tomllib.loads(TEXT)


@pytest.mark.parametrize(
    "text",
    [
        'a = "x\\ny"',
        "a = 'x'",
        'a = """x"""',
        "a = 01",
        "a = 1.5",
        "a = 1e5",
        "a = +1",
        "a = -1",
        "a = 1_0",
        "a = inf",
        "a = null",
        "a = 2024-01-01",
        "a.b = 1",
        '"a" = 1',
        "a=1",
        "a = 1 # why",
        "a = 1# why",
        "a = 1 # it's",
        'a = 1 # "why',
        'a = "x # y"',
        'a = "x # y" # z',
        'a = "x" # y "z"',
        "a = [1, # 2\n]",
        "a = [ # 1\n2,\n]",
        "a = 1 # \x01",
        "a = # 1",
        "a = 1 " + "# " * 100_000 + "'",
        "a = 1 " + "# " * 100_000,
        "a = { b = 1 }\n[a.c]\nd = 1",
        "[a]\nb = { c = 1 }\n[a.b.d]\ne = 1",
        "[a]\nb = { c = { d = 1 } }\n[[a.b.c.e]]\nf = 1",
        "[a.b]\nc = 1\n[a.b.d]\ne = 1\n[a]\nf = 1",
        "a = [1,\n2]",
        "a = { b = 1,\nc = 2 }",
        "a = [\n    { b = 1,\n    c = 2 },\n]",
        "a = { b = 1, b = 2 }",
        "a = { b = 1, }",
        "a = [1,, 2]",
        "a = [1 2]",
        "a = 1\na = 2",
        "[a]\n[a]",
        "[a.b]\n[a]",
        "[[a]]",
        "[[a]]\n[[a]]\nb = 1\n[a.c]\nd = 1\n[[a.e]]\n[[a.e]]",
        "[[a]]\n[a]",
        "[a]\n[[a]]",
        "a = []\n[[a]]",
        "a = [{ b = 1 }]\n[a.c]",
        "a = [{ b = 1 }]\n[[a]]",
        "[[a]",
        "[a]]",
        "a = 1\n[a]",
        "a = 1\n[a.b]",
        "[a]b = 1",
        "a = [\n1",
        "a = ]",
        "a = ",
        "a",
        " a = 1",
        "a = 1\r",
        "a = truefalse",
        "a = 1true",
        'a = "b" "c"',
        'a = "b"c = 1',
        "a = 99999999999999999999",
        "a = " + "[" * 5000,
    ],
)
def test_what_is_not_plain_is_left_alone_or_read_alike(text: str) -> None:
    assert load_plain(text) in (None, read(text))


@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_any_mutation_is_left_alone_or_read_alike(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(at, min(len(TEXT), at + 12)))
    odd = data.draw(st.text(alphabet="[]{}\"=,.\n #abc01-_'\\", max_size=5))
    text = TEXT[:at] + odd + TEXT[end:]
    found = load_plain(text)
    assert found is None or found == read(text)
