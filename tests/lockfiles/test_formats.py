"""Each format's tricky cases, in small texts of the form that its tool writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.compare.locks import compare_locks
from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import FORMATS, find_format, parse_lock
from envtrack.model.comparison import ChangeKind
from envtrack.model.lock import Dependency, Knowledge, Lock, LockedPackage, SourceKind
from tests.lockfiles.samples import SAMPLES

DOCUMENT = Path(__file__).parents[2] / "docs" / "lockfiles.md"


def read(name: str, old: str = "", new: str = "") -> Lock:
    """A sample, with one passage replaced."""
    text = SAMPLES[name][1]
    assert old in text
    return parse_lock(text.replace(old, new), path=SAMPLES[name][0])


def one(lock: Lock, name: str) -> LockedPackage:
    (found,) = (package for package in lock.packages if package.name == name)
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_known_by_its_name_and_by_its_content(name: str) -> None:
    filename, text = SAMPLES[name]
    by_name, by_content = find_format(filename, ""), find_format("", text)
    assert by_name is not None
    assert by_content is not None
    assert by_name.name == parse_lock(text, path=filename).format
    # The first pixi wrote conda-lock's format, to the letter.
    assert by_content.name == ("conda-lock.yml" if name == "pixi.lock 1" else by_name.name)


def test_every_format_has_a_sample() -> None:
    assert {parse_lock(text, path=path).format for path, text in SAMPLES.values()} == {
        one.name for one in FORMATS
    }


def read_table() -> dict[str, dict[str, str]]:
    rows = [
        [cell.strip().strip("`") for cell in line.strip("| ").split(" | ")]
        for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
        if line.startswith(("| `", "| file"))
    ]
    return {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[1:]}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_knows_what_the_document_says(name: str) -> None:
    knows = {str(part) for part in read(name).knows}
    said = read_table()[name]
    assert {part for part in said if said[part] == "yes"} == knows


def test_the_document_has_a_row_for_every_sample_and_a_column_for_every_part() -> None:
    table = read_table()
    assert list(table) == list(SAMPLES)
    assert list(table["uv.lock"]) == [str(part) for part in Knowledge]


@pytest.mark.parametrize("name", SAMPLES)
def test_conflict_markers_have_their_own_words_and_line(name: str) -> None:
    filename, text = SAMPLES[name]
    lines = text.splitlines()
    lines[3:3] = ["<<<<<<< HEAD", "=======", ">>>>>>> other"]
    with pytest.raises(LockfileProblem, match="conflict markers") as caught:
        parse_lock("\n".join(lines), path=filename)
    assert caught.value.line == 4


@pytest.mark.parametrize("name", SAMPLES)
def test_an_empty_file_and_one_with_a_mark_and_windows_ends(name: str) -> None:
    filename, text = SAMPLES[name]
    with pytest.raises(LockfileProblem, match="the file is empty"):
        parse_lock(" \n", path=filename)
    assert parse_lock("\ufeff" + text.replace("\n", "\r\n"), path=filename) == read(name)


@pytest.mark.parametrize("name", SAMPLES)
def test_an_unchanged_file_is_no_change(name: str) -> None:
    assert compare_locks(read(name), read(name)) == ()


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(sorted(SAMPLES)), data=st.data())
def test_any_text_is_a_lock_or_one_problem(name: str, data: st.DataObject) -> None:
    filename, text = SAMPLES[name]
    at = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(at, min(len(text), at + 40)))
    odd = data.draw(
        st.one_of(
            st.text(max_size=12),
            st.sampled_from(
                ["[", "{", '"', "'", "\n- ", "\n\n[[package]]\n", "=", "9" * 5000, "\0"]
            ),
        )
    )
    mutated = text[:at] + odd + text[end:]
    line: int | None = None
    try:
        parse_lock(mutated, path=filename)
    except LockfileProblem as problem:
        line = problem.line
    # A file that ends too early is wrong at its end.
    assert line is None or 0 < line <= len(mutated.splitlines()) + 1


@pytest.mark.parametrize("filename", sorted({filename for filename, _ in SAMPLES.values()}))
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "a = " + "[" * 100_000,
        "a = " + "9" * 5000,
        "{" * 100_000,
        "- " * 100_000,
        "a: " * 50_000,
        "[]",
        "1",
        "x",
    ],
)
def test_what_is_no_lockfile_at_all_is_refused(filename: str, text: str) -> None:
    if len(text) == 1 and filename.endswith(".txt"):
        # A name is a requirement, if not a pinned one.
        assert parse_lock(text, path=filename).unpinned == (text,)
        return
    with pytest.raises(LockfileProblem):
        parse_lock(text, path=filename)


# poetry.lock


def test_poetry_groups_markers_and_sources() -> None:
    lock = read("poetry.lock 2.1")
    assert (lock.schema, lock.revision, lock.requires_python) == (2, 1, ">=3.11,<4.0")
    torch = one(lock, "torch")
    assert torch.belongs_to == ("main", "gpu")
    assert torch.resolution_markers == (
        "sys_platform == 'linux'",
        "'gpu' in dependency_groups and extra == 'gpu'",
    )
    assert torch.source.location == "https://registry.example/cu124"
    assert [a.filename for a in torch.artifacts] == ["torch-2.5.1+cu124-cp311-linux.whl"]
    lab = one(lock, "lab-tools")
    assert lab.source.kind is SourceKind.GIT
    assert (lab.source.commit, lab.source.reference) == ("4" * 40, "rev=main")
    assert one(lock, "here").source.kind is SourceKind.EDITABLE
    assert one(lock, "numpy").dependencies == (
        Dependency(name="typing-extensions", marker="python_version < '3.13'"),
    )


def test_a_poetry_package_with_a_marker_for_one_of_its_groups_is_everywhere_for_the_other() -> None:
    lock = read("poetry.lock 2.1", ", gpu = \"extra == 'gpu'\"", "")
    assert one(lock, "torch").resolution_markers == (
        "sys_platform == 'linux'",
        "'gpu' in dependency_groups",
    )


def test_old_poetry_files_keep_hashes_apart_and_extras_by_name() -> None:
    lock = read("poetry.lock 1.0")
    first, second = (package for package in lock.packages if package.name == "numpy")
    assert [a.filename for a in first.artifacts] == ["numpy-1.19.0.tar.gz"]
    assert [a.filename for a in second.artifacts] == ["numpy-1.20.0-cp38-linux.whl"]
    # optional, and needed by what the extra asks for
    assert one(lock, "plotter").resolution_markers == ('extra == "plots"',)
    assert one(lock, "colours").resolution_markers == ('extra == "plots"',)
    assert one(lock, "pytest").belongs_to == ("dev",)
    assert one(lock, "plotter").source.commit == "a" * 40


def test_a_newer_poetry_is_refused_with_its_line() -> None:
    with pytest.raises(LockfileProblem, match=r"`lock-version` 3\.0 is newer") as caught:
        read("poetry.lock 2.1", 'lock-version = "2.1"', 'lock-version = "3.0"')
    assert (
        caught.value.line
        == SAMPLES["poetry.lock 2.1"][1].splitlines().index('lock-version = "2.1"') + 1
    )


def test_the_content_hash_of_poetry_is_noise() -> None:
    other = read("poetry.lock 2.1", 'content-hash = "aa"', 'content-hash = "bb"')
    assert compare_locks(read("poetry.lock 2.1"), other) == ()


def test_groups_that_an_older_file_does_not_know_are_no_change() -> None:
    older = read("poetry.lock 2.1", 'groups = ["main"]\n', "")
    assert older.knows >= {Knowledge.GROUPS}
    assert {c.name for c in compare_locks(older, read("poetry.lock 2.1"))} == {
        "numpy",
        "here",
        "lab-tools",
    }


# pdm.lock


def test_a_pdm_package_with_extras_is_one_package() -> None:
    lock = read("pdm.lock 4.5")
    httpx = one(lock, "httpx")
    assert [edge.name for edge in httpx.dependencies] == ["certifi", "socksio"]
    assert httpx.belongs_to == ("main", "net")
    assert len(httpx.artifacts) == 1
    assert lock.requires_python == ">=3.10"


def test_pdm_sources() -> None:
    lock = read("pdm.lock 4.5")
    tool = one(lock, "tool").source
    assert (tool.kind, tool.commit, tool.reference) == (SourceKind.GIT, "b" * 40, "rev=v1")
    assert one(lock, "here").source.kind is SourceKind.EDITABLE


def test_old_pdm_files_keep_hashes_apart() -> None:
    lock = read("pdm.lock 0.1")
    click = one(lock, "click")
    assert click.resolution_markers == ("python_version >= '2.7'",)
    assert [a.hash for a in click.artifacts] == ["sha256:aa"]
    assert [edge.name for edge in one(lock, "flask").dependencies] == ["click"]


# pylock.toml


def test_pylock_origins() -> None:
    lock = read("pylock.toml")
    assert {p.name: p.source.kind for p in lock.packages} == {
        "attrs": SourceKind.REGISTRY,
        "numpy": SourceKind.REGISTRY,
        "repo": SourceKind.GIT,
        "here": SourceKind.EDITABLE,
        "archive": SourceKind.URL,
    } | {"numpy": SourceKind.REGISTRY}
    assert one(lock, "here").version is None
    assert one(lock, "attrs").artifacts[0].hash == "sha256:aa"
    assert one(lock, "attrs").artifacts[0].size == 63152
    assert [p.resolution_markers for p in lock.packages if p.name == "numpy"] == [
        ("sys_platform == 'linux'",),
        ("sys_platform == 'win32' and 'gpu' in extras",),
    ]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('created-by = "uv"\n', "", "`created-by` is missing"),
        ('lock-version = "1.0"', 'lock-version = "2.0"', "newer"),
        ('lock-version = "1.0"', 'lock-version = "x"', "not the version of the format"),
        (
            'index = "https://registry.example/simple"\nwheels',
            'index = "i"\nother',
            "nowhere where",
        ),
        ('vcs = { type = "git"', 'sdist = { url = "u" }\nvcs = { type = "git"', "excludes `sdist`"),
        (', commit-id = "cccccccc"', "", "`commit-id` is missing"),
    ],
)
def test_what_pep_751_requires_is_required(old: str, new: str, words: str) -> None:
    with pytest.raises(LockfileProblem, match=words):
        read("pylock.toml", old, new)


# Pipfile.lock


def test_pipfile_categories_indexes_and_sources() -> None:
    lock = read("Pipfile.lock")
    assert lock.requires_python == "==3.11.*"
    assert one(lock, "numpy").belongs_to == ("main", "dev")
    assert one(lock, "torch").source.location == "https://user:secret@registry.example/cu124"
    assert one(lock, "docs-tool").belongs_to == ("docs",)
    assert one(lock, "repo").source.commit == "d" * 40
    assert one(lock, "here").source.kind is SourceKind.EDITABLE
    assert one(lock, "numpy").line == 17


def test_a_hash_that_is_replaced_is_a_rebuild_and_one_that_is_added_is_not() -> None:
    lock = read("Pipfile.lock")
    replaced = read("Pipfile.lock", '"sha256:a1"', '"sha256:ff"')
    assert [(c.name, c.kind) for c in compare_locks(lock, replaced)] == [
        ("numpy", ChangeKind.REBUILD)
    ]
    assert (
        compare_locks(lock, read("Pipfile.lock", '"sha256:a1"', '"sha256:a1", "sha256:ff"')) == ()
    )


# requirements.txt


def test_comments_of_pip_compile_tell_the_graph() -> None:
    lock = read("requirements.txt")
    assert lock.manifest_requirements == ("rich", "torch")
    torch = one(lock, "torch")
    assert torch.dependencies == (Dependency(name="numpy"), Dependency(name="sympy"))
    assert {a.hash for a in torch.artifacts} == {"sha256:aa", "sha256:bb"}
    assert one(lock, "numpy").resolution_markers == ('python_version >= "3.10"',)
    assert torch.source.location == "https://registry.example/simple"


def test_only_pins_count() -> None:
    text = "a==1.0\nb===1.0-odd\nc==1.*\nd>=1\ne\nf[x,y]==2 ; os_name == 'posix'\ng ==3 # why\n"
    lock = parse_lock(text, path="requirements.txt")
    assert {p.name: p.version for p in lock.packages} == {
        "a": "1.0",
        "b": "1.0-odd",
        "f": "2",
        "g": "3",
    }
    assert lock.unpinned == ("c==1.*", "d>=1", "e")
    assert Knowledge.GRAPH not in lock.knows


@pytest.mark.parametrize(
    ("line", "kind", "name", "version"),
    [
        ("-e ./lib", SourceKind.EDITABLE, "lib", None),
        (
            "-e git+https://git.example/x.git@" + "a" * 40 + "#egg=tool&subdirectory=sub",
            SourceKind.GIT,
            "tool",
            None,
        ),
        ("tool @ git+ssh://git@git.example/x.git@" + "a" * 40, SourceKind.GIT, "tool", None),
        (
            "tool @ https://files.example/tool-1.2-py3-none-any.whl#sha256=aa",
            SourceKind.URL,
            "tool",
            "1.2",
        ),
        ("./wheels/tool-1.2-py3-none-any.whl ; os_name == 'posix'", SourceKind.PATH, "tool", "1.2"),
        ("https://files.example/tool-1.2.tar.gz", SourceKind.URL, "tool", "1.2"),
        ("tool @ file:///srv/tool", SourceKind.DIRECTORY, "tool", None),
    ],
)
def test_places_are_pins(line: str, kind: SourceKind, name: str, version: str | None) -> None:
    (package,) = parse_lock(line + "\n", path="requirements.txt").packages
    assert (package.source.kind, package.name, package.version) == (kind, name, version)


def test_a_branch_is_no_pin() -> None:
    lock = parse_lock("tool @ git+https://git.example/x.git@main\na==1\n", path="requirements.txt")
    assert lock.unpinned == ("tool @ git+https://git.example/x.git@main",)


def test_pip_freeze_names_what_it_installs_in_place() -> None:
    text = "# Editable install with no version control (lab==0.3)\n-e /srv/lab\nnumpy==2.1.3\n"
    lab, _ = parse_lock(text, path="freeze.txt").packages
    assert (lab.name, lab.version, lab.source.location) == ("lab", "0.3", "/srv/lab")


def test_other_files_are_followed_without_going_in_circles() -> None:
    files = {
        "base/one.txt": "-r ../two.txt\nb==1\n",
        "two.txt": "-r base/one.txt\nc==1\n",
        "limits.txt": "d<3\n",
    }
    lock = parse_lock(
        "-r base/one.txt\n-c limits.txt\n-r nowhere.txt\na==1\n",
        path="requirements.txt",
        include=files.get,
    )
    assert [p.name for p in lock.packages] == ["c", "b", "a"]
    assert lock.constraints == ("d<3",)
    assert lock.notes == ("requirements.txt:3: `nowhere.txt` is not followed",)


def test_a_fault_in_another_file_names_that_file() -> None:
    with pytest.raises(LockfileProblem, match=r"^sub/one\.txt:2: no requirement") as caught:
        parse_lock("-r one.txt\n", path="sub/requirements.txt", include=lambda _: "a==1\n???\n")
    assert caught.value.line == 2


def test_odd_lines_of_requirements() -> None:
    text = "--extra-index-url https://u:p@registry.example/x\n--frobnicate yes\na==1 \\\n  ; os_name == 'nt'\nb==1\nb==2\n"
    lock = parse_lock(text, path="requirements.txt")
    assert lock.packages[0].resolution_markers == ('os_name == "nt"',)
    assert lock.notes == (
        "requirements.txt:2: an option that is not known: --frobnicate",
        "b is pinned twice: 1 and 2",
    )


# conda


def test_a_conda_build_is_told_by_its_file_name() -> None:
    lock = read("conda-lock.yml")
    numpy = [p for p in lock.packages if p.name == "numpy"]
    assert [(p.build, p.platforms, p.belongs_to) for p in numpy] == [
        ("py311h64a7726_0", ("linux-64",), ("main", "dev")),
        ("py311h0b4df5a_0", ("win-64",), ("main",)),
    ]
    assert numpy[0].source.location == "https://conda.example/conda-forge"
    assert numpy[0].version == "1.26.10"
    assert one(lock, "requests").source.commit == "3f07f990ac"
    assert numpy[0].dependencies == (Dependency(name="libblas"), Dependency(name="python"))


def test_a_rebuild_on_one_platform_and_an_upgrade_on_all() -> None:
    lock = read("conda-lock.yml")
    rebuilt = read("conda-lock.yml", "py311h64a7726_0.conda", "py311h64a7726_1.conda")
    (change,) = compare_locks(lock, rebuilt)
    assert (change.kind, change.name) == (ChangeKind.REBUILD, "numpy")
    assert change.detail == "build py311h64a7726_0 → py311h64a7726_1; for linux-64"
    text = SAMPLES["conda-lock.yml"][1].replace("1.26.10", "2.0.0")
    (change,) = compare_locks(lock, parse_lock(text, path="conda-lock.yml"))
    assert (change.kind, change.before, change.after) == (ChangeKind.UPGRADED, "1.26.10", "2.0.0")
    assert change.detail == ""


def test_the_same_build_in_another_archive_format_is_no_change() -> None:
    lock = read("conda-lock.yml")
    other = read("conda-lock.yml", "py311h64a7726_0.conda", "py311h64a7726_0.tar.bz2")
    assert compare_locks(lock, other) == ()


def test_a_mirror_is_a_source_and_not_an_upgrade() -> None:
    text = SAMPLES["conda-lock.yml"][1].replace("https://conda.example/", "https://mirror.example/")
    kinds = {
        c.kind
        for c in compare_locks(read("conda-lock.yml"), parse_lock(text, path="conda-lock.yml"))
    }
    assert kinds == {ChangeKind.SOURCE}


def test_pixi_environments_platforms_and_what_the_machine_must_have() -> None:
    lock = read("pixi.lock 7")
    assert lock.options == {"platform.p1.__cuda": "13.0.2", "platform.p1.__glibc": "2.35"}
    numpy = one(lock, "numpy")
    assert (numpy.belongs_to, numpy.platforms) == (("main", "cuda"), ("linux-64",))
    assert one(lock, "cuda-version").belongs_to == ("cuda",)
    assert one(lock, "rich").ecosystem == "pypi"
    assert one(lock, "rich").version == "13.9.4"
    assert one(lock, "lab").source.kind is SourceKind.EDITABLE


def test_old_pixi_files_are_read() -> None:
    lock = read("pixi.lock 4")
    assert [(p.name, p.version, p.build) for p in lock.packages] == [
        ("numpy", "1.26.4", "py312heda63a1_0")
    ]
    assert read("pixi.lock 1").packages[0].belongs_to == ("main",)


def test_what_an_export_of_conda_pins() -> None:
    lock = read("environment.yml")
    assert {p.name: (p.version, p.build) for p in lock.packages} == {
        "_libgcc_mutex": ("0.1", "conda_forge"),
        "numpy": ("1.26.4", "py311h64a7726_0"),
        "python": ("3.11", ""),
        "rich": ("13.9.4", ""),
    }
    loose = read("environment.yml", "prefix: /opt/lab\n", "")
    assert loose.unpinned == ("python=3.11", "pip", "torch>=2")
    assert read("environment.yml").unpinned == ("pip", "torch>=2")


def test_more_aliases_than_any_lockfile_has_are_refused() -> None:
    text = "a: &x [1]\nb:\n" + "- *x\n" * 60 + "dependencies:\n- numpy=1=0\n"
    with pytest.raises(LockfileProblem, match="aliases"):
        parse_lock(text, path="environment.yml")


def test_an_explicit_list_is_for_its_platform() -> None:
    lock = read("conda-linux-64.lock")
    assert [(p.name, p.version, p.platforms) for p in lock.packages] == [
        ("cuda-version", "12.9", ("linux-64",)),
        ("numpy", "2.1.3", ("linux-64",)),
    ]
    with pytest.raises(LockfileProblem, match="no address of a conda package") as caught:
        read("conda-linux-64.lock", "numpy-2.1.3-py311_0.conda", "numpy.conda")
    assert caught.value.line == 4


def test_from_one_format_to_another_only_versions_count() -> None:
    before = read("poetry.lock 2.1")
    after = parse_lock(
        "numpy==2.2.0\ntorch==2.5.1+cu124\nlab-tools==1\ntyping-extensions==4\nhere==1\n",
        path="requirements.txt",
    )
    changes = {c.name: c.kind for c in compare_locks(before, after)}
    assert changes["numpy"] is ChangeKind.UPGRADED
    assert "torch" not in changes


def test_names_that_formats_are_known_by() -> None:
    for filename, name in {
        "pylock.gpu.toml": "pylock.toml",
        "requirements-dev.txt": "requirements.txt",
        "dev-requirements.txt": "requirements.txt",
        "constraints.txt": "requirements.txt",
        "gpu.conda-lock.yml": "conda-lock.yml",
        "environment-gpu.yaml": "environment.yml",
        "conda-osx-arm64.lock": "conda explicit list",
    }.items():
        found = find_format(filename, "")
        assert found is not None
        assert found.name == name
    for filename in (
        "README.md",
        "notes.txt",
        "pyproject.toml",
        "uv.lock.bak",
        "docker-compose.yml",
    ):
        assert find_format(filename, "") is None


@pytest.mark.parametrize(
    ("filename", "text"),
    [
        ("environment.yml", "a: 1\n" + "-  " * 99 + "x\n"),
        ("environment.yml", "dependencies:\n- a" + " " * 100_000 + "=\n"),
        ("environment.yml", "dependencies:\n" + "".join(f"- p{n}=1=0\n" for n in range(20_000))),
        ("requirements.txt", "a" + " " * 200_000 + "b==1\n"),
        ("requirements.txt", "a==1" + " " * 200_000 + "--hash\n"),
        ("requirements.txt", "-e git+" + "a@/" * 50_000 + "\n"),
        ("conda-linux-64.lock", "@EXPLICIT\n" + "a-" * 100_000 + "\n"),
    ],
    ids=lambda value: value[:30],
)
def test_no_reader_takes_time_that_grows_faster_than_the_file(filename: str, text: str) -> None:
    # Each of these took hours, or forever, with a pattern that can match blanks in two ways: it is
    # the test's own end that shows it.
    try:
        lock = parse_lock(text, path=filename)
    except LockfileProblem:
        return
    assert lock.path == filename


def test_no_pattern_takes_quadratic_time() -> None:
    for form in FORMATS:
        assert not form.detects("", "a" * 300_000)
        assert not form.detects("", "\n" * 300_000)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("poetry.lock 1.0", 'lock-version = "1.0"', 'lock-version = "1.1"'),
        ("pdm.lock 4.2", 'lock_version = "4.2"', 'lock_version = "3.1"'),
        ("pdm.lock 4.2", 'lock_version = "4.2"', 'lock_version = "4.4"'),
        ("pixi.lock 4", "version: 4\n", "version: 5\n"),
        ("pixi.lock 4", "version: 4\n", "version: 6\n"),
        ("pixi.lock 1", "version: 1\n", "version: 2\n"),
        ("pixi.lock 1", "version: 1\n", "version: 3\n"),
    ],
)
def test_a_version_in_between_knows_what_the_document_says(name: str, old: str, new: str) -> None:
    lock = read(name, old, new)
    assert lock.knows == read(name).knows
    assert lock.packages == read(name).packages


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("uv.lock", "version = 1\n", "version = 2\n"),
        ("pylock.toml", 'lock-version = "1.0"', 'lock-version = "2.0"'),
        ("poetry.lock 2.1", 'lock-version = "2.1"', 'lock-version = "3.0"'),
        ("pdm.lock 4.5", 'lock_version = "4.5.1"', 'lock_version = "5.0"'),
        ("Pipfile.lock", '"pipfile-spec": 6', '"pipfile-spec": 7'),
        ("conda-lock.yml", "version: 1\n", "version: 2\n"),
        ("pixi.lock 7", "version: 7\n", "version: 8\n"),
    ],
)
def test_a_version_after_the_newest_is_refused_by_name(name: str, old: str, new: str) -> None:
    with pytest.raises(LockfileProblem, match=r"newer|version 2"):
        read(name, old, new)
