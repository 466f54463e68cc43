from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envtrack.compare.locks import compare_locks, compare_requires_python
from envtrack.lockfiles.interface import parse_lock
from envtrack.model.comparison import Change, ChangeKind, Origin
from envtrack.model.layer import Layer
from envtrack.model.lock import Lock
from envtrack.model.selection import Selection
from tests.lockfiles.texts import (
    FIXTURES,
    HEAD,
    LINUX,
    MAC,
    by_name,
    lock_from,
    lock_of,
    pinned,
    project,
    read_fixture,
)

ALL = sorted(path.name for path in FIXTURES.glob("*.lock"))


def rows(changes: tuple[Change, ...]) -> list[tuple[str, str, str | None, str | None]]:
    return [(c.name, c.kind.value, c.before, c.after) for c in changes]


def only(changes: tuple[Change, ...]) -> Change:
    (change,) = changes
    return change


def one_change(before: str, after: str) -> Change:
    return only(compare_locks(lock_from(project("a"), before), lock_from(project("a"), after)))


@pytest.mark.parametrize("name", ALL)
def test_a_lock_does_not_differ_from_itself(name: str) -> None:
    lock, again = lock_of(name), lock_of(name)
    assert compare_locks(lock, lock) == ()
    assert compare_locks(lock, again._replace(path="elsewhere/uv.lock")) == ()
    assert compare_locks(lock, again._replace(path="x"), environment=LINUX) == ()


@pytest.mark.parametrize("revision", ["", "revision = 2\n", "revision = 5\n"])
def test_a_revision_alone_is_no_change(revision: str) -> None:
    text = read_fixture("nanochat.lock").replace("revision = 3\n", revision)
    after = parse_lock(text, path="uv.lock")
    assert after.revision != 3
    assert compare_locks(lock_of("nanochat.lock"), after) == ()


def test_form_is_no_change() -> None:
    text = read_fixture("nanochat.lock")
    other = (
        text.replace("upload-time", "upload_time")
        .replace(", size = 1", ", size = 2")
        .replace("https://files.example/", "https://mirror.example/")
        .replace("registry.example/simple", "registry.example/simple/")
    )
    after = parse_lock("\ufeff" + other.replace("\n", "\r\n"), path="uv.lock")
    assert compare_locks(lock_of("nanochat.lock"), after) == ()


@settings(deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(ALL))
def test_order_is_no_change(shuffler: random.Random, name: str) -> None:
    lock = lock_of(name)
    packages = [
        package._replace(
            dependencies=package.dependencies[::-1],
            artifacts=package.artifacts[::-1],
            resolution_markers=package.resolution_markers[::-1],
        )
        for package in lock.packages
    ]
    shuffler.shuffle(packages)
    assert compare_locks(lock, lock._replace(packages=tuple(packages))) == ()


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("1.9", "1.10", ChangeKind.UPGRADED),
        ("2.0", "2.0rc1", ChangeKind.DOWNGRADED),
        ("2.5.1+cu124", "2.5.1+cpu", ChangeKind.VARIANT),
        ("2.5.1+cu124", "2.5.1+cu121", ChangeKind.VARIANT),
        ("2.7.0", "2.7.0+cu128", ChangeKind.VARIANT),
        ("2.7.0+cu128", "2.8.0", ChangeKind.UPGRADED),
        ("2.9.0+739c6565", "2.9.0+c4c185db", ChangeKind.VARIANT),
        ("banana", "apple", ChangeKind.CHANGED),
    ],
)
def test_versions_move_up_down_or_to_another_variant(old: str, new: str, kind: ChangeKind) -> None:
    change = one_change(pinned("a", old), pinned("a", new))
    assert change == Change(
        layer=Layer.PACKAGES, name="a", kind=kind, before=old, after=new, origin=Origin.ROOT
    )


def test_two_spellings_of_one_version_are_no_change() -> None:
    before, after = pinned("a", "1.0", digest="0"), pinned("a", "1.0.0", digest="0")
    after = after.replace("a-1.0.0-py3", "a-1.0-py3")
    assert compare_locks(lock_from(project("a"), before), lock_from(project("a"), after)) == ()


