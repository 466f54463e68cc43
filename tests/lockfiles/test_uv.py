from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.compare.locks import compare_locks
from envtrack.errors import LockfileProblem
from envtrack.lockfiles.uv import parse
from envtrack.model.lock import Artifact, Dependency, Lock, Source, SourceKind
from tests.lockfiles.texts import FIXTURES, HEAD, by_name, lock_from, lock_of, pinned, read_fixture

ALL = sorted(path.name for path in FIXTURES.glob("*.lock"))


def problem_of(text: str) -> LockfileProblem:
    with pytest.raises(LockfileProblem) as caught:
        parse(text, path="uv.lock")
    assert "\n" not in caught.value.message
    return caught.value


def message_of(text: str) -> str:
    try:
        parse(text, path="uv.lock")
    except LockfileProblem as problem:
        return problem.message
    return ""


@pytest.mark.parametrize("name", ALL)
def test_every_real_lock_is_read_without_a_strange_key(name: str) -> None:
    lock = lock_of(name)
    assert lock.packages
    assert lock.unknown_keys == ()
    names = re.findall(r'^\[\[\w+\]\]\nname = "(.*)"$', read_fixture(name), re.MULTILINE)
    assert [package.name for package in lock.packages] == names


@pytest.mark.parametrize("name", ALL)
def test_a_byte_order_mark_and_crlf_change_nothing(name: str) -> None:
    text = read_fixture(name)
    assert parse("\ufeff" + text.replace("\n", "\r\n"), path="uv.lock") == lock_of(name)


def test_the_preview_of_july_2024_called_packages_distributions() -> None:
    lock = lock_of("distribution.lock")
    anyio = by_name(lock, "anyio")
    assert anyio.dependencies == (Dependency(name="idna"), Dependency(name="sniffio"))
    assert by_name(lock, "benchmark").is_root
    assert lock.revision == 0


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (
            "registry+https://registry.example/simple",
            Source(kind=SourceKind.REGISTRY, location="https://registry.example/simple"),
        ),
        ("editable+.", Source(kind=SourceKind.EDITABLE, location=".")),
        (
            "direct+https://files.example/a-1.tar.gz#subdirectory=lib",
            Source(
                kind=SourceKind.URL,
                location="https://files.example/a-1.tar.gz",
                subdirectory="lib",
            ),
        ),
        (
            "git+https://git.example/lab/a?tag=v1#" + "a" * 40,
            Source(
                kind=SourceKind.GIT,
                location="https://git.example/lab/a",
                commit="a" * 40,
                reference="tag=v1",
            ),
        ),
        ("quantum+somewhere", Source(kind=SourceKind.UNKNOWN, location="quantum+somewhere")),
    ],
)
def test_the_oldest_files_have_the_source_as_a_string(text: str, source: Source) -> None:
    lock = lock_from(f'[[distribution]]\nname = "a"\nversion = "1"\nsource = "{text}"\n')
    assert lock.packages[0].source == source


@pytest.mark.parametrize(
    ("table", "kind", "location"),
    [
        ('{ registry = "wheels" }', SourceKind.REGISTRY, "wheels"),
        ('{ url = "https://files.example/a.whl" }', SourceKind.URL, "https://files.example/a.whl"),
        ('{ path = "a.whl" }', SourceKind.PATH, "a.whl"),
        ('{ directory = "lib" }', SourceKind.DIRECTORY, "lib"),
        ('{ editable = "../x" }', SourceKind.EDITABLE, "../x"),
        ('{ virtual = "." }', SourceKind.VIRTUAL, "."),
        ('{ orbit = "low" }', SourceKind.UNKNOWN, "orbit=low"),
        ('{ git = "https://[bad#0a" }', SourceKind.GIT, "https://[bad#0a"),
    ],
)
def test_every_kind_of_source_is_read(table: str, kind: SourceKind, location: str) -> None:
    source = lock_from(f'[[package]]\nname = "a"\nsource = {table}\n').packages[0].source
    assert (source.kind, source.location) == (kind, location)


def test_a_git_source_has_its_commit_subdirectory_and_reference_apart() -> None:
    source = by_name(lock_of("prime_rl.lock"), "flash-attn-4").source
    assert source == Source(
        kind=SourceKind.GIT,
        location="https://git.example/lab/flash-attention.git",
        commit="96bd151b00add1dc5744115cfc350c0a809c3fa2",
        subdirectory="flash_attn/cute",
        reference="rev=96bd151",
    )


def test_one_name_and_version_can_stand_there_twice() -> None:
    lock = lock_of("prime_rl.lock")
    both = [package for package in lock.packages if package.name == "flash-attn"]
    assert [package.version for package in both] == ["2.8.3+cu128torch2.11"] * 2
    assert both[0].source != both[1].source
    assert both[0].resolution_markers != both[1].resolution_markers


def test_a_project_without_a_version_is_read() -> None:
    assert by_name(lock_of("pydantic_ai.lock"), "pydantic-ai").version is None


