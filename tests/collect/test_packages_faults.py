from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.collect.packages import PackagesCollector
from envtrack.collect.record_files import QUICK, Bounds, check_files
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import (
    add_distribution,
    facts_of,
    machine,
    make_environment,
    site_of,
    write,
)

COMMIT = "0a" * 20
OTHER = "1b" * 20


def read(
    tmp_path: Path, environment: Path, environ: Mapping[str, str] = {}
) -> dict[str, FactState]:
    where = machine(tmp_path, environment=environment, environ=environ)
    facts = facts_of(PackagesCollector(), where)
    return {name.removeprefix("packages."): state for name, state in facts.items()}


def add(site: Path, name: str, version: str, *headers: str) -> Path:
    info = site / f"{name}-{version}.dist-info"
    lines = [f"Name: {name}", f"Version: {version}", *headers]
    write(info / "METADATA", "\n".join(lines) + "\n\nRequires-Dist: no-header\n")
    return info


# --- requirements -----------------------------------------------------------------------------


def broken(tmp_path: Path, *headers: str, config: str = "") -> FactState:
    environment = make_environment(tmp_path, config or "home = /usr/bin\nversion = 3.11.7\n")
    site = site_of(environment)
    add(site, "one", "1.0", *headers)
    add(site, "numpy", "2.1.0")
    add(site, "torch", "2.13.0+cpu")
    add(site, "pre", "1.0rc1")
    return read(tmp_path, environment)["broken-requirements"]


@pytest.mark.parametrize(
    "line",
    [
        "numpy",
        "numpy>=1.26,<3",
        "Numpy[extra] (>=2.0) ; python_version >= '3.8'",
        "torch==2.13.0",  # a local version satisfies its public one
        "pre>=1.0a1",
        "missing; python_version < '3'",
        "missing; extra == 'dev'",
        "missing ; platform_python_implementation == 'PyPy'",
        "numpy @ https://files.example/numpy;x.whl ; python_version > '3'",
        "numpy>=not.a.version",  # what can't be understood is no sure misfit
        "missing; an odd marker",
        "",
        "!!",
    ],
)
def test_a_requirement_that_is_met_or_not_meant_for_us_is_no_fault(
    tmp_path: Path, line: str
) -> None:
    assert broken(tmp_path, f"Requires-Dist: {line}") == Absent()


def test_what_is_missing_and_what_does_not_fit_are_told_apart(tmp_path: Path) -> None:
    state = broken(tmp_path, "Requires-Dist: numpy (<2)", "Requires-Dist: Missing_Thing>=1")
    assert state == Known(
        "2: one 1.0 needs numpy<2, not 2.1.0; one 1.0 needs missing-thing>=1, which is not installed"
    )


