"""poetry.lock of every age: real ones, cut, and small ones for what is tricky."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.poetry import parse
from envtrack.lockfiles.select import explain_selection
from envtrack.model.lock import Dependency, Knowledge, Lock, LockedPackage, SourceKind
from envtrack.model.names import normalise
from envtrack.model.selection import Selection
from tests.lockfiles.mutations import check_read, mutated
from tests.lockfiles.texts import LINUX, MAC, names, read_fixture

FILES = ("oldest", "lv1_0", "lv1_1", "lv2_0", "lv2_1", "several", "enterprise")
HASHES, MARKERS, GROUPS, GRAPH = (
    Knowledge.HASHES,
    Knowledge.MARKERS,
    Knowledge.GROUPS,
    Knowledge.GRAPH,
)
WINDOWS = LINUX | {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows"}
PYTHON_310 = LINUX | {"python_full_version": "3.10.4", "python_version": "3.10"}


def lock_of(name: str) -> Lock:
    return parse(read_fixture(f"poetry/{name}.lock"), path="poetry.lock")


def small(*tables: str, version: str = "2.1", end: str = "") -> Lock:
    """A lock of these `[[package]]` bodies."""
    packages = "".join(f"[[package]]\n{table}\n" for table in tables)
    metadata = f'[metadata]\nlock-version = "{version}"\npython-versions = "*"\n'
    return parse(f"{packages}\n{end}\n{metadata}", path="poetry.lock")


def one(lock: Lock, name: str, version: str | None = None) -> LockedPackage:
    (found,) = (p for p in lock.packages if p.name == name and version in {None, p.version})
    return found


def chosen(lock: Lock, environment: dict[str, str], *extras: str, **more: Any) -> list[str]:  # noqa: ANN401 - as Selection takes them
    selection = Selection(**{"extras": extras, "default_groups": (), **more})
    return names(explain_selection(lock, selection, environment).packages)


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_reads_as_the_raw_toml_counts(name: str) -> None:
    text = read_fixture(f"poetry/{name}.lock")
    raw, lock = tomllib.loads(text), lock_of(name)
    tables, metadata = raw["package"], raw["metadata"]
    apart = metadata.get("files") or metadata.get("hashes") or {}
    rows = [row for table in tables for row in table.get("files", ())]
    rows += [row for some in apart.values() for row in some]
    edges = [
        (position, normalise(key))
        for position, table in enumerate(tables)
        for key, value in table.get("dependencies", {}).items()
        for _ in (value if isinstance(value, list) else [value])
    ]
    read = [
        (position, name)
        for position, package in enumerate(lock.packages)
        for name in [
            *(edge.name for edge in package.dependencies),
            *{edge.name for some in package.optional_dependencies.values() for edge in some},
        ]
    ]
    assert [(p.name, p.version) for p in lock.packages] == [
        (normalise(table["name"]), table["version"]) for table in tables
    ]
    assert sum(bool(a.hash) for p in lock.packages for a in p.artifacts) == len(rows)
    assert sorted(read) == sorted(edges)
    assert all(text.splitlines()[p.line - 1] == "[[package]]" for p in lock.packages)
    assert lock.unknown_keys == ()


@pytest.mark.parametrize(
    ("name", "version", "knows", "python"),
    [
        ("oldest", (0, 0), {GRAPH, HASHES, GROUPS, MARKERS}, ">=2.7,<4.0,!=3.0.*,!=3.1.*,!=3.2.*,!=3.3.*"),
        ("lv1_0", (1, 0), {GRAPH, HASHES, GROUPS}, ">=2.7,<4.0,!=3.0.*,!=3.1.*,!=3.2.*,!=3.3.*,!=3.4.*"),
        ("lv1_1", (1, 1), {GRAPH, HASHES, GROUPS}, ">=3.7,<4.0"),
        ("lv2_0", (2, 0), {GRAPH, HASHES}, ">=3.10,<4.0"),
        ("lv2_1", (2, 1), {GRAPH, HASHES, GROUPS, MARKERS}, ">=3.10,<4.0"),
    ],
)  # fmt: skip
def test_each_age_knows_what_it_says(
    name: str, version: tuple[int, int], knows: set[Knowledge], python: str
) -> None:
    lock = lock_of(name)
    assert (lock.schema, lock.revision) == version
    assert lock.knows == knows
    assert lock.requires_python == python


def test_a_lock_of_nothing_still_knows_groups_and_markers() -> None:
    lock = parse('package = []\n\n[metadata]\nlock-version = "2.1"\n', path="poetry.lock")
    assert lock.packages == ()
    assert lock.knows == {GRAPH, GROUPS, MARKERS}


# 2018


def test_2018_says_pythons_and_platforms_of_a_package_in_requirements() -> None:
    lock = lock_of("oldest")
    assert one(lock, "colorama").resolution_markers == ('sys_platform == "win32"',)
    assert one(lock, "enum34").resolution_markers == (
        'python_full_version >= "2.7" and python_full_version < "2.8"',
    )
    assert one(lock, "lockfile").resolution_markers == ()
    assert one(lock, "black").belongs_to == ("dev",)
    black = one(lock, "black").artifacts
    assert {(a.filename, a.hash[:15]) for a in black} == {
        ("", "sha256:22158b89"),
        ("", "sha256:4b475bbd"),
    }
    assert "colorama" not in str(chosen(lock, LINUX, default_groups=("dev",)))
    assert "colorama 0.3.9" in chosen(lock, WINDOWS, default_groups=("dev",))


def test_2018_says_pythons_and_platforms_of_an_edge() -> None:
    lock = small(
        'name = "a"\nversion = "1"\npython-versions = "*"\n[package.dependencies.b]\n'
        'platform = "win32"\npython = "~2.7"\nversion = "*"',
        version="1.0",
    )
    assert one(lock, "a").dependencies == (
        Dependency(
            name="b",
            marker='python_full_version >= "2.7" and python_full_version < "2.8"'
            ' and sys_platform == "win32"',
        ),
    )


def test_an_optional_package_of_2018_keeps_its_own_marker() -> None:
    lock = small(
        'name = "a"\nversion = "1"\noptional = true\nmarker = "os_name == \'nt\'"',
        version="1.0",
        end='[extras]\nx = ["A (>=1)"]\ny = ["a"]',
    )
    assert one(lock, "a").resolution_markers == (
        '(extra == "x" or extra == "y") and os_name == \'nt\'',
    )


# lock-version 1


def test_versions_of_one_package_share_a_list_of_files() -> None:
    lock = lock_of("lv1_0")
    files = {
        p.version: [a.filename for a in p.artifacts] for p in lock.packages if p.name == "keyring"
    }
    assert files == {
        version: [f"keyring-{version}.tar.gz", f"keyring-{version}-{tag}-none-any.whl"]
        for version, tag in (("18.0.1", "py2.py3"), ("20.0.1", "py2.py3"), ("21.2.1", "py3"))
    }
    assert lock.notes == (
        (
            "locked in several versions, and the file does not say which is for whom:"
            " keyring, pytest, secretstorage"
        ),
    )


@pytest.mark.parametrize(
    ("version", "other", "filename"),
    [
        ("1.2", "1.2.3", "a-1.2.tar.gz"),
        ("1.2.3", "1.2", "a-1.2.3-py3-none-any.whl"),
        ("2.2.1+cu118", "2.2.1", "a-2.2.1+cu118-cp310-cp310-linux_x86_64.whl"),
        ("1.0.0-beta.1", "1.0", "a-1.0.0b1.zip"),
        ("Odd!", "1.0", "a-odd!.zip"),
        ("1" * 101, "1.0", f"a-{'1' * 101}.zip"),
    ],
)
def test_a_file_is_of_the_version_in_its_name(version: str, other: str, filename: str) -> None:
    rows = ", ".join(
        f'{{file = "{file}", hash = "sha256:aa"}}'
        for file in (filename, f"a-{other}.tar.gz", "a-9.9.exe")
    )
    text = (
        f'[[package]]\nname = "A"\nversion = "{version}"\n'
        f'[[package]]\nname = "a"\nversion = "{other}"\n'
        f'[metadata]\nlock-version = "1.1"\n[metadata.files]\na = [{rows}]\n'
    )
    lock = parse(text, path="poetry.lock")
    assert [a.filename for a in one(lock, "a", version).artifacts] == [filename]
    assert [a.filename for a in one(lock, "a", other).artifacts] == [f"a-{other}.tar.gz"]


def test_an_old_package_is_for_the_pythons_that_it_names() -> None:
    lock = lock_of("lv1_0")
    # The whole lock is for ^3.5 anyway.
    assert one(lock, "lockfile").resolution_markers == ()
    assert one(lock, "keyring", "18.0.1").resolution_markers == ()
    assert one(lock, "keyring", "21.2.1").resolution_markers == ('python_full_version >= "3.6"',)


def test_python_itself_is_no_dependency() -> None:
    table = 'name = "a"\nversion = "1"\n[package.dependencies]\npython = "^3.6"\nb = "*"'
    assert one(small(table), "a").dependencies == (Dependency(name="b"),)


def test_edges_of_extras_are_no_plain_edges() -> None:
    cache = one(lock_of("lv1_0"), "cachecontrol")
    assert [edge.name for edge in cache.dependencies] == ["msgpack", "requests"]
    assert cache.optional_dependencies == {
        "filecache": (Dependency(name="lockfile", marker='extra == "filecache"'),)
    }


def test_rows_of_one_dependency_are_edges_each_with_its_marker() -> None:
    pytest_old = one(lock_of("lv1_0"), "pytest", "4.6.11")
    assert [e.marker for e in pytest_old.dependencies if e.name == "more-itertools"] == [
        'python_version <= "2.7"',
        'python_version > "2.7"',
    ]


# lock-version 2.0: neither groups nor markers


def test_extras_lead_to_packages_through_the_graph() -> None:
    lock = lock_of("lv2_0")
    assert one(lock, "gym-aloha").resolution_markers == ('extra == "aloha"',)
    assert one(lock, "dm-control").resolution_markers == ('extra == "aloha"',)
    assert one(lock, "glfw").resolution_markers == ('extra == "aloha"',)
    assert one(lock, "pytest").resolution_markers == ('extra == "test"',)
    assert one(lock, "torch").resolution_markers == ()
    always = ["imageio 2.34.0", "imageio-ffmpeg 0.4.9", "torch 2.2.1+cpu"]
    assert chosen(lock, LINUX) == always
    assert sorted(chosen(lock, LINUX, "test")) == sorted([*always, "pytest 8.1.1"])


def test_an_optional_package_of_no_extra_is_never_installed() -> None:
    lock = small('name = "a"\nversion = "1"\noptional = true', version="2.0")
    assert chosen(lock, LINUX, all_extras=True) == []


def test_thousands_of_extras_for_thousands_of_packages_are_not_told_apart() -> None:
    count = 1000
    packages = [
        f'name = "a{n}"\nversion = "1"\noptional = true\n[package.dependencies]\na{n + 1} = "*"'
        for n in range(count)
    ]
    extras = "[extras]\n" + "".join(f'e{n} = ["a0"]\n' for n in range(count))
    lock = small(*packages, version="1.1", end=extras)
    assert lock.notes == ("there are too many extras to tell which package is there for which",)
    assert len(lock.packages) == count


def test_sources_of_a_git_and_of_a_named_index() -> None:
    lock = lock_of("lv2_0")
    gym, torch = one(lock, "gym-aloha").source, one(lock, "torch").source
    assert gym.kind is SourceKind.GIT
    assert gym.location == "git@git.example:huggingface/gym-aloha.git"
    assert gym.commit == "c636f05ba0d1760df94537da84c860be1487e17f"
    assert gym.reference == "rev=HEAD"
    assert one(lock, "gym-aloha").artifacts == ()
    assert (torch.kind, torch.location) == (
        SourceKind.REGISTRY,
        "https://registry.example/whl/cpu",
    )


@pytest.mark.parametrize(
    ("source", "kind", "commit", "reference"),
    [
        ('type = "directory"\nurl = "../a"', SourceKind.EDITABLE, "", ""),
        ('type = "file"\nurl = "a-1.whl"', SourceKind.PATH, "", ""),
        ('type = "url"\nurl = "https://files.example/a-1.whl"', SourceKind.URL, "", ""),
        ('type = "ark"\nurl = "x"', SourceKind.UNKNOWN, "", ""),
        (f'type = "git"\nurl = "x"\nreference = "{"a" * 40}"', SourceKind.GIT, "a" * 40, ""),
        ('type = "git"\nurl = "x"\nreference = "master"', SourceKind.GIT, "", "rev=master"),
    ],
)
def test_sources(source: str, kind: SourceKind, commit: str, reference: str) -> None:
    lock = small(f'name = "a"\nversion = "1"\ndevelop = true\n[package.source]\n{source}')
    found = one(lock, "a").source
    assert (found.kind, found.commit, found.reference) == (kind, commit, reference)


def test_a_short_commit_that_was_asked_for_is_not_the_locked_one() -> None:
    lock = small(
        'name = "a"\nversion = "1"\n[package.source]\ntype = "git"\nurl = "x"\n'
        f'reference = "96bd151"\nresolved_reference = "{"9" * 40}"'
    )
    assert one(lock, "a").source.commit == "9" * 40
    assert one(lock, "a").source.reference == "rev=96bd151"


def test_a_path_above_the_lock_is_a_directory() -> None:
    found = one(lock_of("enterprise"), "openhands-ai").source
    assert (found.kind, found.location) == (SourceKind.EDITABLE, "..")
    litellm = one(lock_of("enterprise"), "litellm").source
    assert (litellm.reference, litellm.commit[:8]) == ("rev=v1.77.7.dev9", "763d2f8c")


# lock-version 2.1: groups and markers


def test_a_marker_of_a_group_counts_for_that_group_alone() -> None:
    lock = lock_of("lv2_1")
    colorama = one(lock, "colorama")
    assert colorama.belongs_to == ("main", "github-actions", "test")
    assert colorama.resolution_markers == (
        'os_name == "nt"',
        (
            "('github-actions' in dependency_groups or 'test' in dependency_groups)"
            ' and sys_platform == "win32"'
        ),
    )
    odd = LINUX | {"sys_platform": "win32"}
    assert "colorama 0.4.6" not in chosen(lock, odd)
    assert "colorama 0.4.6" in chosen(lock, odd, groups=("test",))


def test_a_group_without_a_marker_takes_the_package_everywhere() -> None:
    lock = small(
        'name = "a"\nversion = "1"\ngroups = ["main", "dev"]\nmarkers = {main = "os_name == \'nt\'"}'
    )
    assert chosen(lock, LINUX) == []
    assert chosen(lock, LINUX, groups=("dev",)) == ["a 1"]


def test_of_several_versions_the_markers_choose_one() -> None:
    lock = lock_of("several")
    everything = {"all_groups": True, "all_extras": True}
    assert [
        [name for name in chosen(lock, environment, **everything) if "ipython" in name]
        for environment in (LINUX, PYTHON_310)
    ] == [["ipython 9.0.2"], ["ipython 8.34.0"]]
    assert "async-timeout 5.0.1" in chosen(lock, PYTHON_310)
    assert "async-timeout 5.0.1" not in chosen(lock, MAC)


def test_an_optional_package_without_a_marker_is_installed_as_poetry_2_does_it() -> None:
    # As poetry 2 itself decides: groups and markers alone count.
    lock = lock_of("several")
    assert one(lock, "alabaster").resolution_markers == ()
    assert "alabaster 0.7.16" in chosen(lock, LINUX)


# What is wrong


def place(text: str) -> tuple[int | None, str]:
    with pytest.raises(LockfileProblem) as caught:
        parse(text, path="poetry.lock")
    return caught.value.line, caught.value.reason


PACKAGE = '[[package]]\nname = "a"\nversion = "1"\npython-versions = "*"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (PACKAGE, None, "`metadata` is missing: the file is cut off"),
        ("", None, "the file is empty"),
        (f"{PACKAGE}[metadata]\nx = 1\n", None, "`metadata` is missing"),
        (f'{PACKAGE}[metadata]\nlock-version = "3.0"\n', 6, "`lock-version` 3.0 is newer"),
        (f"{PACKAGE}[metadata]\nlock-version = [1]\n", 6, "`lock-version` is an array"),
        (f"{PACKAGE}[metadata]\nlock-version = '2.1'\npython-versions = 3\n", 7, "a number"),
        (f"{PACKAGE}[metadata.files]\na = [{{file = 1}}]\n", 6, "the files of `a`: `file` is"),
        (f"{PACKAGE}files = [1]\n[metadata]\nlock-version = '2.1'\n", 1, "package `a`: `files`"),
        (f"{PACKAGE}markers = 3\n[metadata]\nlock-version = '2.1'\n", 1, "`markers` is neither"),
        ("[[package]]\nname = 'a'\n[metadata]\nlock-version = '2.1'\n", 1, "`version` is missing"),
        (f"{PACKAGE}dependencies = {{b = 1}}\n[metadata]\nlock-version = '2.1'\n", 1, "`b` is nei"),
        ("\nmetadata = {lock-version = '3.0'}", 2, "newer"),
        ("x = 1\nextras = 3\n[metadata]\nlock-version = '2.1'\n", 2, "`extras` is a number"),
    ],
)
def test_a_fault_says_its_line(text: str, line: int | None, words: str) -> None:
    found, reason = place(text)
    assert words in reason
    assert found == line


def test_keys_that_are_not_known_are_named() -> None:
    text = f'{PACKAGE}new = 1\n[package.source]\ntype = "url"\nurl = "x"\nsum = 1\n[metadata]\nlock-version = "2.2"\nmore = 1\n[top]\n'
    assert parse(text, path="poetry.lock").unknown_keys == (
        "metadata.more",
        "package.new",
        "package.source.sum",
        "top",
    )


def test_a_name_with_thousands_of_versions_and_files_takes_no_time() -> None:
    count = 4000
    packages = "".join(f'[[package]]\nname = "a"\nversion = "1.{n}"\n' for n in range(count))
    rows = ", ".join(f'{{file = "a-2.{n}.tar.gz", hash = "h"}}' for n in range(count))
    text = f'{packages}[metadata]\nlock-version = "1.1"\n[metadata.files]\na = [{rows}]\n'
    lock = parse(text, path="poetry.lock")
    # No file is of these versions: all have the list, the very same one.
    assert len({id(package.artifacts) for package in lock.packages}) == 1


def test_a_dependency_of_thousands_of_rows_and_extras_takes_no_memory() -> None:
    count = 3000
    rows = ", ".join(['{version = "1", optional = true}'] * count)
    extras = "".join(f'e{n} = ["b"]\n' for n in range(count))
    lock = small(
        f'name = "a"\nversion = "1"\n[package.dependencies]\nb = [{rows}]\n'
        f"[package.extras]\n{extras}"
    )
    assert len(one(lock, "a").dependencies) == count


@settings(max_examples=120, deadline=None)
@given(data=st.data(), name=st.sampled_from(FILES))
def test_any_text_is_a_lock_or_one_problem(data: st.DataObject, name: str) -> None:
    text = read_fixture(f"poetry/{name}.lock")
    check_read(data.draw(mutated(text)), "poetry.lock")