def test_the_same_file_name_with_another_hash_is_a_rebuild() -> None:
    change = one_change(pinned("a", "1", digest="00"), pinned("a", "1", digest="01"))
    assert (change.kind, change.before, change.after) == (ChangeKind.REBUILD, "1", "1")
    assert change.detail == "a-1-py3-none-any.whl"


def test_another_build_number_is_a_rebuild() -> None:
    after = pinned("a", "1").replace("a-1-py3", "a-1-2-py3")
    assert one_change(pinned("a", "1"), after).kind is ChangeKind.REBUILD


def test_a_wheel_added_to_a_release_is_no_change() -> None:
    more = pinned("a", "1").replace(
        "wheels = [", 'wheels = [{ url = "https://files.example/a-1-cp314-none-any.whl" }, '
    )
    before, after = lock_from(project("a"), pinned("a", "1")), lock_from(project("a"), more)
    assert compare_locks(before, after) == ()


def test_another_index_is_a_source_change_with_its_credentials_hidden() -> None:
    index = "https://user:s3cr3t-word@private.example/simple"
    change = one_change(pinned("a", "1"), pinned("a", "1", index=index))
    assert change.kind is ChangeKind.SOURCE
    assert change.before == "https://registry.example/simple"
    assert change.after is not None
    assert "private.example/simple" in change.after
    assert "s3cr3t" not in f"{change}"
    assert change.detail == "1: index"


def test_only_a_git_commit_moved() -> None:
    changes = compare_locks(lock_of("git_commit.before.lock"), lock_of("git_commit.after.lock"))
    change = only(changes)
    assert (change.name, change.kind, change.origin) == (
        "pydantic-config",
        ChangeKind.SOURCE,
        Origin.ROOT,
    )
    assert change.before == "git+https://git.example/lab/pydantic_config.git@b4da73dea8"
    assert change.after == "git+https://git.example/lab/pydantic_config.git@74c94eed8b"
    assert change.detail == "0.2.0: git commit"


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        (
            '{ git = "https://git.example/a?tag=v1#aa" }',
            '{ git = "https://git.example/a?rev=aa#aa" }',
            "",
        ),
        (
            '{ git = "https://git.example/a#aa" }',
            '{ git = "https://git.example/b#aa" }',
            "git repository",
        ),
        ('{ git = "https://git.example/a#aa" }', '{ directory = "lib/a" }', "git → directory"),
        ('{ directory = "lib/a" }', '{ directory = "libs/a" }', "path"),
        ('{ url = "https://one.example/a.whl" }', '{ url = "https://two.example/a.whl" }', "URL"),
        ('{ orbit = "low" }', '{ orbit = "high" }', "path"),
    ],
)
def test_a_source_says_what_of_it_moved(old: str, new: str, detail: str) -> None:
    before, after = (
        lock_from(project("a"), f'[[package]]\nname = "a"\nversion = "1"\nsource = {source}\n')
        for source in (old, new)
    )
    details = [f"1: {detail}"] if detail else []
    assert [change.detail for change in compare_locks(before, after)] == details


def test_the_same_file_from_another_host_is_no_change() -> None:
    one, two = (
        lock_from(
            project("a"),
            f'[[package]]\nname = "a"\nversion = "1"\nsource = {{ url = "{host}/a.whl" }}\n'
            f'wheels = [{{ url = "{host}/a.whl", hash = "sha256:0" }}]\n',
        )
        for host in ("https://one.example", "https://two.example")
    )
    assert compare_locks(one, two) == ()


def test_a_build_for_another_cuda_is_a_variant_and_pulls_its_runtime_along() -> None:
    changes = compare_locks(lock_of("variant.before.lock"), lock_of("variant.after.lock"))
    kinds = {change.name: (change.layer, change.kind, change.origin) for change in changes}
    assert kinds["torch"] == (Layer.FRAMEWORK, ChangeKind.VARIANT, Origin.ROOT)
    assert kinds["nvidia-cudnn-cu12"] == (Layer.CUDA_RUNTIME, ChangeKind.UPGRADED, Origin.FORCED)
    assert kinds["triton"][1] is ChangeKind.SOURCE
    torch = next(change for change in changes if change.name == "torch")
    assert (torch.before, torch.after) == ("2.7.0", "2.7.0+cu128")
    assert torch.detail == "https://registry.example/simple → https://registry.example/torch/cu128"


