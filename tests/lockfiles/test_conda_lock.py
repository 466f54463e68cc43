"""conda-lock.yml and the lists that it renders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.compare.locks import compare_locks
from envtrack.errors import LockfileProblem
from envtrack.lockfiles.conda_explicit import parse as parse_list
from envtrack.lockfiles.conda_lock import parse
from envtrack.lockfiles.select import explain_selection, identity
from envtrack.model.comparison import ChangeKind
from envtrack.model.lock import Dependency, Knowledge, Lock, Source, SourceKind
from envtrack.model.selection import Selection
from tests.lockfiles.mutations import check_read, mutated
from tests.lockfiles.texts import LINUX, MAC, by_name, names

COMMIT = "3f07f990ac74f1e1691ba17ef8c14007f05846ab"
HEAD = """\
version: 1
metadata:
  content_hash:
    linux-64: aa
  channels:
  - url: conda-forge
    used_env_vars: []
  platforms: [linux-64, osx-arm64]
  sources: [environment.yml]
package:
"""


def row(
    name: str,
    version: str,
    url: str,
    *,
    manager: str = "conda",
    platform: str = "linux-64",
    category: str = "main",
    digest: str = "sha256: aa",
    needs: str = "{}",
    more: str = "",
) -> str:
    """One row of `package`."""
    return (
        f"- name: {name}\n  version: {version}\n  manager: {manager}\n  platform: {platform}\n"
        f"  dependencies: {needs}\n  url: {url}\n  hash:\n    {digest}\n{more}"
        f"  category: {category}\n  optional: {str(category != 'main').lower()}\n"
    )


def read(*rows: str) -> Lock:
    return parse(HEAD + "".join(rows), path="conda-lock.yml")


def at(platform: str, file: str) -> str:
    return f"https://conda.example/conda-forge/{platform}/{file}"


NUMPY = row(
    "numpy",
    "'1.10'",
    at("linux-64", "numpy-1.10-py311h64a7726_0.conda"),
    needs="{python: '>=3.11', __glibc: '>=2.17', Libblas: '*'}",
    digest="md5: bb\n    sha256: aa",
)


def test_a_conda_row() -> None:
    numpy = by_name(read(NUMPY), "numpy")
    assert (numpy.version, numpy.build) == ("1.10", "py311h64a7726_0")
    assert (numpy.ecosystem, numpy.platforms, numpy.belongs_to) == (
        "conda",
        ("linux-64",),
        ("main",),
    )
    assert numpy.source.location == "https://conda.example/conda-forge"
    assert [a.hash for a in numpy.artifacts] == ["sha256:aa"]
    assert numpy.dependencies == (Dependency(name="python"), Dependency(name="libblas"))
    assert numpy.line == 11


def test_one_name_of_two_managers_and_two_platforms_is_three_packages() -> None:
    lock = read(
        NUMPY,
        NUMPY.replace("linux-64", "osx-arm64"),
        row("numpy", "1.10", "https://files.example/numpy-1.10-cp311-linux.whl", manager="pip"),
    )
    assert [(p.ecosystem, p.platforms) for p in lock.packages] == [
        ("conda", ("linux-64",)),
        ("conda", ("osx-arm64",)),
        ("pypi", ("linux-64",)),
    ]
    assert [p.line for p in lock.packages] == [11, 22, 33]
    assert len(explain_selection(lock, Selection(), LINUX).packages) == 2
    assert len(explain_selection(lock, Selection(), MAC).packages) == 1


def test_rows_of_several_categories_are_groups_of_one_package() -> None:
    lock = read(
        NUMPY,
        NUMPY.replace("category: main", "category: dev"),
        row("pytest", "8", at("noarch", "pytest-8-pyhd8ed1ab_0.conda"), category="test"),
    )
    assert by_name(lock, "numpy").belongs_to == ("main", "dev")

    def chosen(selection: Selection) -> list[str]:
        return names(explain_selection(lock, selection, LINUX).packages)

    assert chosen(Selection()) == ["numpy 1.10"]
    assert chosen(Selection(groups=("test",))) == ["numpy 1.10", "pytest 8"]
    assert chosen(Selection(without_groups=("main",), default_groups=("dev",))) == ["numpy 1.10"]


def test_pip_rows_of_an_index_an_archive_and_a_repository() -> None:
    url = "https://files.example/cowsay-6.1.tar.gz"
    git = f"git+https://git.example/requests.git@{COMMIT}"
    lock = read(
        row(
            "Typing_Extensions",
            "4.15.0",
            "https://files.example/typing_extensions-4.15.0-py3-none-any.whl",
            manager="pip",
            needs="{Ruamel.Yaml: '*'}",
        ),
        row(
            "cowsay",
            "0.0.0",
            url,
            manager="pip",
            more=f"  source:\n    type: url\n    url: {url}\n",
        ),
        # The address stands where the hash belongs.
        row("requests", "2.32.4", git, manager="pip", digest=f"sha256: {git}"),
        row("sub", "1", f"{git}#egg=sub&subdirectory=py/sub", manager="pip"),
    )
    typing = by_name(lock, "typing-extensions")
    assert (typing.ecosystem, typing.source.kind) == ("pypi", SourceKind.REGISTRY)
    assert typing.dependencies == (Dependency(name="ruamel-yaml"),)
    assert by_name(lock, "cowsay").source == Source(kind=SourceKind.URL, location=url)
    assert [a.hash for a in by_name(lock, "cowsay").artifacts] == ["sha256:aa"]
    requests = by_name(lock, "requests")
    assert requests.artifacts == ()
    assert requests.source == Source(
        kind=SourceKind.GIT, location="https://git.example/requests.git", commit=COMMIT
    )
    assert by_name(lock, "sub").source.subdirectory == "py/sub"


def test_a_rebuild_shows_in_the_file_name_alone() -> None:
    after = read(NUMPY.replace("h64a7726_0", "h64a7726_1"))
    (change,) = compare_locks(read(NUMPY), after)
    assert change.kind is ChangeKind.REBUILD
    assert change.detail == "build py311h64a7726_0 → py311h64a7726_1"


def test_a_mirror_moves_the_source_of_each_package_and_no_version() -> None:
    other = read(NUMPY.replace("https://conda.example/", "https://mirror.example/anaconda/cloud/"))
    (change,) = compare_locks(read(NUMPY), other)
    assert change.kind is ChangeKind.SOURCE
    packages = [lock.packages for lock in (read(NUMPY), other)]
    assert identity(packages[0]) != identity(packages[1])


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("version: 2\npackage: []\n", 1, "`version` 2 is newer"),
        ("version: 1\nmetadata: {}\n", None, "`package` is missing: it is no conda-lock.yml"),
        (HEAD + "- version: 1\n", 11, "a package: `name` is missing"),
        (HEAD + NUMPY + NUMPY.replace("version: '1.10'", "version: []"), 22, "`version` is an array"),
        (HEAD + NUMPY.replace("hash:\n    md5: bb\n    sha256: aa", "hash: aa"), 11, "`hash` is a string, not a table"),
    ],
)  # fmt: skip
def test_a_fault_says_its_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(LockfileProblem) as caught:
        parse(text, path="conda-lock.yml")
    assert words in str(caught.value)
    assert caught.value.line == line


# Explicit lists

LIST = f"""\
# Generated by conda-lock.
# platform: linux-64
# input_hash: aa
@EXPLICIT
{at("linux-64", "cuda-nvcc-12.4.131-h59595ed_0.conda")}#{"b" * 32}
{at("linux-64", "_libgcc_mutex-0.1-conda_forge.tar.bz2")}#{"c" * 32}
{at("noarch", "tqdm-4.67.1-pyhd8ed1ab_1.conda")}#sha256:{"d" * 64}
https://conda.example/t/tok/conda-forge/linux-64/zlib-1.3.1-hb9d3cd8_2.conda
# pip rich @ https://files.example/rich-13.9.4-py3-none-any.whl#sha256={"e" * 64}
# pip lab @ git+https://git.example/lab.git@{COMMIT}
# pip install is not needed
"""


def test_a_list_says_build_hash_and_platform() -> None:
    lock = parse_list(LIST, path="conda-linux-64.lock")
    assert [(p.name, p.version, p.build, p.platforms, p.line) for p in lock.packages[:4]] == [
        ("cuda-nvcc", "12.4.131", "h59595ed_0", ("linux-64",), 5),
        ("_libgcc_mutex", "0.1", "conda_forge", ("linux-64",), 6),
        ("tqdm", "4.67.1", "pyhd8ed1ab_1", ("linux-64",), 7),
        ("zlib", "1.3.1", "hb9d3cd8_2", ("linux-64",), 8),
    ]
    assert [p.artifacts[0].hash for p in lock.packages[:4]] == [
        "md5:" + "b" * 32,
        "md5:" + "c" * 32,
        "sha256:" + "d" * 64,
        "",
    ]
    assert lock.knows == {Knowledge.HASHES}
    assert explain_selection(lock, Selection(), MAC).packages == ()


def test_a_list_says_in_comments_what_pip_adds() -> None:
    rich, lab = parse_list(LIST, path="conda-linux-64.lock").packages[4:]
    assert (rich.name, rich.version, rich.ecosystem) == ("rich", "13.9.4", "pypi")
    assert [a.hash for a in rich.artifacts] == ["sha256:" + "e" * 64]
    assert (rich.platforms, rich.line) == (("linux-64",), 9)
    assert (lab.source.kind, lab.source.commit, lab.line) == (SourceKind.GIT, COMMIT, 10)


def test_a_list_without_its_mark_or_with_an_odd_line_is_refused() -> None:
    with pytest.raises(LockfileProblem, match="there is no line `@EXPLICIT`"):
        parse_list(LIST.replace("@EXPLICIT\n", ""), path="conda-linux-64.lock")
    with pytest.raises(LockfileProblem, match=r"no requirement: `rich\[ @ ") as caught:
        parse_list(LIST.replace("rich @ https", "rich[ @ https"), path="conda-linux-64.lock")
    assert caught.value.line == 9


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_text_is_a_lock_or_one_problem(data: st.DataObject) -> None:
    check_read(data.draw(mutated(HEAD + NUMPY)), "conda-lock.yml")
    check_read(data.draw(mutated(LIST)), "conda-linux-64.lock")
