from __future__ import annotations

import pytest

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import FORMATS, find_format, parse_lock
from tests.lockfiles.texts import HEAD, read_fixture


@pytest.mark.parametrize("path", ["uv.lock", "api/uv.lock", "api\\uv.lock"])
def test_the_name_of_the_file_chooses_the_format(path: str) -> None:
    assert parse_lock(HEAD, path=path).format == "uv.lock"


@pytest.mark.parametrize("name", ["script.py.lock", "before.lock"])
def test_another_name_is_recognised_by_its_content(name: str) -> None:
    assert (
        parse_lock("# a comment\n\n" + read_fixture("nanochat.lock"), path=name).format == "uv.lock"
    )


def test_a_name_counts_more_than_content() -> None:
    with pytest.raises(LockfileProblem, match="schema number"):
        parse_lock('lock-version = "1.0"\n', path="uv.lock")


@pytest.mark.parametrize(
    ("text", "words"), [("hello\n", "no known lockfile format"), (" \n", "the file is empty")]
)
def test_a_file_of_no_known_format_is_refused_with_the_known_ones(text: str, words: str) -> None:
    with pytest.raises(LockfileProblem, match=words) as caught:
        parse_lock(text, path="notes.txt")
    assert "uv.lock" in caught.value.hint


def test_formats_have_names_of_their_own() -> None:
    assert len({candidate.name for candidate in FORMATS}) == len(FORMATS)


def test_nothing_claims_an_empty_name_and_text() -> None:
    assert find_format("", "") is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Pipfile.lock", '{"_meta": {"pipfile-spec": 6}, "default": {"a\\n\\u001b[2J": 1}}'),
        ("poetry.lock", '[[package]]\nname = "a\\n\\u001b[2J"\n[metadata]\nlock-version = "2.1"\n'),
        ("poetry.lock", '[metadata]\nlock-version = "2.1\\n\\u001b[2J"\n'),
        ("uv.lock", 'version = 1\n[[package]]\nname = "a\\n\\u001b[2J"\n'),
    ],
)
def test_a_problem_is_one_line_whatever_the_file_has_in_its_names(path: str, text: str) -> None:
    with pytest.raises(LockfileProblem) as caught:
        parse_lock(text, path=path)
    assert caught.value.message.isprintable()
    assert r"\n\x1b[2J" in caught.value.message