def test_the_same_release_of_another_git_commit_is_a_variant() -> None:
    changes = compare_locks(lock_of("git_local.before.lock"), lock_of("git_local.after.lock"))
    change = next(change for change in changes if change.name == "transformer-engine")
    assert change.kind is ChangeKind.VARIANT
    assert "@739c6565b1 → git+" in change.detail


def test_added_and_removed_packages_follow_what_brought_them() -> None:
    before = lock_from(project("a"), pinned("a", "1", "b"), pinned("b", "1"))
    after = lock_from(project("a"), pinned("a", "2", "c"), pinned("c", "1"))
    changes = compare_locks(before, after)
    assert rows(changes) == [
        ("a", "upgraded", "1", "2"),
        ("b", "removed", "1", None),
        ("c", "added", None, "1"),
    ]
    assert [change.origin for change in changes] == [Origin.ROOT, Origin.FORCED, Origin.FORCED]
    assert [change.forced_by for change in changes] == [(), ("a",), ("a",)]


def test_who_forces_a_change_is_whoever_moved_and_needs_it() -> None:
    def lock(version: str) -> Lock:
        return lock_from(
            project("a", "z"),
            pinned("a", version, "b", "c", "d"),
            pinned("b", version, "d", "b"),
            pinned("c", "1", "d"),
            pinned("d", version),
            pinned("z", "1", "d"),
        )

    told = {change.name: change for change in compare_locks(lock("1"), lock("2"))}
    # c and z need d too, and did not move; b needs itself, as an extra of its own does.
    assert told["d"].forced_by == ()
    assert told["d"].origin is Origin.ROOT
    assert (told["b"].origin, told["b"].forced_by) == (Origin.FORCED, ("a",))
    chain = [
        lock_from(project("a"), pinned("a", v, "b"), pinned("b", v, "c"), pinned("c", v))
        for v in "12"
    ]
    forced = {change.name: change.forced_by for change in compare_locks(*chain)}
    assert forced == {"a": (), "b": ("a",), "c": ("b",)}


def test_one_that_moves_though_nothing_above_it_did_is_a_root_of_its_own() -> None:
    before = lock_from(project("a"), pinned("a", "1", "b"), pinned("b", "1"))
    after = lock_from(project("a"), pinned("a", "1", "b"), pinned("b", "2"))
    assert only(compare_locks(before, after)).origin is Origin.ROOT


def test_a_constraint_that_changed_its_text_asks_for_what_it_names() -> None:
    def lock(limit: str, version: str) -> Lock:
        head = HEAD + f'[manifest]\nconstraints = [{{ name = "b", specifier = "{limit}" }}]\n'
        head += 'excludes = ["?"]\n'
        return lock_from(project("a"), pinned("a", version, "b"), pinned("b", version), head=head)

    asked = {c.name: c.origin for c in compare_locks(lock("<2", "1"), lock("<3", "2"))}
    forced = {c.name: c.origin for c in compare_locks(lock("<3", "1"), lock("<3", "2"))}
    assert asked == {"a": Origin.ROOT, "b": Origin.ROOT}
    assert forced == {"a": Origin.ROOT, "b": Origin.FORCED}


def test_groups_of_a_root_that_is_no_project_ask() -> None:
    head = HEAD + '[manifest.dependency-groups]\ndev = [{ name = "a" }]\n'
    before, after = (lock_from(pinned("a", version), head=head) for version in "12")
    assert only(compare_locks(before, after)).origin is Origin.ROOT


