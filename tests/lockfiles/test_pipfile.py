"""Pipfile.lock of every age: real ones, cut, and small ones for what is tricky."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.pipfile import parse
from envtrack.lockfiles.select import explain_selection
from envtrack.model.lock import Knowledge, Lock, LockedPackage, SourceKind
from envtrack.model.names import normalise
from envtrack.model.selection import Selection
from tests.lockfiles.mutations import check_read, mutated
from tests.lockfiles.texts import LINUX, names, read_fixture

FILES = ("spec1", "spec2", "spec6_2019", "both", "spec6")
INDEX = {"name": "main", "url": "https://registry.example/simple", "verify_ssl": True}
OTHER = {"name": "cu", "url": "https://${USER}:secret@registry.example/cu124", "verify_ssl": True}
HASHES, MARKERS, GROUPS = Knowledge.HASHES, Knowledge.MARKERS, Knowledge.GROUPS


def lock_of(name: str) -> Lock:
    return parse(read_fixture(f"pipfile/{name}.json"), path="Pipfile.lock")


def write(
    *,
    sources: tuple[dict[str, Any], ...] = (INDEX,),
    requires: dict[str, Any] | None = None,
    meta: dict[str, Any] | None = None,
    **categories: Any,  # noqa: ANN401 - whatever JSON holds
) -> str:
    head = {"pipfile-spec": 6, "requires": requires or {}, "sources": list(sources), **(meta or {})}
    return json.dumps({"_meta": head, **categories}, indent=4)


def read(**parts: Any) -> Lock:  # noqa: ANN401 - as `write` takes them
    return parse(write(**parts), path="Pipfile.lock")


def one(lock: Lock, name: str) -> LockedPackage:
    (found,) = (package for package in lock.packages if package.name == name)
    return found


def entry(**row: Any) -> LockedPackage:  # noqa: ANN401 - whatever JSON holds
    return one(read(default={"a": row}), "a")


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_reads_as_the_raw_json_counts(name: str) -> None:
    text = read_fixture(f"pipfile/{name}.json")
    raw, lock = json.loads(text), lock_of(name)
    rows = [
        (key, {"default": "main", "develop": "dev"}[category], row)
        for category in ("default", "develop")
        for key, row in raw[category].items()
    ]
    assert sorted(
        (normalise(key), row["version"], group, len(row.get("hashes", ())))
        for key, group, row in rows
    ) == sorted(
        (p.name, f"=={p.version}", group, len(p.artifacts))
        for p in lock.packages
        for group in p.belongs_to
    )
    lines = text.splitlines()
    written = {normalise(key): f'"{key}": {{' for key, _, _ in rows}
    assert all(lines[p.line - 1].strip() == written[p.name] for p in lock.packages)
    assert lock.unknown_keys == ()
    assert lock.unpinned == ()


@pytest.mark.parametrize(
    ("name", "schema", "knows", "python"),
    [
        ("spec1", 1, {GROUPS}, "==3.6.*"),
        ("spec2", 2, {GROUPS, HASHES}, "==3.6.*"),
        ("spec6_2019", 6, {GROUPS, HASHES, MARKERS}, "==3.6.*"),
        ("spec6", 6, {GROUPS, HASHES, MARKERS}, ""),
    ],
)
def test_each_age_knows_what_it_says(
    name: str, schema: int, knows: set[Knowledge], python: str
) -> None:
    lock = lock_of(name)
    assert lock.knows == knows
    assert (lock.schema, lock.requires_python) == (schema, python)


def test_what_stands_alike_in_two_categories_is_one_package() -> None:
    lock = lock_of("both")
    assert one(lock, "boto3").belongs_to == ("main", "dev")
    version = one(lock, "boto3").version
    chosen = names(explain_selection(lock, Selection(groups=("dev",)), LINUX).packages)
    assert chosen.count(f"boto3 {version}") == 1


def test_what_differs_between_two_categories_is_two_packages() -> None:
    lock = lock_of("spec6")
    found = [(p.belongs_to, p.version) for p in lock.packages if p.name == "exceptiongroup"]
    assert [groups for groups, _ in found] == [("main",), ("dev",)]
    (marker,) = next(p.resolution_markers for p in lock.packages if p.name == "coverage")
    assert marker == "('dev' in dependency_groups) and (python_version >= '3.10')"


def test_the_only_index_is_that_of_every_package() -> None:
    lock = read(
        default={"a": {"version": "==1", "index": "main"}, "b": {"version": "==1"}},
        develop={"a": {"version": "==1"}},
    )
    assert one(lock, "a").belongs_to == ("main", "dev")
    assert {p.source.location for p in lock.packages} == {"https://registry.example/simple"}


def test_of_several_indexes_the_named_one_counts_credentials_and_all() -> None:
    lock = read(
        sources=(INDEX, OTHER),
        default={
            "torch": {"version": "==2.5.1+cu124", "index": "cu"},
            "b": {"version": "==1"},
            "c": {"version": "==1", "index": "nowhere"},
            "d": {"version": "==1", "index": "https://registry.example/d"},
        },
        develop={"torch": {"version": "==2.5.1+cu124"}},
    )
    assert {p.name: p.source.location for p in lock.packages} == {
        "torch": "https://${USER}:secret@registry.example/cu124",
        "b": "",
        "c": "",
        "d": "https://registry.example/d",
    }
    assert one(lock, "torch").belongs_to == ("main", "dev")


def test_of_several_indexes_one_without_a_name_is_nobody_s() -> None:
    sources = ({"url": "https://registry.example/first"}, INDEX)
    lock = read(sources=sources, default={"a": {"version": "==1"}})
    assert one(lock, "a").source.location == ""


def test_other_categories_keep_their_names() -> None:
    lock = read(default={}, docs={"Docs_Tool": {"version": "==1"}})
    assert one(lock, "docs-tool").belongs_to == ("docs",)
    assert one(lock, "docs-tool").line > 0


@pytest.mark.parametrize(
    ("requires", "expected"),
    [
        ({}, ""),
        ({"python_version": "3.11"}, "==3.11.*"),
        ({"python_version": "3"}, "==3.*"),
        ({"python_version": "3.11", "python_full_version": "3.11.4"}, "==3.11.4"),
        ({"python_version": ">=3.6"}, ">=3.6"),
    ],
)
def test_the_python_it_was_made_for(requires: dict[str, str], expected: str) -> None:
    assert read(requires=requires, default={}).requires_python == expected


@pytest.mark.parametrize(
    ("row", "kind", "location", "version"),
    [
        ({"version": "==1.2"}, SourceKind.REGISTRY, INDEX["url"], "1.2"),
        ({"version": "===1.2-odd"}, SourceKind.REGISTRY, INDEX["url"], "1.2-odd"),
        ({"path": ".", "editable": True}, SourceKind.EDITABLE, ".", None),
        ({"path": "./lib"}, SourceKind.DIRECTORY, "./lib", None),
        ({"path": "./a-1.tar.gz"}, SourceKind.PATH, "./a-1.tar.gz", None),
        ({"file": "file:///srv/a"}, SourceKind.DIRECTORY, "file:///srv/a", None),
        (
            {"file": "https://files.example/a-1-py3-none-any.whl", "version": "==1"},
            SourceKind.URL,
            "https://files.example/a-1-py3-none-any.whl",
            "1",
        ),
        ({"hg": "https://hg.example/a", "ref": "b1"}, SourceKind.UNKNOWN, "hg+https://hg.example/a@b1", None),
    ],
)  # fmt: skip
def test_sources(row: dict[str, Any], kind: SourceKind, location: str, version: str | None) -> None:
    package = entry(**row)
    assert (package.source.kind, package.source.location, package.version) == (
        kind,
        location,
        version,
    )


def test_a_git_source_has_its_commit() -> None:
    row = {"git": "https://git.example/a.git", "subdirectory": "sub"}
    locked = entry(**row, ref="d" * 40).source
    assert (locked.commit, locked.reference, locked.subdirectory) == ("d" * 40, "", "sub")
    asked = entry(**row, ref="master").source
    assert (asked.commit, asked.reference) == ("", "rev=master")


def test_an_archive_is_its_own_file() -> None:
    url = "https://files.example/a-1-py3-none-any.whl"
    (artifact,) = entry(file=url, hashes=["sha256:aa"]).artifacts
    assert (artifact.filename, artifact.hash) == ("a-1-py3-none-any.whl", "sha256:aa")
    assert [a.location for a in entry(file=url).artifacts] == [url]


def test_what_is_not_pinned_is_told_and_no_package() -> None:
    lock = read(default={"a": {"version": "*"}, "B_c": {"version": ">=1"}, "d": {"version": "==1"}})
    assert lock.unpinned == ("a", "b-c>=1")
    assert [p.name for p in lock.packages] == ["d"]


def test_variables_as_keys_are_markers() -> None:
    package = entry(
        version="==1", markers="os_name == 'nt' or os_name == 'java'", sys_platform="== 'win32'"
    )
    assert package.resolution_markers == (
        "(os_name == 'nt' or os_name == 'java') and sys_platform == 'win32'",
    )


def test_keys_that_are_not_known_are_named() -> None:
    lock = read(meta={"new": 1}, requires={"rust": "1"}, default={"a": {"version": "==1", "x": 1}})
    assert lock.unknown_keys == ("_meta.new", "_meta.requires.rust", "package.x")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"_meta": {}}', 1, "it is no Pipfile.lock"),
        ('{\n"default": {}}', None, "it is no Pipfile.lock"),
        ('{\n"_meta": {\n"pipfile-spec": 7}}', 3, "`pipfile-spec` 7 is newer"),
        ('{\n"_meta": {\n"pipfile-spec": "6"}}', 3, "`pipfile-spec` is a string"),
        ('{\n"_meta": {"pipfile-spec": 6,\n"sources": 3}}', 3, "`sources` is a number"),
        ('{\n"_meta":\n3}', 2, "`_meta` is a number"),
        ('{"_meta": {"pipfile-spec": 6},\n"default":\n[]}', 2, "`default` is an array"),
        (
            (
                '{"_meta": {"pipfile-spec": 6},\n"default": {"version": {"version": "==1"},\n"a":\n'
                '{"version": 1}}}'
            ),
            3,
            "package `a`: `version` is a number",
        ),
        ('{"_meta": {"pipfile-spec": 6},\n"default": {\n"": {}}}', 3, "it has no name"),
        ('{"_meta": {"pipfile-spec": 6},\n"default": {\n"a": "==1"}}', 3, "`a` is a string"),
    ],
)
def test_a_fault_says_its_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(LockfileProblem) as caught:
        parse(text, path="Pipfile.lock")
    assert words in caught.value.reason
    assert caught.value.line == line


def test_a_real_file_that_is_no_json_says_where() -> None:
    with pytest.raises(LockfileProblem, match="not JSON: expecting ',' delimiter") as caught:
        lock_of("broken")
    line = caught.value.line
    assert line is not None
    assert read_fixture("pipfile/broken.json").splitlines()[line - 1].strip() == '"twine": {'


def test_thousands_of_packages_take_no_time() -> None:
    rows = {f"package-{n}": {"version": "==1"} for n in range(20_000)}
    lock = read(default=rows)
    assert len({package.line for package in lock.packages}) == len(rows)


@settings(max_examples=120, deadline=None)
@given(data=st.data(), name=st.sampled_from(FILES))
def test_any_text_is_a_lock_or_one_problem(data: st.DataObject, name: str) -> None:
    text = read_fixture(f"pipfile/{name}.json")
    check_read(data.draw(mutated(text)), "Pipfile.lock")


_ROWS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 9)
    | st.sampled_from(["", "==1", "*", "a", "x://["]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "a",
                    "version",
                    "hashes",
                    "markers",
                    "index",
                    "git",
                    "ref",
                    "path",
                    "file",
                    "editable",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(meta=_ROWS, default=_ROWS, sources=_ROWS)
def test_any_json_is_a_lock_or_one_problem(meta: object, default: object, sources: object) -> None:
    head = meta if isinstance(meta, dict) else {}
    text = json.dumps(
        {"_meta": {"pipfile-spec": 6, "sources": sources, **head}, "default": default}, indent=1
    )
    check_read(text, "Pipfile.lock")
