from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.select import explain_selection, identity, select
from envtrack.model.lock import Lock
from envtrack.model.selection import Selection
from tests.lockfiles.texts import (
    HEAD,
    LINUX,
    MAC,
    lock_from,
    lock_of,
    names,
    pinned,
    project,
    read_fixture,
)

BARE = Selection()


def selected(lock: Lock, selection: Selection = BARE, where: dict[str, str] = LINUX) -> list[str]:
    return names(select(lock, selection, where))


def test_only_what_the_project_needs_is_selected_in_file_order() -> None:
    lock = lock_from(pinned("b", "1"), pinned("a", "1", "b"), project("a"), pinned("z", "1"))
    assert selected(lock) == ["b 1", "a 1", "lab 1.0"]


def test_a_virtual_project_is_walked_but_not_installed() -> None:
    chosen = explain_selection(
        lock_from(project("a", kind="virtual"), pinned("a", "1")), BARE, LINUX
    )
    assert names(chosen.packages) == ["a 1"]
    assert names(chosen.reached) == ["lab 1.0", "a 1"]


def test_default_groups_are_selected_unless_unasked() -> None:
    groups = (
        '[package.dev-dependencies]\ndev = [{ name = "a" }]\ndocs = [{ name = "b" }]\n'
        '[package.optional-dependencies]\ngpu = [{ name = "c" }]\n'
    )
    lock = lock_from(project(more=groups), *(pinned(name, "1") for name in "abc"))
    assert selected(lock) == ["lab 1.0", "a 1"]
    assert selected(lock, Selection(without_groups=("dev",))) == ["lab 1.0"]
    assert selected(lock, Selection(groups=("Docs",))) == ["lab 1.0", "a 1", "b 1"]
    assert selected(lock, Selection(default_groups=())) == ["lab 1.0"]
    assert selected(lock, Selection(all_groups=True, all_extras=True)) == [
        "lab 1.0",
        "a 1",
        "b 1",
        "c 1",
    ]
    assert selected(lock, Selection(all_groups=True, without_groups=("dev",))) == ["lab 1.0", "b 1"]


def test_extras_of_dependencies_and_of_the_package_itself_are_followed() -> None:
    lock = lock_from(
        project('{ name = "a", extra = ["all"] }'),
        pinned(
            "a",
            "1",
            more="[package.optional-dependencies]\n"
            'all = [{ name = "a", extra = ["x"] }]\nx = [{ name = "b" }]\ny = [{ name = "c" }]\n',
        ).replace("\n\nwheels", "\n"),
        pinned("b", "1"),
        pinned("c", "1"),
    )
    assert selected(lock) == ["lab 1.0", "a 1", "b 1"]


def test_an_extra_as_a_single_string_is_read_as_the_preview_wrote_it() -> None:
    more = '[package.optional-dependencies]\nx = [{ name = "b" }]\n'
    lock = lock_from(
        project('{ name = "a", extra = "x" }'),
        pinned("a", "1", more=more),
        pinned("b", "1"),
    )
    assert selected(lock) == ["lab 1.0", "a 1", "b 1"]


def test_two_builds_of_one_package_are_selected_by_platform() -> None:
    lock = lock_of("two_builds.lock")
    torch = [name for name in selected(lock) if name.startswith("torch ")]
    assert torch == ["torch 2.11.0+cu128"]
    assert [n for n in selected(lock, where=MAC) if n.startswith("torch ")] == ["torch 2.11.0"]


def test_one_name_and_version_is_told_apart_by_its_source() -> None:
    lock = lock_of("prime_rl.lock")
    wants = Selection(extras=("flash-attn",))
    for machine in ("x86_64", "aarch64"):
        chosen = select(lock, wants, LINUX | {"platform_machine": machine})
        (wheel,) = [package for package in chosen if package.name == "flash-attn"]
        assert wheel.artifacts[0].filename.endswith(f"linux_{machine}.whl")