def test_without_metadata_nobody_knows_who_asked() -> None:
    bare = (
        '[[package]]\nname = "lab"\nsource = { editable = "." }\ndependencies = [{ name = "a" }]\n'
    )
    before, after = (lock_from(bare, pinned("a", version)) for version in "12")
    assert only(compare_locks(before, after)).origin is Origin.NOT_KNOWN


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [("1.0", "1.1", ("1.0", "1.1")), ("1.0", None, ("1.0", "dynamic"))],
)
def test_the_projects_own_version_is_a_change(
    old: str, new: str | None, shown: tuple[str, str]
) -> None:
    before, after = (lock_from(project(name="torch", version=each)) for each in (old, new))
    change = only(compare_locks(before, after))
    assert (change.layer, change.detail, change.origin) == (
        Layer.PACKAGES,
        "own version",
        Origin.ROOT,
    )
    assert (change.before, change.after) == shown


def test_a_member_that_left_the_workspace_is_removed_though_it_has_no_version() -> None:
    head = HEAD + '[manifest]\nmembers = ["lab", "lib"]\n'
    before = lock_from(project(), project(name="lib", at="lib", version=None), head=head)
    change = only(compare_locks(before, lock_from(project())))
    assert rows((change,)) == [("lib", "removed", "dynamic", None)]
    assert change.detail == "editable lib"


FORK = 'resolution-markers = ["{}"]'
OLD, NEW = "python_full_version < '3.12'", "python_full_version >= '3.12'"


def forked(low: str, high: str) -> Lock:
    return lock_from(
        project("a", requires=("a",)),
        pinned("a", low, more=FORK.format(OLD)),
        pinned("a", high, more=FORK.format(NEW)),
    )


def test_several_versions_of_one_name_are_paired_by_fork() -> None:
    changes = compare_locks(forked("1.0", "2.0"), forked("1.1", "2.0"))
    assert rows(changes) == [("a", "upgraded", "1.0", "1.1")]
    assert only(changes).detail == f"for {OLD}"
    both = compare_locks(forked("1.0", "2.0"), forked("1.1", "1.9"))
    assert rows(both) == [("a", "upgraded", "1.0", "1.1"), ("a", "downgraded", "2.0", "1.9")]


def test_a_fork_that_appears_is_added_and_the_other_stays() -> None:
    before = lock_from(project("a"), pinned("a", "1.0"))
    assert rows(compare_locks(before, forked("1.0", "2.0"))) == [("a", "added", None, "2.0")]
    assert rows(compare_locks(forked("1.0", "2.0"), before)) == [("a", "removed", "2.0", None)]


def test_one_name_and_version_for_two_platforms_is_not_collapsed() -> None:
    before = lock_of("prime_rl.lock")
    text = (
        read_fixture("prime_rl.lock").replace("v0.9.22", "v0.9.23").replace("60331d8b", "70331d8b")
    )
    change = only(compare_locks(before, parse_lock(text, path="uv.lock")))
    assert (change.name, change.kind) == ("flash-attn", ChangeKind.SOURCE)
    assert "aarch64" in change.detail
    assert change.before is not None
    assert "aarch64" in change.before


def test_builds_of_one_release_are_paired_before_other_releases() -> None:
    before = lock_from(project("torch"), pinned("torch", "2.7.1"))
    after = lock_from(project("torch"), pinned("torch", "2.2.2"), pinned("torch", "2.7.1+cpu"))
    assert rows(compare_locks(before, after)) == [
        ("torch", "added", None, "2.2.2"),
        ("torch", "variant", "2.7.1", "2.7.1+cpu"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        (
            '"a"',
            '{ name = "a", marker = "sys_platform == \'linux\'" }',
            "lab → lab if sys_platform == 'linux'",
        ),
        ('{ name = "a", extra = ["x"] }', '"a"', "lab wants [x] → lab"),
    ],
)
def test_a_marker_or_an_extra_alone_is_a_selector_change(old: str, new: str, detail: str) -> None:
    before, after = (
        lock_from(project(edge.strip('"'), requires=("a",)), pinned("a", "1"))
        for edge in (old, new)
    )
    change = only(compare_locks(before, after))
    assert (change.kind, change.before, change.after) == (ChangeKind.SELECTOR, "1", "1")
    assert (change.detail, change.origin) == (detail, Origin.ROOT)


