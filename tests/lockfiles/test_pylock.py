"""pylock.toml (PEP 751): real ones, cut, and small ones for what is tricky."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.markers import InvalidMarker, Marker

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.pylock import parse
from envtrack.lockfiles.select import explain_selection
from envtrack.model.lock import Artifact, Dependency, Knowledge, Lock, Source, SourceKind
from envtrack.model.selection import Selection
from tests.lockfiles.mutations import check_read, mutated
from tests.lockfiles.texts import LINUX, MAC, by_name, names, read_fixture

FILES = ("example", "extras", "groups", "pipenv", "pip")
GRAPH, HASHES, GROUPS, MARKERS = (
    Knowledge.GRAPH,
    Knowledge.HASHES,
    Knowledge.GROUPS,
    Knowledge.MARKERS,
)
WINDOWS = LINUX | {
    "os_name": "nt",
    "platform_machine": "AMD64",
    "platform_system": "Windows",
    "sys_platform": "win32",
}
PYTHON_310 = LINUX | {"python_full_version": "3.10.4", "python_version": "3.10"}
WHEEL = 'wheels = [{url = "https://files.example/a-1-py3-none-any.whl", hashes = {sha256 = "aa"}}]'


def lock_of(name: str) -> Lock:
    return parse(read_fixture(f"pylock/{name}.toml"), path="pylock.toml")


def small(*tables: str, head: str = "", version: str = "1.0") -> Lock:
    """A lock of these `[[packages]]` bodies."""
    packages = "\n".join(f"[[packages]]\n{table}\n" for table in tables) or "packages = []"
    top = f'lock-version = "{version}"\ncreated-by = "hand"\n{head}\n'
    return parse(f"{top}{packages}", path="pylock.toml")


def chosen(lock: Lock, environment: dict[str, str] = LINUX, **asked: Any) -> list[str]:  # noqa: ANN401 - as Selection takes them
    selection = Selection(**{"default_groups": (), **asked})
    return [p.name for p in explain_selection(lock, selection, environment).packages]


def notes(lock: Lock, environment: dict[str, str] = LINUX, **asked: Any) -> tuple[str, ...]:  # noqa: ANN401 - as Selection takes them
    selection = Selection(**{"default_groups": (), **asked})
    return explain_selection(lock, selection, environment).notes


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_reads_as_the_raw_toml_counts(name: str) -> None:
    text = read_fixture(f"pylock/{name}.toml")
    raw, lock = tomllib.loads(text), lock_of(name)
    for table, package in zip(raw["packages"], lock.packages, strict=True):
        rows = [table[key] for key in ("sdist", "archive") if key in table]
        rows += table.get("wheels", ())
        assert package.name == table["name"]
        assert package.version == table.get("version", "2.5.0")
        assert [a.hash for a in package.artifacts] == [
            f"sha256:{r['hashes']['sha256']}" for r in rows
        ]
        assert [a.size for a in package.artifacts] == [row.get("size") for row in rows]
        assert package.requires_python == table.get("requires-python", "")
        assert package.source.location == table.get(
            "index", table.get("archive", {}).get("url", "")
        )
        assert [e.name for e in package.dependencies] == [
            row["name"] for row in table.get("dependencies", ())
        ]
        assert text.splitlines()[package.line - 1] == "[[packages]]"
    assert lock.requires_python == raw.get("requires-python", "")
    assert lock.supported_markers == tuple(raw.get("environments", ()))
    assert lock.unknown_keys == ()


@pytest.mark.parametrize("environment", [LINUX, MAC, WINDOWS, PYTHON_310])
@pytest.mark.parametrize("groups", [(), ("test",), ("test", "lint"), ("dev",)])
@pytest.mark.parametrize("extras", [(), ("security",), ("tests", "security")])
@pytest.mark.parametrize("name", ["extras", "groups", "pipenv"])
def test_markers_choose_what_packaging_chooses(
    name: str, extras: tuple[str, ...], groups: tuple[str, ...], environment: dict[str, str]
) -> None:
    raw = tomllib.loads(read_fixture(f"pylock/{name}.toml"))
    asked = {"extras": {*extras}, "dependency_groups": {*groups, *raw["default-groups"]}}
    try:
        expected = [
            table["name"]
            for table in raw["packages"]
            if "marker" not in table
            or Marker(table["marker"]).evaluate({**environment, **asked}, context="lock_file")
        ]
    except (TypeError, InvalidMarker):
        pytest.skip("packaging before 25 knows no extras and groups of lockfiles")
    assert chosen(lock_of(name), environment, extras=extras, groups=groups) == expected


@pytest.mark.parametrize(
    ("name", "knows"),
    [
        ("example", {MARKERS, HASHES, GRAPH}),
        ("extras", {MARKERS, HASHES, GROUPS}),
        ("groups", {MARKERS, HASHES, GROUPS}),
        ("pipenv", {MARKERS, HASHES, GROUPS}),
        ("pip", {MARKERS, HASHES}),
    ],
)
def test_each_writer_s_file_knows_what_it_says(name: str, knows: set[Knowledge]) -> None:
    assert lock_of(name).knows == knows


# Groups and extras


def test_default_groups_are_installed_without_being_asked_for() -> None:
    lock = lock_of("groups")
    assert lock.default_groups == ("default",)
    assert chosen(lock) == ["duckdb", "tqdm"]
    assert chosen(lock, groups=("test",)) == ["duckdb", "coverage", "pytest", "tqdm", "packaging"]
    assert chosen(lock, groups=("test",), without_groups=("default",)) == [
        "coverage",
        "pytest",
        "packaging",
    ]
    assert chosen(lock, PYTHON_310) == ["duckdb", "tqdm", "exceptiongroup"]


def test_extras_of_markers_are_those_asked_for() -> None:
    lock = lock_of("extras")
    assert chosen(lock) == ["idna"]
    assert chosen(lock, extras=("security",)) == [
        *("certifi", "charset-normalizer", "idna", "requests", "urllib3")
    ]
    assert chosen(lock, WINDOWS, extras=("tests",)) == [
        *("chardet", "colorama", "idna", "py", "pytest", "setuptools")
    ]
    assert chosen(lock, WINDOWS, all_extras=True) == [p.name for p in lock.packages]


@pytest.mark.parametrize(
    ("marker", "asked"),
    [
        ("'Dev_Tools' in dependency_groups", {"groups": ("dev-tools",)}),
        ("'dev-tools' in dependency_groups", {"groups": ("Dev.Tools",)}),
        ("'CU.12' in extras", {"extras": ("cu-12",)}),
    ],
)
def test_names_of_groups_and_extras_are_compared_by_their_plain_spelling(
    marker: str, asked: dict[str, tuple[str, ...]]
) -> None:
    lock = small(f'name = "a"\nmarker = "{marker}"\n{WHEEL}')
    assert chosen(lock) == []
    assert chosen(lock, LINUX, **asked) == ["a"]


def test_not_in_is_the_other_way_round() -> None:
    lock = small(f'name = "a"\nmarker = "\'gpu\' not in extras"\n{WHEEL}', head='extras = ["gpu"]')
    assert chosen(lock) == ["a"]
    assert chosen(lock, extras=("gpu",)) == []


def test_groups_and_extras_that_the_file_does_not_have_are_said() -> None:
    lock = lock_of("groups")
    assert (lock.group_names, lock.extra_names) == (("default", "lint", "test", "types"), ())
    assert notes(lock, groups=("lint", "docs"), extras=("gpu",)) == (
        "no group docs in the lock",
        "no extra gpu in the lock",
    )


# Pythons and environments


def test_entries_of_one_name_with_disjoint_markers_stand_side_by_side() -> None:
    lock = small(
        f'name = "a"\nversion = "1"\nmarker = "python_version < \'3.11\'"\n{WHEEL}',
        f'name = "a"\nversion = "2"\nmarker = "python_version >= \'3.11\'"\n{WHEEL}',
    )
    assert names(lock.packages) == ["a 1", "a 2"]
    for environment, version in ((LINUX, "2"), (PYTHON_310, "1")):
        (package,) = explain_selection(lock, Selection(), environment).packages
        assert package.version == version


def test_a_package_that_is_for_other_pythons_is_noted_where_it_is_selected() -> None:
    lock = small(
        f'name = "a"\nversion = "1"\nrequires-python = ">=3.13"\n{WHEEL}',
        f'name = "b"\nrequires-python = ">=3.13"\nmarker = "os_name == \'nt\'"\n{WHEEL}',
        f'name = "c"\nrequires-python = "new"\n{WHEEL}',
    )
    # PEP 751 has an installer stop there, and does not have it leave the package out.
    assert chosen(lock) == ["a", "c"]
    assert notes(lock) == (
        "a 1 is for Python >=3.13, not 3.12.4",
        "requires-python of c can't be read: new",
    )


def test_a_machine_outside_the_environments_is_noted() -> None:
    lock = lock_of("example")
    assert notes(lock) == notes(lock, WINDOWS) == ()
    assert notes(lock, MAC) == (
        (
            'this machine is none of those that the lock is for: sys_platform == "win32"; '
            'sys_platform == "linux"'
        ),
    )
    # Of a machine that is not known nothing is claimed.
    assert notes(lock, {}) == ()


# Where packages come from


@pytest.mark.parametrize(
    ("body", "source"),
    [
        (WHEEL, Source(kind=SourceKind.REGISTRY, location="")),
        (
            f'index = "https://registry.example/simple"\n{WHEEL}',
            Source(kind=SourceKind.REGISTRY, location="https://registry.example/simple"),
        ),
        (
            (
                'vcs = {type = "git", url = "https://git.example/a", requested-revision = "v1", '
                'commit-id = "abc", subdirectory = "py"}'
            ),
            Source(
                kind=SourceKind.GIT,
                location="https://git.example/a",
                commit="abc",
                reference="rev=v1",
                subdirectory="py",
            ),
        ),
        (
            'vcs = {type = "git", path = "../a", commit-id = "abc"}',
            Source(kind=SourceKind.GIT, location="../a", commit="abc"),
        ),
        (
            'vcs = {type = "hg", url = "https://hg.example/a", commit-id = "abc"}',
            Source(kind=SourceKind.UNKNOWN, location="https://hg.example/a", commit="abc"),
        ),
        (
            'directory = {path = "../a", subdirectory = "py"}',
            Source(kind=SourceKind.DIRECTORY, location="../a", subdirectory="py"),
        ),
        (
            'directory = {path = ".", editable = true}',
            Source(kind=SourceKind.EDITABLE, location="."),
        ),
        (
            'archive = {url = "https://files.example/a-1.zip", hashes = {sha256 = "aa"}}',
            Source(kind=SourceKind.URL, location="https://files.example/a-1.zip"),
        ),
        (
            'archive = {path = "wheels/a-1.tar.gz", hashes = {sha256 = "aa"}}',
            Source(kind=SourceKind.PATH, location="wheels/a-1.tar.gz"),
        ),
        (
            'archive = {url = "file:///srv/a-1.tar.gz", hashes = {sha256 = "aa"}}',
            Source(kind=SourceKind.PATH, location="file:///srv/a-1.tar.gz"),
        ),
    ],
)
def test_sources(body: str, source: Source) -> None:
    assert by_name(small(f'name = "a"\n{body}'), "a").source == source


def test_files_are_named_by_their_name_their_url_or_their_path() -> None:
    lock = small(
        'name = "a"\nversion = "1"\n'
        'sdist = {path = "dist/a-1.tar.gz", size = 7, hashes = {sha512 = "cc", sha256 = "aa"}}\n'
        'wheels = [{name = "a-1-py3-none-any.whl", url = "https://files.example/get?id=1", '
        'hashes = {md5 = "bb"}}, {url = "https://files.example/a-1%2Bcu124-cp312-linux.whl"}]'
    )
    assert by_name(lock, "a").artifacts == (
        Artifact(
            filename="a-1.tar.gz",
            location="dist/a-1.tar.gz",
            hash="sha256:aa",
            size=7,
            is_wheel=False,
        ),
        Artifact(
            filename="a-1-py3-none-any.whl",
            location="https://files.example/get?id=1",
            hash="md5:bb",
        ),
        Artifact(
            filename="a-1+cu124-cp312-linux.whl",
            location="https://files.example/a-1%2Bcu124-cp312-linux.whl",
        ),
    )


def test_what_has_no_version_has_that_of_its_archive_or_none() -> None:
    urllib3 = by_name(lock_of("pip"), "urllib3")
    assert (urllib3.version, urllib3.source.kind) == ("2.5.0", SourceKind.PATH)
    assert by_name(small('name = "a"\ndirectory = {path = "."}'), "a").version is None


def test_a_name_is_normalised_in_packages_and_edges() -> None:
    lock = small(
        f'name = "Lab_Tools"\n{WHEEL}\ndependencies = [{{name = "Ruamel.Yaml", version = "1"}}]'
    )
    (package,) = lock.packages
    assert package.name == "lab-tools"
    assert package.dependencies == (Dependency(name="ruamel-yaml", version="1"),)


# Versions and faults


def test_a_newer_minor_version_is_read_and_noted() -> None:
    lock = small(f'name = "a"\nlicence = "MIT"\n{WHEEL}', head='mood = "new"', version="1.7")
    assert (lock.schema, lock.revision) == (1, 7)
    assert lock.notes == ("lock-version 1.7 is newer than 1.0: what it adds is passed over",)
    assert lock.unknown_keys == ("mood", "package.licence")
    assert small(version="1.0").notes == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('lock-version = "1.0"', 'lock-version = "2.0"', 1, "`lock-version` 2.0 is newer than the version that is read (1)"),
        ('lock-version = "1.0"', 'lock-version = "0.9"', 1, "`lock-version` 0.9 is not of the version that is read (1)"),
        ('lock-version = "1.0"', "lock-version = []", 1, "`lock-version` is an array, not the version"),
        ('lock-version = "1.0"\n', "", None, "`lock-version` is missing"),
        ('created-by = "hand"\n', "", None, "`created-by` is missing"),
        ('created-by = "hand"', "created-by = 1", 2, "`created-by` is a number, not a string"),
        ("extras = []", 'extras = "gpu"\ndefault-groups = 1', 4, "`default-groups` is not an array of strings"),
        ("extras = []", "environments = [1]", 3, "`environments` is not an array of strings"),
        ('name = "a"\n', "", 5, "a package: `name` is missing"),
        ("marker = ''", "marker = 1", 5, "package `a`: `marker` is a number, not a string"),
        (WHEEL, "", 5, "package `a`: it says nowhere where it comes from"),
        (WHEEL, WHEEL + "\narchive = {}", 5, "package `a`: `archive` excludes `wheels`"),
        (WHEEL, 'sdist = {url = "u"}\ndirectory = {path = "."}', 5, "package `a`: `directory` excludes `sdist`"),
        (WHEEL, "vcs = {}\ndirectory = {}", 5, "package `a`: `vcs` excludes `directory`"),
        (WHEEL, "archive = {}\ndirectory = {}", 5, "package `a`: `directory` excludes `archive`"),
        (WHEEL, "directory = {}", 5, "package `a`: `directory` has neither `url` nor `path`"),
        (WHEEL, 'vcs = {url = "u", commit-id = "c"}', 5, "package `a`: `type` is missing"),
        (WHEEL, 'vcs = {type = "git", url = "u"}', 5, "package `a`: `commit-id` is missing"),
        (WHEEL, "wheels = [{hashes = {}}]", 5, "package `a`: a file has neither `url` nor `path`"),
    ],
)  # fmt: skip
def test_a_fault_says_its_line(old: str, new: str, line: int | None, words: str) -> None:
    text = (
        'lock-version = "1.0"\ncreated-by = "hand"\nextras = []\n\n'
        f"[[packages]]\nname = \"a\"\nmarker = ''\n{WHEEL}\n"
    )
    assert parse(text, path="pylock.toml").packages
    assert old in text
    with pytest.raises(LockfileProblem) as caught:
        parse(text.replace(old, new), path="pylock.toml")
    assert words in str(caught.value)
    assert caught.value.line == line


def test_an_export_of_nothing_is_a_lock() -> None:
    assert small().packages == ()


@settings(max_examples=60, deadline=None)
@given(data=st.data(), name=st.sampled_from(FILES))
def test_any_text_is_a_lock_or_one_problem(data: st.DataObject, name: str) -> None:
    check_read(data.draw(mutated(read_fixture(f"pylock/{name}.toml"))), "pylock.toml")