@pytest.mark.parametrize(
    ("extras", "torch"),
    [((), "torch 2.9.1"), (("cpu",), "torch 2.9.1+cpu"), (("gpu",), "torch 2.9.1+cu128")],
)
def test_conflicting_extras_choose_the_fork(extras: tuple[str, ...], torch: str) -> None:
    chosen = explain_selection(lock_of("nanochat.lock"), Selection(extras=extras), LINUX)
    assert [name for name in names(chosen.packages) if name.startswith("torch ")] == [torch]
    assert not [note for note in chosen.notes if "not in the lock" not in note]


def test_extras_that_exclude_each_other_are_noted() -> None:
    chosen = explain_selection(lock_of("nanochat.lock"), Selection(all_extras=True), LINUX)
    assert any("exclude each other" in note for note in chosen.notes)


def test_an_extra_turned_on_deep_in_the_graph_counts_for_the_forks() -> None:
    head = HEAD + (
        'conflicts = [[{ package = "a", extra = "old" }, { package = "lab", extra = "new" }]]\n'
    )
    edges = (
        (
            '{ name = "b", version = "1", source = { registry = "https://registry.example/simple" },'
            " marker = \"extra == 'extra-1-a-old'\" }"
        ),
        (
            '{ name = "b", version = "2", source = { registry = "https://registry.example/simple" },'
            " marker = \"extra != 'extra-1-a-old'\" }"
        ),
        '{ name = "a", extra = ["old"] }',
    )
    lock = lock_from(
        project(*edges),
        pinned("a", "1", more='[package.optional-dependencies]\nold = [{ name = "c" }]\n'),
        pinned("b", "1"),
        pinned("b", "2"),
        pinned("c", "1"),
        head=head,
    )
    assert selected(lock) == ["lab 1.0", "a 1", "b 1", "c 1"]


WORKSPACE = HEAD + '[manifest]\nmembers = ["lab", "lib", "tool"]\n'


def workspace(*, root: bool) -> Lock:
    members = [
        project("a", name="lib", at="lib"),
        project(
            "b", name="tool", at="tool", more='[package.dev-dependencies]\ndev = [{ name = "c" }]'
        ),
    ]
    here = project("lib") if root else project("lib", at="main")
    return lock_from(here, *members, *(pinned(name, "1") for name in "abc"), head=WORKSPACE)


def test_a_workspace_installs_its_root_project_alone() -> None:
    assert selected(workspace(root=True)) == ["lab 1.0", "lib 1.0", "a 1"]


def test_a_workspace_whose_root_is_no_project_installs_all_members() -> None:
    everything = ["lab 1.0", "lib 1.0", "tool 1.0", "a 1", "b 1", "c 1"]
    assert selected(workspace(root=False)) == everything
    assert selected(workspace(root=True), Selection(all_packages=True)) == everything


def test_one_member_can_be_selected() -> None:
    assert selected(workspace(root=True), Selection(package="Tool")) == ["tool 1.0", "b 1", "c 1"]


def test_groups_and_requirements_of_the_manifest_are_roots() -> None:
    head = HEAD + (
        '[manifest]\nrequirements = [{ name = "a", extras = ["x"] }]\n[manifest.dependency-groups]\n'
        'dev = [{ name = "b" }, { name = "c", marker = "sys_platform == \'win32\'" }]\n'
    )
    extra = '[package.optional-dependencies]\nx = [{ name = "d" }]\n'
    lock = lock_from(
        pinned("a", "1", more=extra), *(pinned(name, "1") for name in "bcd"), head=head
    )
    assert selected(lock) == ["a 1", "b 1", "d 1"]
    assert selected(lock, Selection(without_groups=("dev",))) == ["a 1", "d 1"]


def test_a_fork_is_chosen_where_an_edge_does_not_say_which() -> None:
    forks = [f"resolution-markers = [\"python_full_version {op} '3.12'\"]" for op in ("<", ">=")]
    head = HEAD + '[manifest]\nrequirements = [{ name = "a" }]\n'
    lock = lock_from(pinned("a", "1", more=forks[0]), pinned("a", "2", more=forks[1]), head=head)
    assert selected(lock) == ["a 2"]