def test_versions_are_compared_as_numbers(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    add(site_of(environment), "one", "1", "Requires-Dist: two>=12.4")
    add(site_of(environment), "two", "12.10")
    assert read(tmp_path, environment)["broken-requirements"] == Absent()


def test_markers_are_those_of_the_environments_python_and_not_of_ours(tmp_path: Path) -> None:
    config = "home = /usr/bin\nversion = 3.8.1\n"
    line = "Requires-Dist: missing; python_version < '3.9' and python_full_version >= '3.8.1'"
    assert isinstance(broken(tmp_path, line, config=config), Known)


def test_a_python_that_a_package_does_not_support_is_a_fault(tmp_path: Path) -> None:
    assert broken(tmp_path, "Requires-Python: >=3.12") == Known(
        "1: one 1.0 needs Python >=3.12, not 3.11.7"
    )


def test_what_the_systems_python_may_have_is_not_missed(tmp_path: Path) -> None:
    config = "home = /usr/bin\nversion = 3.11.7\ninclude-system-site-packages = true\n"
    state = broken(tmp_path, "Requires-Dist: missing", "Requires-Dist: numpy<2", config=config)
    assert state == Known("1: one 1.0 needs numpy<2, not 2.1.0")


def test_of_many_faults_the_first_are_named_and_all_are_counted(tmp_path: Path) -> None:
    state = broken(tmp_path, *(f"Requires-Dist: missing-{n:02}" for n in range(30)))
    assert isinstance(state, Known)
    text = str(state.value)
    assert text.startswith("30: one 1.0 needs missing-00,")
    assert text.endswith("; …")
    assert text.count("missing-") == 10


# --- files ------------------------------------------------------------------------------------


def record(site: Path, name: str, files: Mapping[str, str], version: str = "1.0") -> Path:
    """A distribution whose files are there, with a RECORD of the form that installers write."""
    info = add(site, name, version)
    rows = [f"{info.name}/RECORD,,"]
    for path, text in files.items():
        write(site / path, text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        rows.append(f"{path},sha256={digest.decode()},{len(text.encode())}")
    write(info / "RECORD", "\r\n".join(rows) + "\r\n")
    return info


def age(path: Path, seconds: float) -> None:
    """Sets a file's time of change to so many seconds from now."""
    moment = time.time() + seconds
    os.utime(path, (moment, moment))


FILES = {"one/__init__.py": "a = 1\n", "one/_c.so": "ELF", "one/data.txt": "text"}


def test_files_as_they_were_installed_are_no_fault(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    record(site_of(environment), "one", FILES)
    facts = read(tmp_path, environment)
    assert [facts[name] for name in ("edited", "missing-files", "file-clashes")] == [Absent()] * 3


def test_a_file_of_another_size_was_edited_whatever_its_time(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    site = site_of(environment)
    record(site, "one", FILES)
    write(site / "one/__init__.py", "a = 100\n")
    age(site / "one/__init__.py", -1000)
    assert read(tmp_path, environment)["edited"] == Known("1 file: one/__init__.py")


def test_files_into_which_conda_wrote_its_prefix_were_not_edited(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    write(environment / "conda-meta/one-1.0-py311_0.json", "{}")
    info = record(site_of(environment), "one", FILES)
    write(site_of(environment) / "one/__init__.py", "prefix = '/opt/conda'\n")
    assert isinstance(read(tmp_path, environment)["edited"], Known)
    write(info / "INSTALLER", "conda\n")
    assert read(tmp_path, environment)["edited"] == Absent()


def test_a_newer_file_of_the_same_size_is_compared_by_its_hash(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    site = site_of(environment)
    record(site, "one", {**FILES, "one/same.py": "b = 1\n"})
    write(site / "one/__init__.py", "a = 2\n")
    for name in ("__init__.py", "same.py"):
        age(site / "one" / name, 1000)
    assert read(tmp_path, environment)["edited"] == Known("1 file: one/__init__.py")


def test_a_file_that_is_gone_is_missing_and_not_edited(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    site = site_of(environment)
    record(site, "one", FILES)
    (site / "one/_c.so").unlink()
    facts = read(tmp_path, environment)
    assert facts["missing-files"] == Known("1 file: one/_c.so")
    assert facts["edited"] == Absent()


def test_scripts_data_and_caches_are_not_looked_at(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    site = site_of(environment)
    record(site, "one", {"../../../bin/tool.py": "#!python\n", "one/data.txt": "x"})
    for path in ("../../../bin/tool.py", "one/data.txt"):
        (site / path).unlink()
    assert read(tmp_path, environment)["missing-files"] == Absent()


def test_one_path_of_two_distributions_is_a_clash_if_its_content_differs(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    site = site_of(environment)
    # opencv-python and opencv-python-headless both install cv2; namespaces share empty files.
    record(site, "opencv_python", {"cv2/version.py": "v = 1\n", "nvidia/__init__.py": ""})
    record(site, "opencv_python_headless", {"cv2/version.py": "v = 22\n", "nvidia/__init__.py": ""})
    facts = read(tmp_path, environment)
    assert facts["file-clashes"] == Known(
        "1 file: cv2/version.py (opencv_python-1.0 | opencv_python_headless-1.0)"
    )
    assert facts["edited"] == Absent()


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "one.py\n", "one.py,sha256=\n", '"a,b.py",sha256=x,1\n', "\udcff.py,sha256=x,1\n"],
)
def test_odd_records_are_no_crash(tmp_path: Path, text: str) -> None:
    environment = make_environment(tmp_path)
    info = add(site_of(environment), "one", "1.0")
    write(info / "RECORD", text.encode("utf-8", "surrogateescape"))
    assert isinstance(read(tmp_path, environment)["edited"], Absent)


def test_too_many_files_are_unknown_and_not_half_looked_at(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    info = record(site, "one", FILES)
    (site / "one/_c.so").unlink()
    states = check_files([info], replace(QUICK, record_bytes=10))
    assert set(states.values()) == {Unknown("so many files that only --deep looks at each")}


def test_a_slow_file_system_is_given_up(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    info = record(site, "one", FILES)
    ticks = iter([0.0, 1.0])
    states = check_files([info], QUICK, clock=lambda: next(ticks))
    assert states["edited"] == Unknown("the file system is too slow: only --deep takes the time")


def test_what_is_too_large_to_compare_is_unknown(tmp_path: Path) -> None:
    site = site_of(make_environment(tmp_path))
    info = record(site, "one", FILES)
    age(site / "one/_c.so", 1000)
    states = check_files([info], Bounds(record_bytes=10_000, seconds=60, hash_bytes=2))
    assert isinstance(states["edited"], Unknown)


def test_deep_looks_where_a_quick_look_gives_up(tmp_path: Path) -> None:
    environment = make_environment(tmp_path)
    site = site_of(environment)
    record(site, "one", {"one/big.py": "x" * (QUICK.hash_bytes + 1)})
    write(site / "one/big.py", "y" * (QUICK.hash_bytes + 1))
    age(site / "one/big.py", 1000)
    where = machine(tmp_path, environment=environment)
    quick = facts_of(PackagesCollector(), where)
    deep = facts_of(PackagesCollector(), replace(where, deep=True))
    assert isinstance(quick["packages.edited"], Unknown)
    assert deep["packages.edited"] == Known("1 file: one/big.py")


# --- shadows ----------------------------------------------------------------------------------


def shadowed(tmp_path: Path, environ: Mapping[str, str] = {}) -> FactState:
    environment = tmp_path / "home/alice/project/.venv"
    if not environment.exists():
        make_environment(tmp_path)
    for name in ("torch/__init__.py", "numpy/__init__.py", "tests/__init__.py", "six.py"):
        write(site_of(environment) / name)
    return read(tmp_path, environment, environ)["shadowed"]


def test_a_script_of_the_project_named_like_an_installed_module_shadows_it(tmp_path: Path) -> None:
    project = tmp_path / "home/alice/project"
    write(project / "torch.py")
    write(project / "train.py")
    assert shadowed(tmp_path) == Known(f"1: {project}/torch.py hides the environment's")


def test_one_named_like_a_module_of_the_standard_library_shadows_that(tmp_path: Path) -> None:
    project = tmp_path / "home/alice/project"
    for name in ("random.py", "sys.py", "time.py", "test/__init__.py", "_thread.py", "setup.py"):
        write(project / name)
    # sys and time are compiled into the interpreter, and nobody means Python's own tests.
    assert shadowed(tmp_path) == Known(f"1: {project}/random.py hides the standard library's")


def test_a_folder_shadows_only_with_an_init_file(tmp_path: Path) -> None:
    project = tmp_path / "home/alice/project"
    write(project / "numpy/notes.txt")
    assert shadowed(tmp_path) == Absent()
    write(project / "numpy/__init__.py")
    assert shadowed(tmp_path) == Known(f"1: {project}/numpy hides the environment's")


def test_what_pythonpath_names_comes_before_the_environment(tmp_path: Path) -> None:
    write(tmp_path / "root/opt/libs/numpy/__init__.py")
    write(tmp_path / "root/opt/libs/six.cpython-311-x86_64-linux-gnu.so")
    state = shadowed(tmp_path, {"PYTHONPATH": "/opt/libs:/opt/libs:/gone::"})
    libs = tmp_path / "root/opt/libs"
    assert state == Known(
        f"2: {libs}/numpy hides the environment's; "
        f"{libs}/six.cpython-311-x86_64-linux-gnu.so hides the environment's"
    )


def test_a_safe_path_leaves_the_projects_folder_out(tmp_path: Path) -> None:
    write(tmp_path / "home/alice/project/torch.py")
    assert shadowed(tmp_path, {"PYTHONSAFEPATH": "1"}) == Absent()


# --- revisions of editable installs -----------------------------------------------------------


def editable(tmp_path: Path, source: str = "/srv/lib/python") -> dict[str, FactState]:
    environment = tmp_path / "home/alice/project/.venv"
    if not environment.exists():
        make_environment(tmp_path)
    record = {"url": f"file://{source}", "dir_info": {"editable": True}}
    add_distribution(site_of(environment), "lib", "1.0", direct_url=json.dumps(record))
    facts = read(tmp_path, environment)
    return {name: state for name, state in facts.items() if name.startswith("editable")}


@pytest.mark.parametrize(
    "files",
    [
        {"HEAD": f"{COMMIT}\n"},
        {"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{COMMIT}\n"},
        {
            "HEAD": "ref: refs/heads/a/b\n",
            "packed-refs": f"# pack-refs with: peeled\n{OTHER} refs/heads/a\n{COMMIT} refs/heads/a/b\n^{OTHER}\n",
        },
        {
            "HEAD": "ref: refs/heads/main\n",
            "refs/heads/main": f"{COMMIT}\n",
            "packed-refs": f"{OTHER} refs/heads/main\n",
        },
    ],
)
def test_an_editable_install_has_the_revision_that_is_checked_out(
    tmp_path: Path, files: dict[str, str]
) -> None:
    for name, text in files.items():
        write(tmp_path / "root/srv/lib/.git" / name, text)
    assert editable(tmp_path) == {"editable-revision.lib": Known(COMMIT)}


def test_a_linked_worktree_has_its_own_head_and_the_shared_branches(tmp_path: Path) -> None:
    git = tmp_path / "root/srv/main/.git"
    write(git / "worktrees/lib/HEAD", "ref: refs/heads/topic\n")
    write(git / "worktrees/lib/commondir", "../..\n")
    write(git / "refs/heads/topic", f"{COMMIT}\n")
    write(tmp_path / "root/srv/lib/.git", f"gitdir: {git}/worktrees/lib\n")
    assert editable(tmp_path) == {"editable-revision.lib": Known(COMMIT)}


@pytest.mark.parametrize(
    ("files", "state"),
    [
        ({"HEAD": "ref: refs/heads/main\n"}, Absent()),  # no commit yet
        ({"HEAD": "ref: refs/heads/.invalid\n"}, Unknown("its branches are in a reftable")),
        ({"HEAD": "odd\n"}, Unknown("an odd HEAD")),
        ({"HEAD": "ref: HEAD\n"}, Unknown("its HEAD leads in a circle")),
        ({"config": ""}, Absent()),
    ],
)
def test_a_repository_without_a_commit_to_read_says_why(
    tmp_path: Path, files: dict[str, str], state: FactState
) -> None:
    for name, text in files.items():
        write(tmp_path / "root/srv/lib/.git" / name, text)
    assert editable(tmp_path) == {"editable-revision.lib": state}


def test_an_editable_install_that_is_in_no_repository_has_no_revision(tmp_path: Path) -> None:
    assert editable(tmp_path) == {"editable-revision.lib": Absent()}


def test_the_projects_own_commit_is_no_part_of_its_environment(tmp_path: Path) -> None:
    project = tmp_path / "home/alice/project"
    write(project / ".git/HEAD", f"{COMMIT}\n")
    (tmp_path / "root/srv").mkdir(parents=True)
    (tmp_path / "root/srv/lib").symlink_to(project)
    (project / "python").mkdir()
    assert editable(tmp_path) == {}