def test_a_dependency_that_moved_to_an_extra_is_a_selector_change() -> None:
    optional = '[package.optional-dependencies]\nx = [{ name = "a" }]\n'
    before = lock_from(project("a"), pinned("a", "1"))
    after = lock_from(project(more=optional, requires=("a",)), pinned("a", "1"))
    change = only(compare_locks(before, after))
    assert (change.kind, change.detail) == (ChangeKind.SELECTOR, "lab → lab[x]")


def test_a_new_parent_is_no_change_of_its_dependency() -> None:
    before = lock_from(project("a"), pinned("a", "1"))
    after = lock_from(project("a", "b"), pinned("a", "1"), pinned("b", "1", "a"))
    assert rows(compare_locks(before, after)) == [("b", "added", None, "1")]


def test_another_fork_of_the_same_version_is_a_selector_change() -> None:
    before = forked("1.0", "2.0")
    changed = by_name(lock_from(pinned("a", "2.0")), "a")._replace(
        resolution_markers=("os_name == 'nt'",)
    )
    after = before._replace(packages=(*before.packages[:2], changed))
    change = only(compare_locks(before, after))
    assert (change.kind, change.before) == (ChangeKind.SELECTOR, "2.0")
    assert change.detail == f"fork; for {NEW} → for os_name == 'nt'"


CONFLICT = (
    HEAD + 'conflicts = [[{ package = "lab", extra = "x" }, { package = "lab", group = "y" }]]\n'
)
IMPOSSIBLE = "(extra == 'extra-3-lab-x' and extra == 'group-3-lab-y')"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("os_name == 'nt'", f"os_name == 'nt' or {IMPOSSIBLE}"),
        ("os_name == 'nt'", f"{IMPOSSIBLE} or os_name == 'nt'"),
        ("os_name == 'nt'", "os_name == 'nt' or (os_name == 'a' and (" + IMPOSSIBLE[1:-1] + "))"),
        ("os_name == 'nt' and extra == 'b'", "extra == 'b' and os_name == 'nt'"),
        ("(os_name == 'nt')", 'os_name == "nt"'),
    ],
)
def test_an_impossible_clause_or_another_order_is_no_change(old: str, new: str) -> None:
    def lock(marker: str) -> Lock:
        edge = f"{{ name = 'a', marker = '''{marker}''' }}"
        return lock_from(project(edge, requires=("a",)), pinned("a", "1"), head=CONFLICT)

    assert compare_locks(lock(old), lock(new)) == ()


def test_an_edge_that_can_never_hold_is_none() -> None:
    edge = f"{{ name = 'a', marker = '''{IMPOSSIBLE}''' }}"
    before = lock_from(
        project("b", requires=("b",)), pinned("a", "1"), pinned("b", "1"), head=CONFLICT
    )
    after = lock_from(
        project(edge, "b", requires=("b",)), pinned("a", "1"), pinned("b", "1"), head=CONFLICT
    )
    assert compare_locks(before, after) == ()


def test_text_that_is_no_marker_is_compared_as_text() -> None:
    before, after = (
        lock_from(project(f'{{ name = "a", marker = "{text}" }}'), pinned("a", "1"))
        for text in ("when it rains", "when it pours")
    )
    assert only(compare_locks(before, after)).kind is ChangeKind.SELECTOR


def test_with_an_environment_only_what_is_selected_there_counts() -> None:
    def lock(version: str) -> Lock:
        edge = "{ name = 'a', marker = \"sys_platform == 'darwin'\" }"
        return lock_from(project(edge, requires=("a",)), pinned("a", version))

    before, after = lock("1"), lock("2")
    assert compare_locks(before, after, environment=LINUX) == ()
    assert rows(compare_locks(before, after, environment=MAC)) == [("a", "upgraded", "1", "2")]


def test_what_is_locked_in_both_and_selected_in_one_is_a_selector_change() -> None:
    def lock(system: str) -> Lock:
        edge = f"{{ name = 'a', marker = \"sys_platform == '{system}'\" }}"
        return lock_from(project(edge, requires=("a",)), pinned("a", "1"))

    gone = only(compare_locks(lock("linux"), lock("darwin"), environment=LINUX))
    come = only(compare_locks(lock("darwin"), lock("linux"), environment=LINUX))
    assert (gone.kind, gone.before, gone.after) == (ChangeKind.SELECTOR, "1", None)
    assert (come.kind, come.before, come.after) == (ChangeKind.SELECTOR, None, "1")
    assert gone.detail == "it is still locked, but not selected here any more"


