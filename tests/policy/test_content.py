from __future__ import annotations

import pytest

from tests.lockfiles.texts import pinned, project
from tests.policy.steps import found, judge, kernel, make_step, policy

BEFORE = (project("a", "b"), pinned("a", "1"), pinned("b", "1"))
GIT = 'source = {{ git = "https://git.example/x{query}#0123456789abcdef0123456789abcdef01234567" }}'


def git(query: str) -> str:
    return f'[[package]]\nname = "x"\nversion = "1"\n{GIT.format(query=query)}\n'


def test_what_is_pinned_may_not_move_not_even_forced() -> None:
    after = (project("a", "b"), pinned("a", "2"), pinned("b", "1"))
    (breach,) = judge(policy("pins: {packages: [A, z]}"), make_step(BEFORE, after))
    assert breach.found == "pinned, and moves: a 1 → 2"
    assert "uv lock --upgrade-package a==1" in breach.ways_out[0]
    assert found(policy("pins: {packages: [b]}"), make_step(BEFORE, after)) == []
    chain = (project("a"), pinned("a", "1", "b"), pinned("b", "1"))
    moved = (project("a"), pinned("a", "2", "b"), pinned("b", "2"))
    assert found(policy("pins: {packages: [b]}"), make_step(chain, moved)) == [
        ("pins", "pinned, and moves: b 1 → 2")
    ]
    step = make_step(BEFORE, after, facts=(kernel(),))
    told = found(policy("pins: {layers: [kernel]}, one-layer: {level: off}"), step)
    assert told == [("pins", "pinned, and moves: kernel.release 6.8.0-45 → 6.8.0-48")]


@pytest.mark.parametrize(
    ("ban", "version", "is_banned"),
    [
        ("a==2.2.0", "2.2.0", True),
        ("a==2.2.0", "2.2.1", False),
        ("A>=2.6,<2.6.2", "2.6.1", True),
        ("a>=2.6,<2.6.2", "2.6.2", False),
        ("a>=2", "3.0rc1", True),
        ("a==2.6.0", "2.6.0+cu126", True),
        ("other", "2", False),
        ("a", "9", True),
    ],
)
def test_a_banned_version_may_not_come_in(ban: str, version: str, *, is_banned: bool) -> None:
    after = (project("a", "b"), pinned("a", version), pinned("b", "1"))
    told = [
        rule
        for rule, _ in found(policy(f"bans: {{versions: ['{ban}']}}"), make_step(BEFORE, after))
    ]
    assert told == (["bans"] if is_banned else [])


def test_a_banned_version_that_is_there_already_is_no_fault_of_this_step() -> None:
    after = (project("a", "b"), pinned("a", "1"), pinned("b", "2"))
    assert found(policy("bans: {versions: [a==1]}"), make_step(BEFORE, after)) == []


@pytest.mark.parametrize(
    ("query", "is_fixed"),
    [
        ("?rev=0123456", True),
        ("?rev=v1.2", True),
        ("?rev=1.2.3", True),
        ("?tag=release", True),
        ("?rev=main", False),
        ("?branch=dev", False),
        ("", False),
    ],
)
def test_a_git_reference_that_moves_is_said(query: str, *, is_fixed: bool) -> None:
    after = (project("a", "b", "x"), *BEFORE[1:], git(query))
    told = [text for rule, text in found(policy(), make_step(BEFORE, after)) if rule == "sources"]
    assert bool(told) is not is_fixed
    assert all("which moves: name a tag or a commit: x" in text for text in told)
    assert found(policy("sources: {floating-git: false}"), make_step(BEFORE, after)) == []


def test_only_allowed_indexes() -> None:
    other = pinned("b", "2", index="https://user:secret@mirror.example/simple")
    after = (project("a", "b"), pinned("a", "1"), other)
    step = make_step(BEFORE, after)
    rules = "sources: {allowed: ['https://registry.example/']}, credentials: {level: off}"
    assert found(policy(rules), step) == [
        ("sources", "from https://***@mirror.example/simple, which is none of the allowed ones: b")
    ]
    rules = "sources: {denied: ['https://registry.example/']}, credentials: {level: off}"
    new = make_step(BEFORE, (*after, pinned("c", "1")))
    assert found(policy(rules), new) == [
        ("sources", "from https://registry.example/simple, which is not allowed: c")
    ]


def test_a_build_without_the_gpu_on_a_machine_with_one() -> None:
    after = (project("a", "b"), pinned("a", "1+cpu"), pinned("b", "1"))
    for has_gpu, rules, count in (
        (True, "", 1),
        (False, "", 0),
        (None, "", 0),
        (None, "variants: {only-on-gpu-hosts: false}", 1),
        (True, "variants: {denied: ['rocm*']}", 0),
    ):
        told = found(policy(rules), make_step(BEFORE, after, has_gpu=has_gpu))
        assert [rule for rule, _ in told] == ["variants"] * count


def test_another_hash_under_the_same_version_is_loud() -> None:
    after = (project("a", "b"), pinned("a", "1", digest="other"), pinned("b", "1"))
    (breach,) = judge(policy(), make_step(BEFORE, after))
    assert (breach.rule, breach.level.value) == ("rebuilds", "error")
    assert breach.found == "the same version with another hash: a 1 (a-1-py3-none-any.whl)"
