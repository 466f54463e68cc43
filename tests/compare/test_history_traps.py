"""Traps of real histories of uv.lock, each as a few lines: what is told of them as a change."""

from __future__ import annotations

import pytest

from envtrack.compare.locks import compare_locks
from envtrack.compare.records import Record, compare_records
from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.select import explain_selection, identity, select
from envtrack.model.comparison import Change, ChangeKind, Origin
from envtrack.model.layer import Layer
from envtrack.model.lock import Lock
from envtrack.model.selection import Selection
from tests.lockfiles.samples import SAMPLES
from tests.lockfiles.texts import HEAD, LINUX, lock_from, pinned, project

X, Y = "extra == 'extra-3-lab-x'", "extra == 'extra-3-lab-y'"
CONFLICT = (
    HEAD + 'conflicts = [[{ package = "lab", extra = "x" }, { package = "lab", extra = "y" }]]\n'
)


def told(before: Lock, after: Lock) -> list[tuple[str, str, str | None, str | None, str]]:
    return [
        (c.name, c.kind.value, c.before, c.after, c.detail) for c in compare_locks(before, after)
    ]


def needing(marker: str, *, head: str = HEAD) -> Lock:
    """`lab` needs `a` where the marker holds."""
    edge = f'{{ name = "a", marker = "{marker}" }}'
    return lock_from(project(edge, requires=("a",)), pinned("a", "1"), head=head)


def of_python(specifiers: str) -> Lock:
    return lock_from(project("a"), pinned("a", "1"))._replace(requires_python=specifiers)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">=3.08", ">=3.8"),  # commitizen, in all of its steps
        ("~=3.12.0", ">=3.12.0, <3.13"),
        ("==3.12.*", ">=3.12.0, <3.13"),  # prime-rl, 19 times to and fro
        (">=3.10, <4.0", "<4,>=3.10.0"),
    ],
)
def test_one_range_of_pythons_in_two_spellings_is_no_change(old: str, new: str) -> None:
    assert compare_locks(of_python(old), of_python(new)) == ()
    assert compare_locks(of_python(new), of_python(old)) == ()


def test_a_narrower_range_of_pythons_is_a_change_of_its_own() -> None:
    # prime-rl d41474df3c
    assert told(of_python(">=3.12.3, <3.13"), of_python(">=3.12.0, <3.13")) == [
        ("requires-python", "changed", ">=3.12.3, <3.13", ">=3.12.0, <3.13", "")
    ]


def test_a_later_form_that_says_the_pythons_is_no_change_of_them() -> None:
    # pdm 4.5 has them; 4.4 said nothing. A file of one form that begins to say them is news.
    text = SAMPLES["pdm.lock 4.5"][1]
    after = parse_lock(text, path="pdm.lock")._replace(requires_python=">=3.8")
    silent = after._replace(requires_python="")
    assert compare_locks(silent._replace(revision=4), after) == ()
    assert told(silent, after) == [("requires-python", "changed", None, ">=3.8", "")]


def limited(limit: str, version: str) -> Lock:
    head = HEAD + f'[manifest]\nconstraints = [{{ name = "b", specifier = "{limit}" }}]\n'
    return lock_from(project("a"), pinned("a", version, "b"), pinned("b", version), head=head)


@pytest.mark.parametrize(
    ("old", "new", "origin"),
    [
        (">=2.10", ">=2.10.0", Origin.FORCED),
        (">=2.10,<3", "<3.0, >=2.10", Origin.FORCED),
        (">=2.10", ">=2.11", Origin.ROOT),
    ],
)
def test_a_constraint_in_another_spelling_asks_for_nothing_new(
    old: str, new: str, origin: Origin
) -> None:
    changes = compare_locks(limited(old, "2.12"), limited(new, "2.13"))
    assert [(c.name, c.origin) for c in changes] == [("a", Origin.ROOT), ("b", origin)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("python_version < '3.12'", "python_full_version < '3.12'"),
        (
            "sys_platform == 'win32' or sys_platform != 'win32' and os_name == 'nt'",
            "sys_platform == 'win32' or os_name == 'nt'",
        ),
        ("sys_platform == 'linux' or python_full_version < '3.11'", "sys_platform == 'linux'"),
    ],
)
def test_a_marker_that_means_the_same_is_no_change(old: str, new: str) -> None:
    # The last of them: the lock is for Python 3.11 and later.
    assert compare_locks(needing(old), needing(new)) == ()