def test_a_flat_list_without_a_root_selects_by_the_markers_of_its_packages() -> None:
    lock = lock_from(
        pinned("a", "1"),
        pinned("b", "1", more="resolution-markers = [\"os_name == 'nt'\"]"),
        pinned(
            "c", "1", more="resolution-markers = [\"os_name == 'nt'\", \"python_version >= '3'\"]"
        ),
    )
    assert selected(lock) == ["a 1", "c 1"]


def test_a_member_is_the_root_even_if_a_release_of_it_is_locked_too() -> None:
    lock = lock_from(pinned("lab", "0.9"), project("a"), pinned("a", "1"))
    assert selected(lock) == ["lab 1.0", "a 1"]


def test_a_marker_that_can_not_be_decided_counts_as_holding_and_is_noted() -> None:
    lock = lock_from(project('{ name = "a", marker = "colour == \'red\'" }'), pinned("a", "1"))
    chosen = explain_selection(lock, BARE, LINUX)
    assert names(chosen.packages) == ["lab 1.0", "a 1"]
    assert chosen.notes == ("a marker can't be decided and counts as holding: colour == 'red'",)


@pytest.mark.parametrize(
    ("selection", "note"),
    [
        (Selection(extras=("x",)), "no extra x in the lock"),
        (Selection(groups=("g",)), "no group g in the lock"),
        (Selection(without_groups=("h",)), "no group h in the lock"),
        (Selection(package="p"), "no package p in the lock"),
    ],
)
def test_names_that_are_nowhere_are_noted(selection: Selection, note: str) -> None:
    assert note in explain_selection(lock_from(project()), selection, LINUX).notes


def test_a_dependency_that_is_missing_or_means_two_packages_is_noted() -> None:
    lock = lock_from(project("a", "b"), pinned("b", "1"), pinned("b", "2"))
    chosen = explain_selection(lock, BARE, LINUX)
    assert names(chosen.packages) == ["lab 1.0", "b 1"]
    assert chosen.notes == (
        "a dependency is not in the lock: a",
        "b means 2 packages; the first is taken",
    )


def test_a_python_outside_requires_python_is_noted() -> None:
    old = LINUX | {"python_full_version": "3.8.1"}
    notes = explain_selection(lock_from(project()), BARE, old).notes
    assert notes == ("Python 3.8.1 is outside the lock's requires-python >=3.11",)


def test_a_requires_python_that_is_none_and_a_requirement_that_is_none_are_noted() -> None:
    lock = lock_from(project())._replace(requires_python="new", manifest_requirements=("!!",))
    assert len(explain_selection(lock, BARE, LINUX).notes) == 2


def test_identity_is_that_of_the_selection_not_of_the_file() -> None:
    text = read_fixture("nanochat.lock")
    other = (
        text.replace("revision = 3", "revision = 5")
        .replace("upload-time", "upload_time")
        .replace(", size = 1", ", size = 2")
        .replace("https://files.example/", "https://mirror.example/")
    )
    assert other != text
    one, two = (
        identity(select(parse_lock(each, path="uv.lock"), BARE, LINUX)) for each in (text, other)
    )
    assert one == two
    assert len(one) == 64


def test_two_selections_of_one_lock_have_two_identities() -> None:
    lock = lock_of("nanochat.lock")
    wanted = [(), ("cpu",), ("gpu",)]
    found = {identity(select(lock, Selection(extras=each), LINUX)) for each in wanted}
    assert len(found) == 3


def test_identity_does_not_see_what_is_not_selected() -> None:
    before = lock_from(project("a"), pinned("a", "1"), pinned("z", "1"))
    after = lock_from(project("a"), pinned("a", "1"), pinned("z", "2"))
    assert identity(select(before, BARE, LINUX)) == identity(select(after, BARE, LINUX))


