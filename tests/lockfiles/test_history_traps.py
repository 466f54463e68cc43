"""Traps of real histories of uv.lock, each as a few lines: what is read and what is selected."""

from __future__ import annotations

import re

import pytest

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.select import explain_selection, identity, select
from envtrack.model.lock import Lock, SourceKind
from envtrack.model.selection import Selection
from tests.lockfiles.texts import HEAD, LINUX, MAC, by_name, lock_from, names, pinned, project

CONFLICT = (
    HEAD + 'conflicts = [[{ package = "lab", extra = "x" }, { package = "lab", extra = "y" }]]\n'
)
X, Y = "extra == 'extra-3-lab-x'", "extra == 'extra-3-lab-y'"


def problem_of(text: str) -> LockfileProblem:
    with pytest.raises(LockfileProblem) as caught:
        parse_lock(text, path="uv.lock")
    return caught.value


def test_a_merge_that_was_committed_names_its_line_deep_in_the_file() -> None:
    # ArchiveBox 51447b9d0a, fastmcp 67de515d1a: the markers stand within a package.
    ours = pinned("certifi", "2024.8.30").replace(
        'version = "2024.8.30"\n',
        '<<<<<<< HEAD\nversion = "2024.8.30"\n=======\nversion = "2024.12.14"\n>>>>>>> dev\n',
    )
    text = "\n".join([HEAD, project("certifi"), ours])
    line = text.split("\n").index("<<<<<<< HEAD") + 1
    assert problem_of(text).message == (
        f"uv.lock:{line}: conflict markers: two versions were merged without being resolved"
    )


@pytest.mark.parametrize("left", ["=======", ">>>>>>> dev", "||||||| 1a2b3c4"])
def test_a_merge_that_was_resolved_by_halves_names_the_line_that_is_left(left: str) -> None:
    text = f"{HEAD}{left}\n{project('a')}{pinned('a', '1')}"
    assert problem_of(text).message == "uv.lock:4: not TOML: invalid statement"


def test_a_lock_of_52_bytes_pins_nothing_and_selects_nothing() -> None:
    text = 'version = 1\nrevision = 3\nrequires-python = ">=3.10"\n'
    assert len(text.encode()) == 52
    lock = parse_lock(text, path="uv.lock")
    assert (lock.packages, lock.roots, lock.notes, lock.unknown_keys) == ((), (), (), ())
    chosen = explain_selection(lock, Selection(), LINUX)
    assert (chosen.packages, chosen.notes) == ((), ())


def test_the_oldest_and_the_newest_words_select_the_same() -> None:
    new = "\n".join(
        [
            HEAD + "resolution-markers = [\"sys_platform == 'linux'\"]\n",
            project("a", '{ name = "b", marker = "sys_platform == \'linux\'" }', requires=("a",)),
            pinned("a", "1"),
            pinned("b", "2", more="resolution-markers = [\"sys_platform == 'linux'\"]"),
        ]
    )
    old = (
        new.replace("[[package]]", "[[distribution]]")
        .replace("revision = 3\n", "")
        .replace("resolution-markers", "environment-markers")
        .replace('{ registry = "https://registry.example/simple" }', '"registry+https://registry.example/simple"')
        .replace('{ editable = "." }', '"editable+."')
        .replace("[package.metadata]", "[distribution.metadata]")
    )  # fmt: skip
    before, after = (parse_lock(text, path="uv.lock") for text in (old, new))
    assert (before.revision, after.revision) == (0, 3)
    assert before.packages == after.packages
    assert before.unknown_keys == ()
    for environment, expected in ((LINUX, ["lab 1.0", "a 1", "b 2"]), (MAC, ["lab 1.0", "a 1"])):
        assert names(select(before, Selection(), environment)) == expected
        assert names(select(after, Selection(), environment)) == expected


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        ((), ["lab 1.0"]),
        (("x",), ["lab 1.0", "torch 2.9.1"]),
        (("y",), ["lab 1.0", "torch 2.9.1+cpu"]),
    ],
)
def test_an_impossible_clause_selects_nothing_else(
    extras: tuple[str, ...], expected: list[str]
) -> None:
    # Megatron-LM b213e10a5f: uv adds a clause that two conflicting extras never fulfil.
    def lock(clause: str) -> Lock:
        edges = "".join(
            f'{extra} = [{{ name = "torch", version = "{version}", source = {{ registry = '
            f'"https://registry.example/simple" }}, marker = "{own}{clause}" }}]\n'
            for extra, version, own in (("x", "2.9.1", X), ("y", "2.9.1+cpu", Y))
        )
        return lock_from(
            project(more=f"[package.optional-dependencies]\n{edges}", requires=("torch",)),
            pinned("torch", "2.9.1", more=f'resolution-markers = ["{X}{clause}"]'),
            pinned("torch", "2.9.1+cpu", more=f'resolution-markers = ["{Y}{clause}"]'),
            head=CONFLICT,
        )

    for clause in ("", f" or ({X} and {Y})"):
        chosen = explain_selection(lock(clause), Selection(extras=extras), LINUX)
        assert (names(chosen.packages), chosen.notes) == (expected, ())


NEVER = "sys_platform == 'never'"