def test_of_what_is_asked_only_what_differs_is_told() -> None:
    def lock(own: str, other: str) -> Lock:
        edges = [f'{{ name = "a", marker = "{marker}" }}' for marker in (own, other)]
        needs_both = project(edges[0], "b", requires=("a", "b"))
        return lock_from(needs_both, pinned("a", "1"), pinned("b", "1", edges[1]))

    before = lock("os_name == 'nt'", "python_version < '3.12'")
    after = lock("os_name == 'posix'", "python_full_version < '3.12'")
    assert told(before, after) == [
        ("a", "selector", "1", "1", "lab if os_name == 'nt' → lab if os_name == 'posix'")
    ]


def split(*forks: str, version: str = "1") -> Lock:
    """`a` in two versions, the one that is meant in these forks."""
    low = "resolution-markers = [\"python_full_version < '3.12'\"]"
    return lock_from(
        project("a"),
        pinned("a", "0", more=low),
        pinned("a", version, more=f"resolution-markers = {list(forks)}"),
    )


def test_a_resolution_that_is_split_again_is_no_change() -> None:
    # NeMo-RL e480f8f019: from 12 to 166 forks, and 9 packages that changed.
    one = split("python_full_version >= '3.12'")
    two = split(
        "python_full_version >= '3.14' and sys_platform == 'linux'",
        "python_full_version >= '3.14' and sys_platform != 'linux'",
        "python_full_version >= '3.12' and python_full_version < '3.14'",
    )
    assert compare_locks(one, two) == ()
    assert compare_locks(two, one) == ()
    less = split("python_full_version >= '3.14'")
    assert told(one, less) == [
        (
            "a",
            "selector",
            "1",
            "1",
            "fork; for python_full_version >= '3.12' → for python_full_version >= '3.14'",
        )
    ]


@pytest.mark.parametrize("clause", [f" or ({X} and {Y})", f" or ({Y} and {X} and os_name == 'a')"])
def test_an_impossible_clause_of_a_fork_is_no_change(clause: str) -> None:
    # Megatron-LM b213e10a5f
    def lock(clause: str) -> Lock:
        forks = [f"{marker}{clause}" for marker in (X, Y)]
        return lock_from(
            project("a"),
            pinned("a", "1", more=f'resolution-markers = ["{forks[0]}"]'),
            pinned("a", "2", more=f'resolution-markers = ["{forks[1]}"]'),
            head=CONFLICT,
        )

    assert compare_locks(lock(""), lock(clause)) == ()
    for extras in ((), ("x",), ("y",)):
        chosen = [
            identity(select(each, Selection(extras=extras), LINUX))
            for each in (lock(""), lock(clause))
        ]
        assert chosen[0] == chosen[1]


def test_the_same_clause_is_a_change_where_the_extras_can_be_had_together() -> None:
    before = needing(X)
    after = needing(f"{X} or ({X} and {Y}) or {Y}")
    assert told(before, after) == [
        ("a", "selector", "1", "1", f"lab if {X} → lab if {X} or {X} and {Y} or {Y}")
    ]


def test_a_marker_for_other_machines_is_no_change_here() -> None:
    before, after = needing("os_name == 'nt'"), needing("os_name == 'java'")
    assert [c.kind for c in compare_locks(before, after)] == [ChangeKind.SELECTOR]
    assert compare_locks(before, after, environment=LINUX) == ()


def test_wheels_for_another_python_are_no_rebuild() -> None:
    # prime-rl b424e035f1: `==3.10.*` → `>=3.11`, and the wheels for 3.10 go.
    def lock(*tags: str, pythons: str = ">=3.11") -> Lock:
        urls = (f"https://files.example/a-1-{tag}-manylinux_2_28_x86_64.whl" for tag in tags)
        wheels = ", ".join(f'{{ url = "{url}", hash = "sha256:{url[-36:]}" }}' for url in urls)
        text = f'[[package]]\nname = "a"\nversion = "1"\nsource = {{ registry = "r" }}\nwheels = [{wheels}]\n'
        return lock_from(project("a"), text)._replace(requires_python=pythons)

    moved = told(lock("cp310-cp310", pythons="==3.10.*"), lock("cp311-cp311", "cp312-cp312"))
    assert moved == [("requires-python", "changed", "==3.10.*", ">=3.11", "")]
    assert told(lock("cp310-cp310"), lock("cp313-cp313t")) == []
    for old, new in (
        ("cp310-abi3", "cp311-cp311"),
        ("py3-none", "cp311-cp311"),
        ("cp311-cp311", "cp310.cp311-cp311"),
        ("1-cp311-cp311", "2-cp311-cp311"),
    ):
        name = "a-1-{}-manylinux_2_28_x86_64.whl"
        detail = f"other files: {name.format(old)} → {name.format(new)}"
        assert told(lock(old), lock(new)) == [("a", "rebuild", "1", "1", detail)]