@pytest.mark.parametrize("key", ["upload-time", "upload_time"])
def test_both_spellings_of_the_upload_time_are_known(key: str) -> None:
    text = pinned("a", "1").replace("size = 10", f'size = 10, {key} = "2025-05-07T22:47:18Z"')
    lock = lock_from(text)
    assert lock.unknown_keys == ()
    assert lock.packages[0].artifacts[0].uploaded_at == "2025-05-07T22:47:18Z"
    assert compare_locks(lock, lock_from(pinned("a", "1"))) == ()


def test_a_lock_with_no_packages_is_a_lock() -> None:
    text = 'version = 1\nrevision = 3\nrequires-python = ">=3.9"\n'
    assert parse(text, path="uv.lock") == Lock(
        format="uv.lock", path="uv.lock", schema=1, revision=3, requires_python=">=3.9"
    )


@pytest.mark.parametrize("revision", [0, 1, 3, 99])
def test_any_revision_of_schema_1_is_read(revision: int) -> None:
    lock = parse(f"version = 1\nrevision = {revision}\n", path="uv.lock")
    assert lock.revision == revision


def test_what_a_project_asked_for_is_kept_as_pep_508() -> None:
    root = by_name(lock_of("nanochat.lock"), "nanochat")
    assert root.requirements is not None
    assert "numpy>=1.26.0" in root.requirements
    assert "torch==2.9.1 ; extra == 'gpu'" in root.requirements
    assert root.provides_extras == ("cpu", "gpu")
    assert "pytest>=8.0.0" in root.group_requirements["dev"]


def test_a_requirement_by_address_is_kept_as_pep_508() -> None:
    lock = lock_from(
        '[[package]]\nname = "lab"\nsource = { editable = "." }\n[package.metadata]\n'
        "requires-dist = [\n"
        '  { name = "a", extras = ["x", "y"], git = "https://git.example/a?rev=1" },\n'
        '  { name = "b", marker = "extra == \'z\'", editable = "lib/b" },\n'
        '  { name = "c", specifier = "*" },\n]\n'
    )
    assert lock.packages[0].requirements == (
        "a[x,y] @ git+https://git.example/a?rev=1",
        "b @ lib/b ; extra == 'z'",
        "c",
    )


def test_a_lock_without_metadata_does_not_pretend_to_know_what_was_asked() -> None:
    lock = lock_from('[[package]]\nname = "lab"\nsource = { editable = "." }\n')
    assert lock.packages[0].requirements is None


def test_the_head_of_a_workspace_is_read() -> None:
    lock = lock_of("pydantic_ai.lock")
    assert "pydantic-ai-slim" in lock.members
    assert lock.conflicts[0] == ("pydantic-ai:dev", "pydantic-ai-slim[mcp-tasks]")
    assert lock.options["exclude-newer-span"] == "P7D"
    assert lock.build_constraints == ("hatchling<1.32",)
    assert {package.name for package in lock.roots} >= {"pydantic-ai", "clai"}


def test_overrides_and_metadata_given_by_hand_are_read() -> None:
    lock = lock_of("prime_rl.lock")
    assert lock.overrides == ("torch>=2.9.0",)
    assert lock.dependency_metadata[0].startswith("modelexpress==0.3.0: grpcio>=1.66.2, ")
    assert lock.options["exclude-newer-package.vllm"] == "false"
    assert lock.supported_markers == lock.resolution_markers


def test_a_root_that_is_no_project_keeps_its_requests_in_the_manifest() -> None:
    lock = parse(
        'version = 1\n[manifest]\nmembers = ["a"]\nexcludes = ["b"]\n'
        'requirements = [{ name = "c", specifier = ">=1" }]\n'
        '[manifest.dependency-groups]\ndev = [{ name = "d" }]\n',
        path="uv.lock",
    )
    assert (lock.members, lock.excludes, lock.manifest_requirements) == (("a",), ("b",), ("c>=1",))
    assert lock.manifest_groups == {"dev": ("d",)}


def test_the_newer_name_of_dependency_groups_is_known() -> None:
    edges = '[package.dependency-groups]\nTest_Extra = [{ name = "b" }]\n'
    lock = lock_from(f'[[package]]\nname = "a"\nsource = {{ virtual = "." }}\n{edges}')
    assert lock.packages[0].groups == {"test-extra": (Dependency(name="b"),)}
    assert lock.unknown_keys == ()


def test_a_file_that_is_the_source_itself_has_its_name_from_there() -> None:
    lock = lock_from(
        '[[package]]\nname = "a"\nversion = "1"\n'
        'source = { url = "https://files.example/a%2B1.tar.gz?token=x" }\n'
        'sdist = { hash = "sha256:00" }\n'
    )
    assert lock.packages[0].artifacts == (
        Artifact(
            filename="a+1.tar.gz",
            location="https://files.example/a%2B1.tar.gz?token=x",
            hash="sha256:00",
            is_wheel=False,
        ),
    )


