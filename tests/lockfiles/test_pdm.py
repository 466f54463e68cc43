"""pdm.lock of every age: real ones, cut, and small ones for what is tricky."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.markers import Marker

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.pdm import parse
from envtrack.lockfiles.select import explain_selection
from envtrack.model.lock import Artifact, Dependency, Knowledge, Lock, SourceKind
from envtrack.model.names import normalise
from envtrack.model.selection import Selection
from tests.lockfiles.mutations import check_read, mutated
from tests.lockfiles.texts import LINUX, MAC, by_name, names, read_fixture

FILES = ("lv0_1", "lv2", "lv3_1", "lv4_2", "lv4_3", "lv4_5", "targets")
GRAPH, HASHES, GROUPS, MARKERS = (
    Knowledge.GRAPH,
    Knowledge.HASHES,
    Knowledge.GROUPS,
    Knowledge.MARKERS,
)
ALL = {GRAPH, HASHES, GROUPS, MARKERS}
WINDOWS = LINUX | {
    "os_name": "nt",
    "platform_machine": "AMD64",
    "platform_system": "Windows",
    "sys_platform": "win32",
}
PYTHON_38 = LINUX | {"python_full_version": "3.8.18", "python_version": "3.8"}


def lock_of(name: str) -> Lock:
    return parse(read_fixture(f"pdm/{name}.lock"), path="pdm.lock")


def small(*tables: str, metadata: str = 'strategy = ["inherit_metadata"]') -> Lock:
    """A lock of these `[[package]]` bodies."""
    head = f'[metadata]\nlock_version = "4.5.0"\n{metadata}\n\n'
    packages = "\n".join(f"[[package]]\n{table}\n" for table in tables)
    return parse(head + packages, path="pdm.lock")


def chosen(lock: Lock, environment: dict[str, str] = LINUX, *groups: str, **more: Any) -> list[str]:  # noqa: ANN401 - as Selection takes them
    selection = Selection(**{"groups": groups, "default_groups": (), **more})
    return names(explain_selection(lock, selection, environment).packages)


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_reads_as_the_raw_toml_counts(name: str) -> None:
    text = read_fixture(f"pdm/{name}.lock")
    raw, lock = tomllib.loads(text), lock_of(name)
    tables = raw["package"]
    known = {(normalise(table["name"]), table["version"]) for table in tables}
    apart = {
        normalise(key.partition(" ")[0].partition("[")[0]): {row["hash"] for row in rows}
        for key, rows in raw["metadata"].get("files", {}).items()
    }
    hashes: dict[str, set[str]] = {}
    for table in tables:
        own = {row["hash"] for row in table.get("files", ())}
        key = normalise(table["name"])
        hashes.setdefault(key, set()).update(own or apart.get(key, set()))
    assert {(p.name, p.version) for p in lock.packages} == known
    assert len(lock.packages) == len(known)
    assert {p.name: {a.hash for a in p.artifacts} for p in lock.packages} == hashes
    assert all(text.splitlines()[p.line - 1] == "[[package]]" for p in lock.packages)
    assert lock.unknown_keys == ()


@pytest.mark.parametrize("environment", [LINUX, MAC, WINDOWS, PYTHON_38])
@pytest.mark.parametrize(
    "groups", [(), ("testing",), ("memray",), ("memray", "timezone"), ("doc",)]
)
@pytest.mark.parametrize("name", ["lv0_1", "lv2", "lv4_5", "targets"])
def test_an_entry_is_installed_for_its_own_groups_where_its_own_marker_holds(
    name: str, groups: tuple[str, ...], environment: dict[str, str]
) -> None:
    tables = tomllib.loads(read_fixture(f"pdm/{name}.lock"))["package"]
    asked = {"default", *groups}
    expected = {
        normalise(table["name"])
        for table in tables
        if asked & {*table.get("groups", ()), *table.get("sections", ())}
        and ("marker" not in table or Marker(table["marker"]).evaluate(environment))
    }
    selection = Selection(groups=groups, default_groups=())
    found = explain_selection(lock_of(name), selection, environment).packages
    assert {package.name for package in found} == expected


@pytest.mark.parametrize(
    ("name", "version", "knows", "python"),
    [
        ("lv0_1", (0, 1), ALL, ""),
        ("lv2", (2, 0), ALL, ""),
        ("lv3_1", (3, 1), {GRAPH, HASHES}, ""),
        ("lv4_2", (4, 2), {GRAPH, HASHES}, ""),
        ("lv4_3", (4, 3), {GRAPH, HASHES}, ""),
        ("lv4_5", (4, 5), ALL, ">=3.8"),
        ("targets", (4, 5), ALL, "==3.12.*"),
    ],
)
def test_each_age_knows_what_it_says(
    name: str, version: tuple[int, int], knows: set[Knowledge], python: str
) -> None:
    lock = lock_of(name)
    assert (lock.schema, lock.revision) == version
    assert lock.knows == knows
    assert lock.requires_python == python


# Groups and markers


def test_the_marker_of_an_entry_with_extras_counts_for_its_groups_alone() -> None:
    lock = small(
        'name = "markdown"\nversion = "3"\ngroups = ["testing"]\nmarker = "os_name == \'nt\'"',
        'name = "markdown"\nversion = "3"\nextras = ["plugins"]\ngroups = ["memray"]\n'
        "marker = \"python_version < '3.13'\"",
    )
    markdown = by_name(lock, "markdown")
    assert markdown.belongs_to == ("testing", "memray")
    assert markdown.resolution_markers == (
        "'testing' in dependency_groups and os_name == 'nt'",
        "'memray' in dependency_groups and python_version < '3.13'",
    )
    assert chosen(lock, LINUX, "testing") == []
    assert chosen(lock, LINUX, "memray") == ["markdown 3"]
    assert chosen(lock, WINDOWS, "testing") == ["markdown 3"]
    assert chosen(lock, LINUX) == []


def test_two_entries_of_one_group_are_there_where_either_is() -> None:
    lock = small(
        'name = "a"\nversion = "1"\ngroups = ["default"]\n'
        "marker = \"os_name == 'nt' or os_name == 'java'\"",
        'name = "a"\nversion = "1"\nextras = ["x"]\ngroups = ["default"]\n'
        "marker = \"python_version < '3.9'\"",
    )
    assert by_name(lock, "a").resolution_markers == (
        "os_name == 'nt' or os_name == 'java' or python_version < '3.9'",
    )
    assert chosen(lock) == []
    assert chosen(lock, PYTHON_38) == chosen(lock, WINDOWS) == ["a 1"]


def test_an_entry_without_a_marker_takes_its_group_everywhere() -> None:
    lock = lock_of("lv4_5")
    markdown = by_name(lock, "markdown-it-py")
    assert markdown.belongs_to == ("memray", "testing")
    assert markdown.resolution_markers == ()
    assert chosen(lock, WINDOWS, "memray") == ["annotated-types 0.7.0", "markdown-it-py 3.0.0"]


def test_an_entry_of_no_group_is_always_there() -> None:
    lock = small(
        'name = "a"\nversion = "1"\ngroups = ["x"]',
        'name = "a"\nversion = "1"\nextras = ["e"]',
    )
    assert by_name(lock, "a").belongs_to == ()
    assert chosen(lock) == ["a 1"]


def test_the_default_group_is_main_and_the_others_are_listed() -> None:
    lock = lock_of("lv4_5")
    assert lock.group_names == (
        *("main", "docs", "email", "linting", "memray", "mypy", "testing", "testing-extra"),
        "timezone",
    )
    assert lock_of("lv3_1").group_names is None
    selection = Selection(groups=("docs", "nowhere"), default_groups=())
    assert explain_selection(lock, selection, LINUX).notes == ("no group nowhere in the lock",)


def test_an_extra_of_the_project_is_a_group() -> None:
    lock = lock_of("lv4_5")
    assert chosen(lock, WINDOWS, extras=("timezone",)) == ["annotated-types 0.7.0", "tzdata 2024.2"]
    assert chosen(lock, LINUX, extras=("timezone",)) == ["annotated-types 0.7.0"]


def test_without_inherited_metadata_neither_groups_nor_markers_are_known() -> None:
    plain = small('name = "a"\nversion = "1"', metadata="strategy = []")
    assert plain.knows == {GRAPH}
    assert small('name = "a"\nversion = "1"').knows == {GRAPH, MARKERS}
    as_key = small('name = "a"\nversion = "1"', metadata="inherit_metadata = true")
    assert as_key.knows == {GRAPH, MARKERS}


# Targets


def test_targets_are_the_machines_that_the_lock_is_for() -> None:
    lock = lock_of("targets")
    python = 'python_full_version >= "3.12" and python_full_version < "3.13"'
    assert lock.supported_markers == (
        f'{python} and sys_platform == "linux" and platform_machine == "x86_64"',
        f'{python} and sys_platform == "darwin" and platform_machine == "arm64"',
    )
    assert explain_selection(lock, Selection(), LINUX).notes == ()
    assert explain_selection(lock, Selection(), MAC).notes == ()
    (note,) = explain_selection(lock, Selection(), WINDOWS).notes
    assert note.startswith("this machine is none of those that the lock is for: python_full")


@pytest.mark.parametrize(
    ("targets", "python", "markers"),
    [
        ([], "", ()),
        ([{"requires_python": ">=3.8"}], ">=3.8", ()),
        (
            [{"requires_python": "<3.10"}, {"requires_python": ">=3.10"}],
            "",
            ('python_full_version < "3.10"', 'python_full_version >= "3.10"'),
        ),
        ([{"requires_python": ">=3.9"}, {"requires_python": ">=3.9", "platform": "linux"}], ">=3.9", ()),
        ([{"platform": "linux"}], "", ('sys_platform == "linux" and platform_machine == "x86_64"',)),
        ([{"platform": "windows"}], "", ('sys_platform == "win32" and platform_machine == "AMD64"',)),
        ([{"platform": "windows_arm64"}], "", ('sys_platform == "win32" and platform_machine == "ARM64"',)),
        ([{"platform": "macos"}], "", ('sys_platform == "darwin" and platform_machine == "arm64"',)),
        ([{"platform": "macos_14_0_x86_64"}], "", ('sys_platform == "darwin" and platform_machine == "x86_64"',)),
        ([{"platform": "musllinux_1_1_aarch64"}], "", ('sys_platform == "linux" and platform_machine == "aarch64"',)),
        ([{"implementation": "pypy"}], "", ('platform_python_implementation == "PyPy"',)),
        ([{"platform": "amiga"}], "", ()),
    ],
)  # fmt: skip
def test_targets(targets: list[dict[str, str]], python: str, markers: tuple[str, ...]) -> None:
    rows = "".join(
        "[[metadata.targets]]\n" + "".join(f'{key} = "{value}"\n' for key, value in target.items())
        for target in targets
    )
    lock = small('name = "a"\nversion = "1"', metadata=rows)
    assert (lock.requires_python, lock.supported_markers) == (python, markers)


def test_one_package_that_is_locked_for_two_targets_is_one_with_the_files_of_both() -> None:
    lock = small(
        'name = "a"\nversion = "1"\ngroups = ["default"]\nmarker = "os_name == \'nt\'"\n'
        'files = [{file = "a-1-cp312-win.whl", hash = "sha256:aa"}]',
        'name = "a"\nversion = "1"\ngroups = ["default"]\nmarker = "os_name == \'posix\'"\n'
        'files = [{file = "a-1-cp312-linux.whl", hash = "sha256:bb"}, '
        '{file = "a-1.tar.gz", hash = "sha256:cc"}]',
    )
    (package,) = lock.packages
    assert package.resolution_markers == ("os_name == 'nt' or os_name == 'posix'",)
    assert [a.filename for a in package.artifacts] == [
        "a-1.tar.gz",
        "a-1-cp312-win.whl",
        "a-1-cp312-linux.whl",
    ]
    assert names(lock_of("targets").packages).count("pocket 0.3.7") == 1


def test_two_versions_for_two_targets_are_chosen_by_their_markers() -> None:
    lock = small(
        'name = "numpy"\nversion = "1.24.4"\ngroups = ["default"]\n'
        "marker = \"python_version < '3.9'\"",
        'name = "numpy"\nversion = "2.2.0"\ngroups = ["default"]\n'
        "marker = \"python_version >= '3.9'\"",
    )
    assert chosen(lock) == ["numpy 2.2.0"]
    assert chosen(lock, PYTHON_38) == ["numpy 1.24.4"]


# Files, sources and edges


def test_static_urls_are_where_the_files_are() -> None:
    static = small(
        'name = "a"\nversion = "1"\n'
        'files = [{url = "https://files.example/x/a-1%2Bcu124-py3-none-any.whl", hash = "sha256:aa"}]',
        metadata='strategy = ["static_urls"]',
    )
    assert by_name(static, "a").artifacts == (
        Artifact(
            filename="a-1+cu124-py3-none-any.whl",
            location="https://files.example/x/a-1%2Bcu124-py3-none-any.whl",
            hash="sha256:aa",
        ),
    )
    # 4.2 wrote them always, 4.3 only if asked to.
    old, new = (by_name(lock_of(name), "arrow") for name in ("lv4_2", "lv4_3"))
    assert [a.location.startswith("https://files.example/") for a in old.artifacts] == [True, True]
    assert {a.hash for a in old.artifacts} == {a.hash for a in new.artifacts}


def test_the_entries_of_extras_lend_their_edges() -> None:
    assert by_name(lock_of("lv3_1"), "cachecontrol").dependencies == (
        Dependency(name="msgpack"),
        Dependency(name="requests"),
        Dependency(name="lockfile"),
    )
    assert by_name(lock_of("lv4_5"), "coverage").dependencies == (
        Dependency(name="tomli", marker='python_full_version <= "3.11.0a6"'),
    )


@pytest.mark.parametrize(
    ("body", "kind", "location"),
    [
        ('path = "./here"\neditable = true', SourceKind.EDITABLE, "./here"),
        ('path = "./here"', SourceKind.DIRECTORY, "./here"),
        ('path = "./a-1.tgz"', SourceKind.PATH, "./a-1.tgz"),
        ('url = "https://files.example/a-1.whl"', SourceKind.URL, "https://files.example/a-1.whl"),
        ('url = "file:///${PROJECT_ROOT}/here"', SourceKind.DIRECTORY, "./here"),
        ('url = "file:///srv/a-1.whl"', SourceKind.PATH, "/srv/a-1.whl"),
        ('path = "./here"\nurl = "file:///${PROJECT_ROOT}/here"', SourceKind.DIRECTORY, "./here"),
        ('hg = "https://hg.example/a"\nrevision = "abc"', SourceKind.UNKNOWN, "https://hg.example/a"),
        ("", SourceKind.REGISTRY, ""),
    ],
)  # fmt: skip
def test_sources(body: str, kind: SourceKind, location: str) -> None:
    source = by_name(small(f'name = "a"\nversion = "1"\n{body}'), "a").source
    assert (source.kind, source.location) == (kind, location)


def test_a_git_source_has_its_commit_and_what_was_asked_for() -> None:
    source = by_name(lock_of("targets"), "pocket").source
    assert source.commit == "5a144438cc89bfc0ec94db960718ccf1f76468c1"
    assert source.reference == "rev=v0.3.7"
    below = small('name = "a"\ngit = "https://git.example/a"\nrevision = "ab"\nsubdirectory = "s"')
    assert by_name(below, "a").source.subdirectory == "s"


# Faults


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            ('[[package]]\nname = "a"\nversion = "1"\nlock_version = "x"\n\n'
            '[metadata]\nlock_version = "5.0"\n'),
            7,
            "`lock_version` 5.0 is newer than the version that is read (4)",
        ),
        (
            '[[package]]\nname = "a"\ngroups = ["x"]\n\n[metadata]\ngroups = 1\n',
            6,
            "`groups` is not an array of strings",
        ),
        (
            '[metadata]\nlock_version = "4.5.0"\n\n[[metadata.targets]]\nplatform = 1\n',
            5,
            "`platform` is a number, not a string",
        ),
        ("[metadata]\nstrategy = {}\n", 2, "`strategy` is not an array of strings"),
        ('[metadata]\nlock_version = "4"\n[[package]]\nversion = "1"\n', 3, "a package: `name` is missing"),
        ('[[package]]\nname = "a"\nfiles = [{}]\n', 1, "package `a`: a file has no name"),
        ('[[package]]\nname = "a"\ndependencies = ["???"]\n', 1, "package `a`: a dependency can't be read: `???`"),
        ("x = 1\n", None, "`metadata` and packages are missing: it is no pdm.lock"),
    ],
)  # fmt: skip
def test_a_fault_says_its_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(LockfileProblem) as caught:
        parse(text, path="pdm.lock")
    assert (caught.value.line, words in str(caught.value)) == (line, True)


def test_keys_that_are_not_known_are_named() -> None:
    lock = small('name = "a"\nversion = "1"\ncolour = "red"', metadata="mood = 1")
    assert lock.unknown_keys == ("metadata.mood", "package.colour")


@settings(max_examples=60, deadline=None)
@given(data=st.data(), name=st.sampled_from(FILES))
def test_any_text_is_a_lock_or_one_problem(data: st.DataObject, name: str) -> None:
    check_read(data.draw(mutated(read_fixture(f"pdm/{name}.lock"))), "pdm.lock")