NEVER = '{ name = "torch", marker = "sys_platform == \'never\'" }'


def without_torch(version: str, *, overridden: bool = True) -> Lock:
    head = HEAD + (f"[manifest]\noverrides = [{NEVER}]\n" if overridden else "")
    edge = NEVER if overridden else "torch"
    return lock_from(project(edge, requires=("torch",)), pinned("torch", version), head=head)


def test_a_move_of_what_is_overridden_away_says_that_it_is_never_installed() -> None:
    # Megatron-LM 207be1fd17: torch 2.12.1 → 2.13.0 in the lock, and another one in the image.
    before, after = without_torch("2.12.1"), without_torch("2.13.0")
    assert compare_locks(before, after) == (
        Change(
            layer=Layer.FRAMEWORK,
            name="torch",
            kind=ChangeKind.UPGRADED,
            before="2.12.1",
            after="2.13.0",
            origin=Origin.ROOT,
            detail="never installed: overridden",
        ),
    )
    assert compare_locks(before, after, environment=LINUX) == ()


def test_what_comes_to_be_overridden_away_is_a_selector_change() -> None:
    before, after = without_torch("2.13.0", overridden=False), without_torch("2.13.0")
    assert told(before, after) == [
        ("torch", "selector", "2.13.0", "2.13.0", "lab → lab if sys_platform == 'never'")
    ]
    (here,) = compare_locks(before, after, environment=LINUX)
    assert (here.kind, here.before, here.after, here.detail) == (
        ChangeKind.SELECTOR,
        "2.13.0",
        None,
        "it is still locked, but not selected here any more",
    )


def test_the_oldest_lock_and_todays_with_the_same_packages_are_the_same() -> None:
    # astral-sh/uv, July 2024
    new = "\n".join([HEAD, project("a"), pinned("a", "1")])
    old = new.replace("[[package]]", "[[distribution]]").replace("revision = 3\n", "")
    old = old.replace("[package.metadata]", "[distribution.metadata]")
    before, after = (parse_lock(text, path="uv.lock") for text in (old, new))
    assert compare_locks(before, after) == ()
    moved = lock_from(project("a"), pinned("a", "2"))
    assert told(before, moved) == [("a", "upgraded", "1", "2", "")]


EMPTY = 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n'


def test_a_lock_that_pins_nothing_is_said_where_nothing_else_can_be() -> None:
    # Textualize/textual, 2026-03-27: 52 bytes of uv.lock, left in a project of poetry's.
    empty = parse_lock(EMPTY, path="sub/uv.lock")
    full = lock_from(project("a"), pinned("a", "1"))
    nothing = compare_records(Record(name="a", lock=empty), Record(name="b", lock=empty))
    assert nothing.changes == ()
    assert nothing.notes == (
        "sub/uv.lock pins no package; if another is meant, `--lockfile` names it",
    )
    gone = compare_records(Record(name="a", lock=full), Record(name="b", lock=empty))
    assert [(c.name, c.kind.value) for c in gone.changes] == [("a", "removed"), ("lab", "removed")]
    assert gone.notes == ()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("../abx-dl", "./../abx-dl/", []),
        ("../abx-dl", "abx-dl", [("editable ../abx-dl", "editable abx-dl", "1.0: path")]),
    ],
)
def test_a_member_outside_the_repository_moves_by_its_path(
    old: str, new: str, expected: list[tuple[str, str, str]]
) -> None:
    # ArchiveBox 7d8c468659
    head = HEAD + '[manifest]\nmembers = ["lab", "abx-dl"]\n'
    before, after = (
        lock_from(project("abx-dl"), project(name="abx-dl", at=at), head=head) for at in (old, new)
    )
    assert [(b, a, d) for _, kind, b, a, d in told(before, after) if kind == "source"] == expected
    assert len(told(before, after)) == len(expected)