def test_a_selection_narrows_the_comparison() -> None:
    def lock(version: str) -> Lock:
        extra = '[package.optional-dependencies]\nx = [{ name = "a" }]\n'
        return lock_from(project(more=extra, requires=("a",)), pinned("a", version))

    assert compare_locks(lock("1"), lock("2"), selection=Selection()) == ()
    wanted = Selection(extras=("x",))
    assert rows(compare_locks(lock("1"), lock("2"), selection=wanted, environment=LINUX)) == [
        ("a", "upgraded", "1", "2")
    ]


def test_a_lock_that_appears_or_vanishes_adds_or_removes_all() -> None:
    lock = lock_from(project("a"), pinned("a", "1", "b"), pinned("b", "1"))
    added = compare_locks(None, lock)
    assert {change.kind for change in added} == {ChangeKind.ADDED}
    assert {change.name: change.origin for change in added} == {
        "lab": Origin.ROOT,
        "a": Origin.ROOT,
        "b": Origin.FORCED,
    }
    assert {change.kind for change in compare_locks(lock, None)} == {ChangeKind.REMOVED}
    assert compare_locks(None, None) == ()


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        (">=3.11", ">=3.12", True),
        (">=3.8,<4", "<4, >=3.8", False),
        (">=3.08", ">=3.8", False),
        (">=3.11", "", True),
        ("whatever", "whatever", False),
        ("whatever", ">=3.11", True),
    ],
)
def test_the_pythons_of_a_lock_are_compared_by_meaning(
    old: str, new: str, *, differs: bool
) -> None:
    base = lock_from(project())
    change = compare_requires_python(
        base._replace(requires_python=old), base._replace(requires_python=new)
    )
    assert (change is not None) is differs
    if change is not None:
        assert (change.layer, change.before, change.after) == (Layer.PYTHON, old, new or None)


def test_changes_come_from_the_ground_up_and_roots_first() -> None:
    before = lock_from(
        project("a", "torch"),
        pinned("a", "1"),
        pinned("nvidia-nccl-cu12", "1"),
        pinned("torch", "1", "nvidia-nccl-cu12"),
    )
    after = lock_from(
        project("a", "torch"),
        pinned("a", "2"),
        pinned("nvidia-nccl-cu12", "2"),
        pinned("torch", "2", "nvidia-nccl-cu12"),
    )
    assert [(c.name, c.layer.value, c.origin.value) for c in compare_locks(before, after)] == [
        ("nvidia-nccl-cu12", "cuda-runtime", "forced"),
        ("torch", "framework", "root"),
        ("a", "packages", "root"),
    ]


def pixi(*environments: tuple[str, tuple[str, ...]]) -> Lock:
    """One noarch package in these environments, each on these platforms."""
    url = "https://conda.example/conda-forge/noarch/a-1-0.conda"
    lines = ["version: 6", "environments:"]
    for name, platforms in environments:
        lines += [f"  {name}:", "    packages:"]
        for platform in platforms:
            lines += [f"      {platform}:", f"      - conda: {url}"]
    return parse_lock("\n".join([*lines, "packages:", f"- conda: {url}", ""]), path="pixi.lock")


def test_a_package_that_is_in_other_groups_on_one_platform_only_is_told_in_both_directions() -> (
    None
):
    both = ("linux-64", "osx-64")
    before = pixi(("default", both), ("docs", both))
    # The file has the platforms in another order now; that alone is no change.
    after = pixi(("default", ("osx-64",)), ("docs", both))
    (change,) = compare_locks(before, after)
    assert change.detail == "in docs, main → in docs; for linux-64"
    (change,) = compare_locks(after, before)
    assert change.detail == "in docs → in docs, main; for linux-64"
    (change,) = compare_locks(before, pixi(("docs", both)))
    assert change.detail == "in docs, main → in docs"
