"""A uv.lock that is cut into packages reads as the whole document does, faults included."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.text import clean_text
from envtrack.lockfiles.uv import _parse_whole, parse
from envtrack.lockfiles.uv_chunks import ChunkReader
from envtrack.model.lock import Lock
from tests.lockfiles.texts import FIXTURES, HEAD, read_fixture

NAMES = sorted(path.name for path in FIXTURES.glob("*.lock"))
PACKAGE = """
[[package]]
name = "numpy"
version = "2.1.3"
source = { registry = "https://registry.example/simple" }
resolution-markers = [
    "sys_platform == 'linux'",
]
dependencies = [
    { name = "a" },
    { name = "b", marker = "os_name == 'nt'" },
    { name = "c", extra = ["x"] },
]
sdist = { url = "https://files.example/numpy-2.1.3.tar.gz", hash = "sha256:aa", size = 1, upload-time = "2024-11-02T17:40:00Z" }
wheels = [
    { url = "https://files.example/numpy-2.1.3-cp311.whl", hash = "sha256:bb", size = 2 },
    { url = "https://files.example/numpy-2.1.3%2Bx-cp312.whl" },
]

[package.optional-dependencies]
fast = [
    { name = "d" },
]
"""
OTHER = '\n[[package]]\nname = "other"\nversion = "1"\nsource = { virtual = "." }\n'
TEXT = HEAD + PACKAGE + OTHER


def told(text: str, *, whole: bool, reader: ChunkReader | None = None) -> Lock | str:
    try:
        if whole:
            lock = _parse_whole(clean_text(text, path="uv.lock"), "uv.lock")
        else:
            lock = parse(text, path="uv.lock", reader=reader)
    except LockfileProblem as problem:
        return f"{problem.message} {problem.hint}"
    return lock


@pytest.mark.parametrize("name", NAMES)
def test_real_files_read_alike(name: str) -> None:
    text = read_fixture(name)
    assert told(text, whole=False) == told(text, whole=True)


def test_what_uv_writes_is_cut() -> None:
    assert ChunkReader().read(TEXT) is not None
    assert told(TEXT, whole=False) == told(TEXT, whole=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "numpy"', 'name = "Num_Py"'),
        ('name = "numpy"', 'name = "numpy"\nname = "numpy"'),
        ('name = "numpy"\n', ""),
        ('name = "numpy"', "name = 7"),
        ('version = "2.1.3"\n', ""),
        ('version = "2.1.3"', 'version = """2.1.3"""'),
        ('version = "2.1.3"', "version = '2.1.3'"),
        ('version = "2.1.3"', 'version = "2\\u002e1"'),
        ('version = "2.1.3"', 'version = ""'),
        ('version = "2.1.3"', 'version = "a\x01b"'),
        ("source = { registry", "source = { cellar"),
        ("source = { registry", "source = { url"),
        ("sdist = {", "odd-key = {"),
        ("sdist = {", "[package.metadata]\nsdist = {"),
        ("size = 1", "size = -1"),
        ("size = 1", "size = 1_000"),
        ("size = 1", "size = 99999999999999999999"),
        ("size = 1", "odd = 1"),
        (", size = 2", ", size = 2, hash = 3"),
        ('{ name = "a" }', '{ name = "a", name = "b" }'),
        ('{ name = "a" }', '{ name = "A_a" }'),
        ('{ name = "a" }', '{ named = "a" }'),
        ('{ name = "a" }', '"a"'),
        ('{ name = "a" }', '{ name = "a", marker = "x", odd = 1 }'),
        ('{ name = "a" }', '{ name = "a" }, { name = "z" }'),
        ('{ name = "a" },', '{ name = "a" }'),
        ("\n[package.optional-dependencies]", "\n[package.dependencies]"),
        ("\n[package.optional-dependencies]", "\n[package.odd]"),
        ("\n[package.optional-dependencies]", "\n[options]"),
        ("\n[package.optional-dependencies]", "\n[[odd]]"),
        ("\n[package.optional-dependencies]", "\n  [package.optional-dependencies]"),
        ('\n[[package]]\nname = "other"', '\n[[distribution]]\nname = "other"'),
        ('\n[[package]]\nname = "other"', '\n[[ package ]]\nname = "other"'),
        ('\n[[package]]\nname = "other"', '\n[[package]] # odd\nname = "other"'),
        ('\n[[package]]\nname = "other"', '\n\n\n[[package]]\n\nname = "other"'),
        ("version = 1\n", "version = 2\n"),
        ("version = 1\n", "version = 1\npackage = []\n"),
        ("version = 1\n", "version = 1\n<<<<<<< HEAD\n"),
        ("revision = 3\n", 'revision = "3"\n'),
        ("revision = 3\n", 'x = """\n[[package]]\n"""\n'),
        ("\n", "\r\n"),
        ("wheels = [", "wheels = [\n[[package]]\n"),
    ],
)  # fmt: skip
def test_what_is_odd_reads_as_the_whole_document_does(old: str, new: str) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new)
    assert told(text, whole=False) == told(text, whole=True)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_mutation_reads_as_the_whole_document_does(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(at, min(len(TEXT), at + 30)))
    odd = data.draw(
        st.one_of(
            st.text(max_size=8),
            st.sampled_from(
                ["\n", "[[package]]\n", "\n[[package]]\n", '"', '"""', "[", "]", "{ ", "#"]
            ),
        )
    )
    text = TEXT[:at] + odd + TEXT[end:]
    assert told(text, whole=False) == told(text, whole=True)


def test_a_reader_knows_what_it_has_read() -> None:
    reader = ChunkReader()
    first = parse(TEXT, path="uv.lock", reader=reader)
    later = parse(HEAD + OTHER + PACKAGE, path="uv.lock", reader=reader)
    assert later.packages[1] == first.packages[0]
    assert later.packages[1] is first.packages[0]


def test_files_are_a_sequence_like_any_other() -> None:
    files = parse(TEXT, path="uv.lock").packages[0].artifacts
    assert len(files) == 3
    assert files[0].filename == "numpy-2.1.3.tar.gz"
    assert (files[0].size, files[0].is_wheel) == (1, False)
    assert [one.filename for one in files[1:]] == [
        "numpy-2.1.3-cp311.whl",
        "numpy-2.1.3+x-cp312.whl",
    ]
    assert files == tuple(files)
    assert files != tuple(files)[1:]
    assert hash(files) == hash(tuple(files))