def test_a_project_whose_version_is_dynamic_does_not_move_by_itself() -> None:
    lock = lock_from(project("a", version=None), pinned("a", "1"))
    again = lock_from(project("a", version=None), pinned("a", "2"))
    assert told(lock, again) == [("a", "upgraded", "1", "2", "")]


@pytest.mark.parametrize(
    "options",
    [
        'exclude-newer = "2026-08-15T00:00:00Z"\nexclude-newer-span = "P7D"\n',
        'exclude-newer-span = "P14D"\n',
        "[options.exclude-newer-package]\nvllm = false\n",
        'resolution-mode = "lowest-direct"\n',
    ],
)
def test_settings_of_the_resolver_alone_are_no_change(options: str) -> None:
    plain = (project("a"), pinned("a", "1"))
    before = lock_from(*plain, head=HEAD + '[options]\nexclude-newer = "2026-08-14T00:00:00Z"\n')
    after = lock_from(*plain, head=HEAD + f"[options]\n{options}")
    assert before.options != after.options
    assert compare_locks(before, after) == ()


def test_up_and_back_and_up_again_is_the_first_environment_again() -> None:
    # Megatron-LM, November 2025
    low, high = (lock_from(project("a"), pinned("a", version)) for version in ("81", "82"))
    again = lock_from(project("a"), pinned("a", "81"))
    assert told(low, high) == [("a", "upgraded", "81", "82", "")]
    assert told(high, again) == [("a", "downgraded", "82", "81", "")]
    assert identity(low.packages) == identity(again.packages) != identity(high.packages)


def test_a_mirror_left_in_by_mistake_is_told_for_each_package_once() -> None:
    before, after = (
        lock_from(*(pinned(name, "1", index=index) for name in "ab"))
        for index in ("https://registry.example/simple", "https://mirror.example/lab/simple/")
    )
    assert told(before, after) == [
        (
            name,
            "source",
            "https://registry.example/simple",
            "https://mirror.example/lab/simple/",
            "1: index",
        )
        for name in "ab"
    ]


def test_a_local_build_of_another_commit_is_a_variant_and_no_upgrade() -> None:
    # Megatron-LM 8b42b9eb7f
    def lock(commit: str) -> Lock:
        text = pinned("a", f"2.9.0+{commit[:8]}").replace(
            '{ registry = "https://registry.example/simple" }',
            f'{{ git = "https://git.example/a?rev={commit}#{commit}" }}',
        )
        return lock_from(project("a"), text)

    assert told(lock("739c6565" * 5), lock("c4c185db" * 5)) == [
        (
            "a",
            "variant",
            "2.9.0+739c6565",
            "2.9.0+c4c185db",
            "git+https://git.example/a@739c656573 → git+https://git.example/a@c4c185dbc4",
        )
    ]


def test_a_version_that_no_python_can_count_is_compared_as_text() -> None:
    absurd = "9" * 5000
    before, after = (lock_from(project("a"), pinned("a", version)) for version in ("1", absurd))
    assert told(before, after) == [("a", "changed", "1", absurd, "")]
    records = (Record(name="a", lock=before), Record(name="b", lock=after))
    assert [c.kind for c in compare_records(*records).changes] == [ChangeKind.CHANGED]
    demanding = before._replace(requires_python=f">={absurd}")
    assert explain_selection(demanding, Selection(), LINUX).notes == (
        f"requires-python can't be read: >={absurd}",
    )


def test_what_a_member_asks_for_that_comes_or_goes_is_no_news_of_its_own() -> None:
    # NeMo-RL 30afeccdfa: the member is told, not each of the packages that it shares with others.
    head = HEAD + '[manifest]\nmembers = ["lab", "worker"]\n'
    worker = project("a", name="worker", version=None, at="libs/worker")
    without = lock_from(project("a"), pinned("a", "1"))
    within = lock_from(project("a"), worker, pinned("a", "1"), head=head)
    detail = "editable libs/worker"
    assert told(without, within) == [("worker", "added", None, "dynamic", detail)]
    assert told(within, without) == [("worker", "removed", "dynamic", None, detail)]