@pytest.mark.parametrize("environment", [LINUX, MAC, LINUX | {"sys_platform": "win32"}])
def test_what_is_overridden_away_is_locked_and_never_selected(environment: dict[str, str]) -> None:
    # Megatron-LM, NeMo-RL: torch comes from the image; its dependencies must not come either.
    edge = f'{{ name = "torch", marker = "{NEVER}" }}'
    lock = lock_from(
        project("accelerate", edge, requires=("accelerate", "torch")),
        pinned("accelerate", "1", edge, "numpy"),
        pinned("numpy", "2"),
        pinned("torch", "2.13.0", "triton"),
        pinned("triton", "3"),
        head=HEAD + f"[manifest]\noverrides = [{edge}]\n",
    )
    assert lock.overrides == (f"torch ; {NEVER}",)
    assert "torch 2.13.0" in names(lock.packages)
    chosen = explain_selection(lock, Selection(all_groups=True, all_extras=True), environment)
    assert names(chosen.packages) == ["lab 1.0", "accelerate 1", "numpy 2"]
    assert chosen.notes == ()


def test_members_outside_the_repository_are_roots_by_their_own_path() -> None:
    # ArchiveBox 7d8c468659: the root of the workspace needs its neighbours.
    head = HEAD + '[manifest]\nmembers = ["lab", "abx-dl"]\n'
    outside = project("a", name="abx-dl", version="1.10", at="../abx-dl")
    lock = lock_from(project("abx-dl"), outside, pinned("a", "1"), head=head)
    found = by_name(lock, "abx-dl")
    assert (found.source.kind, found.source.location) == (SourceKind.EDITABLE, "../abx-dl")
    assert not found.is_root
    assert [package.name for package in lock.roots] == ["lab", "abx-dl"]
    assert names(select(lock, Selection(), LINUX)) == ["lab 1.0", "abx-dl 1.10", "a 1"]
    assert identity(lock.local_trees) != identity(
        lock_from(project("abx-dl"), outside.replace("../abx-dl", "abx-dl")).local_trees
    )


def test_a_cutoff_that_moves_by_itself_and_exceptions_from_it() -> None:
    # pydantic-ai and seven more.
    head = HEAD + (
        '[options]\nexclude-newer = "2026-08-14T00:00:00Z"\nexclude-newer-span = "P7D"\n'
        '[options.exclude-newer-package]\nvllm = false\ngenai-prices = "P1D"\n'
        'ruff = { timestamp = "2026-08-20T00:00:00Z", span = "P1D" }\n'
    )
    lock = lock_from(project("a"), pinned("a", "1"), head=head)
    assert lock.options == {
        "exclude-newer": "2026-08-14T00:00:00Z",
        "exclude-newer-span": "P7D",
        "exclude-newer-package.vllm": "false",
        "exclude-newer-package.genai-prices": "P1D",
        "exclude-newer-package.ruff.timestamp": "2026-08-20T00:00:00Z",
        "exclude-newer-package.ruff.span": "P1D",
    }
    assert lock.unknown_keys == ()


def test_a_package_without_a_version_is_selected_and_named_by_its_path() -> None:
    lock = lock_from(project("a", version=None), pinned("a", "1"))
    assert names(select(lock, Selection(), LINUX)) == ["lab None", "a 1"]
    moved = lock_from(project("a", version=None, at="src"), pinned("a", "1"))
    assert identity(lock.packages) != identity(moved.packages)


def test_a_member_that_lies_in_a_submodule_is_walked_without_its_pyproject() -> None:
    # prime-rl deps/*, NeMo-RL 3rdparty/*: what the lock says of it is all there is.
    head = HEAD + '[manifest]\nmembers = ["lab", "verifiers"]\n'
    inside = project("a", name="verifiers", version=None, at="deps/verifiers")
    lock = lock_from(project("verifiers"), inside, pinned("a", "1"), head=head)
    assert names(select(lock, Selection(), LINUX)) == ["lab 1.0", "verifiers None", "a 1"]


def test_the_sizes_of_the_field_are_read() -> None:
    # 17 conflict sets and 174 forks (NeMo-RL), 99 members (prime-rl), 38 forked names (fastapi).
    forks = [f"python_full_version == '3.{n}.*'" for n in range(174)]
    members = [f"m{n}" for n in range(99)]
    sets = ", ".join(
        f'[{{ package = "m{n}", extra = "x" }}, {{ package = "m{n}", group = "y" }}]'
        for n in range(17)
    )
    head = (
        f"{HEAD}resolution-markers = {forks}\nconflicts = [{sets}]\n"
        f"[manifest]\nmembers = {members}\n"
    )
    packages = [project(f"p{n % 38}", name=name, at=name) for n, name in enumerate(members)]
    for n in range(38):
        for version, fork in (("1", forks[11]), ("2", forks[12])):
            packages.append(pinned(f"p{n}", version, more=f'resolution-markers = ["{fork}"]'))
    lock = lock_from(*packages, head=head)
    assert len(lock.conflicts) == 17
    assert lock.conflicts[16] == ("m16[x]", "m16:y")
    assert lock.resolution_markers == tuple(forks)
    assert [package.name for package in lock.roots] == members
    chosen = explain_selection(lock, Selection(), LINUX)
    assert chosen.notes == ()
    assert names(chosen.packages) == [
        *(f"{name} 1.0" for name in members),
        *(f"p{n} 2" for n in range(38)),
    ]


@pytest.mark.parametrize(
    "address",
    [
        "https://registry.example/simple/",
        "https://hub.registry.example/lab/simple",
        "https://registry.example/nightly",
        "https://registry.example/whl/test/cu130",
        "http://user:word@registry.example:8080/simple?x=1",
        "wheels",
    ],
)
def test_an_unusual_index_is_kept_as_it_is(address: str) -> None:
    lock = lock_from(pinned("a", "1", index=address))
    assert lock.packages[0].source.location == address
    assert lock.packages[0].source.kind is SourceKind.REGISTRY


def test_a_name_that_is_written_otherwise_is_the_same_name() -> None:
    text = re.sub('name = "a-b"', 'name = "A_b"', pinned("a-b", "1"))
    assert lock_from(text) == lock_from(pinned("a-b", "1"))
