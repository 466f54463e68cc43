"""JSON texts, good and bad."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.json_text import find_key_lines, load_json


def test_a_byte_order_mark_and_windows_ends_are_fine() -> None:
    assert load_json('\ufeff{\r\n"a": [1, "b"]\r\n}', path="x") == {"a": [1, "b"]}


def test_of_a_name_that_stands_twice_the_last_counts() -> None:
    text = '{"a": 1,\n"a": 2}'
    assert load_json(text, path="x") == {"a": 2}
    assert find_key_lines(text) == {("a",): 2}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "the file is empty"),
        ('{\n"a": 1\n"b": 2}', 3, "not JSON: expecting ',' delimiter"),
        ('{\n"a": 1,\n', 3, "not JSON: expecting property name"),
        ('{\n"a": "x\ny"}', 2, "not JSON: invalid control character"),
        ("[1]", 1, "not a JSON object"),
        ('{"a":\n1}\n{', 3, "not JSON: extra data"),
        ('{"NaN": "NaN",\n"a":\nNaN}', 3, "NaN is no number"),
        ('{"a": [1,\n-Infinity]}', 2, "-Infinity is no number"),
        ('{"a": "' + "1" * 5000 + '",\n"b":\n' + "9" * 5000 + "}", 3, "thousands of digits"),
        ('{"a":\n' + "[" * 100_000, 2, "nested too deeply"),
        ('{"a":\n' + '{"a":\n' * 100_000, 101, "nested too deeply"),
        ('{"a": "\\ud83d\\ude00",\n"b": "\\ud83d"}', 2, "half of a character"),
        ('{"a": 1,\n"\\udc00": 2}', 2, "half of a character"),
        ('{\n<<<<<<< HEAD\n"a": 1\n=======\n', 2, "conflict markers"),
    ],
)
def test_a_fault_says_its_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(LockfileProblem) as caught:
        load_json(text, path="Pipfile.lock")
    assert words in caught.value.reason
    assert caught.value.line == line


def test_a_whole_character_in_two_escapes_is_fine() -> None:
    assert load_json('{"a": "\\ud83d\\ude00"}', path="x") == {"a": "\U0001f600"}


def test_between_deep_and_too_deep_there_is_nothing_else() -> None:
    refused = []
    limit = sys.getrecursionlimit()
    for depth in range(limit - 200, limit + 20):
        text = '{"a":\n' * depth + '"\\u0041"' + "}" * depth
        try:
            assert list(load_json(text, path="x")) == ["a"]
        except LockfileProblem as problem:
            refused.append((depth, problem.reason, problem.line))
    assert refused
    depths = [depth for depth, *_ in refused]
    assert depths == list(range(depths[0], limit + 20))
    assert {row[1:] for row in refused} == {("nested too deeply", 101)}


def test_an_unclosed_text_full_of_quotes_takes_no_time() -> None:
    # Looked for in vain from each of its quotes it would take minutes.
    with pytest.raises(LockfileProblem, match="no number"):
        load_json('{"a": NaN, "b": "' + '\\"' * 300_000, path="x")


def test_keys_have_lines_down_to_a_depth() -> None:
    text = '{\n"a": {"b": {"c": 1},\n"d": [{"e": 1}]},\n"\\u0066": ":"}'
    assert find_key_lines(text) == {("a",): 2, ("a", "b"): 2, ("a", "d"): 3, ("f",): 4}
    assert ("a", "b", "c") in find_key_lines(text, depth=3)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=6), _VALUES, max_size=5))
def test_every_key_is_found_on_its_line(document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=1)
    assert load_json(text, path="x") == document
    lines = text.split("\n")
    found = find_key_lines(text)
    expected = [(key,) for key in document] + [
        (key, inner)
        for key in document
        if isinstance(document[key], dict)
        for inner in document[key]
    ]
    assert sorted(found) == sorted(expected)
    for keys, line in found.items():
        assert lines[line - 1].startswith(" " * len(keys) + json.dumps(keys[-1]) + ":")


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:\\u0dN1e- \nInfatyr', max_size=60))
def test_any_text_is_an_object_or_one_problem(text: str) -> None:
    line: int | None = None
    try:
        document = load_json(text, path="x")
        assert {keys[0] for keys in find_key_lines(text)} == set(document)
    except LockfileProblem as problem:
        line = problem.line
    assert line is None or 1 <= line <= text.count("\n") + 1