BASE = pinned("a", "1")


@pytest.mark.parametrize(
    ("after", "is_same"),
    [
        (pinned("a", "1", more="resolution-markers = [\"os_name == 'posix'\"]"), True),
        (pinned("a", "1", host="https://other.example"), True),
        (pinned("a", "1", index="https://registry.example/simple/"), True),
        (pinned("a", "1", index="https://user:secret@registry.example/simple"), True),
        (pinned("a", "1", digest="ff"), False),
        (pinned("a", "2"), False),
        (pinned("b", "1"), False),
        (pinned("a", "1", index="https://registry.example/other"), False),
    ],
)
def test_what_identity_sees(after: str, *, is_same: bool) -> None:
    one, two = identity(lock_from(BASE).packages), identity(lock_from(after).packages)
    assert (one == two) is is_same


@pytest.mark.parametrize("part", ["commit", "subdirectory", "reference"])
def test_identity_sees_a_git_commit_and_not_how_it_was_asked_for(part: str) -> None:
    lock = lock_from(
        '[[package]]\nname = "a"\nversion = "1"\nsource = { git = "https://git.example/a?rev=x#0a" }\n'
    )
    (package,) = lock.packages
    source = package.source
    moved = {
        "commit": source._replace(commit="0b"),
        "subdirectory": source._replace(subdirectory="lib"),
        "reference": source._replace(reference="tag=v1"),
    }[part]
    assert (identity([package]) == identity([package._replace(source=moved)])) is (
        part == "reference"
    )


def test_identity_of_a_local_tree_is_its_name_and_path() -> None:
    one, two, three = (
        identity(lock_from(project(version=version, at=at)).packages)
        for version, at in (("1", "./lib"), ("2", "lib"), ("1", "."))
    )
    assert one == two != three


def test_identity_of_a_url_is_its_file() -> None:
    def url(host: str, digest: str) -> str:
        return identity(
            lock_from(
                f'[[package]]\nname = "a"\nversion = "1"\nsource = {{ url = "{host}/a.whl" }}\n'
                f'wheels = [{{ url = "{host}/a.whl"{digest} }}]\n'
            ).packages
        )

    one, two = "https://one.example", "https://two.example"
    assert url(one, ', hash = "sha256:0"') == url(two, ', hash = "sha256:0"')
    assert url(one, "") != url(two, "")


TAGS = frozenset({"cp312-cp312-manylinux_2_17_x86_64", "py3-none-any"})


def release(*files: str) -> str:
    rows = ", ".join(
        f'{{ url = "https://files.example/{name}", hash = "sha256:{name}" }}' for name in files
    )
    sdist = 'sdist = { url = "https://files.example/a-1.tar.gz", hash = "sha256:src" }'
    return identity(
        lock_from(
            f'[[package]]\nname = "a"\nversion = "1"\nsource = {{ registry = "r" }}\n{sdist}\n'
            f"wheels = [{rows}]\n"
        ).packages,
        tags=TAGS,
    )


def test_a_wheel_added_for_another_platform_changes_no_identity_here() -> None:
    here = "a-1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
    assert release(here) == release(here, "a-1-cp314-cp314-win_amd64.whl")
    assert release(here) != release("a-1-1-py2.py3-none-any.whl")


def test_a_wheel_whose_name_says_no_tags_counts_everywhere() -> None:
    assert release("odd.whl") != release()


def test_without_a_wheel_that_fits_the_source_counts() -> None:
    assert release() == release("a-1-cp314-cp314-win_amd64.whl")
    assert release() != release("a-1-py3-none-any.whl")


@settings(deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["nanochat.lock", "prime_rl.lock"]))
def test_identity_does_not_depend_on_order(shuffler: random.Random, name: str) -> None:
    packages = list(lock_of(name).packages)
    shuffled = [
        package._replace(artifacts=tuple(reversed(package.artifacts))) for package in packages
    ]
    shuffler.shuffle(shuffled)
    assert identity(shuffled) == identity(packages)