def test_wheels_of_a_flat_index_may_have_neither_hash_nor_size() -> None:
    lock = lock_from(
        '[[package]]\nname = "a"\nversion = "1"\nsource = { registry = "wheels" }\n'
        'wheels = [{ path = "a-1-py3-none-any.whl" }]\n'
    )
    assert lock.packages[0].artifacts == (
        Artifact(filename="a-1-py3-none-any.whl", location="a-1-py3-none-any.whl"),
    )


def test_keys_of_a_later_uv_are_named_and_passed_over() -> None:
    lock = parse(
        HEAD + "shiny = 1\n[manifest]\nglow = 2\n"
        '[[package]]\nname = "a"\nsource = { virtual = "." }\nsparkle = 3\n'
        'dependencies = [{ name = "b", twinkle = 4 }]\n'
        'wheels = [{ url = "https://files.example/a.whl", gleam = 5 }]\n'
        "[package.metadata]\nshimmer = 6\n",
        path="uv.lock",
    )
    assert lock.unknown_keys == (
        "manifest.glow",
        "package.dependencies.twinkle",
        "package.metadata.shimmer",
        "package.sparkle",
        "package.wheels.gleam",
        "shiny",
    )


def test_an_odd_file_is_left_out_and_its_package_kept() -> None:
    lock = lock_from(
        '[[package]]\nname = "a"\nversion = "1"\nsource = { registry = "r" }\n'
        'wheels = [{ url = 7 }, { size = 3 }, { url = "https://files.example/b.whl", size = "x" }]\n'
    )
    assert [artifact.filename for artifact in lock.packages[0].artifacts] == ["b.whl"]
    assert len(lock.unknown_keys) == 2


def test_committed_conflict_markers_are_called_by_their_name() -> None:
    text = HEAD + '\n[[package]]\nname = "a"\n<<<<<<< HEAD\nversion = "1"\n=======\n>>>>>>> x'
    problem = problem_of(text)
    assert problem.message == (
        "uv.lock:7: conflict markers: two versions were merged without being resolved"
    )
    assert problem.hint


def test_conflict_markers_with_crlf_are_found_too() -> None:
    assert problem_of("version = 1\r\n<<<<<<<\r\n").line == 2


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_an_empty_file_is_said_to_be_empty(text: str) -> None:
    assert problem_of(text).message == "uv.lock: the file is empty"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("version = 1\nname =\n", 2, "not TOML: invalid value"),
        ('version = 1\n[[package]]\nname = "a', 3, "not TOML"),
        ("version = 2\n", 1, "`version` 2 is newer than the schema"),
        ("revision = 3\n", None, "is missing"),
        ('version = "1"\n', 1, "`version` is a string"),
        ("version = true\n", 1, "`version` is a boolean"),
        ("version = 1\nrevision = 2.5\n", 2, "`revision` is a number"),
        ("version = 1\n[manifest]\nmembers = [1]\n", 3, "`members` is not an array of strings"),
        ("version = 1\n[manifest]\nconstraints = [{}]\n", 3, "a requirement has no name"),
        ("version = 1\n\n[package]\nname = 'a'\n", 3, "`package` is a table, not an array"),
        ("version = 1\n\n[[package]]\nversion = '1'\n", 3, "a package: `source` is missing"),
        ("version = 1\n[[package]]\nsource = {virtual = '.'}\n", 2, "`name` is missing"),
        ("version = 1\n[[package]]\nname = 'a'\nsource = 3\n", 2, "package `a`: `source`"),
        ("version = 1\n[[package]]\nname = 'a'\nsource = {}\n", 2, "`source` is empty"),
        (
            (
                "version = 1\n[[package]]\nname = 'a'\nsource = {virtual = '.'}\n\n"
                "[[package]]\nname = 'b'\nsource = {virtual = '.'}\nversion = 2026-01-01\n"
            ),
            6,
            "package `b`: `version` is a date or time, not a string",
        ),
        (
            "version = 1\n[[package]]\nname = 'a'\nsource = {virtual = '.'}\ndependencies = ['b']\n",
            2,
            "package `a`: `dependencies` holds a string, not a table",
        ),
        (
            "version = 1\n[[package]]\nname = 'a'\nsource = {virtual = '.'}\ndependencies = [{}]\n",
            2,
            "a dependency has no `name`",
        ),
    ],
)
def test_a_fault_says_its_line_and_what_is_wrong(text: str, line: int | None, words: str) -> None:
    problem = problem_of(text)
    assert problem.line == line
    assert words in problem.message


def test_a_newer_schema_says_what_to_do() -> None:
    assert problem_of("version = 7\n").hint == "upgrade envtrack"


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_lock_or_a_problem_of_one_line(text: str) -> None:
    assert "\n" not in message_of(text)


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=2000), st.sampled_from(ALL))
def test_a_lock_that_was_cut_off_is_a_lock_or_a_problem(end: int, name: str) -> None:
    assert "\n" not in message_of(read_fixture(name)[:end])
